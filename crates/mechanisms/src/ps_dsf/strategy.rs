//! Everything that is tried to find PS-DSF allocations with divided resources, as data.
//!
//! PS-DSF allocations exist (docs/theory.md, section 4, Theorem A), but no procedure is known to reach one
//! always. The whole flow is this:
//!
//! 1. The problem is put into an order that its file does not decide (`canonical`).
//! 2. The [`STARTS`] are tried in turn until the [`Budget`] is spent; each leads to one answer or none.
//! 3. From a start the [`ATTEMPTS`] are made in turn until one succeeds. An attempt sweeps over the classes a
//!    few times, filling each as the others are (`water_filling`), reads an active set off the point that it
//!    has reached, and follows a piecewise linear homotopy from there (`homotopy`) in each of the
//!    [`DIRECTIONS`] until one ends. Where none does, it starts [again](RESTARTS) from the least perturbed
//!    point that was seen.
//! 4. The active set at the end of a homotopy is a candidate (`candidates`): its linear equations are solved
//!    in rationals, and Theorem 1 decides (`crate::lift`). The first that passes is the answer of the start.
//! 5. Where no start has led to an answer, active sets beside the closest candidate are tried (`beside`).
//! 6. Of all answers that serve different totals the one that serves most tasks is returned, or the best one
//!    for the goal of `--select` (`search`).

use super::homotopy::{Direction, Reading};
use crate::max_min::{DRFH, TSF};
use crate::mechanism::Mechanism;

/// Where sweeps begin, and the order in which they go over the classes.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// An empty cluster, the classes in the order that `--order` names.
    Named,
    /// An empty cluster, the smallest class first.
    Ascending,
    /// An empty cluster, the largest class first.
    Descending,
    /// The allocation of another mechanism, which is returned as it is where it is PS-DSF.
    Mechanism(&'static Mechanism),
    /// An empty cluster, the classes in a random order with this seed.
    Shuffled(u64),
}

impl Start {
    /// For people.
    pub fn name(self) -> String {
        match self {
            Self::Named => "empty, classes in the order named".to_owned(),
            Self::Ascending => "empty, the smallest class first".to_owned(),
            Self::Descending => "empty, the largest class first".to_owned(),
            Self::Mechanism(other) => format!("the {} answer", other.info.id.to_uppercase()),
            Self::Shuffled(seed) => format!("empty, classes shuffled ({seed})"),
        }
    }
}

/// The starts without `--order`.
pub static STARTS: [Start; 6] = [
    // The cheapest one. Whoever fits on a small class is placed before the large ones even things out.
    Start::Ascending,
    // Max-min fair shares of the whole cluster: where they are PS-DSF, they are Pareto optimal besides.
    Start::Mechanism(&DRFH),
    // The same with shares by tasks, as PS-DSF counts them; it knows the placement constraints.
    Start::Mechanism(&TSF),
    // The other extreme of the orders: large classes first often leads to another answer.
    Start::Descending,
    // Two orders of no particular kind, for what the others have in common.
    Start::Shuffled(1),
    Start::Shuffled(2),
];
/// Seeds of the shuffled starts that `--select` tries besides: thirty more, as long as its budget lasts.
pub const SHUFFLES_OF_SELECT: std::ops::RangeInclusive<u64> = 3..=32;

/// Limits in steps: numbers that are looked at, about 10^9 a second on one core. They are counted, so that
/// what is found is the same on every machine.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Steps after which no further start is tried, and none goes on, once there is an answer.
    pub with_an_answer: u64,
    /// Steps after which the search ends without an answer.
    pub without: u64,
}

/// The budget of a search: about a second once there is an answer, up to 40 without one.
pub const BUDGET: Budget = Budget { with_an_answer: 1_000_000_000, without: 40_000_000_000 };
/// The same with `--select`, which is asked to search: about ten seconds.
pub const BUDGET_OF_SELECT: Budget = Budget { with_an_answer: 10_000_000_000, ..BUDGET };

/// Sweeps, and homotopies from where they end.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// Sweeps before it, beside those of the attempts before from the same start.
    pub sweeps: usize,
    /// How the active set is read off the point that the sweeps reach.
    pub reading: Reading,
}

const fn attempt(sweeps: usize, negligible: f64, noise: f64, headroom: f64, seed: u64) -> Attempt {
    Attempt { sweeps, reading: Reading { negligible, noise, headroom, seed } }
}

/// The attempts from one start. Of 92,000 starts on random and real problems the first ended 99.1 % with an
/// answer, the second 0.6 %, the last two together 38. On 3,000 small random problems the first start always had an answer,
/// and the last two attempts were never made.
pub const ATTEMPTS: [Attempt; 6] = [
    // Ten sweeps settle most bottlenecks; a perturbation of 1e-4 is far above rounding and ends near the limit.
    attempt(10, 1e-4, 1e-4, 2.0, 1),
    // The same point with perturbations ten times as large, so that ties are broken in another way.
    attempt(0, 1e-4, 1e-3, 10.0, 2),
    // After more sweeps active sets can be read more sharply, which counts where classes differ by 10^6.
    attempt(10, 1e-6, 1e-6, 2.0, 3),
    // Bluntly, for points that the sweeps approach slowly or go round in circles.
    attempt(0, 1e-2, 1e-2, 2.0, 4),
    // Far from the point, after many more sweeps: other active sets altogether.
    attempt(60, 1e-2, 1e-1, 10.0, 7),
    // As far away as the problem is large: what is left of the point is little more than a random one.
    attempt(0, 1e-2, 1.0, 10.0, 8),
];

/// Homotopies of one attempt: the first, and three from the least perturbed point of the one before. Of those
/// starts that are left the second solves 58 %, the third 36 %, the fourth 19 %; the next attempt, 22 %.
pub const RESTARTS: u64 = 4;
/// Ways along a homotopy from its start: towards the unperturbed problem, and where that way does not end
/// there, the other half of the same path.
pub const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// Residual of Theorem 1 up to which the end of a homotopy is a candidate: above what rounding leaves of
/// the problems that are solved, far below what a wrong active set does.
pub const CANDIDATE: f64 = 1e-9;
