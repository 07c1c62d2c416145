//! Mechanisms, and allocations from elsewhere, side by side on one problem; every verdict with its margin.
//!
//! Every column is held against the own axioms of all of them. A mechanism that fails, or takes longer than
//! it may, is a column that says so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use evenhand_budget::{Exceeded, Kind, Limits, exceeded, handle, within, work_left};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::utilitarian::UTILITARIAN;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Outcome, Status, registry};
use evenhand_problem::format::AllocationFile;
use evenhand_problem::utilisation::by_resource;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use crate::examine::{Examination, FLOAT_TOLERANCE, Optima, Request, certify_among, default_requests};

/// Stack of the thread that a mechanism runs on, in bytes: the proofs of packings are trees.
const STACK: usize = 1 << 26;

/// One column of the comparison.
#[derive(Debug, Clone)]
pub struct Compared {
    /// Name of the mechanism, or of the file.
    pub name: String,
    /// What it gives, or why it does not.
    pub result: Result<Judged, NoResult>,
}

/// Why there is no allocation to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// The mechanism is not defined for the problem.
    NotApplicable(String),
    /// It failed.
    Failed(String),
    /// It took longer than it may.
    OutOfTime,
}

/// An allocation with everything that is compared.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The allocation.
    pub allocation: Allocation,
    /// How an iterative method ended, where that is not as it should be.
    pub status: Option<Status>,
    /// By user: tasks.
    pub tasks: Vec<Rational>,
    /// Least dominant share divided by weight over the users that can run; `None` without any.
    pub least_weighted_share: Option<Rational>,
    /// By resource: used part of the whole cluster; `None` where there is none of it.
    pub utilisation: Vec<Option<Rational>>,
    /// Utilitarian optimum divided by `sum_n w_n x_n`; `None` when that is 0.
    pub price_of_fairness: Option<Rational>,
    /// The axiom that it is made to satisfy.
    pub own: Option<(Axiom, Parameters)>,
    /// The axioms examined.
    pub examination: Examination,
}

/// What is compared.
#[derive(Clone)]
pub struct Comparison {
    /// Mechanisms to run.
    pub mechanisms: Vec<&'static Mechanism>,
    /// `(name, allocation)` from elsewhere.
    pub allocations: Vec<(String, AllocationFile)>,
    /// More axioms to examine.
    pub axioms: Vec<Request>,
    /// The exponent of alpha fairness, which does not apply without one.
    pub alpha: Option<Rational>,
    /// Exact answers, or those of floating point.
    pub arithmetic: Arithmetic,
    /// What all columns are held to; absent: a billionth, so that rounding never looks like a violation.
    pub tolerance: Option<Rational>,
    /// How long a mechanism may take, the judging included.
    pub time: Duration,
}

impl Default for Comparison {
    /// All mechanisms, exactly, a minute each.
    fn default() -> Self {
        Self {
            mechanisms: registry::ALL.to_vec(),
            allocations: Vec::new(),
            axioms: Vec::new(),
            alpha: None,
            arithmetic: Arithmetic::Exact,
            tolerance: None,
            time: Duration::from_secs(60),
        }
    }
}

/// Runs the mechanisms on `problem` and examines what they and others allocate.
///
/// `progress` is called with the name of each column before its turn. Work that may be done is shared evenly: a column
/// gets what is left over the columns that are left. A mechanism that runs out of time ends with its next charge.
pub fn compare(problem: &Problem, comparison: &Comparison, mut progress: impl FnMut(&str)) -> Vec<Compared> {
    let problem = Arc::new(problem.clone());
    let bench = Arc::new(Jury::new(&problem, comparison));
    let mut columns = Vec::new();
    let all = comparison.mechanisms.len() + comparison.allocations.len();
    let limits = |done: usize| Limits {
        work: work_left().map(|left| left / (all - done) as u64),
        time: Some(comparison.time),
        ..Limits::default()
    };
    for &mechanism in &comparison.mechanisms {
        let name = mechanism.info.id;
        progress(name);
        let bench = Arc::clone(&bench);
        let result = timed(limits(columns.len()), move || bench.run(mechanism));
        columns.push(Compared { name: name.to_owned(), result });
    }
    for (name, file) in &comparison.allocations {
        progress(name);
        let (bench, file) = (Arc::clone(&bench), file.clone());
        let result = timed(limits(columns.len()), move || bench.judge(file.allocation, None));
        columns.push(Compared { name: name.clone(), result });
    }
    columns
}

/// Runs `work` on a thread of its own, which has a stack for deep searches; what panics or exceeds a limit has failed.
///
/// What does not charge does not see that its time is up: it is left running until the process ends.
fn timed(
    limits: Limits,
    work: impl FnOnce() -> Result<Judged, NoResult> + Send + 'static,
) -> Result<Judged, NoResult> {
    let (sender, receiver) = channel();
    let handle = handle();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(|| handle.enter(|| within(&limits, work))));
        let result = match result {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => Err(NoResult::of(&error)),
            // The limits of the whole comparison.
            Err(panic) => Err(exceeded(&*panic).map_or_else(
                || NoResult::Failed("it stopped for an internal error".to_owned()),
                NoResult::of,
            )),
        };
        // Nobody listens any more where the time has run out.
        let _ = sender.send(result);
    };
    if let Err(error) = std::thread::Builder::new().stack_size(STACK).spawn(run) {
        return Err(NoResult::Failed(error.to_string()));
    }
    let received = match limits.time {
        Some(time) => receiver.recv_timeout(time),
        None => receiver.recv().map_err(Into::into),
    };
    match received {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(NoResult::OutOfTime),
        Err(RecvTimeoutError::Disconnected) => Err(NoResult::Failed("it ended without a word".to_owned())),
    }
}

