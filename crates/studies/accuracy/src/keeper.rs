//! Keepers are processes between the benchmark and an external program. A keeper kills the external program
//! when the benchmark ends.
//!
//! A keeper reads the shell's command from its standard input, which stays open while the benchmark runs. On
//! standard output it reports when the shell has started and how the shell ended. If the shell ends, standard
//! input closes, or a signal arrives, the keeper kills everything that the command has started. On Linux the
//! keeper adopts all orphaned processes below it, so it also finds programs that have left the process group
//! (`setsid`).

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::memory;

/// The longest command that is read, in bytes.
const MOST_COMMAND: u64 = 1 << 20;
/// The time that a keeper may take to kill its processes.
const TO_KILL: Duration = Duration::from_secs(2);
/// The time between two checks whether killed processes have ended.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
/// The shortest and the longest time between two checks whether a program has ended.
pub(crate) const LOOKS: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(20));
/// The number of bytes that are kept from the end of standard error. The rest is read and dropped.
const KEPT_BYTES: usize = 1 << 16;
/// The number of bytes that a program may write into its folder: twice the longest answer that is read.
pub(crate) const MOST_WRITTEN: u64 = 1 << 29;
/// The prefix of the names of folders that external programs read and write.
pub(crate) const FOLDER_PREFIX: &str = "evenhand-bench-";
/// The number of files that a program may create in its folder.
const MOST_FILES: usize = 10_000;

/// The command that starts a keeper: a program that runs [`keep`].
#[derive(Debug, Clone)]
pub struct Keeper {
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments of the program.
    pub arguments: Vec<OsString>,
}

/// The line that a keeper reads from standard input.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    /// The command that the shell runs.
    command: String,
    /// The folder of the command's files. The keeper removes it if the benchmark cannot.
    folder: PathBuf,
}

/// A line that a keeper writes to standard output.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// The shell has started as the leader of this process group.
    Started { group: u32 },
    /// The shell has ended.
    Ended { exit: Option<i32>, time: Duration },
    /// The shell cannot be started.
    Failed { why: String },
}

/// The way in which an external program ended.
#[derive(Debug, Default)]
pub(crate) struct End {
    /// The time from the start of the shell to the end of the shell.
    pub time: Duration,
    /// The exit status, unless a signal ended the program.
    pub exit: Option<i32>,
    /// True if the program was stopped because the time was up.
    pub timed_out: bool,
    /// True if the program wrote more than [`MOST_WRITTEN`].
    pub wrote_too_much: bool,
    /// The peak of the program's memory in bytes.
    pub memory: Option<u64>,
    /// The last bytes of the program's standard error.
    pub words: String,
}

/// A running keeper. The keeper kills its processes when this value is dropped.
struct Kept {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Line>,
    words: Arc<Mutex<Vec<u8>>>,
    words_end: Receiver<()>,
}

impl Keeper {
    /// Runs a shell command whose files are in `folder`. Stops the command when the time is up or it has
    /// written too much.
    pub(crate) fn run(&self, command: &str, folder: &Path, limit: Duration) -> io::Result<End> {
        let task = Task { command: command.to_owned(), folder: folder.to_owned() };
        let mut kept = self.start(&task)?;
        let group = match kept.lines.recv_timeout(TO_KILL + limit) {
            Ok(Line::Started { group }) => group,
            Ok(Line::Failed { why }) => return Err(io::Error::other(why)),
            Ok(Line::Ended { .. }) | Err(_) => {
                return Err(io::Error::other("the supervising process did not start it"));
            }
        };
        let begun = Instant::now();
        let mut end = End::default();
        let (mut pause, longest) = LOOKS;
        loop {
            end.memory = end.memory.max(memory::of_group(group));
            end.time = begun.elapsed();
            end.wrote_too_much = has_written_too_much(folder);
            end.timed_out = end.time >= limit;
            if end.wrote_too_much || end.timed_out {
                break;
            }
            match kept.lines.recv_timeout(pause.min(limit.saturating_sub(end.time))) {
                Ok(Line::Ended { exit, time }) => {
                    (end.exit, end.time) = (exit, time);
                    end.wrote_too_much = has_written_too_much(folder);
                    break;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                // The channel is closed, because a signal has ended the keeper itself.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            pause = (pause * 3 / 2).min(longest);
        }
        kept.end();
        kill_group(group);
        end.words = kept.words();
        Ok(end)
    }

    fn start(&self, task: &Task) -> io::Result<Kept> {
        let mut keeper = Command::new(&self.program);
        keeper.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C reaches every process of the benchmark's process group. The keeper is in a group of its own, so that
        // Ctrl-C does not end it before it has killed its processes.
        in_a_group(&mut keeper);
        let mut child = keeper.spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                let Some(line) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { return };
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let words = Arc::new(Mutex::new(Vec::new()));
        let (words_done, words_end) = channel();
        let ring = Arc::clone(&words);
        std::thread::spawn(move || {
            errors.into_iter().for_each(|errors| drain(errors, &ring));
            drop(words_done);
        });
        let mut kept = Kept { child, input, lines, words, words_end };
        if let Some(input) = &mut kept.input {
            writeln!(input, "{}", serde_json::to_string(task)?)?;
        }
        Ok(kept)
    }
}

impl Kept {
    /// Makes the keeper kill its processes, and waits for it.
    fn end(&mut self) {
        drop(self.input.take());
        let begun = Instant::now();
        while begun.elapsed() < 2 * TO_KILL {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        // If killing fails, the keeper has already ended.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }

    /// Returns the last bytes of standard error. Waits until all processes that could write to it have ended.
    fn words(&self) -> String {
        let _ended = self.words_end.recv_timeout(TO_KILL);
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&words).into_owned()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads standard error to its end and keeps the last [`KEPT_BYTES`] of it.
fn drain(mut errors: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut piece = vec![0; KEPT_BYTES];
    while let Ok(length @ 1..) = errors.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..length]);
        let superfluous = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..superfluous);
    }
}

/// Returns `true` if the files in a folder are too many or take more disk space than a program may use.
pub(crate) fn has_written_too_much(folder: &Path) -> bool {
    let (mut bytes, mut files) = (0, 0);
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            files += 1;
            bytes += bytes_on_disk(&found);
            if bytes > MOST_WRITTEN || files > MOST_FILES {
                return true;
            }
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    false
}

#[cfg(unix)]
fn bytes_on_disk(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(found) * 512
}

#[cfg(not(unix))]
fn bytes_on_disk(found: &fs::Metadata) -> u64 {
    found.len()
}

/// Makes the program the leader of a process group, so that all processes that it starts can be killed together with
/// it.
#[cfg(unix)]
pub(crate) fn in_a_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Kills a process group.
#[cfg(unix)]
pub(crate) fn kill_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // If killing fails, the group no longer exists.
        let _gone = kill_process_group(group, Signal::KILL);
    }
}

