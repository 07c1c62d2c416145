//! A second checker, as simple as the definitions of docs/axioms.md. It uses dense rational loops and no
//! common denominators, and shares no code with `evenhand-exact` except its types. This module judges
//! certificates of allocations. [`ratio`] and [`worst_load`] judge the other kinds.

pub mod alone;
mod cluster;
mod feasibility;
mod filled;
#[cfg(feature = "filling")]
pub mod filling;
mod groups;
mod held_back;
pub mod karma;
pub mod migrations;
pub mod optimal;
pub mod packings;
mod pairs;
mod parties;
mod places;
pub mod plan;
pub mod promises;
mod proofs;
mod proportional;
pub mod ps_dsf;
pub mod queues;
pub mod ratio;
mod reach;
mod shares;
pub mod starts;
pub mod tree;
pub mod usage;
pub mod waits;
pub mod window;
mod within;
pub mod worst_load;

use std::collections::HashSet;

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Tasks};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Allocation, Placement, Problem, Rational, Sharing};

pub use self::cluster::Cluster;

/// A number for each user and class, such as `x_ni`.
pub type Matrix = Vec<Vec<Rational>>;

/// An allocation of a problem, as stated and as judged after its repair.
pub struct Plain<'a> {
    pub cluster: Cluster<'a>,
    pub stated: Matrix,
    pub x: Matrix,
    pub placements: Option<Vec<Placement>>,
}

pub fn zero() -> Rational {
    Rational::new()
}

impl<'a> Plain<'a> {
    pub fn new(p: &'a Problem, allocation: &Allocation) -> Self {
        let cluster = Cluster::new(p, allocation.sharing);
        let stated = cluster.dense(&allocation.tasks);
        let placements = allocation.placements.clone();
        let x = if placements.is_some() { cluster.cleared(&stated) } else { cluster.repaired(&stated) };
        Self { cluster, stated, x, placements }
    }

    /// Creates an allocation without repair, as evidence states it.
    pub fn of_tasks(p: &'a Problem, sharing: Sharing, tasks: &Tasks) -> Self {
        let cluster = Cluster::new(p, sharing);
        let stated = cluster.dense(tasks);
        Self { x: stated.clone(), stated, cluster, placements: None }
    }

    pub fn p(&self) -> &'a Problem {
        self.cluster.p
    }

    pub fn total(&self, n: usize) -> Rational {
        self.x[n].iter().sum()
    }

    pub fn users(&self) -> std::ops::Range<usize> {
        0..self.p().n_users()
    }

    pub fn active(&self) -> Vec<usize> {
        self.users().filter(|&n| self.cluster.active[n]).collect()
    }

    /// Returns the judged tasks that are not 0.
    pub fn tasks(&self) -> Tasks {
        let of = |on: &Vec<Rational>| on.iter().cloned().enumerate().filter(|(_, x)| !x.is_zero()).collect();
        self.x.iter().map(of).collect()
    }

    /// Returns the largest `|x_ni - stated x_ni| / g_n`. Users with a `g_n` of 0 count as 0.
    pub fn repair(&self) -> Rational {
        let mut most = zero();
        for n in self.active() {
            for (x, stated) in self.x[n].iter().zip(&self.stated[n]) {
                most = most.max(Rational::from(x - stated).abs() / &self.cluster.g[n]);
            }
        }
        most
    }
}

/// Returns `true` if everything that the certificate states is true.
pub fn is_true(certificate: &Certificate) -> bool {
    fault(certificate).is_none()
}

