//! The common interface of all mechanisms.

use std::time::Duration;

use evenhand_budget::{Limits, within};
use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::{Axiom, Packing, Parameters, Prices};
use evenhand_levels::level::LevelDual;
use evenhand_levels::njc::{Goal, NjcSet};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Flags};
use crate::guarantees::{Condition, Guarantee};
use crate::reduced::Reduced;
use crate::tree::entitlements::Entitlements;

/// An allocation rule, which is an entry of the [`registry`](crate::registry).
///
/// Each mechanism's own settings, and the function that computes an allocation from them, are public in its file.
/// This type is the interface that all mechanisms share.
#[derive(Debug, Clone, Copy)]
pub struct Mechanism {
    /// The description of the mechanism for people.
    pub info: &'static Info,
    /// The axioms that are proven, each with the problems on which it is proven. Every other axiom can fail.
    pub proven: &'static [(Condition, &'static [Axiom])],
    /// The flags that the mechanism accepts.
    pub flags: &'static [Flag],
    /// Returns the axiom that defines the mechanism, with the parameters for an allocation of the mechanism.
    /// Returns `None` if that axiom has no name.
    pub axiom: fn(&Allocation) -> Option<(Axiom, Parameters)>,
    /// Returns how the mechanism treats users that are identical except for their weight.
    pub equals: fn(&Flags) -> Result<Equals, MechanismError>,
    /// `true` if identical server classes can be merged. This is possible if the mechanism divides resources
    /// and its result depends only on the users' total tasks, not on where the tasks run.
    pub joins: bool,
    /// The answer that is returned when the time limit is reached.
    pub late: Late,
    /// Computes the allocation with the settings of the flags.
    ///
    /// An exact answer is returned only after it was verified in rationals.
    pub solve: fn(&Problem, &Flags) -> Result<Outcome, MechanismError>,
}

/// The names of the mechanisms that respect limits of accelerators, `users[].at_most`.
const KEEP_AT_MOST: [&str; 9] =
    ["drf", "drfh", "cdrf", "tsf", "finish-time", "utilitarian", "proportional", "alpha", "oef"];

/// The answer of a mechanism that reaches its time limit (`seconds`) before it has finished.
#[derive(Debug, Clone, Copy)]
pub enum Late {
    /// The mechanism itself chooses the answer, since it watches the time.
    Itself,
    /// The answer in floating-point arithmetic.
    Doubles,
    /// The tasks placed so far. If the mechanism has not begun, the allocation is empty.
    Placed,
}

