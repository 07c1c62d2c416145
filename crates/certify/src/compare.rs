//! Comparison of mechanisms, and of allocations from other sources, on one problem. Every verdict has its margin.
//!
//! Each allocation is examined for the axioms that the compared mechanisms are designed to satisfy. If a mechanism
//! fails or runs out of time, its column says so.

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

/// The stack size of a mechanism's thread: 64 MiB. It is large because the proofs of packings are trees that are walked
/// recursively.
const STACK: usize = 1 << 26;

/// A column may take the fraction 1 / `PARTS` of the remaining work and processor time, or an equal share if fewer
/// columns remain. So some columns are computed even if many are slow.
const PARTS: usize = 4;

/// The time between two readings of the remaining processor time.
const CLOCK_INTERVAL: Duration = Duration::from_millis(20);

/// One column of the comparison.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The name of the mechanism, or of the file.
    pub name: String,
    /// The examined allocation, or the reason why there is none.
    pub result: Result<Judged, NoResult>,
}

/// The reason why a column has no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// The mechanism is not defined for the problem.
    NotApplicable(String),
    /// The mechanism failed.
    Failed(String),
    /// The time was up.
    OutOfTime,
    /// The mechanism took more than its share of work, memory or processor time. The message says which.
    TooLarge(String),
}

/// An allocation with all results that are compared.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The allocation.
    pub allocation: Allocation,
    /// The status of an iterative method, if it did not reach its tolerance.
    pub status: Option<Status>,
    /// The total number of tasks of each user.
    pub tasks: Vec<Rational>,
    /// The least dominant share divided by weight, over the users that can run. `None` if no user can run.
    pub least_weighted_share: Option<Rational>,
    /// The used fraction of each resource of the whole cluster. `None` if the cluster has none of the resource.
    pub utilisation: Vec<Option<Rational>>,
    /// The utilitarian optimum divided by `sum_n w_n x_n`. `None` if this sum is 0.
    pub price_of_fairness: Option<Rational>,
    /// The axiom that the mechanism is designed to satisfy.
    pub own: Option<(Axiom, Parameters)>,
    /// The examined axioms.
    pub examination: Examination,
}

/// The mechanisms, allocations and settings of a comparison.
#[derive(Clone)]
pub struct Comparison {
    /// The mechanisms to run.
    pub mechanisms: Vec<&'static Mechanism>,
    /// Allocations from other sources, as `(name, allocation)`.
    pub allocations: Vec<(String, AllocationFile)>,
    /// Axioms to examine in addition.
    pub axioms: Vec<Request>,
    /// The exponent of alpha fairness. If it is `None`, alpha fairness does not apply.
    pub alpha: Option<Rational>,
    /// The arithmetic of the answers: exact or floating point.
    pub arithmetic: Arithmetic,
    /// The tolerance for all columns. The default is one billionth, so that rounding errors never count as violations.
    pub tolerance: Option<Rational>,
    /// The time that a mechanism may take, including the examination of its allocation.
    pub time: Duration,
    /// A function that returns the remaining processor time. `None` means no limit. The processor time ends work that
    /// is not charged, such as work inside HiGHS.
    pub processor: Option<fn() -> Option<Duration>>,
}

impl Default for Comparison {
    /// Returns a comparison of the mechanisms that run by default in exact arithmetic. Each mechanism may take a
    /// minute.
    fn default() -> Self {
        Self {
            mechanisms: registry::by_default(),
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
    /// Returns the names of the columns, in their order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mechanisms = self.mechanisms.iter().map(|mechanism| mechanism.info.id.to_owned());
        mechanisms.chain(self.allocations.iter().map(|(name, _)| name.clone())).collect()
    }
}

/// Runs the mechanisms on `problem`. Examines their allocations and the allocations from other sources.
#[must_use]
pub fn compare(problem: &Problem, comparison: &Comparison) -> Vec<Compared> {
    columns(problem, comparison).collect()
}

/// Returns the columns of [`compare`] as an iterator, which computes one column after the other.
///
/// A column may take a quarter of the remaining work and processor time, or an equal share if fewer columns remain. A
/// mechanism that runs out of time ends with its next charge.
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

/// Runs `work` on a separate thread, with a large stack and its share of the limits for the remaining `columns`.
/// Returns an error if the work panics or exceeds a limit.
///
/// Work that does not charge cannot notice that its time is up. Such work keeps running until the process ends.
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
            // The receiver no longer exists if the time has run out.
            let _ = sender.send(result.map_err(failed));
        };
        if let Err(error) = std::thread::Builder::new().stack_size(STACK).spawn(run) {
            return Err(NoResult::TooLarge(format!("too large: no thread can be started: {error}")));
        }
        let result = clock.wait(&receiver);
        if clock.is_spent {
            // This charge exceeds the limit, so the other thread ends with its next charge.
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

/// The time that one column of the comparison may take.
struct Clock<'c> {
    comparison: &'c Comparison,
    started: Instant,
    /// The processor time that was left at the start, and the share of it that may be used.
    processor: Option<(Duration, Duration)>,
    /// True if the share of processor time was used up.
    is_spent: bool,
}

impl<'c> Clock<'c> {
    fn new(comparison: &'c Comparison, parts: usize) -> Self {
        let left = comparison.processor.and_then(|left| left());
        let processor = left.map(|left| (left, left / parts as u32));
        Self { comparison, started: Instant::now(), processor, is_spent: false }
    }

    /// Waits for a result until the time or the share of processor time is used up.
    fn wait<T>(&mut self, receiver: &Receiver<Result<T, NoResult>>) -> Result<T, NoResult> {
        while !self.is_used_up() {
            let rest = self.comparison.time.saturating_sub(self.started.elapsed());
            match receiver.recv_timeout(rest.min(CLOCK_INTERVAL)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoResult::Failed("its thread ended without a result".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) if rest.is_zero() => return Err(NoResult::OutOfTime),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        self.is_spent = true;
        Err(self.too_large())
    }

    fn is_used_up(&self) -> bool {
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

/// The data that all columns share.
struct Jury {
    problem: Arc<Problem>,
    arithmetic: Arithmetic,
    alpha: Option<Rational>,
    tolerance: Rational,
    /// The axioms to examine in addition to the default axioms.
    requests: Vec<Request>,
    /// The allocation with the largest sum of weighted tasks, and this sum.
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
                self.optima.store(&outcome);
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
    if problem.has_rates() {
        // With rates, this share compares throughput instead of dominant shares.
        return None;
    }
    let u = Share::Dominant.coefficients(problem).ok()?;
    (0..tasks.len())
        .filter(|&n| problem.is_active(n))
        .filter_map(|n| Some(Rational::from(&tasks[n] * u.uniform(n)?) / problem.users()[n].weight()))
        .min()
}
