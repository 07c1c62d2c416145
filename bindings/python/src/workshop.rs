//! Runs calls on threads of their own, without Python's lock and within limits.
//!
//! A call takes a pool of threads that no other call uses, so the work of every thread counts against the limits of
//! this call. The Python thread waits, checks for signals and passes progress on. An interrupted call ends at the next
//! step that it counts. A panic becomes an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use evenhand_budget::{Handle, Limits, charge, handle, within};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// The stack size of every thread, in bytes. It is large because the proofs of packings are trees.
const STACK: usize = 1 << 26;
/// The time between two checks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// The time to wait until a stopped call ends.
const TO_STOP: Duration = Duration::from_secs(2);
/// The largest number of idle pools that are kept for later calls.
const MOST_KEPT: usize = 8;
/// The divisor of the memory limit that gives the memory to keep free. Calls may use this memory between two checks.
const HEADROOM: u64 = 16;

/// The number of threads of a pool; 0 means one for each core.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The idle pools, each with the requested number of threads, and the process that created them. A forked process has
/// no threads of these pools.
static FREE: Mutex<(u32, Vec<Kept>)> = Mutex::new((0, Vec::new()));
type Kept = (usize, Arc<ThreadPool>);

/// Sets the number of threads of a call; 0 means one for each core.
#[pyfunction]
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
    FREE.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
}

/// The process in which the library created the threads that all calls share. The library creates them when it starts
/// threads itself.
static FIRST: AtomicU32 = AtomicU32::new(0);

/// Refuses a call that would wait for ever for threads of another process.
pub fn same_process() -> Result<(), Failure> {
    let process = std::process::id();
    match FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != process => Err(Failure::Solver(
            "this process was forked after a comparison and has none of its threads: start processes by spawn or loky"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The limits of a call.
#[derive(Debug, Clone, Copy, Default, FromPyObject)]
pub struct Granted {
    /// The most steps of work.
    #[pyo3(item)]
    pub work: Option<u64>,
    /// The most bytes of memory.
    #[pyo3(item)]
    pub memory: Option<u64>,
}

impl Granted {
    /// Returns these limits, with the defaults of the program.
    pub fn limits(self) -> Limits {
        Limits { work: self.work, memory: self.memory, ..Limits::by_input() }
    }

    /// Returns these limits without the limit of work, for callers that set the amount of work themselves.
    pub fn endless(self) -> Limits {
        Limits { work: self.work.or(Some(u64::MAX / 4)), ..self.limits() }
    }
}

/// The size of a problem. A small problem runs on one thread, because starting more threads would take longer than the
/// computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Small,
    Large,
}

impl Size {
    /// The largest product of the numbers of users, classes and resources of a small problem.
    const MOST_SMALL: usize = 1 << 12;

    pub fn of(problem: &evenhand::Problem) -> Self {
        let pairs = problem.n_users().saturating_mul(problem.n_servers());
        match pairs.saturating_mul(problem.n_resources()) <= Self::MOST_SMALL {
            true => Self::Small,
            false => Self::Large,
        }
    }

    fn threads(self) -> usize {
        match self {
            Self::Small => 1,
            Self::Large => THREADS.load(Ordering::Relaxed),
        }
    }
}

/// The progress of a call: the number done, the total, and the name of the unit.
type Step = (f64, Option<f64>, String);

enum Message<T> {
    Step(Step),
    Done(std::thread::Result<Result<T, Failure>>),
}

/// A function that reports the progress of a call from any thread.
pub struct Tell(Box<dyn Fn(Step) + Send + Sync>);

impl Tell {
    pub fn tell(&self, done: f64, of: Option<f64>, what: impl Into<String>) {
        (self.0)((done, of, what.into()));
    }
}

/// Computes `work` within the limits while this thread waits. `progress` is called from time to time.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    (limits, size): (Limits, Size),
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Tell) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    keep_quiet();
    let outside = handle();
    let waited = within(&limits, || {
        let inside = handle();
        let (sender, receiver) = channel();
        start((inside.clone(), outside), size, sender, work)?;
        Waiting { inside, limits, progress, begun: Instant::now(), resident: resident_bytes() }
            .wait(py, receiver)
    });
    Ok(waited.map_err(|exceeded| Failure::Limit(exceeded.to_string()))??)
}

/// Silences panics on standard error, because exceptions report them.
fn keep_quiet() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| std::panic::set_hook(Box::new(|_| ())));
}

