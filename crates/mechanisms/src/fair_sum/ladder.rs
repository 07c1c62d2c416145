//! The methods that maximise a sum of utilities, in the order in which they are tried.
//!
//! | method | problems | accuracy |
//! |---|---|---|
//! | [`Method::Path`] | one server, exponent 1, tasks counted | rounding |
//! | [`Method::Interior`] | all | 1e-8 of the sum and better, whatever single users are worth |
//! | [`Method::Prices`] | 400 capacities and limits | every user for itself, places to about 1e-9 |
//! | [`Method::Wide`] | some 200 capacities and limits | 30 digits of every user |
//!
//! A method follows where an exact judge finds that the one before came too short. Of 31 sums that the interior point
//! method left in 1,920 problems of many shapes, [`Method::Prices`] answered 16 and [`Method::Wide`] the rest; without the
//! former 560 problems of `alpha` take twice the time. The latter is needed where marginal utilities are 10^15 apart and
//! more (`benches/src/answers/mechanisms.rs` lists such problems for every exponent).

use evenhand_budget::{Limits, within, work_left};
use evenhand_exact::{Prices, ShareCoefficients};
use evenhand_ode::cluster::ClusterError;
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};

use super::{FairPoint, cluster, pool, wide};

/// The methods in the order in which they are tried.
const METHODS: [Method; 4] = [Method::Path, Method::Interior, Method::Prices, Method::Wide];

/// What is maximised: `sum_n w_n g_a(U_n)`, with `U_n = x_n` or, with a share, `U_n = sum_i u_ni x_ni`.
#[derive(Debug, Clone, Copy)]
pub struct Objective<'a> {
    pub constraints: &'a Constraints<'a>,
    /// The exponent `a`.
    pub alpha: &'a Rational,
    pub share: Option<&'a ShareCoefficients>,
}

/// A way to the optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The central path in the space of the few prices of one server.
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
    /// The same in more digits than doubles have, where the method has them.
    pub digits: Option<Digits>,
}

/// Tasks, from within, and prices in long numbers.
pub struct Digits {
    /// By user: `(class, tasks)`.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    pub prices: Prices,
}

impl Objective<'_> {
    /// The optima that the methods find, each computed when it is asked for; ask for the next by [`refined`].
    pub fn optima(&self) -> impl Iterator<Item = Result<Optimum, ClusterError>> {
        METHODS.into_iter().filter_map(|method| method.maximise(self).transpose())
    }

    /// The optimum of the first method that has one.
    ///
    /// # Errors
    /// [`ClusterError`] when the numbers leave the range of floating point, or there are too many rows.
    pub fn first(&self) -> Result<FairPoint, ClusterError> {
        let first = self.optima().next().unwrap_or(Err(ClusterError::Alpha));
        first.map(|optimum| optimum.point)
    }
}

impl Method {
    /// `None` where the method is not for such a problem, or does not come near its optimum.
    fn maximise(self, sum: &Objective<'_>) -> Result<Option<Optimum>, ClusterError> {
        let Objective { constraints, alpha, share } = *sum;
        let in_doubles = |point| Optimum { point, digits: None };
        match self {
            Self::Path => {
                let applies = constraints.problem().n_servers() == 1 && *alpha == 1 && share.is_none();
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

/// Work that one refinement of an answer may take: so much for each [`OF_USERS`] users and classes, a fifth of what
/// commands grant small inputs.
const OF_REFINEMENT: u64 = Limits::A_MINUTE / 5;
/// Users and classes of about a megabyte of input.
const OF_USERS: usize = 10_000;

/// The result of a refinement, if it takes no more than a refinement of such a problem may take.
///
/// That is the same whatever work is left, so that less work never leads to another answer: where less is left than the
/// refinement needs, the whole computation ends.
pub fn refined<T>(constraints: &Constraints<'_>, refinement: impl FnOnce() -> T) -> Option<T> {
    let problem = constraints.problem();
    let size = (problem.n_users() + problem.n_servers()) / OF_USERS + 1;
    let work = Some(OF_REFINEMENT.saturating_mul(size as u64));
    within(&Limits { work, ..Limits::default() }, refinement).ok()
}

/// The result of a refinement, if it leaves `1 / part` of the work that is left now: there is an answer without it too.
pub fn leaving<T>(part: u64, refinement: impl FnOnce() -> T) -> Option<T> {
    let work = work_left().map(|left| left - left / part);
    within(&Limits { work, ..Limits::default() }, refinement).ok()
}
