//! The last line of defence: processor time and memory as the system counts them.
//!
//! Limits of work and memory are charged before they are spent. What is not charged, inside HiGHS say, is seen here:
//! a thread looks at the clock of the process and at its resident memory, and ends the program with status 3. A command
//! that has results by then writes them first ([`before_the_end`]).

use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use evenhand_budget::{Handle, Limits};

use crate::failure::Failure;
use crate::output;

/// Time between two looks; in it a process can touch some hundred megabytes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Part of the memory that is kept free, for what is touched between two looks.
const HEADROOM: u64 = 16;

/// Seconds of processor time for [`Limits::A_MINUTE`] of work, the seconds of all threads added.
const SECONDS_OF_A_MINUTE: f64 = 55.0;

/// Part of the processor time that is kept for writing what is done when the rest of it is spent.
const TIME_TO_WRITE: f64 = 0.1;

/// Part of the limit, and seconds at least, that a command has beyond it where it is writing its results already: what else
/// still runs takes processor time too, and a page of a few columns takes less.
const TIME_TO_FINISH: (f64, f64) = (0.09, 1.0);

/// The limits of the command.
static LIMITS: OnceLock<Handle> = OnceLock::new();

/// Writes what is done, given why the rest is not; `None` where it has been written.
type LastWords = Box<dyn FnOnce(&str) -> Option<Result<ExitCode, Failure>> + Send>;

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// Has results written, in place of a message alone, should the program be ended.
pub fn before_the_end(words: impl FnOnce(&str) -> Option<Result<ExitCode, Failure>> + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
}

/// Waits while the thread that ends the program writes what is done.
pub fn wait_for_the_end<T>() -> T {
    loop {
        std::thread::park();
    }
}

/// A part of the command that has limits of its own: processor time when it began, and its work and memory.
static PART: Mutex<Option<(f64, u64, u64)>> = Mutex::new(None);

/// Seconds of processor time that every part has, so that it is its work that ends one with little of it, which is the same
/// on every machine.
const LEAST_SECONDS: f64 = 10.0;

/// A part of the command begins, which may take so many steps of work and bytes.
pub fn begin_part(work: u64, memory: u64) {
    *PART.lock().unwrap_or_else(PoisonError::into_inner) = processor_seconds().map(|now| (now, work, memory));
}

/// The part of the command has ended.
pub fn end_part() {
    *PART.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Processor time that the command may still take before it has to write its results; `None` without a limit.
pub fn processor_time_left() -> Option<Duration> {
    let limit = seconds_of(LIMITS.get()?.limits().0?) * (1.0 - TIME_TO_WRITE);
    Duration::try_from_secs_f64((limit - processor_seconds()?).max(0.0)).ok()
}

/// Processor time for so many steps of work.
fn seconds_of(work: u64) -> f64 {
    SECONDS_OF_A_MINUTE * work as f64 / Limits::A_MINUTE as f64
}

/// Watches over the program until it ends.
///
/// # Errors
/// The system makes no thread.
pub fn start(handle: Handle) -> Result<(), Failure> {
    let handle = LIMITS.get_or_init(|| handle);
    let watch = move || {
        let mut more = 0.0;
        loop {
            std::thread::sleep(BETWEEN_LOOKS);
            let (work, memory) = handle.limits();
            let part = *PART.lock().unwrap_or_else(PoisonError::into_inner);
            let memory = memory.into_iter().chain(part.map(|(_, _, memory)| memory)).min();
            if let (Some(used), Some((begun, work, _))) = (processor_seconds(), part) {
                let limit = seconds_of(work).max(LEAST_SECONDS);
                if used - begun > limit {
                    end(&said_of_time(limit));
                }
            }
            if let (Some(used), Some(limit)) = (processor_seconds(), work.map(seconds_of))
                && used > limit + more
            {
                end(&said_of_time(limit));
                more = (TIME_TO_FINISH.0 * limit).max(TIME_TO_FINISH.1);
            }
            if let (Some(used), Some(limit)) = (resident_bytes(), memory)
                && used > limit - limit / HEADROOM
            {
                let limit = limit >> 20;
                end(&format!("this takes more memory than {limit} MiB allow (--memory raises the limit)"));
            }
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(watch);
    thread.map(drop).map_err(|error| Failure::solver(format!("no thread can be started: {error}")))
}

fn said_of_time(limit: f64) -> String {
    format!("this takes more than {limit:.0} seconds of processor time (--work raises the limit)")
}

/// Ends the program from another thread: the command itself may never come back. The first time it returns where the
/// command is writing its results by itself.
fn end(message: &str) {
    let words = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take();
    let failure = match words.map(|words| words(message)) {
        Some(None) => return,
        Some(Some(Err(failure))) => failure,
        Some(Some(Ok(_))) | None => Failure::solver(message),
    };
    crate::files::clear();
    failure.report();
    output::say_remarks();
    std::process::exit(3);
}

/// What the threads of this process have used.
#[cfg(unix)]
fn processor_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn processor_seconds() -> Option<f64> {
    None
}

/// Memory of this process, where the system says it.
#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}