/// Returns a description of a false statement in the certificate, if there is one.
pub fn fault(certificate: &Certificate) -> Option<String> {
    let Certificate { problem, allocation, problem_sha256: hash, tolerance, claims, not_checked } =
        certificate;
    if *tolerance < 0 || *tolerance >= 1 || claims.is_empty() {
        return Some("tolerance, or nothing claimed".to_owned());
    }
    if hash.as_ref().is_some_and(|hash| *hash != problem_sha256(problem)) {
        return Some("hash".to_owned());
    }
    let mut seen = HashSet::new();
    for claim in claims {
        let named = not_checked.iter().any(|name| name == claim.axiom.name());
        if named || !seen.insert((claim.axiom.name(), claim.share, claim.alpha.clone())) {
            return Some(format!("{} claimed twice", claim.axiom.name()));
        }
    }
    let plain = Plain::new(problem, allocation);
    let is_feasible = plain.is_feasible(tolerance);
    let about_feasibility = |axiom| matches!(axiom, Axiom::Feasible | Axiom::IntegerFeasible);
    let mut false_ones = claims.iter().filter(|claim| {
        !(is_feasible || about_feasibility(claim.axiom))
            || !is_claim_true(&plain, claim, tolerance).unwrap_or(false)
    });
    false_ones.next().map(|claim| format!("{claim:?}"))
}

/// The facts that evidence shows: a margin, and the only verdict that the evidence can support. The margin is
/// `None` if no amounts are compared. The verdict is `None` if the evidence can support either verdict.
pub struct Shown {
    pub margin: Option<Rational>,
    pub holds: Option<bool>,
}

fn is_claim_true(x: &Plain<'_>, claim: &Claim, tolerance: &Rational) -> Option<bool> {
    let takes_share = matches!(claim.axiom, Axiom::MaxMin | Axiom::MaxMinPackings | Axiom::Proportional);
    if claim.axiom == Axiom::MaxMinPackings && !packings::is_about(claim.share) {
        return Some(false);
    }
    if claim.share.is_some() && !takes_share || claim.alpha.is_some() != (claim.axiom == Axiom::Proportional)
    {
        return Some(false);
    }
    let applies = x.applies(claim);
    let Some(holds) = claim.holds else {
        let bare = claim.margin.is_none() && claim.evidence == Evidence::None && claim.why.is_some();
        return Some(bare && !applies);
    };
    if !applies || claim.why.is_some() {
        return Some(false);
    }
    if claim.axiom == Axiom::Proportional {
        return x.proportional(claim, holds, tolerance);
    }
    // If the allocation alone decides a claim, the evidence of the claim is not read.
    let of_allocation = |margin| Some(Shown { margin, holds: None });
    let shown = match claim.axiom {
        Axiom::Feasible => of_allocation(x.tightest(false)),
        Axiom::IntegerFeasible => of_allocation(x.tightest(true)),
        Axiom::NonWasteful => of_allocation(Some(zero())),
        Axiom::EnvyFree | Axiom::Ef1 | Axiom::SharingIncentive => of_allocation(x.least(claim.axiom)),
        Axiom::WorkConserving => of_allocation(x.work_conserving_margin()),
        Axiom::Njc => of_allocation(x.njc_margin()),
        Axiom::PsDsf => of_allocation(x.ps_dsf_margin()),
        Axiom::Limits => of_allocation(x.limits_margin()),
        Axiom::Guarantees => of_allocation(x.guarantees_margin()),
        Axiom::GroupSharingIncentive | Axiom::GroupEnvyFree => x.of_parties(claim),
        Axiom::Tree => x.of_filling(claim),
        Axiom::MaxMinPackings => x.of_packings(claim),
        Axiom::OptimalEnvyFree | Axiom::OptimalEqual => x.of_optimal(claim),
        _ => x.proof(claim),
    }?;
    // On single servers, tasks fit exactly or not at all.
    let placed = x.placements.is_some()
        && matches!(claim.axiom, Axiom::Feasible | Axiom::IntegerFeasible | Axiom::WorkConserving);
    let tolerated = if placed { zero() } else { tolerance.clone() };
    let within = shown.margin.as_ref().is_none_or(|margin| *margin >= -tolerated);
    Some(shown.margin == claim.margin && within == holds && shown.holds.is_none_or(|of| of == holds))
}
