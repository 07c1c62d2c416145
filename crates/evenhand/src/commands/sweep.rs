//! The command `sweep`: solves many problems under many mechanisms, one line for each. It can be divided into
//! parts, interrupted and resumed.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenhand::problem::format::{Source, read_text};
use evenhand::report::table::Table;
use evenhand::report::{self, Page};
use evenhand_budget::{Limits, handle, read, within};
use evenhand_sweep::{Cause, Fault, Grid, Head, Line, ReadLine, Rows, Subject};
use serde_json::{Value, json};

use crate::arguments::{Common, Part, Sweep as Call};
use crate::failure::Failure;
use crate::files::{self, Partial};
use crate::{output, watch};

pub fn run(call: &Call, common: &Common) -> Result<ExitCode, Failure> {
    let text = read_text(&call.grid)?;
    let name = call.grid.to_string_lossy();
    let folder = call.grid.parent().unwrap_or_else(|| Path::new(""));
    let grid = Grid::read(&Source { name: &name, text: &text }, folder, common.seed);
    let grid = grid.map_err(|error| Failure::format(&error, &text))?;
    if let Some(path) = call.output.as_deref().filter(|path| path.exists()) {
        files::not_an_input(path, &[&call.grid])?;
        grid.paths().try_for_each(|problem| files::not_an_input(path, &[&problem]))?;
    }
    let part = call.part.unwrap_or(Part::WHOLE);
    let lines = part.lines(grid.n_lines());
    let mut at = At { grid: &grid, common, subject: None };
    let kept = call.output.as_deref().filter(|path| is_kept(path));
    let (sink, counts) = match (kept, &call.output) {
        (Some(path), _) => {
            let (partial, counts) = resumed(path, &mut at, part)?;
            (Sink::Kept(partial), counts)
        }
        (None, path) => (Sink::stream(path.as_deref())?, Counts::default()),
    };
    let bar = output::progress(common, Some(lines.end - lines.start));
    bar.inc(counts.all);
    let from = lines.start + counts.all;
    let left = call.most_bytes.saturating_sub(counts.bytes);
    let state = Arc::new(Mutex::new(State { sink, counts, left, current: None }));
    say_the_last_line(&state);
    for line in from..lines.end {
        at.compute(line, &state)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let State { sink, counts, .. } = std::mem::replace(&mut *locked(&state), State::gone());
    if let (Sink::Kept(partial), Some(path)) = (sink, kept) {
        finish(path, partial)?;
        output::result(common, || counts.document(grid.sha256()), || counts.page())?;
    }
    counts.end()
}

/// Returns `true` if lines are collected until the file is complete. Lines for a pipe or for standard output
/// are written at once.
fn is_kept(path: &Path) -> bool {
    !files::is_standard(path) && (!path.exists() || files::is_ordinary(path))
}

/// The destination of the lines.
enum Sink {
    Kept(Partial),
    Stream(Box<dyn Write + Send>),
}

impl Sink {
    fn stream(path: Option<&Path>) -> Result<Self, Failure> {
        match path.filter(|path| !files::is_standard(path)) {
            None => Ok(Self::Stream(Box::new(std::io::stdout()))),
            Some(path) => match OpenOptions::new().write(true).open(path) {
                Ok(file) => Ok(Self::Stream(Box::new(file))),
                Err(error) => Err(Failure::solver(format!("{}: cannot be written: {error}", path.display()))),
            },
        }
    }

    /// Writes a line. Returns `false` if the reader has closed the pipe.
    fn put(&mut self, text: &str) -> Result<bool, Failure> {
        match self {
            Self::Kept(partial) => partial.append(text).map(|()| true),
            Self::Stream(out) => {
                match out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()) {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
                    Err(error) => Err(Failure::solver(format!("the lines cannot be written: {error}"))),
                    Ok(()) => Ok(true),
                }
            }
        }
    }
}

/// The state of a sweep. The watching thread needs it to end a line.
struct State {
    sink: Sink,
    counts: Counts,
    /// The number of bytes that may still be written.
    left: u64,
    /// The head of the line that is being computed. `None` between two lines.
    current: Option<Head>,
}

impl State {
    fn gone() -> Self {
        let sink = Sink::Stream(Box::new(std::io::sink()));
        Self { sink, counts: Counts::default(), left: 0, current: None }
    }

