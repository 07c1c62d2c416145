//! Published approximations of max-min fairness, each in a short implementation of its own.
//!
//! - POP (Narayanan and others, SOSP 2021): users are divided at random into `k` parts. Each part gets `1/k` of every
//!   server class and is solved alone.
//! - Geometric binner (Namyar and others, NSDI 2024, section 3): one linear programme. The level of a user is the sum of
//!   what lies in bins of geometrically growing width, and a unit of level in a higher bin is worth less.
//! - Splitting by ADMM, as in DeDe (Xu and others, OSDI 2025): users and server classes are solved alternately, and a
//!   price on the difference brings both together. It maximises the least level only.
//!
//! They solve problems of the kinds [`Kind::MaxMinDrfh`] and [`Kind::MaxMinTsf`].

use std::time::{Duration, Instant};

use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::{Arithmetic, Rational, ServerClass};

use super::highs::SIMPLEX;
use super::linear::{Levels, Linear, Programme};
use super::{Answer, Contender, NoAnswer};
use crate::case::{Case, Kind};
use crate::suite::Draw;

/// The numbers of parts of POP. The paper uses 4 to 64, and at least some tens of users in a part.
const PARTS: [usize; 3] = [2, 4, 16];
/// The fewest users in a part of POP.
const LEAST_USERS_OF_A_PART: usize = 4;
/// The growth of the width of bins, `alpha` of the paper. Levels are then at most a factor 2 below those of max-min.
const GROWTH: f64 = 2.0;
/// The worth of a unit of level in the last bin, relative to the first. The proof in the paper takes the limit 0. Numbers
/// far below 1e-7, the tolerance of the simplex method, would have no effect.
const LAST_WORTH: f64 = 1e-4;
/// The largest number of bins of a user.
const MOST_BINS: usize = 60;
/// The largest number of rounds of ADMM.
const MOST_ROUNDS: u64 = 2_000;
/// The residual at which ADMM ends, relative to the least level. Splitting methods are used for answers of about this
/// accuracy.
const RESIDUAL: f64 = 1e-3;
/// The bisections of a price or a level. Each halves the interval, so that the result is exact to about 12 digits.
const BISECTIONS: u32 = 40;
/// The sweeps over the prices of a class in one projection.
const SWEEPS: u32 = 3;

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let mut all: Vec<Box<dyn Contender>> = Vec::new();
    all.extend(PARTS.map(|parts| Box::new(Pop { parts }) as Box<dyn Contender>));
    all.push(Box::new(GeometricBinner));
    all.push(Box::new(Admm));
    all
}

/// Returns whether the question is for all levels of a share.
fn is_max_min(kind: Kind) -> bool {
    matches!(kind, Kind::MaxMinDrfh | Kind::MaxMinTsf)
}

/// POP: random parts of the users, each with an equal fraction of every class.
#[derive(Debug, Clone, Copy)]
struct Pop {
    parts: usize,
}

impl Contender for Pop {
    fn name(&self) -> String {
        format!("pop-{}", self.parts)
    }

    fn method(&self) -> String {
        "pop".to_owned()
    }

    fn about(&self) -> String {
        format!("POP (SOSP 2021): {} random parts of the users, each in our own doubles", self.parts)
    }

    fn takes(&self, kind: Kind) -> bool {
        is_max_min(kind)
    }