impl NoResult {
    fn of(exceeded: &Exceeded) -> Self {
        match exceeded.kind {
            Kind::Time => Self::OutOfTime,
            Kind::Work { .. } | Kind::Memory { .. } => Self::Failed(exceeded.to_string()),
        }
    }
}

/// What all columns share.
struct Jury {
    problem: Arc<Problem>,
    arithmetic: Arithmetic,
    alpha: Option<Rational>,
    tolerance: Rational,
    /// Axioms beyond those that each allocation is examined for anyway.
    requests: Vec<Request>,
    /// What serves the most tasks, weighted, and how many those are.
    best: Option<(Outcome, Rational)>,
    optima: Optima,
}

impl Jury {
    fn new(problem: &Arc<Problem>, comparison: &Comparison) -> Self {
        let more = [Axiom::BottleneckFair, Axiom::GlobalBottleneckFair, Axiom::SingleResourceFair];
        let own = comparison.mechanisms.iter().filter_map(|mechanism| {
            let takes_alpha = mechanism.takes("alpha");
            if takes_alpha && comparison.alpha.is_none() {
                return None;
            }
            let made = Allocation {
                mechanism: Some(mechanism.info.id.to_owned()),
                alpha: comparison.alpha.clone().filter(|_| takes_alpha),
                ..Allocation::default()
            };
            let (axiom, parameters) = (mechanism.axiom)(&made)?;
            let is_question = Axiom::questions(problem).any(|of| of == axiom);
            (axiom != Axiom::IntegerFeasible && is_question).then_some(Request { axiom, parameters })
        });
        Self {
            problem: Arc::clone(problem),
            arithmetic: comparison.arithmetic,
            alpha: comparison.alpha.clone(),
            tolerance: comparison.tolerance.clone().unwrap_or_else(|| Rational::from(FLOAT_TOLERANCE)),
            requests: own.chain(more.map(Request::of)).chain(comparison.axioms.iter().cloned()).collect(),
            best: utilitarian(problem),
            optima: Optima::default(),
        }
    }

    fn run(&self, mechanism: &'static Mechanism) -> Result<Judged, NoResult> {
        let mut flags = Flags::new(self.arithmetic);
        if let Some(alpha) = self.alpha.as_ref().filter(|_| mechanism.takes("alpha")) {
            flags = flags.with("alpha", alpha.to_string());
        }
        let is_known = mechanism.info.id == UTILITARIAN.info.id && self.arithmetic == Arithmetic::Exact;
        let outcome = match self.best.as_ref().filter(|_| is_known) {
            Some((best, _)) => Ok(best.clone()),
            None => mechanism.allocate_with(&self.problem, &flags),
        };
        match outcome {
            Ok(outcome) => {
                self.optima.keep(&outcome);
                let status = outcome.findings.status.filter(|status| *status != Status::Solved);
                self.judge(outcome.allocation, status)
            }
            Err(MechanismError::NotApplicable { why, .. }) => Err(NoResult::NotApplicable(why)),
            Err(error @ MechanismError::NeedsOption { .. }) => {
                Err(NoResult::NotApplicable(error.to_string()))
            }
            Err(error) => Err(NoResult::Failed(error.to_string())),
        }
    }

    fn judge(&self, allocation: Allocation, status: Option<Status>) -> Result<Judged, NoResult> {
        let problem = &*self.problem;
        let mut requests = default_requests(problem, &allocation);
        requests.extend(self.requests.iter().cloned());
        if allocation.placements.is_some() {
            requests.push(Request::of(Axiom::Ef1));
        }
        let examination = certify_among(problem, &allocation, &requests, &self.tolerance, &self.optima)
            .map_err(|error| NoResult::Failed(error.to_string()))?;
        let tasks = allocation.totals();
        let value = weighted_tasks(problem, &tasks);
        let best = self.best.as_ref().filter(|_| !value.is_zero());
        Ok(Judged {
            least_weighted_share: least_weighted_share(problem, &tasks),
            utilisation: by_resource(problem, &allocation),
            price_of_fairness: best.map(|(_, best)| Rational::from(best / &value)),
            own: registry::axiom_of(&allocation),
            status,
            examination,
            tasks,
            allocation,
        })
    }
}

fn utilitarian(problem: &Problem) -> Option<(Outcome, Rational)> {
    let outcome = UTILITARIAN.allocate(problem, Arithmetic::Exact).ok()?;
    let tasks = weighted_tasks(problem, &outcome.allocation.totals());
    Some((outcome, tasks))
}

fn weighted_tasks(problem: &Problem, tasks: &[Rational]) -> Rational {
    problem.users().iter().zip(tasks).map(|(user, x)| Rational::from(user.weight() * x)).sum()
}

fn least_weighted_share(problem: &Problem, tasks: &[Rational]) -> Option<Rational> {
    let u = Share::Dominant.coefficients(problem).ok()?;
    (0..tasks.len())
        .filter(|&n| problem.is_active(n))
        .filter_map(|n| Some(Rational::from(&tasks[n] * u.uniform(n)?) / problem.users()[n].weight()))
        .min()
}
