//! Placements of given totals of tasks that are as near as possible to another placement.
//!
//! With totals `t_n` that can be placed, the programme
//!
//! ```text
//! min sum_n sum_i o_ni / u_n   such that   sum_n x_ni d_nir <= c_ir,   sum_i x_ni = t_n,   x_ni - o_ni <= g_ni,   o, x >= 0
//! ```
//!
//! yields the placements at the least distance from `g`. Here `o_ni` is the excess of `x_ni` over `g_ni`, and `u_n` is
//! a unit. The excess and the deficit of a user over its classes differ by the change of its total. This change is
//! given, so it is enough to count the excess.

use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use crate::groups::capacity_entries;
use crate::placement::Placed;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

/// Computes the placements with the totals of `from` that are nearest to `goal`.
///
/// The result minimises the sum of `|x_ni - g_ni| / unit_n`. `from` must be feasible. `units[n]` must be positive for
/// users with tasks. Limits of groups are ignored.
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
    // The columns are the tasks of each user on each class. If the goal has tasks there, a column for the excess
    // follows.
    let (mut placements, mut point, mut scales) = (Vec::new(), Vec::new(), Vec::new());
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
        let total_row = lp.rows.len();
        lp.rows.push((Sense::Equal, total));
        for i in problem.classes_of(n) {
            let (has, wanted) = (at(&from[n], i), at(&goal[n], i));
            let mut entries = capacity_entries(constraints, n, i);
            entries.push((total_row, Rational::from(1)));
            placements.push(Some((n, i)));
            scales.push(scale);
            if wanted.is_zero() {
                lp.columns.push(ExactColumn { cost: cost.clone(), entries });
                point.push(has);
                continue;
            }
            let excess_row = lp.rows.len();
            entries.push((excess_row, Rational::from(1)));
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
            let excess = vec![(excess_row, Rational::from(-1))];
            lp.columns.push(ExactColumn { cost: cost.clone(), entries: excess });
            placements.push(None);
            scales.push(scale);
            let too_much = Rational::from(&has - &wanted).max(Rational::new());
            lp.rows.push((Sense::AtMost, wanted));
            point.extend([has, too_much]);
        }
    }
    let start = StartingPoint { point: Some(&point), basis: &[] };
    let optimum = refine::solve(&lp, &scales, start, EXACT.max_pivots)?.optimum()?;
    let mut placed = vec![Vec::new(); problem.n_users()];
    for (place, x) in placements.into_iter().zip(optimum.x) {
        if let (Some((n, i)), false) = (place, x.is_zero()) {
            placed[n].push((i, x));
        }
    }
    Ok(placed)
}
