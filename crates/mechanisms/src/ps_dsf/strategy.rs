//! The strategy: all methods that are tried to compute PS-DSF allocations with divided resources, as data.
//!
//! PS-DSF allocations exist (docs/theory.md, section 4, Theorem A), but no procedure is known that always
//! reaches such an allocation. The search works as follows:
//!
//! 1. The problem is put into an order that does not depend on its file (`canonical`).
//! 2. The [`STARTS`] are tried in turn until the [`Budget`] is spent. Each start leads to one answer or to none.
//! 3. From each start, the [`ATTEMPTS`] are made in turn until one succeeds. An attempt first sweeps over the classes
//!    a few times. A sweep fills each class, given the tasks on the other classes (`water_filling`). The attempt then
//!    reads an active set from the point reached, and follows a piecewise linear homotopy from there (`homotopy`) in
//!    each of the [`DIRECTIONS`] until one path ends. If no path ends, it starts [again](RESTARTS) from the point with
//!    the smallest perturbation.
//! 4. The active set at the end of a homotopy is a candidate (`candidates`). Its linear equations are solved in
//!    rationals, and Theorem 1 decides whether the solution is an answer (`crate::lift`). The first solution that
//!    passes is the answer of the start.
//! 5. If no start has led to an answer, neighbours of the active set of the closest candidate are tried
//!    (`neighbours`).
//! 6. Of all answers with different totals, the answer that serves most tasks is returned, or the best answer for the
//!    goal of `--select` (`search`).

use super::homotopy::{Direction, Reading};
use crate::max_min::{DRFH, TSF};
use crate::mechanism::Mechanism;

/// The starting point of sweeps, and the order in which they visit the classes.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// An empty cluster, with the classes in the order that `--order` names.
    Named,
    /// An empty cluster, with the smallest class first.
    Ascending,
    /// An empty cluster, with the largest class first.
    Descending,
    /// The allocation of another mechanism. It is returned unchanged if it is PS-DSF.
    Mechanism(&'static Mechanism),
    /// An empty cluster, with the classes in a random order with this seed.
    Shuffled(u64),
}

impl Start {
    /// Returns the description of the start for people.
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
    // The cheapest start. Users that fit on a small class are placed before the large classes make the levels equal.
    Start::Ascending,
    // Max-min fair shares of the whole cluster. If they are PS-DSF, they are also Pareto optimal.
    Start::Mechanism(&DRFH),
    // Max-min fair shares by tasks, as PS-DSF counts them. They respect the placement constraints.
    Start::Mechanism(&TSF),
    // The opposite order: large classes first often lead to another answer.
    Start::Descending,
    // Two random orders, in case all other orders share a property that prevents an answer.
    Start::Shuffled(1),
    Start::Shuffled(2),
];
/// The thirty seeds of the additional shuffled starts with `--select`. They are tried as long as the budget
/// lasts.
pub const SHUFFLES_OF_SELECT: std::ops::RangeInclusive<u64> = 3..=32;

/// The limits of a search in steps. A step is the reading of one number, and one core does about 10^9 steps a
/// second. Steps are counted instead of time so that the result is the same on every machine.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The number of steps after which the search stops once it has an answer.
    pub with_an_answer: u64,
    /// The number of steps after which the search ends without an answer.
    pub without: u64,
}

/// The budget of a search. It takes about a second after an answer was found, and up to 40 seconds without an
/// answer.
pub const BUDGET: Budget = Budget { with_an_answer: 1_000_000_000, without: 40_000_000_000 };
/// The budget with `--select`, which explicitly requests a search. It takes about ten seconds.
pub const BUDGET_OF_SELECT: Budget = Budget { with_an_answer: 10_000_000_000, ..BUDGET };

/// A number of sweeps, and the homotopies that start at the point that the sweeps reach.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// The number of sweeps, in addition to the sweeps of earlier attempts from the same start.
    pub sweeps: usize,
    /// The parameters by which the active set is read from the point that the sweeps reach.
    pub reading: Reading,
}

const fn attempt(sweeps: usize, negligible: f64, noise: f64, headroom: f64, seed: u64) -> Attempt {
    Attempt { sweeps, reading: Reading { negligible, noise, headroom, seed } }
}

/// The attempts from one start.
///
/// Of 92,000 starts on random and real problems, the first attempt led 99.1 % to an answer, the second 0.6 %, and the
/// last two together 38 starts. On 3,000 small random problems, the first start always led to an answer, and the last
/// two attempts were never made.
pub const ATTEMPTS: [Attempt; 6] = [
    // Ten sweeps settle most bottlenecks. A perturbation of 1e-4 is far above rounding errors, and paths end near the
    // point.
    attempt(10, 1e-4, 1e-4, 2.0, 1),
    // The same point with perturbations ten times as large, so that ties are broken differently.
    attempt(0, 1e-4, 1e-3, 10.0, 2),
    // After more sweeps, active sets can be read with a smaller threshold. This matters if classes differ by a factor
    // of 10^6.
    attempt(10, 1e-6, 1e-6, 2.0, 3),
    // Large thresholds, for points that the sweeps approach slowly or around which they cycle.
    attempt(0, 1e-2, 1e-2, 2.0, 4),
    // Many more sweeps and large perturbations lead far from the point, to completely different active sets.
    attempt(60, 1e-2, 1e-1, 10.0, 7),
    // The perturbations are as large as the problem, so the starting point is nearly random.
    attempt(0, 1e-2, 1.0, 10.0, 8),
];

/// The number of homotopies of one attempt. The first homotopy starts from the sweeps, and each further
/// homotopy starts from the least perturbed point of the previous homotopy. The second homotopy solves 58 %
/// of the starts that are still unsolved, the third 36 %, and the fourth 19 %. The next attempt then solves
/// 22 % of the rest.
pub const RESTARTS: u64 = 4;
/// The directions along a homotopy from its start. The first leads towards the unperturbed problem. The
/// second is tried if that half of the path does not end at the unperturbed problem.
pub const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

/// The largest residual of Theorem 1 at the end of a homotopy that is accepted as a candidate. It is above
/// the rounding errors of solutions, and far below the residuals of wrong active sets.
pub const CANDIDATE: f64 = 1e-9;
