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
//!  "integer":  {"greedy", "optimum"} of the same form, with whole numbers of servers and jobs}
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
//!    that of its prices, rounded down to a multiple of the greatest common divisor of the rewards.
//!
//! The forms of the proofs are in [`FirstProof`] and [`PricingProof`].

mod check;
mod fits;
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
pub mod worst_load;
mod write;

use evenhand_problem::format::Source;
use evenhand_problem::{Integer, Rational, Reservation};

use fits::Fits;

pub use check::{check, check_against, check_within};
pub use greedy::{Greedy, Step};
pub use optimum::{Assignment, Prices};
pub use proof::{FirstProof, MOST_CELLS, Multipliers, PricingProof, Tree, TreeNode};
pub use shape::{Configuration, sparse};
pub use write::MOST_BYTES;

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
    pub optimum: Optimum<Rational>,
    /// Greedy's reward over the bound; `None` where the bound is 0.
    pub ratio: Option<Rational>,
    /// The same with whole servers and jobs.
    pub integer: Option<Whole>,
}

/// An optimum, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum<T> {
    /// An assignment.
    pub assignment: Assignment<T>,
    /// No assignment earns more.
    pub bound: Rational,
    /// Why: the bound is theirs (whole jobs: rounded down to what whole jobs can earn).
    pub prices: Prices,
    /// Why no configuration is worth more than its server, by pool.
    pub pricing: Vec<PricingProof>,
}

/// Whole servers and whole jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The greedy placement.
    pub greedy: Greedy<Integer>,
    /// The optimum.
    pub optimum: Optimum<Integer>,
}

/// Whether a text is a ratio certificate by its `kind`, and no other document.
#[must_use]
pub fn is_ratio_certificate(source: &Source<'_>) -> bool {
    is_of_kind(source, KIND)
}

fn is_of_kind(source: &Source<'_>, kind: &str) -> bool {
    let is = || -> Result<bool, evenhand_problem::format::FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.get("kind").map_or(Ok(false), |raw| Ok(document.string(raw)? == kind))
    };
    is().unwrap_or(false)
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
                between(&whole.optimum.assignment.reward, &whole.optimum.bound)
            ));
        }
        claims
    }

    /// That all indices are in range and all vectors are as long as they have to be.
    fn check_shape(&self) -> Result<(), String> {
        let fits = Fits { problem: &self.problem };
        let wrong = |what: &str| Err(format!("{what}: it is not about this problem"));
        if !fits.greedy(&self.greedy) {
            return wrong("greedy");
        }
        if !fits.optimum(&self.optimum) {
            return wrong("optimum");
        }
        let Some(Whole { greedy, optimum }) = &self.integer else { return Ok(()) };
        if !fits.greedy(greedy) || !fits.optimum(optimum) {
            return wrong("integer");
        }
        Ok(())
    }
}