    fn put(&mut self, line: &Line) -> Result<bool, Failure> {
        let text = line.to_json();
        // The line break counts too.
        let bytes = text.len() as u64 + 1;
        let Some(left) = self.left.checked_sub(bytes) else {
            let failure = Failure::solver("the lines have more bytes than --most-bytes allows");
            return Err(match self.sink {
                Sink::Kept(_) => {
                    failure.tip("run the same command again with a larger --most-bytes to resume")
                }
                Sink::Stream(_) => failure,
            });
        };
        self.left = left;
        self.counts.add(line);
        self.sink.put(&text)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The current problem of a sweep. It is read once for all mechanisms.
struct At<'a> {
    grid: &'a Grid,
    common: &'a Common,
    subject: Option<(u64, Result<Subject, Fault>)>,
}

impl At<'_> {
    /// Returns the problem of a line.
    fn subject(&mut self, line: u64) -> &Result<Subject, Fault> {
        let number = self.grid.problem_of(line);
        if self.subject.as_ref().is_none_or(|(of, _)| *of != number) {
            let Common { work, memory, .. } = *self.common;
            let limits = Limits { work, memory, ..Limits::by_input() };
            self.subject = Some((number, self.grid.subject(number, &limits)));
        }
        &self.subject.get_or_insert_with(|| (number, Err(Fault::defect("no problem")))).1
    }

    fn compute(&mut self, line: u64, state: &Mutex<State>) -> Result<(), Failure> {
        let (grid, common) = (self.grid, self.common);
        let subject = self.subject(line);
        let limits = limits_of(subject, common);
        locked(state).current = Some(grid.head(line, subject));
        watch::begin_part(limits.work.unwrap_or(u64::MAX), limits.memory.unwrap_or(u64::MAX));
        let computed = grid.line(line, subject, &limits);
        // While this thread holds the lock, the watching thread cannot end the line. If the watching thread
        // is already ending the line, it never releases the lock.
        let mut state = locked(state);
        watch::end_part();
        state.current = None;
        if state.put(&computed)? {
            return Ok(());
        }
        drop(state);
        // The reader has closed the pipe (`| head`), which is not an error.
        std::process::exit(0)
    }
}

/// Returns the limits of a line. They are the limits of `solve` for the problem of the line.
fn limits_of(subject: &Result<Subject, Fault>, common: &Common) -> Limits {
    let bytes = subject.as_ref().map_or(0, Subject::bytes);
    let limits = Limits { work: common.work, memory: common.memory, ..Limits::by_input() };
    let granted = within(&limits, || {
        read(bytes);
        handle().limits()
    });
    granted.map_or(limits, |(work, memory)| Limits { work, memory, ..Limits::default() })
}

/// Registers a function that runs if the clock or the memory limit ends the process during a line. It writes
/// the line as failed. The same command can then resume after this line.
fn say_the_last_line(state: &Arc<Mutex<State>>) {
    let state = Arc::clone(state);
    watch::before_the_end(move |why| {
        let mut now = locked(&state);
        let head = now.current.take()?;
        let written = now.put(&Line { head, found: Err(Fault::new(Cause::Limit, why)) });
        let is_kept = matches!(now.sink, Sink::Kept(_));
        // The lock is never released, so that no other thread adds a line.
        std::mem::forget(now);
        Some(match written {
            Err(failure) => Err(failure),
            Ok(_) if is_kept => Err(go_on(why)),
            Ok(_) => Err(Failure::solver(format!("{why}: the output ends with this line"))),
        })
    });
}

/// Replaces this process by a new run of the same command. Returns only if this is impossible.
fn go_on(why: &str) -> Failure {
    let mut failure = Failure::solver(format!("a line ended the process: {why}"));
    let is_input = std::env::args_os().skip(1).any(|argument| argument == "-");
    #[cfg(unix)]
    if let (false, Ok(program)) = (is_input, std::env::current_exe()) {
        use std::os::unix::process::CommandExt;
        files::clear();
        let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).exec();
        failure = Failure::solver(format!(
            "a line ended the process: {why}; it could not be started again: {error}"
        ));
    }
    failure.tip("run the same command again to resume after this line")
}

