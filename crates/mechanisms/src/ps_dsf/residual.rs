//! The residual: the violation of Theorem 1 by a floating-point solution (docs/theory.md, section 4).
//!
//! The violation of user `n` on class `i` is the smallest `v` such that some resource that `n` demands there
//! has this property: at most the fraction `v` of the resource is free or used by users whose level exceeds
//! `1 + v` times the level of `n`. The violation is 0 exactly if `n` has a bottleneck on `i`. The violation
//! of a user is the largest violation over its classes, or the fraction of its task limit that it lacks, if
//! this fraction is smaller. The residual is the largest violation of all users, or the largest fraction by
//! which a row or a limit is overfilled, if this fraction is larger.

use evenhand_problem::Constraints;

use super::pairs::{PairModel, Point};

/// The free fraction of a row, and the users that use the row, with the highest level first.
struct Holders {
    /// The fraction of the row that is free.
    free: f64,
    /// The pairs `(level, fraction of the row that is free or used by this user and users of higher levels)`.
    holders: Vec<(f64, f64)>,
}

/// Returns the residual of tasks, which measures the violation of Theorem 1. `tasks` lists the pairs
/// `(class, x_ni)` of each user.
///
/// The violation of a user on a class is the smallest `v` such that some resource that the user demands there
/// has this property: at most the fraction `v` of the resource is free or used by users whose level exceeds
/// `1 + v` times the user's level. The violation of a user is the largest violation over its classes, or the
/// fraction of its task limit that it lacks, if this fraction is smaller. The residual is the largest
/// violation, or the largest fraction by which a row or a limit is overfilled, if this fraction is larger.
/// Entries for classes on which a user cannot run are ignored.
#[must_use]
pub fn residual_of(constraints: &Constraints<'_>, tasks: &[Vec<(usize, f64)>]) -> f64 {
    let model = PairModel::<f64>::new(constraints);
    let point = model.point_of(tasks, |x| *x);
    residual(&model, &point)
}

/// Returns the residual of `point`.
pub fn residual(model: &PairModel<f64>, point: &Point<f64>) -> f64 {
    let mut worst = 0.0_f64;
    let mut of_user = vec![0.0_f64; model.n_users()];
    for class in 0..model.n_classes() {
        let rows = rows(model, point, class);
        let first = model.rows_of_class[class].start;
        worst = rows.iter().fold(worst, |worst, row| worst.max(-row.free));
        for p in model.of_class[class].clone() {
            let pair = &model.pairs[p];
            let level = model.level(point, p);
            let violation = |(row, _): &(usize, f64)| rows[row - first].violation(level);
            let least = pair.usage.iter().map(violation).fold(f64::INFINITY, f64::min);
            of_user[pair.user] = of_user[pair.user].max(least);
        }
    }
    for ((violation, limit), total) in of_user.into_iter().zip(&model.limits).zip(&point.totals) {
        let lack = limit.map_or(f64::INFINITY, |limit| if limit > 0.0 { 1.0 - total / limit } else { 0.0 });
        worst = worst.max(violation.min(lack.max(0.0))).max(-lack);
    }
    worst
}

fn rows(model: &PairModel<f64>, point: &Point<f64>, class: usize) -> Vec<Holders> {
    let first = model.rows_of_class[class].start;
    let mut rows: Vec<Holders> =
        model.rows_of_class[class].clone().map(|_| Holders { free: 1.0, holders: Vec::new() }).collect();
    for p in model.of_class[class].clone().filter(|p| point.tasks[*p] > 0.0) {
        let level = model.level(point, p);
        for (row, d) in &model.pairs[p].usage {
            let part = d * point.tasks[p] / model.capacity[*row];
            rows[row - first].holders.push((level, part));
            rows[row - first].free -= part;
        }
    }
    for row in &mut rows {
        row.holders.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sum = row.free.max(0.0);
        for (_, part) in &mut row.holders {
            sum += *part;
            *part = sum;
        }
    }
    rows
}

impl Holders {
    fn violation(&self, level: f64) -> f64 {
        let mut least = f64::INFINITY;
        let mut above = self.free.max(0.0);
        for (holder, through) in &self.holders {
            // At `v = exceeds`, only the users before this user have a level above `1 + v` times the level of
            // the user in question.
            let exceeds = if level > 0.0 { holder / level - 1.0 } else { f64::INFINITY };
            least = least.min(above.max(exceeds));
            if above >= least {
                return least;
            }
            above = *through;
        }
        least.min(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_usage_above_the_level_is_a_small_violation() {
        let row = Holders { free: 0.0, holders: vec![(2.0, 0.01), (1.0, 1.0)] };
        assert_eq!(row.violation(2.0), 0.0);
        assert_eq!(row.violation(1.0), 0.01);
        assert_eq!(row.violation(1.999), (2.0 / 1.999) - 1.0);
        assert_eq!(row.violation(0.5), 1.0);
        assert_eq!(Holders { free: 0.25, holders: vec![(1.0, 1.0)] }.violation(3.0), 0.25);
        assert_eq!(Holders { free: 1.0, holders: Vec::new() }.violation(0.0), 1.0);
    }
}
