//! Decides whether greedy may earn less if loads grow (Reservation, Definition 3.8), with a proof of the answer.

use evenhand_exact::ratio::RatioCertificate;
use evenhand_packing::monotone::{self as search, Order};
use evenhand_packing::{MaxReward, SearchLimits};
use evenhand_problem::Reservation;

use super::{RatioError, certificate_within};

/// The largest number of orders that are stored as the proof. This suffices for all sets of six types and for most sets
/// of seven.
const MOST_KEPT: usize = 10_000;

/// The answer to the question whether greedy never earns less if loads grow, with its proof.
#[derive(Debug, Clone, PartialEq)]
pub enum Monotone {
    /// Greedy never earns less if loads grow.
    Holds {
        /// The number of orders in which types can run out.
        orders: usize,
        /// All these orders. In each order the reward is linear in the loads and no derivative is negative. Any two
        /// loads are joined by a path through finitely many of these orders. The list is empty if there are too many
        /// orders to be stored.
        proof: Vec<Order>,
    },
    /// Greedy may earn less if loads grow: it earns less from the larger loads than from the smaller loads.
    Fails(Box<Refutation>),
}

/// Two vectors of loads, where greedy earns less from the larger loads. No type has less load in the larger vector. A
/// certificate for each vector proves the reward of greedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Refutation {
    /// The certificate for the smaller loads.
    pub smaller: RatioCertificate,
    /// The certificate for the larger loads.
    pub larger: RatioCertificate,
    /// The reason why the kernel gave no verdict on one of the certificates: checking it would exceed the kernel's
    /// limits.
    pub unchecked: Option<String>,
}

/// Decides whether greedy never earns less if loads grow, with the types of a one-pool problem. The problem's own loads
/// and number of servers are ignored. If the answer is no, the kernel has accepted the certificates, unless one was too
/// large for it.
///
/// # Errors
/// [`RatioError`], such as [`PackingError::SeveralPools`](evenhand_packing::PackingError::SeveralPools).
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
    /// Returns true if no type has less load in `larger`, and greedy earns less from these loads.
    fn refutes(&self) -> bool {
        let [less, more] = [&self.smaller, &self.larger].map(|with| with.problem.loads());
        less.iter().zip(&more).all(|(a, b)| a <= b) && self.larger.greedy.reward < self.smaller.greedy.reward
    }
}
