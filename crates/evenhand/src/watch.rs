//! The last line of defence: processor time and memory as the system counts them.
//!
//! Limits of work and memory are charged before they are spent. What is not charged, inside HiGHS say, is seen here:
//! a thread looks at the clock of the process and at its resident memory, and ends the program with status 3.

use std::time::Duration;

use evenhand_budget::{Handle, Limits};

use crate::failure::Failure;

/// Time between two looks; in it a process can touch some hundred megabytes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Seconds of processor time for [`Limits::A_MINUTE`] of work, the seconds of all threads added.
const SECONDS_OF_A_MINUTE: f64 = 55.0;

/// Watches over the program until it ends.
///
/// # Errors
/// The system makes no thread.
pub fn start(handle: Handle) -> Result<(), Failure> {
    let watch = move || {
        loop {
            std::thread::sleep(BETWEEN_LOOKS);
            let (work, memory) = handle.limits();
            let seconds = work.map(|work| SECONDS_OF_A_MINUTE * work as f64 / Limits::A_MINUTE as f64);
            if let (Some(used), Some(limit)) = (processor_seconds(), seconds)
                && used > limit
            {
                end(&format!(
                    "this takes more than {limit:.0} seconds of processor time (--work raises the limit)"
                ));
            }
            if let (Some(used), Some(limit)) = (resident_bytes(), memory)
                && used > limit
            {
                let limit = limit >> 20;
                end(&format!("this takes more than {limit} MiB of memory (--memory raises the limit)"));
            }
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(watch);
    thread.map(drop).map_err(|error| Failure::solver(format!("no thread can be started: {error}")))
}

/// Ends the program from another thread: the command itself may never come back.
fn end(message: &str) -> ! {
    Failure::solver(message).report();
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
