//! Bounds, which prove that no free capacity is left for more tasks of some users (docs/theory.md, section 7, on the
//! axiom `tree`). A bound consists of prices, which prove it by weak duality.
//!
//! Let `p >= 0` be prices of rows and `q >= 0` prices of limits on server classes. The worth of a task of user `n` is
//! its smallest cost on any class `i` where it can run. The cost is `sum_r p_ir d_nir`, plus `q d_nir` for every limit
//! that counts the task there. All total numbers of tasks `T` that can be placed satisfy
//! `sum worth_n T_n <= sum p C + sum q L`. If a limit is 0, its users cannot run on its classes.

use rug::Rational;

use super::holdings::{CELLS, Holdings};
use super::within::{Within, of_user, paid};
use crate::axioms::prices::Prices;
use crate::case::Case;
use crate::work::{Checked, ensure_small};

/// The bounds that stop users during the filling when capacity runs out.
pub struct Bounds {
    /// The bounds. Each has the worth of a task of each user, and the largest worth of all tasks together.
    pub list: Vec<(Vec<Rational>, Rational)>,
    /// For each user, true if it can run on some class without a limit of 0.
    pub open: Vec<bool>,
}

impl Bounds {
    /// Computes the bounds of the stated prices. For every resource, adds the bound whose price is 1 on every class
    /// that has the resource.
    pub fn new(case: &Case<'_>, mut prices: Vec<Prices<'_>>, on: &Within<'_>) -> Checked<Self> {
        let (users, groups) = (case.problem.users.len(), case.problem.groups.list.len());
        let cells = prices.len().saturating_mul(users.max(groups));
        ensure_small(cells <= CELLS, "vectors of prices times users or groups")?;
        let marks = (0..users).map(|n| Ok(Holdings::on_of_user(case, &on.0, n)?.len()));
        let is_small = marks.sum::<Checked<usize>>()? <= CELLS;
        ensure_small(is_small, "users times limits on server classes")?;
        for r in 0..case.problem.resources.list.len() {
            let rows = case.rows.iter().enumerate().filter(|(_, row)| row.resource == Some(r));
            prices.push(Prices {
                rows: rows.map(|(at, _)| (at, Rational::from(1))).collect(),
                ..Prices::default()
            });
        }
        let bound = |prices: &Prices<'_>| Ok((vec![Rational::new(); users], prices.bound(case)?));
        let mut list = prices.iter().map(bound).collect::<Checked<Vec<_>>>()?;
        let mut open = vec![false; users];
        for n in 0..users {
            let limits = prices.iter().map(|prices| of_user(case, &prices.limits, n));
            let limits = limits.collect::<Checked<Vec<_>>>()?;
            for i in on.open(case, n)? {
                let uses = case.uses(n, i);
                for ((prices, limits), (worth, _)) in prices.iter().zip(&limits).zip(&mut list) {
                    let all = prices.paid(n, &uses, paid(case, limits, n, i)?)?;
                    if !open[n] || all < worth[n] {
                        worth[n] = all;
                    }
                }
                open[n] = true;
            }
        }
        Ok(Self { list, open })
    }
}
