//! Limits of the shell (`ulimit`). A command that exceeds such a limit ends with a message and status 3, and
//! not by a signal.
//!
//! The program catches the signal for a file that grows too large, so that the write fails with an error. If
//! a process gets no more memory, no code of the process can run, because the allocator, GMP and HiGHS abort.
//! Under a limit of memory or processor time, the command therefore runs in a second process, and the first
//! process reports how the second process ended.

use std::env;
use std::io::{IsTerminal, Read, Write};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use rustix::process::{Pid, Resource, Signal, getpid, getrlimit, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::Failure;
use crate::files::ignored_signals;

/// The environment variable that marks the second process. Its value is the process id of the first process.
const MARK: &str = "EVENHAND_UNDER_LIMITS";

/// The least limit of memory in bytes under which this program can start. It covers the code, and the pieces
/// of 32 MiB that the allocator reserves for each thread.
const LEAST_MEMORY: u64 = 160 << 20;
/// The message for a smaller limit. The program writes it without allocating memory.
const TOO_LITTLE: &[u8] =
    b"error: the shell allows less than the 160 MiB of memory that evenhand needs to start (ulimit -v)\n";

/// The largest number of bytes of standard error that are stored until it is known whether an error line
/// comes first.
const MOST_WAITING: usize = 1 << 16;

/// Runs this command in a second process if the shell has set limits that end a process by a signal. Returns
/// the exit status of the second process. Returns `None` if this process must run the command itself.
pub fn run() -> Option<ExitCode> {
    let limits = Limits::of_this_process();
    if limits.memory.is_some_and(|bytes| bytes < LEAST_MEMORY) {
        // An error is ignored, because it cannot be reported.
        let _gone = std::io::stderr().write_all(TOO_LITTLE);
        return Some(ExitCode::from(3));
    }
    // If the signal is caught, the write fails. If the program ignored the signal, the programs that `bench`
    // starts would ignore it too.
    let _not_caught = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    if let Some(first) = env::var_os(MARK) {
        // The first process cannot pass on KILL, so the system sends TERM to this process when the first
        // process ends. Programs that this process starts inherit the mark, but have another parent.
        #[cfg(target_os = "linux")]
        if first == parent().as_str() {
            let _stays = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
        }
        return None;
    }
    if !limits.is_any() {
        return None;
    }
    // If no second process can be started, this process runs the command itself.
    let mut command = Command::new(env::current_exe().ok()?);
    command.args(env::args_os().skip(1)).env(MARK, std::process::id().to_string());
    let is_terminal = std::io::stderr().is_terminal();
    if !is_terminal {
        command.stderr(Stdio::piped());
    }
    let mut child = command.spawn().ok()?;
    pass_signals_on(&child);
    let said = child.stderr.take().map(|errors| thread::spawn(move || gather(errors)));
    let status = wait(&mut child)?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    Some(limits.end(status, &said))
}

/// Returns the process id of the parent of this process.
#[cfg(target_os = "linux")]
fn parent() -> String {
    rustix::process::getppid().map_or_else(String::new, |parent| parent.as_raw_nonzero().to_string())
}

/// The limits that the shell has set.
struct Limits {
    /// The limit of memory in bytes. `None` if the shell has set no limit.
    memory: Option<u64>,
    /// The limit of processor time in seconds. `None` if the shell has set no limit.
    processor_time: Option<u64>,
}

impl Limits {
    fn of_this_process() -> Self {
        let bytes = [Resource::As, Resource::Data].map(|of| getrlimit(of).current);
        Self { memory: bytes.into_iter().flatten().min(), processor_time: getrlimit(Resource::Cpu).current }
    }

    fn is_any(&self) -> bool {
        self.memory.is_some() || self.processor_time.is_some()
    }

    /// Ends this process in the same way as the second process ended. If a limit ended the second process,
    /// writes a message.
    fn end(&self, status: ExitStatus, said: &[u8]) -> ExitCode {
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let message = match (signal, self.memory, self.processor_time) {
            (Some(SIGXCPU), _, Some(seconds)) => {
                format!(
                    "this takes more than the {seconds} seconds of processor time that the shell allows (ulimit -t)"
                )
            }
            // If `ulimit -t` has set the soft and the hard limit to the same value, the system kills the
            // process without stating a reason.
            (Some(signal), _, Some(seconds)) if signal == Signal::KILL.as_raw() => {
                format!(
                    "the process was killed, probably by the shell's limit of {seconds} seconds of processor time \
                    (ulimit -t)"
                )
            }
            (Some(signal), Some(bytes), _) if is_of_memory(signal) => {
                let limit = bytes >> 20;
                format!("this takes more memory than the {limit} MiB that the shell allows (ulimit -v)")
            }
            (signal, ..) => {
                // An error is ignored, because it cannot be reported.
                let _gone = std::io::stderr().write_all(said);
                if let Some(signal) = signal {
                    // KILL has no handler that could be emulated, so this call does not end the process for
                    // KILL.
                    let _not_that_one = emulate_default_handler(signal);
                    let _not_there =
                        Signal::from_named_raw(signal).map(|signal| kill_process(getpid(), signal));
                }
                return ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(3));
            }
        };
        let said = String::from_utf8_lossy(said).into_owned();
        Failure::solver(message).note(&said).report()
    }
}

/// Returns `true` if programs that get no memory end by this signal. Such programs abort, or use an address
/// that they did not get.
fn is_of_memory(signal: i32) -> bool {
    [Signal::ABORT, Signal::SEGV, Signal::BUS, Signal::ILL, Signal::TRAP]
        .iter()
        .any(|of| of.as_raw() == signal)
}

fn wait(child: &mut Child) -> Option<ExitStatus> {
    loop {
        match child.wait() {
            Ok(status) => return Some(status),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Passes on the signals that end a command, except for signals that the parent of this process ignores.
fn pass_signals_on(child: &Child) {
    let ignored = ignored_signals();
    let ends =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(ends) else { return };
    let Some(to) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    // If no thread can be started, the second process still ends when this process ends.
    let _none = thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            if let Some(signal) = Signal::from_named_raw(signal) {
                // This call fails if the second process has already ended.
                let _ended = kill_process(to, signal);
            }
        }
    });
}

/// Reads standard error of the second process. Returns it if it is short. Otherwise passes it on while it
/// arrives.
fn gather(mut errors: impl Read) -> Vec<u8> {
    let (mut waiting, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = errors.read(&mut piece) {
        waiting.extend_from_slice(&piece[..length]);
        if waiting.len() > MOST_WAITING {
            let _gone = std::io::stderr().write_all(&waiting);
            waiting.clear();
        }
    }
    waiting
}
