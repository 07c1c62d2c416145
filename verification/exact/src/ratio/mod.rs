//! Ratio certificates: what greedy earns with a reservation problem, and what the optimum does.
//!
//! One JSON file, which needs nothing else to be checked. Everything is by name, zeros left out:
//!
//! ```text
//! {"kind": "ratio-certificate", "version": 1,
//!  "problem":  the reservation problem,
//!  "greedy":   {"reward", "steps": [{"pool", "configuration": {job: k}, "servers", "exhausted": job | null,
//!                                    "first": FIRST}]},
//!  "optimum":  {"reward", "assignment": [{"pool", "configuration", "servers"}], "served": {job: Y},
//!               "bound", "prices": {"load": {job: alpha}, "slot": {job: beta}, "server": {pool: pi}},
//!               "pricing": {pool: PRICING}},
//!  "ratio":    greedy's reward over the bound | null where the bound is 0,
//!  "integer":  {"greedy": {"reward", "steps"}, "optimum": {"reward", "assignment", "served", "bound"}}}
//! PRICING = {"method": "dynamic-programme", "cells"} | {"method": "listed"}
//!         | {"method": "tree", "multipliers": [{resource: m}], "nodes": [[job, at] | multipliers]}
//! FIRST   = the first two | {"method": "tree", "value": {"multipliers", "nodes"}, "order": {the same}}
//!         | {"method": "known"}
//! ```
//!
//! What a valid certificate proves, for the fluid problem (pools as fractions of all servers, loads per
//! server):
//! 1. the global greedy assignment is `greedy.steps`, and earns `greedy.reward`;
//! 2. the optimum of the configuration linear programme is at least `optimum.reward` (the assignment)
//!    and at most `optimum.bound` (the prices): equal numbers are the exact optimum;
//! 3. greedy earns `ratio` of the bound: at least this part of the optimum, exactly this part where
//!    reward and bound are equal;
//! 4. where numbers of servers are stated, and `integer` is there: GPA with whole servers and the loads
//!    rounded down to whole jobs takes `integer.greedy.steps`, and the jobs served earn its reward; the
//!    best whole assignment earns at least `integer.optimum.reward` and at most its `bound`, which is
//!    the bound of the prices of `optimum` for these jobs and servers, rounded down to a multiple of
//!    the greatest common divisor of the rewards.
//!
//! The forms of the proofs are in [`FirstProof`] and [`PricingProof`].

mod check;
mod greedy;
mod optimum;
mod proof;
mod read;
mod same;
mod shape;
mod table;
mod tree;
mod verify;
mod work;
mod write;

use evenhand_problem::format::Source;
use evenhand_problem::{Integer, Rational, Reservation};

pub use check::{check, check_against};
pub use greedy::{Greedy, Step};
pub use optimum::{Assignment, Prices};
pub use proof::{FirstProof, MOST_CELLS, PricingProof, Tree, TreeNode};
pub use shape::{Configuration, sparse};

/// What `kind` says in a ratio certificate.
pub const KIND: &str = "ratio-certificate";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// What greedy earns, what the optimum does, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The problem.
    pub problem: Reservation,
    /// The global greedy assignment; servers are fractions of all.
    pub greedy: Greedy<Rational>,
    /// The optimum of the fluid problem, from both sides.
    pub optimum: Optimum,
    /// Greedy's reward over the bound; `None` where the bound is 0.
    pub ratio: Option<Rational>,
    /// The same with whole servers and jobs.
    pub integer: Option<Whole>,
}

/// The optimum of the fluid problem, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// An assignment; servers are fractions of all.
    pub assignment: Assignment<Rational>,
    /// No assignment earns more.
    pub bound: Rational,
    /// Why.
    pub prices: Prices,
    /// Why no configuration is worth more than its server, by pool.
    pub pricing: Vec<PricingProof>,
}

