//! Runs contenders that are compiled into this program, within their time limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use evenhand_budget::{Limits, within};

use crate::case::Case;
use crate::contenders::{Answer, Contender, NoAnswer};
use crate::memory;
use crate::record::Cost;
use crate::timing::Effort;
use crate::worker::Worker;

/// A contender whose first run takes longer than this runs only once, unless a number of runs was requested.
const LONG: Duration = Duration::from_millis(300);
/// The time that a contender may take to notice that its time is up, as a fraction of the time limit.
const GRACE: f64 = 0.2;
/// The additional time that a process has to read the case.
const READING: Duration = Duration::from_secs(120);

/// The result of one run.
pub(crate) struct Ran {
    pub answer: Result<Answer, NoAnswer>,
    pub time: Duration,
    /// The peak of memory in bytes, minus the memory that was in use before the run.
    pub memory: Option<u64>,
}

/// A message from a running contender.
pub(crate) enum Message {
    /// The case has been read.
    Ready,
    Ran(Box<Ran>),
}

/// Runs a contender as often as the effort requires. The function ends early if `say` returns false.
pub(crate) fn runs(
    contender: &dyn Contender,
    case: &Case,
    limit: Duration,
    effort: Option<Effort>,
    say: &mut dyn FnMut(Ran) -> bool,
) {
    let repeat = effort.unwrap_or_default();
    let all = Instant::now();
    for count in 0..=repeat.most_runs {
        let before = (count == 0).then(memory::reset_peak);
        let start = Instant::now();
        let limits = Limits { time: Some(limit), ..Limits::default() };
        let answer = catch_unwind(AssertUnwindSafe(|| {
            within(&limits, || contender.solve(case, limit)).unwrap_or(Err(NoAnswer::Timeout))
        }));
        let time = start.elapsed();
        let answer = answer.unwrap_or_else(|_| Err(NoAnswer::Failed("it panicked".to_owned())));
        let memory = before.flatten().and_then(memory::peak_above);
        let is_last = answer.is_err() || (count == 0 && effort.is_none() && time > LONG);
        if !say(Ran { answer, time, memory }) || is_last {
            return;
        }
        if count >= repeat.least_runs && all.elapsed() >= repeat.enough {
            return;
        }
    }
}

/// Returns the first answer, or the reason why there is no answer, and the cost. If there is a worker, the contender
/// runs in one of its processes. Otherwise it runs on a thread, which is abandoned when the time is up.
pub(crate) fn run(
    contender: &Arc<dyn Contender>,
    case: &Arc<Case>,
    limit: Duration,
    effort: Option<Effort>,
    worker: Option<&Worker>,
) -> (Result<Answer, NoAnswer>, Cost) {
    let (send, receive) = channel();
    let begun = Instant::now();
    let wait = limit.mul_f64(1.0 + GRACE) + Duration::from_millis(100);
    let mut process = None;
    let started = match worker {
        Some(worker) => {
            worker.start(&contender.name(), case, limit, effort, send).map(|started| process = Some(started))
        }
        None => {
            let (own, shared) = (Arc::clone(contender), Arc::clone(case));
            let thread = std::thread::Builder::new().name("contender".to_owned()).stack_size(64 << 20);
            let all = move || {
                runs(&*own, &shared, limit, effort, &mut |ran| {
                    send.send(Message::Ran(Box::new(ran))).is_ok()
                });
            };
            thread.spawn(all).map(|_| ())
        }
    };
    if let Err(error) = started {
        return (Err(NoAnswer::Failed(format!("it cannot be started: {error}"))), Cost::default());
    }
    let (mut first, mut seconds, mut memory) = (None, Vec::new(), None);
    let mut patience = if process.is_some() { wait + READING } else { wait };
    loop {
        match receive.recv_timeout(patience) {
            Ok(Message::Ready) => {}
            Ok(Message::Ran(ran)) => {
                seconds.push(ran.time.as_secs_f64());
                memory = memory.or(ran.memory);
                first.get_or_insert(ran.answer);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                first.get_or_insert(Err(NoAnswer::Timeout));
                break;
            }
        }
        patience = wait;
    }
    let ended = process.and_then(|(mut child, _held)| {
        // If this fails, the process has already ended.
        let _gone = child.kill();
        child.wait().ok()
    });
    // The first run only warms up, so its time does not count.
    if seconds.len() > 1 {
        seconds.remove(0);
    }
    let runs = seconds.len();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(runs / 2).copied().unwrap_or_else(|| begun.elapsed().as_secs_f64());
    let answer = first.unwrap_or_else(|| {
        let how = ended.map(|status| format!(": {status}")).unwrap_or_default();
        Err(NoAnswer::Failed(format!("it ended without an answer{how}")))
    });
    let answer = match answer {
        Ok(_) if seconds.first().is_some_and(|least| *least > wait.as_secs_f64()) => Err(NoAnswer::Timeout),
        answer => answer,
    };
    let steps = answer.as_ref().ok().and_then(|answer| answer.steps);
    (answer, Cost { seconds: median, runs, memory, steps, exit: None })
}