impl Mechanism {
    /// Computes the allocation with the default settings.
    ///
    /// # Errors
    /// Returns a [`MechanismError`] if the mechanism does not apply, requires a flag, or if a solver failed.
    pub fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        self.allocate_with(problem, &Flags::new(arithmetic))
    }

    /// Computes the allocation with the settings of the flags.
    ///
    /// # Errors
    /// Returns a [`MechanismError`] if the mechanism does not accept a flag, does not apply, or if a solver failed.
    pub fn allocate_with(&self, problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
        self.check(flags)?;
        self.check_groups(problem)?;
        self.check_rates(problem)?;
        match (flags.seconds()?, self.late) {
            (Some(time), Late::Doubles | Late::Placed) => self.within(time, problem, flags),
            _ => self.solve_reduced(problem, flags),
        }
    }

    /// Computes the answer after merging identical users and classes.
    fn solve_reduced(&self, problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
        match Reduced::new(problem, &(self.equals)(flags)?, self.joins) {
            Some(reduced) => Ok(reduced.outcome((self.solve)(reduced.problem(), flags)?)),
            None => (self.solve)(problem, flags),
        }
    }

    /// Computes the answer within `time`, or returns the fallback of [`Late`] with the status `limit`.
    fn within(&self, time: Duration, problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
        let limits = Limits { time: Some(time), ..Limits::default() };
        if let Ok(outcome) = within(&limits, || self.solve_reduced(problem, flags)) {
            return outcome;
        }
        let mut outcome = match self.late {
            Late::Doubles => self.solve_reduced(problem, &flags.in_doubles())?,
            Late::Itself | Late::Placed => {
                let nothing = Allocation::empty(problem.n_users(), Sharing::Rdm);
                Outcome::of(Allocation { mechanism: Some(self.info.id.to_owned()), ..nothing })
            }
        };
        outcome.findings.status = Some(Status::Limit);
        Ok(outcome)
    }

    /// Checks that the mechanism supports groups, if the problem has groups.
    ///
    /// Only hierarchical filling supports groups, with divisible or whole tasks. Its mechanisms accept
    /// `--rule`, the rule by which groups share. Any other mechanism could starve some of a queue's users in
    /// favour of others, or count a queue as many users.
    fn check_groups(&self, problem: &Problem) -> Result<(), MechanismError> {
        if problem.groups().list().is_empty() || self.takes("rule") {
            return Ok(());
        }
        let why = "the users are in groups, which only `tree` and `fill` support".to_owned();
        Err(MechanismError::NotApplicable { mechanism: self.info.id, why })
    }

    /// Checks that the mechanism supports rates and limits of accelerators, if users state them
    /// (docs/theory.md, section 12). A mechanism outside of the engine supports no limits, because it may not
    /// know them.
    fn check_rates(&self, problem: &Problem) -> Result<(), MechanismError> {
        let id = self.info.id;
        let why = if id == "tree" && problem.has_rates() {
            "users state `rates`, which `tree` does not support because it compares usage of resources"
        } else if problem.has_at_most() && !KEEP_AT_MOST.contains(&id) {
            "users state `at_most`, which this mechanism does not support: use drfh, finish-time, cdrf, tsf, \
            utilitarian, proportional, alpha or oef"
        } else {
            return Ok(());
        };
        Err(MechanismError::NotApplicable { mechanism: id, why: why.to_owned() })
    }

    /// Returns whether the mechanism accepts the flag `name`.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.name == name)
    }

    /// Checks that the mechanism accepts all flags that are set.
    ///
    /// # Errors
    /// Returns [`MechanismError::DoesNotTake`] with the first flag that the mechanism does not accept.
    pub fn check(&self, flags: &Flags) -> Result<(), MechanismError> {
        match flags.names().find(|name| !self.takes(name)) {
            None => Ok(()),
            Some(option) => Err(MechanismError::DoesNotTake { mechanism: self.info.id, option }),
        }
    }

    /// Returns the guarantee of `axiom` for this mechanism's allocations. Max-min fairness refers to the mechanism's
    /// own share, and proportional fairness to its own exponent.
    #[must_use]
    pub fn guarantee(&self, axiom: Axiom) -> Guarantee {
        let is_proven = |of: Axiom| self.proven.iter().find(|(_, axioms)| axioms.contains(&of));
        match (axiom, is_proven(axiom)) {
            (Axiom::Feasible | Axiom::NonWasteful, _) => Guarantee::When(Condition::Always),
            (_, Some((condition, _))) => Guarantee::When(*condition),
            (Axiom::IntegerFeasible | Axiom::Ef1 | Axiom::IntegerParetoOptimal, None)
                if is_proven(Axiom::IntegerFeasible).is_none() =>
            {
                Guarantee::Never
            }
            _ => Guarantee::NotInGeneral,
        }
    }

    /// Returns whether the mechanism places whole tasks on single servers.
    #[must_use]
    pub fn is_of_whole_tasks(&self) -> bool {
        self.guarantee(Axiom::IntegerFeasible) == Guarantee::When(Condition::Always)
    }
}

/// The description of a mechanism for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name of the mechanism on the command line and in files.
    pub id: &'static str,
    /// Other names that the command line accepts for the mechanism.
    pub aliases: &'static [&'static str],
    /// The full name of the mechanism.
    pub title: &'static str,
    /// The quantity that the mechanism equalises or maximises.
    pub equalises: &'static str,
    /// The guarantees of the mechanism, and the problems on which they hold.
    pub guarantees: &'static str,
    /// The publication that defines the mechanism and proves the guarantees.
    pub reference: &'static str,
}

/// An allocation and the record of its computation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The allocation that the mechanism computed.
    pub allocation: Allocation,
    /// The number of rounds. Each round raises a level until a user is blocked or all users are satisfied. It
    /// is 0 for mechanisms without rounds.
    pub rounds: usize,
    /// The number of linear programmes solved.
    pub programmes: usize,
    /// The number of exact pivots needed after floating point had proposed a basis.
    pub pivots: usize,
    /// The results other than the allocation.
    pub findings: Findings,
}

impl Outcome {
    /// Creates an outcome with an allocation and no other results.
    #[must_use]
    pub fn of(allocation: Allocation) -> Self {
        Self { allocation, rounds: 0, programmes: 0, pivots: 0, findings: Findings::default() }
    }
}