    fn applies(&self, case: &Case) -> bool {
        // A stated gamma is not an amount of a resource, so a fraction of it would have to be stated as well.
        let is_divisible = |class: &ServerClass| !class.is_time_shared();
        self.takes(case.kind)
            && case.size().0 >= self.parts * LEAST_USERS_OF_A_PART
            && case.problem().is_some_and(|problem| problem.servers().iter().all(is_divisible))
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        let end = Instant::now() + time;
        let problem = case.problem().ok_or(NoAnswer::Kind)?;
        let mechanism = case.kind.mechanism().and_then(registry::find).ok_or(NoAnswer::Kind)?;
        let part_of = random_parts(problem.n_users(), self.parts);
        let fraction = Rational::from((1, self.parts as u64));
        let small = problem.with_fraction(&fraction);
        let mut tasks = vec![Vec::new(); problem.n_users()];
        for part in 0..self.parts {
            if Instant::now() > end {
                return Err(NoAnswer::Timeout);
            }
            let others: Vec<usize> = (0..problem.n_users()).filter(|n| part_of[*n] != part).collect();
            let outcome =
                mechanism.allocate_with(&small.without_tasks_of(&others), &Flags::new(Arithmetic::Float));
            let outcome = outcome.map_err(|error| NoAnswer::Failed(error.to_string()))?;
            for (n, of_user) in outcome.allocation.tasks.into_iter().enumerate() {
                if part_of[n] == part {
                    tasks[n] = of_user.into_iter().map(|(i, x)| (i, x.to_f64())).collect();
                }
            }
        }
        Ok(Answer { tasks, status: "solved".to_owned(), ..Answer::default() })
    }
}

/// Returns the part of every user. The parts differ by at most one user in size, and are the same for every run.
fn random_parts(users: usize, parts: usize) -> Vec<usize> {
    let mut draw = Draw::new(0, "pop");
    let mut part_of: Vec<usize> = (0..users).map(|n| n % parts).collect();
    for n in (1..users).rev() {
        part_of.swap(n, draw.index(n + 1));
    }
    part_of
}

/// One linear programme in which levels lie in bins.
#[derive(Debug, Clone, Copy)]
struct GeometricBinner;

impl Contender for GeometricBinner {
    fn name(&self) -> String {
        "geometric-binner".to_owned()
    }

    fn about(&self) -> String {
        format!("geometric binner (NSDI 2024): one linear programme by HiGHS, bins that grow by {GROWTH}")
    }

    fn takes(&self, kind: Kind) -> bool {
        is_max_min(kind)
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        let levels = Levels::new(case, case.problem().ok_or(NoAnswer::Kind)?)?;
        let open = levels.open_users();
        let alone = |n: &usize| levels.level_alone(*n);
        let first = open.iter().map(alone).fold(f64::INFINITY, f64::min) / open.len().max(1) as f64;
        let most = open.iter().map(alone).fold(0.0, f64::max);
        if open.is_empty() || first <= 0.0 {
            return Ok(levels.model.answer(&[], "solved"));
        }
        let bins = ((most / first).log(GROWTH).ceil().max(1.0) as usize).min(MOST_BINS);
        let worth = |bin: usize| LAST_WORTH.powf(bin as f64 / bins as f64);
        let width = |bin: usize| match bin {
            0 => first,
            _ => first * (GROWTH.powf(bin as f64) - GROWTH.powf(bin as f64 - 1.0)),
        };
        let mut programme =
            Programme { costs: vec![0.0; levels.model.n_columns()], rows: levels.fixed.clone() };
        for n in open {
            // The level of the user is at least the sum over its bins.
            let mut row: Vec<(usize, f64)> =
                levels.columns[n].iter().map(|(column, unit)| (*column, -unit / first)).collect();
            for bin in 0..=bins {
                let column = programme.costs.len();
                programme.costs.push(worth(bin));
                row.push((column, 1.0));
                programme.rows.push((vec![(column, 1.0)], width(bin) / first));
            }
            programme.rows.push((row, 0.0));
        }
        let solved = SIMPLEX.maximise(&programme, time)?;
        let tasks = solved.x.get(..levels.model.n_columns()).unwrap_or(&[]);
        Ok(Answer { steps: solved.steps, ..levels.model.answer(tasks, solved.status) })
    }
}

/// The alternating direction method of multipliers between users and classes.
#[derive(Debug, Clone, Copy)]
struct Admm;

