//! What a mechanism is.

use std::time::Duration;

use evenhand_budget::{Limits, within};
use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::{Axiom, Parameters, Prices};
use evenhand_levels::level::LevelDual;
use evenhand_levels::njc::{Goal, NjcSet};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Flags};
use crate::guarantees::{Condition, Guarantee};
use crate::reduced::Reduced;
use crate::tree::entitlements::Entitlements;

/// An allocation rule: a row of the [`registry`](crate::registry).
///
/// Settings, and the function that computes the allocation from them, are public in the file of each mechanism;
/// this is what all of them have in common, whatever their settings are.
#[derive(Debug, Clone, Copy)]
pub struct Mechanism {
    /// What it is, for people.
    pub info: &'static Info,
    /// Its axioms with the problems on which they are proven; the others can fail.
    pub proven: &'static [(Condition, &'static [Axiom])],
    /// The flags that it takes.
    pub flags: &'static [Flag],
    /// The axiom that defines the mechanism, if it has a name, for an allocation that it made.
    pub axiom: fn(&Allocation) -> Option<(Axiom, Parameters)>,
    /// What it gives users that are alike but for their weight.
    pub equals: fn(&Flags) -> Result<Equals, MechanismError>,
    /// Whether it looks at the tasks of users alone, wherever they run, and divides resources: then server classes that are
    /// alike are one.
    pub joins: bool,
    /// What there is where the time is up.
    pub late: Late,
    /// The allocation with the settings that the flags name.
    ///
    /// An exact answer is verified in rationals or not returned.
    pub solve: fn(&Problem, &Flags) -> Result<Outcome, MechanismError>,
}

/// What a mechanism has to say where its time (`seconds`) is up before its answer is there.
#[derive(Debug, Clone, Copy)]
pub enum Late {
    /// What it says: it looks at the time by itself.
    Itself,
    /// Its answer in doubles.
    Doubles,
    /// What it has placed by then: nothing, before it has begun.
    Placed,
}

impl Mechanism {
    /// The allocation with the settings that are used when nothing else is asked for.
    ///
    /// # Errors
    /// [`MechanismError`]: it does not apply, cannot do without a flag, or a solver failed.
    pub fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        self.allocate_with(problem, &Flags::new(arithmetic))
    }

    /// The allocation with the settings that the flags name.
    ///
    /// # Errors
    /// [`MechanismError`]: it does not take a flag, does not apply, or a solver failed.
    pub fn allocate_with(&self, problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
        self.check(flags)?;
        self.check_groups(problem)?;
        match (flags.seconds()?, self.late) {
            (Some(time), Late::Doubles | Late::Placed) => self.within(time, problem, flags),
            _ => self.solve_reduced(problem, flags),
        }
    }

    /// The answer, where users and classes that are alike are solved as one.
    fn solve_reduced(&self, problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
        match Reduced::new(problem, &(self.equals)(flags)?, self.joins) {
            Some(reduced) => Ok(reduced.outcome((self.solve)(reduced.problem(), flags)?)),
            None => (self.solve)(problem, flags),
        }
    }

    /// The answer, or what there is when the time is up, whose status is then `limit`.
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

    /// Only hierarchical filling, divisible or by whole tasks, knows groups, and takes `--rule`, by which they share: any
    /// other rule would let one shape of a queue's tasks starve another, or count a queue as many users.
    fn check_groups(&self, problem: &Problem) -> Result<(), MechanismError> {
        if problem.groups().list().is_empty() || self.takes("rule") {
            return Ok(());
        }
        let why =
            "the users stand in groups, which only `tree` shares by, and `fill` by whole tasks".to_owned();
        Err(MechanismError::NotApplicable { mechanism: self.info.id, why })
    }

    /// Whether it takes the flag of that name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.name == name)
    }

    /// Whether it takes all flags that are set.
    ///
    /// # Errors
    /// [`MechanismError::DoesNotTake`] with the first that it does not take.
    pub fn check(&self, flags: &Flags) -> Result<(), MechanismError> {
        match flags.names().find(|name| !self.takes(name)) {
            None => Ok(()),
            Some(option) => Err(MechanismError::DoesNotTake { mechanism: self.info.id, option }),
        }
    }

    /// What is known of `axiom` for its allocations. Of max-min and proportional fairness: with the share and the
    /// exponent that the mechanism is about.
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

    /// Whether it places whole tasks on single servers.
    #[must_use]
    pub fn is_of_whole_tasks(&self) -> bool {
        self.guarantee(Axiom::IntegerFeasible) == Guarantee::When(Condition::Always)
    }
}

/// What a mechanism is, for people.
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
    /// The levels at which somebody is blocked, with their proofs, of an exact answer.
    pub levels: Option<Vec<LevelDual>>,
    /// Levels between proven bounds.
    pub intervals: Option<Intervals>,
    /// How an iterative method ended.
    pub status: Option<Status>,
    /// Its steps.
    pub iterations: Option<usize>,
    /// Whole tasks beside their divisible ideal.
    pub integrality: Option<Integrality>,
    /// The way that a method went.
    pub series: Option<Vec<SeriesPoint>>,
    /// How one of many answers was searched for.
    pub search: Option<Search>,
    /// What groups are entitled to, where that and no tasks is the answer.
    pub entitlements: Option<Entitlements>,
}

/// Whole tasks beside their divisible ideal.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrality {
    /// The mechanism that divides tasks and equalises the same score: `drfh`, `tsf` or `ps-dsf`.
    pub mechanism: &'static str,
    /// What the whole tasks reach.
    pub whole: Measure,
    /// What the divisible mechanism reaches, exactly; or why it is not known.
    pub divisible: Result<Measure, MechanismError>,
}

/// What an allocation reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// The least `x_n / (w_n sigma_n)` over the users that can run, `sigma_n` that of the score: DRFH's
    /// for `drf`, `gamma_n` without placement constraints for `tsf`, `gamma_n` of the classes that the
    /// user may use for `ps-dsf` and `rps-dsf`. `None` without such users.
    pub least_weighted_share: Option<Rational>,
    /// Tasks of all users.
    pub tasks: Rational,
}

/// Where the levels of the exact allocation are.
#[derive(Debug, Clone, PartialEq)]
pub struct Intervals {
    /// By user: the least and the largest that its level can be.
    pub levels: Vec<(Rational, Rational)>,
    /// The widest, as a part of what the user would have with everything to itself.
    pub width: Rational,
}

/// A point on the way of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
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
    /// Its time was up: what it returns has bounds, and they are close.
    Interval,
}

impl Status {
    /// As in files.
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
