//! Whether more load may earn greedy less (Reservation, Definition 3.8), with what proves the answer.

use evenhand_exact::ratio::RatioCertificate;
use evenhand_packing::monotone::{self as search, Order};
use evenhand_packing::{MaxReward, SearchLimits};
use evenhand_problem::Reservation;

use super::{RatioError, certificate_within};

/// Orders that are kept as the proof; all there are with six types, and with most sets of seven.
const MOST_KEPT: usize = 10_000;

/// The answer, with its proof.
#[derive(Debug, Clone, PartialEq)]
pub enum Monotone {
    /// More load never earns greedy less.
    Holds {
        /// In how many orders types can run out.
        orders: usize,
        /// All of them. In each the reward is linear in the loads, no derivative is negative, and loads that differ
        /// are joined by a way through finitely many. Empty where there are too many to be kept.
        proof: Vec<Order>,
    },
    /// It may: with the larger loads greedy earns less than with the smaller ones.
    Fails(Box<Refutation>),
}

/// Two loads, no type with less in the second, of which the second earns greedy less; each with the certificate that proves
/// what greedy earns.
#[derive(Debug, Clone, PartialEq)]
pub struct Refutation {
    /// With the smaller loads.
    pub smaller: RatioCertificate,
    /// With the larger loads.
    pub larger: RatioCertificate,
    /// Why the kernel gave no verdict on one of them: judging it would take more than it is allowed.
    pub unchecked: Option<String>,
}

/// Decides whether more load never earns greedy less with the types of a problem of one pool, whose loads and number of
/// servers play no part. The kernel has accepted the certificates of a no, unless one was too large for it.
///
/// # Errors
/// [`RatioError`]; [`PackingError::SeveralPools`](evenhand_packing::PackingError::SeveralPools) among them.
///
/// # Examples
/// Two types are always monotone.
/// ```
/// use evenhand_certify::ratio::{Monotone, monotone};
/// use evenhand_packing::SearchLimits;
/// use evenhand_problem::format::Source;
/// let text = r#"{"kind": "reservation-problem", "resources": ["cpu"],
///     "servers": [{"name": "pool", "capacity": {"cpu": 3}}],
///     "jobs": [{"name": "a", "demand": {"cpu": 2}, "reward": 5},
///              {"name": "b", "demand": {"cpu": 1}, "reward": 2}]}"#;
/// let problem = Source { name: "p.json", text }.reservation().unwrap();
/// let found = monotone(&problem, &SearchLimits::default()).unwrap();
/// assert!(matches!(found, Monotone::Holds { .. }));
/// ```
pub fn monotone(problem: &Reservation, limits: &SearchLimits) -> Result<Monotone, RatioError> {
    let mut best = MaxReward::within(problem, limits);
    let mut proof = Vec::new();
    let found = search::monotone(&mut best, &mut |order| {
        if proof.len() <= MOST_KEPT {
            proof.push(order.clone());
        }
    })?;
    match found {
        search::Monotone::Holds { orders } => {
            if orders > MOST_KEPT {
                proof = Vec::new();
            }
            Ok(Monotone::Holds { orders, proof })
        }
        search::Monotone::Fails { smaller, larger, .. } => {
            let [smaller, larger] =
                [smaller, larger].map(|loads| certificate_within(&problem.with_loads(&loads), limits));
            let (smaller, larger) = (smaller?, larger?);
            let refutation = Refutation {
                unchecked: smaller.unchecked.or(larger.unchecked),
                smaller: smaller.certificate,
                larger: larger.certificate,
            };
            if !refutation.refutes() {
                return Err(RatioError::NoRefutation);
            }
            Ok(Monotone::Fails(Box::new(refutation)))
        }
    }
}

impl Refutation {
    /// Whether no load is smaller in the second, and its reward is.
    fn refutes(&self) -> bool {
        let [less, more] = [&self.smaller, &self.larger].map(|with| with.problem.loads());
        less.iter().zip(&more).all(|(a, b)| a <= b) && self.larger.greedy.reward < self.smaller.greedy.reward
    }
}
