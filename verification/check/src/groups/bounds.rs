//! Why users have no place for more tasks (theory, section 7, on the axiom `tree`): prices, by weak duality.
//!
//! For prices `p >= 0` of rows and `q >= 0` of limits on server classes let a task of user `n` be worth the least
//! `sum_r p_ir d_nir`, with `q d_nir` of every limit that counts it on class `i`, of the classes where it can run. All
//! totals `T` that have a place keep `sum worth_n T_n <= sum p C + sum q L`. A limit of 0 bars its classes.

use rug::Rational;

use super::holdings::{CELLS, Holdings};
use super::within::{Within, of_user, paid};
use crate::axioms::prices::Prices;
use crate::case::Case;
use crate::work::{Checked, ensure_small};

/// What stops the filling for want of place.
pub struct Bounds {
    /// What a task of each user is worth, and what all together may be worth.
    pub list: Vec<(Vec<Rational>, Rational)>,
    /// By user: whether there is a class on which it can run and no limit bars it.
    pub open: Vec<bool>,
}

impl Bounds {
    /// What these prices show, and what one shows for every resource that is 1 wherever there is some.
    pub fn new(case: &Case<'_>, mut prices: Vec<Prices<'_>>, on: &Within<'_>) -> Checked<Self> {
        let (users, groups) = (case.problem.users.len(), case.problem.groups.list.len());
        let cells = prices.len().saturating_mul(users.max(groups));
        ensure_small(cells <= CELLS, "vectors of prices, times users or groups")?;
        let marks = (0..users).map(|n| Ok(Holdings::on_of_user(case, &on.0, n)?.len()));
        let is_small = marks.sum::<Checked<usize>>()? <= CELLS;
        ensure_small(is_small, "users, times limits on server classes")?;
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
