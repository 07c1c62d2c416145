//! Placements of given totals that are as near as possible to others.
//!
//! With totals `t_n` that have a place, the programme
//!
//! ```text
//! min sum_n sum_i o_ni / u_n   such that   sum_n x_ni d_nir <= c_ir,   sum_i x_ni = t_n,   x_ni - o_ni <= g_ni,   o, x >= 0
//! ```
//!
//! finds those at the least distance from `g`: what is too much of a user on its classes, and what is too little, differ
//! by what its total differs, which is given, so that it is enough to count the one.

use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense};
use crate::groups::capacity_entries;
use crate::placement::Placed;
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

/// The placements with the totals of `from`, which is feasible, that are nearest to `goal`: the sum of
/// `|x_ni - g_ni| / unit_n` is least. Units are above 0 where there are totals; limits of groups are not looked at.
///
/// # Errors
/// [`LevelsError`] when HiGHS fails, or no exactly optimal basis is found within the limit of pivots.
pub fn nearest(
    constraints: &Constraints<'_>,
    from: &Placed,
    goal: &Placed,
    units: &[Rational],
) -> Result<Placed, LevelsError> {
    let problem = constraints.problem();
    let mut lp = ExactLp::default();
    lp.rows.extend(constraints.rows().iter().map(|row| (Sense::AtMost, row.capacity.clone())));
    // By column: the tasks, then what is too much of them where some are wanted.
    let (mut places, mut point, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    let at = |list: &[(usize, Rational)], i: usize| -> Rational {
        list.iter().find(|(class, _)| *class == i).map(|(_, x)| x.clone()).unwrap_or_default()
    };
    for n in 0..problem.n_users() {
        let total: Rational = from[n].iter().map(|(_, x)| x).sum();
        if total.is_zero() {
            continue;
        }
        let cost = Rational::from(-1) / &units[n];
        let scale = units[n].to_f64();
        let of_total = lp.rows.len();
        lp.rows.push((Sense::Equal, total));
        for i in problem.classes_of(n) {
            let (has, wanted) = (at(&from[n], i), at(&goal[n], i));
            let mut entries = capacity_entries(constraints, n, i);
            entries.push((of_total, Rational::from(1)));
            places.push(Some((n, i)));
            scales.push(scale);
            if wanted.is_zero() {
                lp.columns.push(ExactColumn { cost: cost.clone(), entries });
                point.push(has);
                continue;
            }
            let of_excess = lp.rows.len();
            entries.push((of_excess, Rational::from(1)));
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
            let excess = vec![(of_excess, Rational::from(-1))];
            lp.columns.push(ExactColumn { cost: cost.clone(), entries: excess });
            places.push(None);
            scales.push(scale);
            let too_much = Rational::from(&has - &wanted).max(Rational::new());
            lp.rows.push((Sense::AtMost, wanted));
            point.extend([has, too_much]);
        }
    }
    let start = StartingPoint { point: Some(&point), basis: &[] };
    let optimum = refine::solve(&lp, &scales, start, EXACT.max_pivots)?.optimum()?;
    let mut placed = vec![Vec::new(); problem.n_users()];
    for (place, x) in places.into_iter().zip(optimum.x) {
        if let (Some((n, i)), false) = (place, x.is_zero()) {
            placed[n].push((i, x));
        }
    }
    Ok(placed)
}