/// Does nothing. On systems other than Unix only the program itself is killed.
#[cfg(not(unix))]
pub(crate) fn in_a_group(_command: &mut Command) {}

#[cfg(not(unix))]
pub(crate) fn kill_group(_group: u32) {}

/// The reason why a keeper ends.
enum Why {
    Ended(io::Result<std::process::ExitStatus>, Duration),
    /// The benchmark has ended, or a signal has arrived.
    Stopped,
}

/// Keeps an external program for another process. It reads the command from standard input, runs it with `sh -c`, and
/// kills everything that the command has started. `signals` must block until a signal arrives that ends the keeper.
///
/// # Errors
/// Standard input has no command, or standard output is closed.
pub fn keep(signals: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut text = String::new();
    let mut input = BufReader::new(io::stdin());
    BufRead::read_line(&mut Read::take(&mut input, MOST_COMMAND), &mut text)?;
    let Task { command, folder } = serde_json::from_str(&text)?;
    adopt_orphans();
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).stdin(Stdio::null()).stdout(Stdio::null());
    in_a_group(&mut shell);
    let begun = Instant::now();
    let mut shell = match shell.spawn() {
        Ok(shell) => shell,
        Err(error) => return say(&Line::Failed { why: error.to_string() }),
    };
    let group = shell.id();
    let (send, events) = channel();
    let (ended, closed, signalled) = (send.clone(), send.clone(), send);
    std::thread::spawn(move || {
        let status = shell.wait();
        ended.send(Why::Ended(status, begun.elapsed()))
    });
    std::thread::spawn(move || {
        let _closed = io::copy(&mut input, &mut io::sink());
        closed.send(Why::Stopped)
    });
    std::thread::spawn(move || {
        signals();
        signalled.send(Why::Stopped)
    });
    let started = say(&Line::Started { group });
    let why = if started.is_ok() { events.recv().unwrap_or(Why::Stopped) } else { Why::Stopped };
    kill_all(group);
    started?;
    match why {
        Why::Ended(Ok(status), time) => say(&Line::Ended { exit: status.code(), time }),
        Why::Ended(Err(error), _) => say(&Line::Failed { why: error.to_string() }),
        Why::Stopped => {
            // The benchmark also removes the folder. But if a signal has ended the benchmark, only the keeper can
            // remove it.
            let is_ours =
                folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FOLDER_PREFIX));
            let _removed = if is_ours { fs::remove_dir_all(&folder) } else { Ok(()) };
            Ok(())
        }
    }
}

fn say(line: &Line) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", serde_json::to_string(line)?)?;
    output.flush()
}

/// Makes this process the parent of all orphaned processes below it.
#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // If the system refuses, only the process group is killed.
    let _refused = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Kills the process group and all descendants of this process, until no process is left.
fn kill_all(group: u32) {
    let begun = Instant::now();
    loop {
        kill_group(group);
        let below = memory::below(std::process::id());
        below.iter().copied().for_each(kill);
        if below.is_empty() || begun.elapsed() > TO_KILL {
            return;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

#[cfg(unix)]
fn kill(process: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // If killing fails, the process no longer exists.
        let _gone = kill_process(process, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_process: u32) {}
