//! Groups of users (theory, section 9), and the axioms about them. Who checks an allocation without groups need not
//! read this folder: of such a problem it holds nothing.

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
use self::stated::DEPTH;
use crate::case::{Case, Claim, Shown};
use crate::names::at;
use crate::share::{Coefficients, Share};
use crate::work::{self, Checked};

/// The axioms that [`apply`] knows.
pub const ABOUT: [&str; 6] =
    ["limits", "guarantees", "work-conserving", "group-sharing-incentive", "group-envy-free", "tree"];

/// Whether the axioms are about this: there are groups, and resources are divided. What groups do not hold back does not
/// matter to `work-conserving`.
pub fn apply(axiom: &str, case: &Case<'_>) -> Checked<bool> {
    let problem = case.problem;
    if axiom == "work-conserving" && !problem.groups.hold_back() {
        return Ok(true);
    }
    let divides = !case.stated.by_time && problem.classes.iter().all(|class| !class.states_time);
    if axiom != "tree" {
        return Ok(divides && !problem.groups.list.is_empty());
    }
    // The filling of users who stand in no group is DRFH, and is defined where the share of that is.
    Ok(divides && Coefficients::new(Share::Dominant, case)?.is_some())
}

/// No group uses more than its limit, and the root no more than there is of what is kept back; margins are parts of the
/// capacity.
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

/// No user could have more of what all groups above it are promised.
pub fn guarantees(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let holdings = Holdings::new(case)?;
    let lacks = Lacks::new(&holdings)?;
    let margin = |n: usize| -> Checked<Rational> {
        work::spend(case.problem.users[n].demand.len() * DEPTH)?;
        Ok(-lacks.of(n)? / &case.g[n])
    };
    Ok((case.active().map(margin).collect::<Checked<Vec<_>>>()?.into_iter().min(), None))
}