/// Opens the lines of an earlier run. Refuses lines that do not belong to this grid.
fn resumed(path: &Path, at: &mut At<'_>, part: Part) -> Result<(Partial, Counts), Failure> {
    let lines = part.lines(at.grid.n_lines());
    let header =
        json!({"kind": "sweep-part", "version": 1, "grid": at.grid.sha256(), "part": part.to_string()});
    let mut counts = Counts::default();
    let partial = Partial::open(path, &header.to_string(), |text| {
        let line = lines.start + counts.all;
        if line >= lines.end {
            return Err("the file has more lines than this part of the sweep".to_owned());
        }
        let read =
            ReadLine::parse(text).map_err(|error| format!("this is not a line of a sweep: {error}"))?;
        at.subject(line);
        let Some((_, subject)) = &at.subject else { return Err("no problem".to_owned()) };
        if !read.is_about(&at.grid.head(line, subject)) {
            return Err(format!(
                "this line differs from line {} of the grid: a problem has changed",
                line + 1
            ));
        }
        counts.add_read(&read);
        counts.bytes += text.len() as u64 + 1;
        Ok(())
    })?;
    Ok((partial, counts))
}

/// Writes the complete file, and removes the collected lines.
fn finish(path: &Path, partial: Partial) -> Result<(), Failure> {
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    files::save_by(path, &|out| {
        if !is_parquet {
            return partial.each(|line| writeln!(out, "{line}"));
        }
        let mut rows = Rows::new(out).map_err(std::io::Error::other)?;
        partial.each(|line| rows.add(line).map_err(std::io::Error::other))?;
        rows.finish().map_err(std::io::Error::other)
    })?;
    partial.remove()
}

/// The numbers of lines by outcome.
#[derive(Debug, Default)]
struct Counts {
    all: u64,
    /// The number of bytes of the lines that earlier runs have written.
    bytes: u64,
    not_applicable: u64,
    /// The numbers of failed lines by cause, in the order of [`Cause::NAMES`].
    failed: [u64; Cause::NAMES.len()],
}

impl Counts {
    fn add(&mut self, line: &Line) {
        let fault = line.found.as_ref().err();
        let cause = fault.and_then(|fault| fault.cause).map(Cause::name);
        self.count(cause, fault.is_some_and(|fault| fault.cause.is_none()));
    }

    fn add_read(&mut self, line: &ReadLine) {
        self.count(line.cause.as_deref(), line.not_applicable.is_some());
    }

    fn count(&mut self, cause: Option<&str>, is_not_applicable: bool) {
        self.all += 1;
        self.not_applicable += u64::from(is_not_applicable);
        for (count, (name, _)) in self.failed.iter_mut().zip(Cause::NAMES) {
            *count += u64::from(cause == Some(name));
        }
    }

    fn n_failed(&self) -> u64 {
        self.failed.iter().sum()
    }

    fn of(&self, cause: Cause) -> u64 {
        let at = Cause::NAMES.iter().position(|(name, _)| *name == cause.name());
        at.map_or(0, |at| self.failed[at])
    }

    fn rows(&self) -> Vec<(String, u64)> {
        let failed = Cause::NAMES.iter().zip(self.failed);
        let failed = failed.map(|((name, _), count)| (format!("failed: {name}"), count));
        let solved = self.all - self.not_applicable - self.n_failed();
        let first = [("solved".to_owned(), solved), ("not applicable".to_owned(), self.not_applicable)];
        first.into_iter().chain(failed.filter(|(_, count)| *count > 0)).collect()
    }

    fn page(&self) -> Page {
        let rows = self.rows();
        Page::new().table(
            Table::of(&rows)
                .words("outcome", |(name, _)| name.clone())
                .words("lines", |(_, count)| count.to_string())
                .table(),
        )
    }

    fn document(&self, grid: &str) -> Value {
        let failed =
            Cause::NAMES.iter().zip(self.failed).map(|((name, _), count)| ((*name).to_owned(), json!(count)));
        report::json::document(
            "sweep-summary",
            json!({
                "grid": grid,
                "lines": self.all,
                "not_applicable": self.not_applicable,
                "failed": failed.collect::<serde_json::Map<_, _>>(),
            }),
        )
    }

    /// Returns success if no line failed. If all failed lines have wrong input, returns the failure for wrong
    /// input. Otherwise returns the failure of a solver.
    fn end(&self) -> Result<ExitCode, Failure> {
        if self.n_failed() == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let all = self.all;
        let message =
            format!("{} of {all} lines have no result: their field `failed` says why", self.n_failed());
        if self.of(Cause::Input) == self.n_failed() {
            Err(Failure::input(message))
        } else {
            Err(Failure::solver(message))
        }
    }
}