fn start<T: Send + 'static>(
    (inside, outside): (Handle, Handle),
    size: Size,
    sender: Sender<Message<T>>,
    work: impl FnOnce(&Tell) -> Result<T, Failure> + Send + 'static,
) -> Result<(), Failure> {
    let pool = take(size.threads())?;
    let own = Arc::clone(&pool);
    let steps = sender.clone();
    pool.spawn(move || {
        own.broadcast(|_| inside.adopt());
        let tell = Tell(Box::new(move |step| drop(steps.send(Message::Step(step)))));
        let done = catch_unwind(AssertUnwindSafe(|| work(&tell)));
        own.broadcast(|_| outside.adopt());
        give_back(size.threads(), own);
        // The receiver is gone if the call was stopped and did not end in time. In that case the memory of the call is
        // freed here.
        if let Err(unsent) = sender.send(Message::Done(done)) {
            drop(unsent);
            Python::try_attach(give_back_memory);
        }
    });
    Ok(())
}

/// Returns freed memory to the system, as far as that is possible.
pub fn give_back_memory(py: Python<'_>) {
    let _kept = py.import("evenhand._limits").and_then(|limits| limits.call_method0("give_back"));
}

fn take(threads: usize) -> Result<Arc<ThreadPool>, Failure> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if free.0 != process {
        // These threads belong to another process, so waiting for them would never end.
        std::mem::forget(std::mem::take(&mut free.1));
        free.0 = process;
    }
    if let Some(at) = free.1.iter().position(|(of, _)| *of == threads) {
        return Ok(free.1.swap_remove(at).1);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .thread_name(|number| format!("evenhand-{number}"))
        .build();
    pool.map(Arc::new).map_err(|error| Failure::Solver(format!("no thread can be started: {error}")))
}

fn give_back(threads: usize, pool: Arc<ThreadPool>) {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if free.1.len() < MOST_KEPT {
        free.1.push((threads, pool));
    }
}

/// The Python thread while a call runs.
struct Waiting<'a> {
    inside: Handle,
    limits: Limits,
    progress: Option<&'a Py<PyAny>>,
    begun: Instant,
    resident: u64,
}

impl Waiting<'_> {
    fn wait<T: Send + 'static>(
        &self,
        py: Python<'_>,
        mut receiver: Receiver<Message<T>>,
    ) -> Result<T, Failure> {
        loop {
            let (message, back) = py.detach(move || (receiver.recv_timeout(BETWEEN_LOOKS), receiver));
            receiver = back;
            let looked = match message {
                Ok(Message::Done(Ok(done))) => return done,
                Ok(Message::Done(Err(panic))) => return Err(Failure::of_panic(&*panic)),
                Ok(Message::Step(step)) => self.tell(py, step),
                Err(RecvTimeoutError::Timeout) => self.look(py),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::defect("a thread ended without a message"));
                }
            };
            if let Err(failure) = looked {
                self.stop(py, receiver);
                return Err(failure);
            }
        }
    }

    fn look(&self, py: Python<'_>) -> Result<(), Failure> {
        py.check_signals()?;
        let (_, memory) = self.inside.limits();
        if let Some(limit) = self.limits.memory.or(memory)
            && resident_bytes().saturating_sub(self.resident) > limit - limit / HEADROOM
        {
            let limit = limit >> 20;
            return Err(Failure::Limit(format!("this takes more memory than the limit of {limit} MiB")));
        }
        self.tell(py, (self.begun.elapsed().as_secs_f64(), None, "seconds".to_owned()))
    }

    fn tell(&self, py: Python<'_>, (done, of, what): Step) -> Result<(), Failure> {
        if let Some(progress) = self.progress {
            progress.call1(py, (done, of, what))?;
        }
        py.check_signals()?;
        Ok(())
    }

    /// Sets the remaining work of the call to zero, so that it ends at the next step that it counts, and waits a little
    /// for its end.
    fn stop<T: Send + 'static>(&self, py: Python<'_>, receiver: Receiver<Message<T>>) {
        let all = || self.inside.enter(|| charge(u64::MAX / 2, "a call that was stopped"));
        drop(catch_unwind(AssertUnwindSafe(all)));
        py.detach(move || {
            let end = Instant::now() + TO_STOP;
            while let Ok(Message::Step(_)) =
                receiver.recv_timeout(end.saturating_duration_since(Instant::now()))
            {}
        });
    }
}

/// Returns the resident memory of this process in bytes; 0 if the system does not report it.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * rustix::param::page_size() as u64
}
