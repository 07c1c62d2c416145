//! Worst-load certificates: the least fraction of the optimum that greedy earns with some job types, under any load.
//!
//! A certificate is one JSON file in which all items appear by name. Zeros are omitted. `FIRST`, `PRICING`, `greedy`
//! and the fields of `optimum` have the same form as in [ratio certificates](super):
//!
//! ```text
//! {"kind": "worst-load-certificate", "version": 1,
//!  "problem":     the reservation problem, with one pool; its loads and counts have no effect,
//!  "ratio_lower": a | null if no type has a reward; then ratio_upper is null too, and all lists are empty,
//!  "ratio_upper": greedy's reward over the optimum's, both as below,
//!  "loads":       {job: rho},
//!  "greedy":      {"reward", "steps"} with these loads,
//!  "optimum":     {"reward", "assignment", "served"} with these loads,
//!  "firsts":      [{"open": [job], "configuration": {job: k}, "first": FIRST}],
//!  "claims":      [{"order": [job], "covers": "all" | "end",
//!                   "prices": {"load": {job: alpha}, "slot": {job: beta}, "server": {pool: pi}},
//!                   "pricing": PRICING}]}
//! ```
//!
//! A valid certificate proves the following for all loads `rho >= 0` per server and the fluid problem:
//!
//! 1. Greedy earns at least `ratio_lower` of the optimum, with every `rho`.
//! 2. With `loads` it earns at most `ratio_upper` of the optimum.
//!
//! If the two ratios are equal, they are the exact infimum, and the loads attain it. The order of the types is part of
//! the problem, because it decides how greedy breaks ties.
//!
//! # Why the claims prove the lower ratio
//! Greedy uses the first configuration of the open types until one of its types runs out. Let the types
//! `phi_1, ..., phi_(t-1)` run out in this order (types that run out at the same time in any order, with steps of no
//! servers). Let `K_l` be the first configuration of all types except `phi_1, ..., phi_(l-1)`, and let `z_l >= 0`
//! servers have it.
//!
//! *The servers run out in step `t`.* Then `sum_l z_l = 1`, greedy earns `sum_l z_l U(K_l)`, and
//! `rho_j = sum_(l <= i) z_l K_l[j]` for `j = phi_i`. Let prices `alpha, beta, pi >= 0` satisfy
//!
//! - `alpha_j + beta_j >= a u_j` for every type, and `alpha_j = 0` for types that are not in the order,
//! - `sum_j beta_j k_j <= pi` for every feasible configuration `k` (a [`PricingProof`]),
//! - `pi + sum_(i >= l) alpha_(phi_i) K_l[phi_i] <= V_l` for `l = 1, ..., t`, with `V_l = U(K_l)`.
//!
//! By the first two conditions they are prices of `a` times the programme, so that
//! `a optimum <= sum_j alpha_j rho_j + pi = sum_l z_l (pi + sum_(i >= l) alpha_(phi_i) K_l[phi_i])`. By the third
//! condition this is at most the reward of greedy. A claim that covers the `end` states exactly this.
//!
//! *All orders with this beginning.* Let `V_t` be the least reward of a server full of one open type. No later step
//! uses a configuration that is worth less, because its open types are among these. A claim that covers `all` is the
//! same with this `V_t`. The third condition for `l = t` then says `pi <= V_t`. It covers every step from `t` on.
//!
//! *All types run out first.* Then greedy serves every job, and earns at least `a` of the optimum, since `a <= 1`.
//!
//! The claims are in the order of a depth-first walk from the empty order. A claim that covers `all` settles its node.
//! A claim that covers the `end` is followed by the walks of the orders that are longer by one type of its last
//! configuration, in the order of the types. A node without open types has no claim.

use crate::ratio::certificate::is_of_kind;
use crate::ratio::proof::{FirstProof, PricingProof};
use crate::ratio::{Assignment, Configuration, Greedy, PackingPrices};
use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};

mod read;
mod write;

/// The `kind` of a worst-load certificate.
pub const KIND: &str = "worst-load-certificate";
/// The version of the format that is written. Only this version is read.
pub const VERSION: u32 = 1;

/// The least ratio of greedy to the optimum over all loads, between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstLoadCertificate {
    /// The job types and servers. The loads of the problem have no effect.
    pub problem: Reservation,
    /// A lower bound on the ratio under all loads. `None` if no type has a reward.
    pub ratio_lower: Option<Rational>,
    /// An upper bound on the ratio, which [`loads`](Self::loads) attain. `None` if no type has a reward.
    pub ratio_upper: Option<Rational>,
    /// The load of each type, per server.
    pub loads: Vec<Rational>,
    /// The assignment of greedy with these loads.
    pub greedy: Greedy<Rational>,
    /// An assignment with these loads, whose reward bounds the ratio.
    pub optimum: Assignment<Rational>,
    /// The configurations that greedy uses, with their proofs.
    pub firsts: Vec<First>,
    /// The claims that no loads have a ratio below `ratio_lower`, in depth-first order.
    pub claims: Vec<PrefixClaim>,
}

/// The first configuration of some types.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    /// The open types, ascending.
    pub open: Vec<usize>,
    /// The first configuration of these types.
    pub configuration: Configuration,
    /// The proof that the configuration is the first.
    pub first: FirstProof,
}

/// A claim that no loads of some orders have a smaller ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixClaim {
    /// The types that run out, in order.
    pub order: Vec<usize>,
    /// The orders that the claim covers.
    pub covers: Covers,
    /// The prices `alpha`, `beta` and, for the only pool, `pi`.
    pub prices: PackingPrices,
    /// The proof that no configuration is worth more than `pi`.
    pub pricing: PricingProof,
}

/// The orders that a claim covers, after the types of its order have run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// All orders with this beginning.
    All,
    /// Only this order: the servers run out next.
    End,
}

/// Returns true if the `kind` of a text is that of a worst-load certificate.
#[must_use]
pub fn is_worst_load_certificate(source: &Source<'_>) -> bool {
    is_of_kind(source, KIND)
}

impl WorstLoadCertificate {
    /// Returns the claims of the certificate. Each claim is one sentence.
    #[must_use]
    pub fn claims(&self) -> Vec<String> {
        let (Some(lower), Some(upper)) = (&self.ratio_lower, &self.ratio_upper) else {
            return vec!["there is nothing to earn, whatever the load".to_owned()];
        };
        let reached = if lower == upper {
            "with the stated loads it earns no more than that".to_owned()
        } else {
            format!("with the stated loads it earns at most {upper} of the optimum")
        };
        vec![format!("greedy earns at least {lower} of the optimum, whatever the load"), reached]
    }
}
