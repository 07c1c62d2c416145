//! Worst-load certificates: the least part of the optimum that greedy earns with some types, whatever
//! the load.
//!
//! One JSON file, by name, zeros left out; `FIRST`, `PRICING`, `greedy` and the fields of `optimum` are
//! those of [ratio certificates](super):
//!
//! ```text
//! {"kind": "worst-load-certificate", "version": 1,
//!  "problem":     the reservation problem, with one pool; its loads and counts play no part,
//!  "ratio_lower": a | null where no type has a reward; then ratio_upper too, and nothing follows,
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
//! What a valid certificate proves, for all loads `rho >= 0` per server and the fluid problem:
//! 1. greedy earns at least `ratio_lower` of the optimum, with every `rho`;
//! 2. with `loads` it earns at most `ratio_upper` of it.
//!
//! Equal numbers are the exact infimum, and the loads attain it. The order of the types belongs to the
//! problem: it decides what greedy does with ties.
//!
//! # Why the claims prove the lower ratio
//! Greedy takes the first configuration of the types that are open until one of its types runs out. Let
//! the types `phi_1, ..., phi_(t-1)` run out in this order (those at once in any order, with steps of no
//! servers), and let `K_l` be the first configuration of all types but `phi_1, ..., phi_(l-1)`, of which
//! `z_l >= 0` servers are filled.
//!
//! *The servers end in step `t`.* Then `sum_l z_l = 1`, greedy earns `sum_l z_l U(K_l)`, and
//! `rho_j = sum_(l <= i) z_l K_l[j]` for `j = phi_i`. Let prices `alpha, beta, pi >= 0` satisfy
//!
//! * `alpha_j + beta_j >= a u_j` for every type, and `alpha_j = 0` for those that are not in the order,
//! * `sum_j beta_j k_j <= pi` for every feasible configuration `k` (a [`PricingProof`]),
//! * `pi + sum_(i >= l) alpha_(phi_i) K_l[phi_i] <= V_l` for `l = 1, ..., t`, with `V_l = U(K_l)`.
//!
//! The first two make them prices of `a` times the programme, so that
//! `a optimum <= sum_j alpha_j rho_j + pi = sum_l z_l (pi + sum_(i >= l) alpha_(phi_i) K_l[phi_i])`,
//! which the third bounds by what greedy earns. A claim that covers the `end` is this.
//!
//! *All orders that begin so.* Let `V_t` be the least reward of a server full of one open type. No later
//! step uses a configuration that is worth less, since its open types are some of these. A claim that
//! covers `all` is the same with this `V_t`; `pi <= V_t` is what it says about every step from `t` on.
//!
//! *All types run out first.* Then greedy serves everything, and earns `a` of it as `a <= 1`.
//!
//! The claims stand in the order of a depth-first walk from the empty order: a claim that covers all
//! settles its node. One that covers the end is followed by the walks of the orders that are longer by
//! one type of its last configuration, in the order of the types; without open types there is none.

use crate::ratio::certificate::is_of_kind;
use crate::ratio::proof::{FirstProof, PricingProof};
use crate::ratio::{Assignment, Configuration, Greedy, PackingPrices};
use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};

mod read;
mod write;

/// What `kind` says in a worst-load certificate.
pub const KIND: &str = "worst-load-certificate";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The least ratio of greedy and the optimum over all loads, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstLoadCertificate {
    /// Types and servers. Its own loads play no part.
    pub problem: Reservation,
    /// No loads have a smaller ratio; `None` where no type has a reward.
    pub ratio_lower: Option<Rational>,
    /// [`loads`](Self::loads) have no larger one; `None` where no type has a reward.
    pub ratio_upper: Option<Rational>,
    /// Loads per server, by type.
    pub loads: Vec<Rational>,
    /// What greedy does with these loads.
    pub greedy: Greedy<Rational>,
    /// What can be done with these loads.
    pub optimum: Assignment<Rational>,
    /// The configurations that greedy uses.
    pub firsts: Vec<First>,
    /// That no loads have a smaller ratio than the lower one: depth first.
    pub claims: Vec<PrefixClaim>,
}

/// The first configuration of some types.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    /// The types that are open, ascending.
    pub open: Vec<usize>,
    /// Their first configuration.
    pub configuration: Configuration,
    /// Why it is.
    pub first: FirstProof,
}

/// That no loads of some orders have a smaller ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixClaim {
    /// The types that run out, in order.
    pub order: Vec<usize>,
    /// What comes next.
    pub covers: Covers,
    /// `alpha`, `beta` and, for the one pool, `pi`.
    pub prices: PackingPrices,
    /// Why no configuration is worth more than `pi`.
    pub pricing: PricingProof,
}

/// What a claim is about, after the types of its order have run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// Whatever comes next: all orders that begin so.
    All,
    /// The servers run out next.
    End,
}

/// Whether a text is a worst-load certificate by its `kind`, and no other document.
#[must_use]
pub fn is_worst_load_certificate(source: &Source<'_>) -> bool {
    is_of_kind(source, KIND)
}

impl WorstLoadCertificate {
    /// What it claims, one sentence each.
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
