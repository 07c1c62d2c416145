//! Mechanisms, and allocations from elsewhere, side by side on one problem; every verdict with its margin.
//!
//! Every column is held against the own axioms of all of them. A mechanism that fails, or takes longer than
//! it may, is a column that says so.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use evenhand_budget::{Exceeded, Kind, Limits, charge, exceeded, handle, within, work_left};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::utilitarian::UTILITARIAN;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Outcome, Status, registry};
use evenhand_problem::format::AllocationFile;
use evenhand_problem::utilisation::by_resource;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use crate::examine::{Examination, FLOAT_TOLERANCE, Optima, Request, certify_among, default_requests};

/// Stack of the thread that a mechanism runs on, in bytes: the proofs of packings are trees.
const STACK: usize = 1 << 26;

/// A column may take one in so many parts of the work and processor time that are left, or an even part where fewer
/// columns are left: of many slow columns some are done.
const PARTS: usize = 4;

/// Time between two looks at the processor time that is left.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

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
    /// It took more than its share of work, memory or processor time; the message says of which.
    TooLarge(String),
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
    /// Says how much processor time is left; absent: there is no limit. Work that is not charged, inside HiGHS say, ends
    /// by this clock.
    pub processor: Option<fn() -> Option<Duration>>,
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
            processor: None,
        }
    }
}

impl Comparison {
    /// Names of the columns, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mechanisms = self.mechanisms.iter().map(|mechanism| mechanism.info.id.to_owned());
        mechanisms.chain(self.allocations.iter().map(|(name, _)| name.clone())).collect()
    }
}

/// Runs the mechanisms on `problem` and examines what they and others allocate.
#[must_use]
pub fn compare(problem: &Problem, comparison: &Comparison) -> Vec<Compared> {
    columns(problem, comparison).collect()
}

/// [`compare`], one column after the other.
///
/// A column may take a quarter of the work and processor time that are left, or an even share where fewer columns are
/// left. A mechanism that runs out of time ends with its next charge.
pub fn columns<'c>(
    problem: &Problem,
    comparison: &'c Comparison,
) -> impl Iterator<Item = Compared> + use<'c> {
    let problem = Arc::new(problem.clone());
    let names = comparison.names();
    let mut jury = None;
    let mut left = names.len();
    names.into_iter().enumerate().map(move |(at, name)| {
        let jury = jury.get_or_insert_with(|| {
            let best = timed(comparison, left + 1, {
                let problem = Arc::clone(&problem);
                move || utilitarian(&problem)
            });
            Arc::new(Jury::new(&problem, comparison, best.ok().flatten()))
        });
        let jury = Arc::clone(jury);
        let result = match comparison.mechanisms.get(at) {
            Some(&mechanism) => timed(comparison, left, move || jury.run(mechanism)),
            None => {
                let (_, file) = &comparison.allocations[at - comparison.mechanisms.len()];
                let allocation = file.allocation.clone();
                timed(comparison, left, move || jury.judge(allocation, None))
            }
        };
        left -= 1;
        Compared { name, result: result.and_then(|result| result) }
    })
}

/// Runs `work` on a thread of its own, which has a stack for deep searches, with its share of what is left for so many
/// columns; what panics or exceeds a limit has failed.
///
/// Work that does not charge does not see that its time is up: it is left running until the process ends.
fn timed<T: Send + 'static>(
    comparison: &Comparison,
    columns: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoResult> {
    let parts = columns.min(PARTS);
    let limit = work_left().map_or(u64::MAX / 2, |left| left / parts as u64);
    let limits = Limits { work: Some(limit), time: Some(comparison.time), ..Limits::default() };
    let mut clock = Clock::new(comparison, parts);
    let waited = within(&limits, || {
        let (sender, receiver) = channel();
        let handle = handle();
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(|| handle.enter(work)));
            let failed = |panic: Box<dyn Any + Send>| match exceeded(&*panic) {
                Some(exceeded) => NoResult::of(exceeded),
                None => NoResult::Failed("it stopped for an internal error".to_owned()),
            };
            // The receiver is gone where the time has run out.
            let _ = sender.send(result.map_err(failed));
        };
        if let Err(error) = std::thread::Builder::new().stack_size(STACK).spawn(run) {
            return Err(NoResult::TooLarge(format!("too large: no thread can be started: {error}")));
        }
        let result = clock.wait(&receiver);
        if clock.is_spent {
            // More than is left, so that the other thread ends with its next charge.
            charge(limit + 1, "a column of the comparison");
        }
        result
    });
    match waited {
        Ok(result) => result,
        Err(_) if clock.is_spent => Err(clock.too_large()),
        Err(exceeded) => Err(NoResult::of(&exceeded)),
    }
}

/// How long a part of the comparison may take.
struct Clock<'c> {
    comparison: &'c Comparison,
    started: Instant,
    /// Processor time that was left at the start, and the share of it.
    processor: Option<(Duration, Duration)>,
    /// Whether the share was spent.
    is_spent: bool,
}

impl<'c> Clock<'c> {
    fn new(comparison: &'c Comparison, parts: usize) -> Self {
        let left = comparison.processor.and_then(|left| left());
        let processor = left.map(|left| (left, left / parts as u32));
        Self { comparison, started: Instant::now(), processor, is_spent: false }
    }

    /// Waits for a result until the time or the share of processor time is up.
    fn wait<T>(&mut self, receiver: &Receiver<Result<T, NoResult>>) -> Result<T, NoResult> {
        while !self.looks_spent() {
            let rest = self.comparison.time.saturating_sub(self.started.elapsed());
            match receiver.recv_timeout(rest.min(BETWEEN_LOOKS)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoResult::Failed("it ended without a word".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if rest.is_zero() => return Err(NoResult::OutOfTime),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.is_spent = true;
        Err(self.too_large())
    }

    fn looks_spent(&self) -> bool {
        let left = self.comparison.processor.and_then(|left| left());
        self.processor.zip(left).is_some_and(|((first, share), left)| first.saturating_sub(left) >= share)
    }

    fn too_large(&self) -> NoResult {
        let share = self.processor.map_or(0.0, |(_, share)| share.as_secs_f64());
        NoResult::TooLarge(format!(
            "too large: it takes more than its share of processor time, {share:.1} seconds (--work raises the limit)"
        ))
    }
}

impl NoResult {
    fn of(exceeded: &Exceeded) -> Self {
        match exceeded.kind {
            Kind::Time => Self::OutOfTime,
            Kind::Work { .. } | Kind::Memory { .. } => Self::TooLarge(exceeded.to_string()),
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
    fn new(problem: &Arc<Problem>, comparison: &Comparison, best: Option<(Outcome, Rational)>) -> Self {
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
            best,
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
