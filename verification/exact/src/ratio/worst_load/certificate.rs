//! What a worst-load certificate holds and claims.

use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};

use crate::ratio::certificate::is_of_kind;
use crate::ratio::fits::Fits;
use crate::ratio::greedy::Greedy;
use crate::ratio::optimum::{Assignment, PackingPrices};
use crate::ratio::proof::{FirstProof, PricingProof};
use crate::ratio::shape::Configuration;
use crate::refusal::Refusal;

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

    /// That all indices are in range and all vectors are as long as they have to be.
    pub(super) fn check_shape(&self) -> Result<(), Refusal> {
        let n_types = self.problem.n_types();
        if self.problem.n_pools() != 1 {
            return Err(Refusal::new("problem: it has several pools"));
        }
        let fits = Fits { problem: &self.problem };
        let wrong = |what: &str| Err(Refusal::new(format!("{what}: it is not about this problem")));
        let ascending = |open: &[usize]| {
            open.windows(2).all(|pair| pair[0] < pair[1]) && open.last().is_none_or(|j| *j < n_types)
        };
        if self.loads.len() != n_types {
            return wrong("loads");
        }
        if !fits.greedy(&self.greedy) {
            return wrong("greedy");
        }
        if !fits.assignment(&self.optimum) {
            return wrong("optimum");
        }
        let first = |first: &First| {
            ascending(&first.open) && fits.placed(0, &first.configuration) && fits.first(&first.first)
        };
        if !self.firsts.iter().all(first) {
            return wrong("firsts");
        }
        // Orders are compared with those of the walk.
        if !self.claims.iter().all(|claim| fits.prices(&claim.prices) && fits.pricing(&claim.pricing)) {
            return wrong("claims");
        }
        Ok(())
    }
}