/// Whole servers and whole jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The greedy placement.
    pub greedy: Greedy<Integer>,
    /// An assignment.
    pub assignment: Assignment<Integer>,
    /// No assignment earns more.
    pub bound: Rational,
}

/// Whether a text is a ratio certificate by its `kind`, and no other document.
#[must_use]
pub fn is_ratio_certificate(source: &Source<'_>) -> bool {
    let kind = || -> Result<bool, evenhand_problem::format::FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.get("kind").map_or(Ok(false), |raw| Ok(document.string(raw)? == KIND))
    };
    kind().unwrap_or(false)
}

impl Certificate {
    /// What it claims, one sentence each.
    #[must_use]
    pub fn claims(&self) -> Vec<String> {
        let (optimum, greedy) = (&self.optimum, &self.greedy.reward);
        let exact = optimum.assignment.reward == optimum.bound;
        let between = |lower: &Rational, upper: &Rational| {
            if lower == upper { format!("is {lower}") } else { format!("is between {lower} and {upper}") }
        };
        let mut claims = vec![
            format!("greedy earns {greedy}"),
            format!("the optimum {}", between(&optimum.assignment.reward, &optimum.bound)),
            match &self.ratio {
                None => "there is nothing to earn".to_owned(),
                Some(ratio) if exact => format!("greedy earns {ratio} of the optimum"),
                Some(ratio) => format!("greedy earns at least {ratio} of the optimum"),
            },
        ];
        if let Some(whole) = &self.integer {
            claims.push(format!(
                "whole servers: greedy earns {}, the optimum {}",
                whole.greedy.reward,
                between(&whole.assignment.reward, &whole.bound)
            ));
        }
        claims
    }

    /// That all indices are in range and all vectors are as long as they have to be.
    fn check_shape(&self) -> Result<(), String> {
        let (n_pools, n_types) = (self.problem.n_pools(), self.problem.n_types());
        let wrong = |what: &str| Err(format!("{what}: it is not about this problem"));
        let pool_and_configuration = |pool: usize, k: &Configuration| {
            pool < n_pools
                && k.iter().all(|(j, k)| *j < n_types && *k > 0)
                && k.windows(2).all(|pair| pair[0].0 < pair[1].0)
        };
        let n_resources = self.problem.resources().len();
        let multipliers =
            |list: &[Vec<Rational>]| list.iter().all(|by_resource| by_resource.len() == n_resources);
        let first = |proof: &FirstProof| match proof {
            FirstProof::Tree { value, order } => {
                multipliers(&value.multipliers) && multipliers(&order.multipliers)
            }
            _ => true,
        };
        let step = |pool: usize, k: &Configuration, exhausted: Option<usize>, proof: &FirstProof| {
            pool_and_configuration(pool, k) && exhausted.is_none_or(|j| j < n_types) && first(proof)
        };
        if !self.greedy.steps.iter().all(|s| step(s.pool, &s.configuration, s.exhausted, &s.first)) {
            return wrong("greedy");
        }
        let Optimum { assignment, prices, pricing, .. } = &self.optimum;
        let pricing_fits = pricing.iter().all(|proof| match proof {
            PricingProof::Tree { multipliers: list, .. } => multipliers(list),
            _ => true,
        });
        if !assignment.servers.iter().all(|(i, k, _)| pool_and_configuration(*i, k))
            || [assignment.served.len(), prices.load.len(), prices.slot.len()] != [n_types; 3]
            || [prices.server.len(), pricing.len()] != [n_pools; 2]
            || !pricing_fits
        {
            return wrong("optimum");
        }
        let Some(whole) = &self.integer else { return Ok(()) };
        if !whole.greedy.steps.iter().all(|s| step(s.pool, &s.configuration, s.exhausted, &s.first))
            || !whole.assignment.servers.iter().all(|(i, k, _)| pool_and_configuration(*i, k))
            || whole.assignment.served.len() != n_types
        {
            return wrong("integer");
        }
        Ok(())
    }
}
