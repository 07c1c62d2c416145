//! What a mechanism is.

use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::{Axiom, Parameters, Prices};
use evenhand_lp::LpError;
use evenhand_lp::njc::{Goal, NjcSet};
use evenhand_ode::cluster::ClusterError;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use thiserror::Error;

use crate::filling::{Integrality, Score, ServerRule, Ties};

/// An allocation rule.
pub trait Mechanism: Sync {
    /// What it is, for people.
    fn info(&self) -> &Info;

    /// Whether it is defined for `problem`.
    ///
    /// # Errors
    /// Why not, in words.
    fn applies(&self, problem: &Problem) -> Result<(), String>;

    /// The options that it takes beside the arithmetic; others are for the caller to refuse.
    fn options(&self) -> &'static [OptionName] {
        &[]
    }

    /// The allocation, in the arithmetic asked for.
    ///
    /// # Errors
    /// [`MechanismError`]: it does not apply, or a solver failed. An exact answer is verified in
    /// rationals or not returned.
    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError>;

    /// The axiom that an allocation which it made is made to satisfy, if it has a name.
    fn axiom(&self, allocation: &Allocation) -> Option<(Axiom, Parameters)>;
}

/// What is asked of a mechanism.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// What the numbers of the answer are.
    pub arithmetic: Arithmetic,
    /// The exponent of alpha fairness.
    pub alpha: Option<Rational>,
    /// Whether the criterion stated in the problem takes the place of the tasks.
    pub criterion: bool,
    /// What to prefer among the allocations that the mechanism allows.
    pub select: Option<Goal>,
    /// Whether to solve a smaller problem with the same answers.
    pub reduce: bool,
    /// Whether to find all allocations that the mechanism allows.
    pub faces: bool,
    /// Filling: whose turn it is.
    pub score: Option<Score>,
    /// Filling: where a task goes.
    pub server: Option<ServerRule>,
    /// Filling: who is preferred among equals.
    pub ties: Option<Ties>,
    /// Filling: whether best fit compares only servers on which the task fits.
    pub filter: bool,
    /// Filling: the part of a task that is placed at a time.
    pub step: Option<Rational>,
    /// Whether to compare whole tasks with their divisible ideal.
    pub ideal: bool,
    /// Slots of the largest server.
    pub slots: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// Which of several methods to use.
    pub method: Option<Method>,
    /// Names of server classes in the order in which they are swept; those that are not named follow
    /// in the order of the problem.
    pub order: Option<Vec<String>>,
    /// The trajectory: where the integration stops.
    pub c_max: Option<Rational>,
    /// Whether to keep what a method does on its way.
    pub series: bool,
}

/// A method of PS-DSF or NJC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Every class filled in turn, accelerated where that is slow.
    Sweep,
    /// Algorithm I of the paper, step by step.
    Algorithm1,
    /// The linear Fisher market (time sharing).
    Market,
    /// The differential equation of the NJC paper.
    Trajectory,
}

impl Method {
    /// As on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::Algorithm1 => "algorithm-1",
            Self::Market => "market",
            Self::Trajectory => "trajectory",
        }
    }
}

impl Options {
    /// An exact answer, nothing else asked for.
    #[must_use]
    pub fn exact() -> Self {
        Self { arithmetic: Arithmetic::Exact, ..Self::default() }
    }

    /// A floating-point answer, nothing else asked for.
    #[must_use]
    pub fn float() -> Self {
        Self { arithmetic: Arithmetic::Float, ..Self::default() }
    }

    /// The options that are stated, beside the arithmetic.
    #[must_use]
    pub fn stated(&self) -> Vec<OptionName> {
        let stated = [
            (OptionName::Alpha, self.alpha.is_some()),
            (OptionName::Criterion, self.criterion),
            (OptionName::Select, self.select.is_some()),
            (OptionName::Reduce, self.reduce),
            (OptionName::Faces, self.faces),
            (OptionName::Score, self.score.is_some()),
            (OptionName::Server, self.server.is_some()),
            (OptionName::Ties, self.ties.is_some()),
            (OptionName::Filter, self.filter),
            (OptionName::Step, self.step.is_some()),
            (OptionName::Ideal, self.ideal),
            (OptionName::Slots, self.slots.is_some()),
            (OptionName::Method, self.method.is_some()),
            (OptionName::Order, self.order.is_some()),
            (OptionName::CMax, self.c_max.is_some()),
            (OptionName::Series, self.series),
        ];
        stated.into_iter().filter(|(_, is_stated)| *is_stated).map(|(name, _)| name).collect()
    }
}

/// An option that some mechanisms take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionName {
    /// [`Options::alpha`].
    Alpha,
    /// [`Options::criterion`].
    Criterion,
    /// [`Options::select`].
    Select,
    /// [`Options::reduce`].
    Reduce,
    /// [`Options::faces`].
    Faces,
    /// [`Options::score`].
    Score,
    /// [`Options::server`].
    Server,
    /// [`Options::ties`].
    Ties,
    /// [`Options::filter`].
    Filter,
    /// [`Options::step`].
    Step,
    /// [`Options::ideal`].
    Ideal,
    /// [`Options::slots`].
    Slots,
    /// [`Options::method`].
    Method,
    /// [`Options::order`].
    Order,
    /// [`Options::c_max`].
    CMax,
    /// [`Options::series`].
    Series,
}

impl OptionName {
    /// As on the command line, without the dashes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alpha => "alpha",
            Self::Criterion => "criterion",
            Self::Select => "select",
            Self::Reduce => "reduce",
            Self::Faces => "faces",
            Self::Score => "score",
            Self::Server => "server",
            Self::Ties => "ties",
            Self::Filter => "filter",
            Self::Step => "step",
            Self::Ideal => "ideal",
            Self::Slots => "slots",
            Self::Method => "method",
            Self::Order => "order",
            Self::CMax => "c-max",
            Self::Series => "series",
        }
    }
}

