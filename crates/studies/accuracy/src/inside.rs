//! Runs contenders that are compiled in, each on a thread of its own that is left behind when the time is up.

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

/// A first run that took longer than this is not repeated, unless a number of runs was asked for.
const LONG: Duration = Duration::from_millis(300);
/// What a contender has above its limit to notice by itself that the time is up.
const GRACE: f64 = 0.2;

/// The first answer, or why there is none, and what it took.
pub(crate) fn run(
    contender: &Arc<dyn Contender>,
    case: &Arc<Case>,
    limit: Duration,
    effort: Option<Effort>,
) -> (Result<Answer, NoAnswer>, Cost) {
    let (send, receive) = channel();
    let (own, shared) = (Arc::clone(contender), Arc::clone(case));
    let begun = Instant::now();
    let wait = limit.mul_f64(1.0 + GRACE) + Duration::from_millis(100);
    let thread =
        std::thread::Builder::new().name("contender".to_owned()).stack_size(64 << 20).spawn(move || {
            let repeat = effort.unwrap_or_default();
            let all = Instant::now();
            for count in 0..=repeat.most_runs {
                let before = (count == 0).then(memory::before);
                let start = Instant::now();
                let limits = Limits { time: Some(limit), ..Limits::default() };
                let answer = catch_unwind(AssertUnwindSafe(|| {
                    within(&limits, || own.solve(&shared, limit)).unwrap_or(Err(NoAnswer::Timeout))
                }));
                let seconds = start.elapsed();
                let answer = answer.unwrap_or_else(|_| Err(NoAnswer::Failed("it panics".to_owned())));
                let peak = before.flatten().and_then(memory::above);
                let is_last = answer.is_err() || (count == 0 && effort.is_none() && seconds > LONG);
                if send.send((answer, seconds, peak)).is_err() || is_last {
                    return;
                }
                let is_enough = count >= repeat.least_runs && all.elapsed() >= repeat.enough;
                if is_enough {
                    return;
                }
            }
        });
    if let Err(error) = thread {
        return (Err(NoAnswer::Failed(format!("no thread can be started: {error}"))), Cost::default());
    }
    let (mut first, mut seconds, mut memory) = (None, Vec::new(), None);
    loop {
        match receive.recv_timeout(wait) {
            Ok((answer, time, peak)) => {
                seconds.push(time.as_secs_f64());
                memory = memory.or(peak);
                first.get_or_insert(answer);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                first.get_or_insert(Err(NoAnswer::Timeout));
                break;
            }
        }
    }
    // The first run warms up.
    if seconds.len() > 1 {
        seconds.remove(0);
    }
    let runs = seconds.len();
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(runs / 2).copied().unwrap_or_else(|| begun.elapsed().as_secs_f64());
    let answer = first.unwrap_or(Err(NoAnswer::Failed("it ends without an answer".to_owned())));
    let answer = match answer {
        Ok(_) if seconds.first().is_some_and(|least| *least > wait.as_secs_f64()) => Err(NoAnswer::Timeout),
        answer => answer,
    };
    let steps = answer.as_ref().ok().and_then(|answer| answer.steps);
    (answer, Cost { seconds: median, runs, memory, steps, exit: None })
}
