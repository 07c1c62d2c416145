//! What a worst-load certificate holds and claims.

use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};

use crate::ratio::certificate::is_of_kind;
use crate::ratio::packing::{Assignment, Configuration, Greedy, PackingPrices};
use crate::ratio::proof::{FirstProof, PricingProof};

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