/// A row of the registry: what a mechanism is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Name on the command line and in files.
    pub id: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// Long name.
    pub title: &'static str,
    /// What it equalises or maximises.
    pub equalises: &'static str,
    /// What it guarantees, on which problems.
    pub guarantees: &'static str,
    /// Where it is defined and where the guarantees are proven.
    pub reference: &'static str,
}

/// An allocation and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The allocation.
    pub allocation: Allocation,
    /// Rounds of raising a level until somebody is blocked or all are satisfied; 0 without rounds.
    pub rounds: usize,
    /// Linear programmes solved.
    pub programmes: usize,
    /// Exact pivots that bases from floating point needed.
    pub pivots: usize,
    /// What was found beside the allocation.
    pub findings: Findings,
}

impl Outcome {
    /// An allocation, and nothing else to tell.
    #[must_use]
    pub fn of(allocation: Allocation) -> Self {
        Self { allocation, rounds: 0, programmes: 0, pivots: 0, findings: Findings::default() }
    }
}

/// What mechanisms find beside an allocation, each what it has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// Prices of the rows and of the users' task limits that prove the gap.
    pub prices: Option<Prices>,
    /// Proven bound on what any other allocation gains on the sum of utilities, in units of the
    /// weights: exact, for the tasks as they are written.
    pub gap: Option<Rational>,
    /// The gap as a part of `sum_n w_n x_n^(1-a)`.
    pub relative_gap: Option<Rational>,
    /// By user: what answers its complaint.
    pub witnesses: Option<Vec<Option<Witness>>>,
    /// Saturated rows, ascending.
    pub bottlenecks: Option<Vec<usize>>,
    /// What was selected among all allocations that the mechanism allows.
    pub selected: Option<Selected>,
    /// All allocations that the mechanism allows, as polytopes.
    pub faces: Option<NjcSet>,
    /// How an iterative method ended.
    pub status: Option<Status>,
    /// Its steps.
    pub iterations: Option<usize>,
    /// Whole tasks beside their divisible ideal.
    pub integrality: Option<Integrality>,
    /// The way that a method went.
    pub series: Option<Vec<Step>>,
    /// How one of many answers was searched for.
    pub search: Option<Search>,
}

/// A point on the way of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The parameter of the way: `c` of the trajectory, for entitlements of sum 1.
    pub c: f64,
    /// Tasks by user.
    pub tasks: Vec<f64>,
    /// By row: the part of it that is free.
    pub slack: Vec<f64>,
}

/// How one of many answers was searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The starts that were tried, in their order.
    pub tried: Vec<Tried>,
    /// Starts that there are; the budget decides how many are tried.
    pub planned: usize,
    /// Which start led to the answer.
    pub returned: usize,
    /// Different answers that were found, by their totals.
    pub answers: usize,
    /// Whether there is only one answer.
    pub unique: bool,
    /// Tasks that another found answer serves, where those are more.
    pub more_tasks: Option<Rational>,
    /// Steps that were needed, the same on every machine.
    pub work: u64,
    /// Steps after which no further start is tried.
    pub budget: u64,
}

/// A start that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What it is, for people.
    pub start: String,
    /// Tasks that the answer serves to which it led, if it led to one.
    pub tasks: Option<Rational>,
}

/// The best for a goal, as far as floating point can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The goal.
    pub goal: Goal,
    /// Its value for the allocation, exact.
    pub value: Rational,
    /// What is known about all others.
    pub bound: Bound,
}

/// Why nothing is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// An exact search over all faces found nothing better.
    Proven,
    /// A floating-point solver claims that nothing exceeds this; not proven.
    Claimed(f64),
    /// It is the best of those that were found; nothing is known about others.
    Found,
}

/// How an iterative method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It reached its tolerance.
    Solved,
    /// It reached a limit first: what it returns is its last point.
    Limit,
    /// It left the domain: what it returns is the last point inside.
    LeftDomain,
}

impl Status {
    /// As in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Limit => "limit",
            Self::LeftDomain => "left-the-domain",
        }
    }
}

/// Why a mechanism gives no allocation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// It is not defined for this problem.
    #[error("{mechanism} does not apply to this problem: {why}")]
    NotApplicable {
        /// Its name.
        mechanism: &'static str,
        /// The reason.
        why: String,
    },
    /// It cannot do without an option, which is not stated.
    #[error("{mechanism} needs the option --{}", option.name())]
    NeedsOption {
        /// Its name.
        mechanism: &'static str,
        /// The option.
        option: OptionName,
    },
    /// An option has a value that it cannot have.
    #[error("{mechanism}: --{}: {why}", option.name())]
    BadOption {
        /// Its name.
        mechanism: &'static str,
        /// The option.
        option: OptionName,
        /// What is wrong, in words.
        why: String,
    },
    /// The problem is larger than what it works on.
    #[error("{mechanism}: {why}")]
    Limit {
        /// Its name.
        mechanism: &'static str,
        /// Which limit was reached, in words.
        why: String,
    },
    /// A solver failed or reached a limit.
    #[error("{mechanism}: {source}")]
    Solver {
        /// Its name.
        mechanism: &'static str,
        /// What the solver says.
        source: LpError,
    },
    /// The continuous solver cannot take the problem.
    #[error("{mechanism}: {source}")]
    Continuous {
        /// Its name.
        mechanism: &'static str,
        /// What the solver says.
        source: ClusterError,
    },
    /// No exact answer was found, though there is one.
    #[error("{mechanism}: {why}")]
    NotFound {
        /// Its name.
        mechanism: &'static str,
        /// What was tried, in words.
        why: String,
    },
}
