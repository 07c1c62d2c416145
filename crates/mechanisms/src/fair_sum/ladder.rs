//! The methods that maximise a sum of utilities, in the order in which they are tried.
//!
//! | method | problems | accuracy |
//! |---|---|---|
//! | [`Method::Path`] | one server, exponent 1, objective in tasks, no `at_most` | rounding errors |
//! | [`Method::Interior`] | all | 1e-8 of the sum or better, but single users can be inaccurate |
//! | [`Method::Prices`] | up to 400 capacities and limits | each user accurate; tasks by class to about 1e-9 |
//! | [`Method::Wide`] | up to some 200 capacities and limits | 30 digits for every user |
//!
//! The next method is used if an exact check finds that the previous method was not accurate enough. In 1,920 problems
//! of many shapes, the interior point method left 31 problems unsolved. [`Method::Prices`] solved 16 of them and
//! [`Method::Wide`] the other 15. Without [`Method::Prices`], 560 problems of `alpha` take twice the time.
//! [`Method::Wide`] is needed if marginal utilities differ by a factor of 10^15 or more
//! (`benches/src/answers/mechanisms.rs` lists such problems for every exponent).

use evenhand_budget::{Limits, within, work_left};
use evenhand_exact::{Prices, ShareCoefficients};
use evenhand_ode::cluster::ClusterError;
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};

use super::{FairPoint, cluster, pool, wide};

/// The methods in the order in which they are tried.
const METHODS: [Method; 4] = [Method::Path, Method::Interior, Method::Prices, Method::Wide];

/// The objective: `sum_n w_n g_a(U_n)`, with `U_n = x_n` or, with a share, `U_n = sum_i u_ni x_ni`.
#[derive(Debug, Clone, Copy)]
pub struct Objective<'a> {
    pub constraints: &'a Constraints<'a>,
    /// The exponent `a`.
    pub alpha: &'a Rational,
    pub share: Option<&'a ShareCoefficients>,
}

/// A method that computes the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The central path in the space of the prices of one server. A server has few prices, one for each resource.
    Path,
    /// The interior point method for clusters, in doubles.
    Interior,
    /// Newton's method on the dual function of a cluster, in doubles.
    Prices,
    /// An interior point method in numbers of 640 bits.
    Wide,
}

/// An optimum in floating point.
pub struct Optimum {
    pub point: FairPoint,
    /// The optimum with more digits than doubles have, if the method computes them.
    pub digits: Option<Digits>,
}

/// A strictly feasible allocation and prices, both in long numbers.
pub struct Digits {
    /// The pairs `(class, tasks)` of each user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    pub prices: Prices,
}

impl Objective<'_> {
    /// Returns the optima of the methods in turn. Each optimum is computed lazily, so advance the iterator
    /// inside [`refined`].
    pub fn optima(&self) -> impl Iterator<Item = Result<Optimum, ClusterError>> {
        METHODS.into_iter().filter_map(|method| method.maximise(self).transpose())
    }

    /// Returns the optimum of the first method that succeeds.
    ///
    /// # Errors
    /// Returns [`ClusterError`] if the numbers leave the range of floating point or there are too many rows.
    pub fn first(&self) -> Result<FairPoint, ClusterError> {
        let first = self.optima().next().unwrap_or(Err(ClusterError::Alpha));
        first.map(|optimum| optimum.point)
    }
}

impl Method {
    /// Runs the method. Returns `None` if it does not support the problem or does not come near the optimum.
    fn maximise(self, sum: &Objective<'_>) -> Result<Option<Optimum>, ClusterError> {
        let Objective { constraints, alpha, share } = *sum;
        let in_doubles = |point| Optimum { point, digits: None };
        match self {
            Self::Path => {
                let problem = constraints.problem();
                let is_plain = share.is_none() && !problem.has_at_most();
                let applies = problem.n_servers() == 1 && *alpha == 1 && is_plain;
                let point = applies.then(|| pool::maximise(constraints, None)).flatten();
                Ok(point.map(in_doubles))
            }
            Self::Interior => cluster::maximise(constraints, near(alpha), share).map(in_doubles).map(Some),
            Self::Prices => {
                let point = cluster::maximise_by_prices(constraints, near(alpha), share)?;
                Ok(point.map(in_doubles))
            }
            Self::Wide => Ok(wide::maximise(constraints, alpha, share)),
        }
    }
}

/// The work that one refinement of an answer may do for every [`OF_USERS`] users and classes. It is a fifth of the
/// limit that commands set for small inputs.
const OF_REFINEMENT: u64 = Limits::A_MINUTE / 5;
/// The number of users and classes in about a megabyte of input.
const OF_USERS: usize = 10_000;

/// Returns the result of a refinement, or `None` if it needs more work than a refinement of a problem of this size
/// may do.
///
/// This limit does not depend on the work that is left. The answer therefore never depends on the remaining work. If
/// less work is left than the refinement needs, the whole computation ends with an error.
pub fn refined<T>(constraints: &Constraints<'_>, refinement: impl FnOnce() -> T) -> Option<T> {
    let problem = constraints.problem();
    let size = (problem.n_users() + problem.n_servers()) / OF_USERS + 1;
    let work = Some(OF_REFINEMENT.saturating_mul(size as u64));
    within(&Limits { work, ..Limits::default() }, refinement).ok()
}

/// Returns the result of an optional refinement, or `None` if the refinement would leave less than `1 / part` of the
/// work that is left now.
pub fn leaving<T>(part: u64, refinement: impl FnOnce() -> T) -> Option<T> {
    let work = work_left().map(|left| left - left / part);
    within(&Limits { work, ..Limits::default() }, refinement).ok()
}