/// The results of mechanisms other than the allocation. Each mechanism fills in the fields that it computes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// The prices of the rows and of the users' task limits that prove the gap.
    pub prices: Option<Prices>,
    /// A proven bound on `sum_n w_n (y_n - x_n) / x_n^a` over all feasible `y`. The bound also limits the
    /// gain in the sum of utilities of any other allocation. It is exact for the decimals in which the tasks
    /// `x` are written.
    pub gap: Option<Rational>,
    /// The gap as a fraction of `sum_n w_n x_n^(1-a)`.
    pub relative_gap: Option<Rational>,
    /// The reason why each user has no justified complaint.
    pub witnesses: Option<Vec<Option<Witness>>>,
    /// The saturated rows, in ascending order.
    pub bottlenecks: Option<Vec<usize>>,
    /// The allocation selected from all allocations that the mechanism allows.
    pub selected: Option<Selected>,
    /// All allocations that the mechanism allows, as polytopes.
    pub faces: Option<NjcSet>,
    /// The levels at which users are blocked, with their proofs, if the answer is exact.
    pub levels: Option<Vec<LevelDual>>,
    /// The levels, enclosed by proven bounds.
    pub intervals: Option<Intervals>,
    /// Bounds of the fraction of its proportionally fair tasks that each user keeps.
    pub fractions: Option<Vec<(Rational, Rational)>>,
    /// The reason why an iterative method ended.
    pub status: Option<Status>,
    /// The number of steps of the iterative method.
    pub iterations: Option<usize>,
    /// The comparison of whole tasks with the divisible ideal.
    pub integrality: Option<Integrality>,
    /// The points that a method passed on its trajectory.
    pub series: Option<Vec<SeriesPoint>>,
    /// The record of a search for one of many answers.
    pub search: Option<Search>,
    /// The entitlements of groups, if the rule gives entitlements instead of tasks.
    pub entitlements: Option<Entitlements>,
    /// The packings of whole tasks among which the servers of each class take turns.
    pub schedule: Option<Vec<Packing>>,
}

/// A comparison of whole tasks with their divisible ideal.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrality {
    /// The mechanism that divides tasks and equalises the same share: `drfh`, `tsf` or `ps-dsf`.
    pub mechanism: &'static str,
    /// The measure of the allocation in whole tasks.
    pub whole: Measure,
    /// The exact measure of the divisible allocation, or the reason why it is unknown.
    pub divisible: Result<Measure, MechanismError>,
}

/// The two measures by which whole tasks are compared with the divisible ideal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The smallest `x_n / (w_n sigma_n)` over the users that can run a task, or `None` if no user can.
    /// `sigma_n` depends on the score: the reference of DRFH for `drf`, `gamma_n` without placement
    /// constraints for `tsf`, and `gamma_n` over the user's allowed classes for `ps-dsf` and `rps-dsf`.
    pub least_weighted_share: Option<Rational>,
    /// The total number of tasks of all users.
    pub tasks: Rational,
}

/// Intervals that contain the levels of the exact allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// The lower and the upper bound of each user's level.
    pub levels: Vec<(Rational, Rational)>,
    /// The largest width, as a fraction of the level that the user would have alone in the cluster.
    pub width: Rational,
}

/// A point on the trajectory of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// The parameter of the trajectory: `c`, for entitlements that sum to 1.
    pub c: f64,
    /// The tasks of each user.
    pub tasks: Vec<f64>,
    /// The free fraction of each row.
    pub slack: Vec<f64>,
}

/// The record of a search for one of many answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The starting points that were tried, in order.
    pub tried: Vec<Tried>,
    /// The number of available starting points. The budget decides how many are tried.
    pub planned: usize,
    /// The index of the starting point that led to the returned answer.
    pub returned: usize,
    /// The number of answers with different totals that were found.
    pub answers: usize,
    /// `true` if the answer is unique.
    pub unique: bool,
    /// The number of tasks of another answer that serves more tasks, or `None` if no such answer was found.
    pub more_tasks: Option<Rational>,
    /// The number of steps done, which is the same on every machine.
    pub work: u64,
    /// The number of steps after which no further starting point is tried.
    pub budget: u64,
}

/// A starting point that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The description of the starting point for people.
    pub start: String,
    /// The number of tasks of the answer, or `None` if the starting point led to no answer.
    pub tasks: Option<Rational>,
}

/// The best allocation for a goal, as far as floating point can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The goal by which the allocation was selected.
    pub goal: Goal,
    /// The exact value of the goal for the allocation.
    pub value: Rational,
    /// The evidence about all other allocations.
    pub bound: Bound,
}

/// The evidence that no other allocation is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// An exact search over all faces found nothing better.
    Proven,
    /// A floating-point solver claims that no allocation has a larger value than this value. The claim is not
    /// proven.
    Claimed(f64),
    /// The allocation is the best one that was found. There is no bound on other allocations.
    Found,
}

/// The reason why an iterative method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The method reached its tolerance.
    Solved,
    /// The method reached a limit before its tolerance. It returns its last point.
    Limit,
    /// The method left its domain. It returns the last point inside the domain.
    LeftDomain,
    /// The time was up. The returned answer has narrow bounds.
    Interval,
}

impl Status {
    /// Returns the name used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Limit => "limit",
            Self::LeftDomain => "left-the-domain",
            Self::Interval => "interval",
        }
    }
}
