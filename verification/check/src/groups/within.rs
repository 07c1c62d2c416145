//! Limits of groups as additional rows (docs/theory.md, section 7, within limits). An allocation is judged optimal
//! among the allocations that respect these rows.
//!
//! A row bounds the usage of a resource by the users below a group. The usage counts either on all classes, by base
//! demands, or on some classes, by the demands there. The bound is the limit, or the usage in the judged allocation if
//! the usage is larger.

use rug::Rational;

use super::holdings::{Holdings, On, named};
use super::stated::DEPTH;
use crate::allocation::{Placement, Tasks};
use crate::axioms::feasible;
use crate::case::Case;
use crate::json::Json;
use crate::work::{self, Checked, ensure};

/// The axioms that compare an allocation with all possible allocations.
pub const COMPARED: [&str; 7] = [
    "pareto-optimal",
    "integer-pareto-optimal",
    "max-min",
    "bottleneck-fair",
    "global-bottleneck-fair",
    "single-resource-fair",
    "proportional",
];

/// Returns true if these axioms apply. If there are limits, the usage of each group has to equal the sum of the usage
/// of its users.
pub fn applies(case: &Case<'_>) -> Checked<bool> {
    if !case.problem.groups.have_limits() {
        return Ok(true);
    }
    let is_kept = |kept: &Vec<Rational>| kept.iter().any(|kept| !kept.is_zero());
    Ok(super::apply("limits", case)? && !Holdings::new(case)?.kept.iter().any(is_kept))
}

/// The rows, in ascending order of groups.
pub struct Within<'c>(pub Vec<On<'c>>);

/// A row and its price.
pub struct Priced<'w> {
    of: &'w On<'w>,
    price: Rational,
}

impl<'c> Within<'c> {
    pub fn new(case: &'c Case<'c>) -> Checked<Self> {
        Holdings::limits(case, &case.x, true).map(Self)
    }

    /// Checks that an allocation of the evidence is feasible, and that its usage of every row is within the bound of
    /// the row.
    pub fn allow(&self, case: &Case<'_>, tasks: &Tasks, servers: Option<&[Placement]>) -> Checked<()> {
        let is_feasible = feasible::is_feasible(case, tasks, servers)?;
        ensure(is_feasible, "the allocation of the evidence is not feasible")?;
        let left = Holdings::limits(case, tasks, true)?;
        let keeps = left.iter().zip(&self.0).all(|(left, x)| left.left >= 0 || left.left >= x.left);
        ensure(keeps, "the allocation of the evidence breaks the limit of a group")
    }

    /// Returns the classes on which a user can run and to which no limit of 0 applies.
    pub fn open(&self, case: &Case<'_>, n: usize) -> Checked<Vec<usize>> {
        let own = Holdings::on_of_user(case, &self.0, n)?;
        let is_shut = |of: &On<'_>| of.most.is_zero() && of.left >= 0;
        let bars = |i: usize, of: &On<'_>| is_shut(of) && of.takes(case.problem, n, i).is_some();
        work::spend_stated((own.len() + 1) * case.problem.classes.len())?;
        let is_open = |i: &usize| !own.iter().any(|at| bars(*i, &self.0[*at]));
        Ok(case.problem.classes_of(n).filter(is_open).collect())
    }

    /// Reads prices of limits. The result is in ascending order of groups. No limit may have two prices.
    pub fn priced(&self, case: &Case<'_>, raw: &Json<'_>) -> Checked<Vec<Priced<'_>>> {
        self.known(named(case, &self.0, raw)?).or_else(|what| raw.wrong(what))
    }

    /// Converts prices with positions of limits to the result of [`Self::priced`]. Returns an error message if the
    /// prices are wrong.
    pub fn known(&self, prices: Vec<(Option<usize>, Rational)>) -> Result<Vec<Priced<'_>>, &'static str> {
        let known = |(at, price)| Some((at?, price));
        let prices: Option<Vec<(usize, Rational)>> = prices.into_iter().map(known).collect();
        let mut prices = prices.ok_or("the evidence states a price for a limit that does not exist")?;
        prices.sort_by_key(|(at, _)| *at);
        if !prices.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("a limit has two prices");
        }
        Ok(prices.into_iter().map(|(at, price)| Priced { of: &self.0[at], price }).collect())
    }
}

/// Returns the bound `b` of a row.
fn most(of: &On<'_>) -> Rational {
    Rational::from(of.most - &of.left).max(of.most.clone())
}

/// Returns the bound `sum price b` on the total payments at these prices of rows. Returns a fault if a price is
/// negative.
pub fn bound(prices: &[Priced<'_>]) -> Checked<Rational> {
    ensure(prices.iter().all(|priced| priced.price >= 0), "a price is negative")?;
    let paid = |Priced { of, price }: &Priced<'_>| work::times(&most(of), price);
    work::sum(prices.iter().map(paid).collect::<Checked<_>>()?)
}

/// Returns the prices of the rows that count tasks of a user on some class. The prices have to be in ascending order of
/// groups.
pub fn of_user<'p, 'w>(case: &Case<'_>, prices: &'p [Priced<'w>], n: usize) -> Checked<Vec<&'p Priced<'w>>> {
    let above = case.problem.groups.above_user(n).filter(|_| !prices.is_empty());
    let of_group = |v: usize| {
        let first = prices.partition_point(|priced| priced.of.group < v);
        prices[first..].iter().take_while(move |priced| priced.of.group == v)
    };
    let own: Vec<&Priced<'_>> = above.flat_map(of_group).collect();
    work::steps(if prices.is_empty() { 0 } else { DEPTH + own.len() } as u64)?;
    Ok(own)
}

/// Returns the payments for these rows by a task of a user on a class.
pub fn paid(case: &Case<'_>, own: &[&Priced<'_>], n: usize, i: usize) -> Checked<Vec<Rational>> {
    work::spend_stated(own.len())?;
    let paid = |priced: &&Priced<'_>| Some(work::times(priced.of.takes(case.problem, n, i)?, &priced.price));
    own.iter().filter_map(paid).collect()
}