/// The users' and the classes' copies of the levels by column, and the prices on their difference.
struct Splitting {
    /// The columns of each user.
    users: Vec<Vec<usize>>,
    /// The largest level of each user; infinite for a user with unlimited tasks.
    most: Vec<f64>,
    /// The rows: columns, each with the fraction of the capacity that one unit of level takes.
    rows: Vec<Vec<(usize, f64)>>,
    /// The rows and columns of each class. Classes share no columns.
    classes: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Contender for Admm {
    fn name(&self) -> String {
        "admm".to_owned()
    }

    fn about(&self) -> String {
        format!(
            "ADMM between users and classes, as in DeDe (OSDI 2025), to a residual of {RESIDUAL:e}; least level only"
        )
    }

    fn takes(&self, kind: Kind) -> bool {
        is_max_min(kind)
    }

    fn solve(&self, case: &Case, time: Duration) -> Result<Answer, NoAnswer> {
        let end = Instant::now() + time;
        let levels = Levels::new(case, case.problem().ok_or(NoAnswer::Kind)?)?;
        let open = levels.open_users();
        let count = open.len().max(1) as f64;
        let equal = open.iter().map(|n| levels.level_alone(*n)).fold(f64::INFINITY, f64::min) / count;
        if open.is_empty() || equal <= 0.0 {
            return Ok(levels.model.answer(&[], "solved"));
        }
        let splitting = Splitting::new(&levels, &open);
        let columns = levels.model.n_columns();
        // A step of the least level by its own size then moves a column by about the size that it has.
        let penalty = splitting.classes.len() as f64 / (count * equal);
        let (mut of_classes, mut price) = (vec![0.0; columns], vec![0.0; columns]);
        let (mut rounds, mut status) = (0, "limit");
        while rounds < MOST_ROUNDS {
            if Instant::now() > end {
                return Err(NoAnswer::Timeout);
            }
            rounds += 1;
            let target: Vec<f64> = of_classes.iter().zip(&price).map(|(z, u)| z - u).collect();
            let (of_users, level) = splitting.raise_least(&target, penalty);
            let target: Vec<f64> = of_users.iter().zip(&price).map(|(y, u)| y + u).collect();
            let before = std::mem::replace(&mut of_classes, splitting.fit(&target));
            let (mut primal, mut dual) = (0.0_f64, 0.0_f64);
            for column in 0..columns {
                let difference = of_users[column] - of_classes[column];
                price[column] += difference;
                primal = primal.max(difference.abs());
                dual = dual.max((of_classes[column] - before[column]).abs());
            }
            if primal.max(dual) <= RESIDUAL * level {
                status = "solved";
                break;
            }
        }
        let units = levels.columns.iter().flatten();
        let tasks: Vec<f64> = of_classes.iter().zip(units).map(|(y, (_, unit))| y / unit).collect();
        let answer = levels.model.answer(&tasks, status);
        Ok(Answer { only_least: true, steps: Some(rounds), ..answer })
    }
}

impl Splitting {
    fn new(levels: &Levels, open: &[usize]) -> Self {
        let unit: Vec<f64> = levels.columns.iter().flatten().map(|(_, unit)| *unit).collect();
        let users = open.iter().map(|n| levels.columns[*n].iter().map(|(column, _)| *column).collect());
        let most = |n: &usize| {
            let unit = levels.columns[*n].first().map_or(0.0, |(_, unit)| *unit);
            levels.model.users[*n].limit * unit
        };
        let mut rows = vec![Vec::new(); levels.model.capacity.len()];
        let mut classes: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for (column, (_, place)) in levels.model.columns().enumerate() {
            if classes.len() <= place.class {
                classes.resize_with(place.class + 1, Default::default);
            }
            classes[place.class].1.push(column);
            for (row, amount) in &place.usage {
                rows[*row].push((column, amount / (unit[column] * levels.model.capacity[*row])));
                if !classes[place.class].0.contains(row) {
                    classes[place.class].0.push(*row);
                }
            }
        }
        Self { users: users.collect(), most: open.iter().map(most).collect(), rows, classes }
    }

