//! Ends programs that run for too long, by the processor time and the memory that the system measures.
//!
//! Limits of work and memory are charged before they are used. Some work is not charged, for example inside
//! HiGHS. For such work, a thread reads the processor time and the resident memory of the process, and ends
//! the program with status 3 if a limit is exceeded. A command that already has results writes them first
//! ([`before_the_end`]).

use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use evenhand_budget::{Handle, Limits};

use crate::failure::Failure;
use crate::output;

/// The time between two measurements. In this time a process can touch some hundred megabytes.
const BETWEEN_READINGS: Duration = Duration::from_millis(20);

/// The inverse of the fraction of the memory limit that stays free, for memory that the process touches
/// between two measurements.
const HEADROOM: u64 = 16;

/// The processor time for [`Limits::A_MINUTE`] of work, in seconds, summed over all threads.
const SECONDS_OF_A_MINUTE: f64 = 55.0;

/// The fraction of the processor time that is reserved for writing the results after all other processor time
/// is used.
const TIME_TO_WRITE: f64 = 0.1;

/// The additional time for a command that is already writing its results when the limit is reached: a
/// fraction of the limit, and the least number of seconds. Other threads still use processor time during this
/// time. Writing a page of a few columns takes less time.
const TIME_TO_FINISH: (f64, f64) = (0.09, 1.0);

/// The limits of the command.
static LIMITS: OnceLock<Handle> = OnceLock::new();

/// A function that writes the results so far. Its argument is the reason why the other results are missing.
/// It returns `None` if the command is already writing its results.
type LastWords = Box<dyn FnOnce(&str) -> Option<Result<ExitCode, Failure>> + Send>;

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// Registers a function that writes the results if the program has to be ended. Without such a function, only
/// a message is written.
pub fn before_the_end(words: impl FnOnce(&str) -> Option<Result<ExitCode, Failure>> + Send + 'static) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
}

/// Waits forever while the thread that ends the program writes the results.
pub fn wait_for_the_end<T>() -> T {
    loop {
        std::thread::park();
    }
}

/// The current part of the command with its own limits: the processor time at its start, its limit of work,
/// and its limit of memory.
static PART: Mutex<Option<(f64, u64, u64)>> = Mutex::new(None);

/// The least processor time of each part in seconds. A part with little work is therefore ended by its limit
/// of work, which is the same on every machine, and not by the clock.
const LEAST_SECONDS: f64 = 10.0;

/// Begins a part of the command with its own limits of work, in steps, and memory, in bytes.
pub fn begin_part(work: u64, memory: u64) {
    *PART.lock().unwrap_or_else(PoisonError::into_inner) = processor_seconds().map(|now| (now, work, memory));
}

/// Ends the current part of the command.
pub fn end_part() {
    *PART.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Returns the processor time that is left until the command must write its results. Returns `None` if there
/// is no limit.
pub fn processor_time_left() -> Option<Duration> {
    let limit = seconds_of(LIMITS.get()?.limits().0?) * (1.0 - TIME_TO_WRITE);
    Duration::try_from_secs_f64((limit - processor_seconds()?).max(0.0)).ok()
}

/// Returns the processor time in seconds for a number of steps of work.
fn seconds_of(work: u64) -> f64 {
    SECONDS_OF_A_MINUTE * work as f64 / Limits::A_MINUTE as f64
}

/// Starts the thread that watches the program until the program ends.
///
/// # Errors
/// If the system cannot start a thread.
pub fn start(handle: Handle) -> Result<(), Failure> {
    let handle = LIMITS.get_or_init(|| handle);
    let watch = move || {
        let mut more = 0.0;
        loop {
            std::thread::sleep(BETWEEN_READINGS);
            let (work, memory) = handle.limits();
            let part = *PART.lock().unwrap_or_else(PoisonError::into_inner);
            let memory = memory.into_iter().chain(part.map(|(_, _, memory)| memory)).min();
            if let (Some(used), Some((begun, work, _))) = (processor_seconds(), part) {
                let limit = seconds_of(work).max(LEAST_SECONDS);
                if used - begun > limit {
                    end(&processor_time_message(limit));
                }
            }
            if let (Some(used), Some(limit)) = (processor_seconds(), work.map(seconds_of))
                && used > limit + more
            {
                end(&processor_time_message(limit));
                more = (TIME_TO_FINISH.0 * limit).max(TIME_TO_FINISH.1);
            }
            if let (Some(used), Some(limit)) = (resident_bytes(), memory)
                && used > limit - limit / HEADROOM
            {
                let limit = limit >> 20;
                end(&format!(
                    "this takes more memory than the limit of {limit} MiB (--memory raises the limit)"
                ));
            }
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(watch);
    thread.map(drop).map_err(|error| Failure::solver(format!("no thread can be started: {error}")))
}

fn processor_time_message(limit: f64) -> String {
    format!("this takes more than {limit:.0} seconds of processor time (--work raises the limit)")
}

/// Ends the program from another thread, because the command itself may never return. If the command is
/// already writing its results, the first call returns, so that the command can finish.
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

/// Returns the processor time in seconds that all threads of this process have used.
#[cfg(unix)]
fn processor_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn processor_seconds() -> Option<f64> {
    None
}

/// Returns the resident memory of this process in bytes. Returns `None` if the system does not report it.
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
