//! Groups of users (docs/theory.md, section 9), and the axioms about them. This module is not needed to check an
//! allocation without groups.

pub mod alone;
mod bounds;
pub mod filling;
pub mod gangs;
pub mod holdings;
pub mod lack;
pub mod parties;
pub mod stated;
mod tree;
pub mod within;

use rug::Rational;

use self::holdings::{Holdings, On};
use self::lack::Lacks;
use crate::case::{Case, Claim, Shown};
use crate::names::at;
use crate::share::{Coefficients, Share};
use crate::work::{self, Checked};

/// The axioms for which [`apply`] decides whether they apply.
pub const ABOUT: [&str; 6] =
    ["limits", "guarantees", "work-conserving", "group-sharing-incentive", "group-envy-free", "tree"];

/// Returns true if an axiom about groups applies: there are groups, and resources are divided. `work-conserving` also
/// applies if groups hold no capacity back.
pub fn apply(axiom: &str, case: &Case<'_>) -> Checked<bool> {
    let problem = case.problem;
    if axiom == "work-conserving" && !problem.groups.hold_back() {
        return Ok(true);
    }
    let divides = !case.stated.by_time && problem.classes.iter().all(|class| !class.states_time);
    if axiom != "tree" {
        return Ok(divides && !problem.groups.list.is_empty());
    }
    // The filling of users that belong to no group is DRFH. It is defined only if the share of DRFH is defined.
    Ok(divides && Coefficients::new(Share::Dominant, case)?.is_some())
}

/// Judges the limits of groups: no group uses more than its limit. For resources of which groups keep some capacity
/// back, the root uses no more than the capacity. Margins are fractions of the capacity.
pub fn limits(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = Holdings::new(case)?;
    let mut margins = Vec::new();
    for (v, used) in holdings.used.iter().enumerate() {
        for (r, capacity) in &holdings.capacity {
            let left = holdings.limit(v, *r).map(|most| Rational::from(most - &used[*r]));
            margins.extend(left.map(|left| left / capacity));
        }
    }
    let of_classes = |on: &On<'_>| Some(Rational::from(&on.left / at(&holdings.capacity, on.resource)?));
    margins.extend(holdings.on.iter().filter_map(of_classes));
    Ok((margins.into_iter().min(), None))
}

/// Judges guarantees: the guarantees of the groups above a user entitle no user to more tasks.
pub fn guarantees(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = Holdings::new(case)?;
    let lacks = Lacks::new(&holdings)?;
    let margin = |n: usize| -> Checked<Rational> { Ok(-work::over(&lacks.of(n)?, &case.g[n])?) };
    Ok((case.active().map(margin).collect::<Checked<Vec<_>>>()?.into_iter().min(), None))
}