    /// Returns the point that maximises the least level minus the penalty for the distance from `target`, and this level.
    fn raise_least(&self, target: &[f64], penalty: f64) -> (Vec<f64>, f64) {
        // The level rises until the prices of all users that are held at it sum to 1.
        let total = |level: f64| -> f64 {
            let price = |columns: &Vec<usize>| shift(columns, target, level).max(0.0);
            self.users.iter().map(|columns| penalty * price(columns)).sum()
        };
        let most = self.most.iter().copied().fold(f64::INFINITY, f64::min);
        let mut high = target.iter().map(|x| x.abs()).fold(f64::MIN_POSITIVE, f64::max);
        while high < most && total(high) < 1.0 {
            high *= 2.0;
        }
        let (mut low, mut high) = (0.0, high.min(most));
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if total(middle) < 1.0 { low = middle } else { high = middle }
        }
        let mut point: Vec<f64> = target.iter().map(|x| x.max(0.0)).collect();
        for (columns, most) in self.users.iter().zip(&self.most) {
            let sum: f64 = columns.iter().map(|column| point[*column]).sum();
            let wanted = if sum < low { low } else { *most };
            if sum < low || sum > *most {
                let shift = shift(columns, target, wanted);
                columns.iter().for_each(|column| point[*column] = (target[*column] + shift).max(0.0));
            }
        }
        (point, low)
    }

    /// Returns the nearest point that fits into every class, by a dual ascent over the prices of its rows.
    fn fit(&self, target: &[f64]) -> Vec<f64> {
        let mut point: Vec<f64> = target.iter().map(|x| x.max(0.0)).collect();
        let mut prices = vec![0.0; self.rows.len()];
        // The amount that the prices subtract from each column.
        let mut taken = vec![0.0; target.len()];
        for (rows, columns) in &self.classes {
            for _ in 0..SWEEPS {
                for row in rows {
                    let entries = &self.rows[*row];
                    entries.iter().for_each(|(column, use_of)| taken[*column] -= use_of * prices[*row]);
                    let used = |price: f64| -> f64 {
                        let one = |(column, use_of): &(usize, f64)| {
                            use_of * (target[*column] - taken[*column] - use_of * price).max(0.0)
                        };
                        entries.iter().map(one).sum()
                    };
                    prices[*row] = if used(0.0) <= 1.0 { 0.0 } else { root(used) };
                    entries.iter().for_each(|(column, use_of)| taken[*column] += use_of * prices[*row]);
                }
            }
            let held = |column: &usize| (target[*column] - taken[*column]).max(0.0);
            columns.iter().for_each(|column| point[*column] = held(column));
            // A few sweeps leave a small excess, so the class is scaled down to fit.
            let used = |row: &usize| -> f64 {
                self.rows[*row].iter().map(|(column, use_of)| use_of * point[*column]).sum()
            };
            let excess = rows.iter().map(used).fold(1.0, f64::max);
            columns.iter().for_each(|column| point[*column] /= excess);
        }
        point
    }
}

/// Returns the number to add to the target of every column of a user so that the positive parts sum to `level`.
fn shift(columns: &[usize], target: &[f64], level: f64) -> f64 {
    let mut sorted: Vec<f64> = columns.iter().map(|column| target[*column]).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut best) = (0.0, 0.0);
    for (at, x) in sorted.iter().enumerate() {
        sum += x;
        let shift = (level - sum) / (at + 1) as f64;
        if x + shift > 0.0 {
            best = shift;
        }
    }
    best
}

/// Returns the price at which a decreasing function is 1. The function is above 1 at the price 0.
fn root(used: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while used(high) > 1.0 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if used(middle) > 1.0 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equally_large_and_random() {
        let part_of = random_parts(10, 4);
        let mut sizes = [0; 4];
        part_of.iter().for_each(|part| sizes[*part] += 1);
        sizes.sort_unstable();
        assert_eq!(sizes, [2, 2, 3, 3]);
        assert_ne!(part_of, (0..10).map(|n| n % 4).collect::<Vec<_>>());
    }

    #[test]
    fn a_shift_brings_the_positive_parts_to_a_level() {
        let target = [3.0, -1.0, 0.5];
        for level in [0.1, 2.0, 3.5, 10.0] {
            let shift = shift(&[0, 1, 2], &target, level);
            let sum: f64 = target.iter().map(|x| (x + shift).max(0.0)).sum();
            assert!((sum - level).abs() < 1e-12, "{level}: {sum}");
        }
    }
}
