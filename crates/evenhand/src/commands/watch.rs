//! The command `watch`: judges a running cluster repeatedly, writes a history, and serves metrics. Also
//! writes the page of a history.

use std::process::ExitCode;
use std::sync::Arc;

use evenhand::dumps::Options;
use evenhand::problem::snapshot::System;
use evenhand::report;
use evenhand_budget::Limits;
use evenhand_watch::client::CommandLine;
use evenhand_watch::history::{History, over_time};
use evenhand_watch::{
    Board, Clock, Failure as RoundFailure, Log, Outcome, Settings, Source, Stop, SystemClock, WatchError,
    Watcher, server, system,
};

use crate::arguments::watch::Watch;
use crate::arguments::{Common, Compare};
use crate::failure::Failure;
use crate::{files, output};

impl From<WatchError> for Failure {
    fn from(error: WatchError) -> Self {
        match error {
            WatchError::Thread(_) => Self::solver(error),
            error => Self::input(error),
        }
    }
}

pub fn run(call: &Watch, common: &Common) -> Result<ExitCode, Failure> {
    let settings = settings(call, common)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let stop = Stop::default();
    let name = settings.source.system();
    let listener = call.listen.map(|address| server::listen(address, call.insecure)).transpose()?;
    let history = call.history.as_deref().map(|file| History::open(file, name, call.keep)).transpose()?;
    let board = Board::new(name, call.every, call.timeout, call.history.clone(), clock.now());
    let board = Arc::new(board);
    end_at_signals(&stop);
    let served = match listener {
        Some(listener) => {
            if let Ok(address) = listener.local_addr()
                && !common.quiet
            {
                output::line(&format!("serving http://{address}/"));
            }
            Some(server::serve(listener, Arc::clone(&board), Arc::clone(&clock), stop.clone())?)
        }
        None => None,
    };
    let mut log = |line: Log| match line {
        Log::Verdict(text) if !common.quiet => output::line(&text),
        Log::Verdict(_) => {}
        // An error is printed first on standard error, and it states why the only round gave no verdict.
        Log::Failure(_) if call.once => {}
        Log::History(text) if call.once => output::warn(common, text),
        Log::Failure(text) | Log::History(text) => output::line(&format!("warning: {text}")),
    };
    let mut watcher = Watcher {
        settings,
        clock: Arc::clone(&clock),
        stop: stop.clone(),
        history,
        board: Arc::clone(&board),
        log: &mut log,
    };
    let outcome = watcher.run(call.once.then_some(1));
    // Closing the history moves all its data into one file.
    drop(watcher);
    stop.stop();
    if let Some(served) = served {
        let _ended = served.join();
    }
    if !call.once {
        return Ok(ExitCode::SUCCESS);
    }
    status(&board, &outcome, clock.now(), common)
}

fn settings(call: &Watch, common: &Common) -> Result<Settings, Failure> {
    // The parser of the arguments accepts only names of systems.
    let system: Option<System> = call.system.as_deref().and_then(|name| name.parse().ok());
    let commands =
        call.commands.iter().map(|text| CommandLine::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let source = match (system, commands.as_slice()) {
        (Some(system), []) => Source::Dump(system, system::commands(system)?),
        (Some(system), _) => Source::Dump(system, commands),
        (None, [command]) => Source::Snapshot(command.clone()),
        (None, []) => {
            return Err(Failure::input("expected a system or a command to watch")
                .tip("`evenhand watch slurm`, or --command with a command that prints a snapshot"));
        }
        (None, _) => {
            return Err(Failure::input(
                "found several commands: without a system, one command prints the snapshot",
            )
            .tip("name the system before --command if each command prints a file of its dump"));
        }
    };
    if call.merge.is_some() && system.is_none() {
        return Err(Failure::input(
            "--merge applies only to dumps, but --command without a system prints a snapshot",
        ));
    }
    // The parser of the arguments accepts only names of rules.
    let rule = call.rule_option.rule.as_deref().map(|name| name.parse().ok());
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?.unwrap_or_default();
    let import = call.merge.clone().map_or_else(Options::default, |merge| Options { merge });
    let limits = Limits { work: common.work, memory: common.memory, ..Limits::by_input() };
    let is_shown = call.listen.is_some();
    Ok(Settings { source, timeout: call.timeout, rule, tolerance, import, limits, is_shown })
}

/// Prints the result of the only round, and returns the same exit status as `verdict`.
fn status(board: &Board, outcome: &Outcome, now: i64, common: &Common) -> Result<ExitCode, Failure> {
    if let Outcome::Judged(judged) = outcome {
        let shown = || report::Page::new().text(&judged.answer);
        output::result(common, || board.status(now), shown)?;
    }
    match outcome {
        Outcome::Judged(judged) if !judged.is_fair => Ok(ExitCode::from(1)),
        Outcome::Judged(judged) if judged.is_decided => Ok(ExitCode::SUCCESS),
        Outcome::Judged(_) => Err(Failure::solver(
            "whether every waiting task could start, or whether an axiom holds, is not checked",
        )),
        Outcome::Failed(failure @ (RoundFailure::Client { .. } | RoundFailure::Dump(_))) => {
            Err(Failure::input(failure))
        }
        Outcome::Failed(failure) => Err(Failure::solver(failure)),
        Outcome::None => Err(Failure::solver(RoundFailure::Stopped)),
    }
}

/// Ends the watch cleanly at the first TERM, INT or HUP, and at once at the second signal. A signal that the
/// parent ignores stays ignored.
#[cfg(unix)]
fn end_at_signals(stop: &Stop) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = files::ignored_signals();
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(ends) else { return };
    let stop = stop.clone();
    // If no thread can be started, the signals end the program as usual. The history then still loses no
    // finished round.
    let _none = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if stop.is_stopped() {
                let _ends = signal_hook::low_level::emulate_default_handler(signal);
            }
            stop.stop();
        }
    });
}

#[cfg(not(unix))]
fn end_at_signals(_: &Stop) {}

/// Writes the page of a history. The command `report` calls this function.
pub fn report(asked: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    if !super::cluster::is_plain(asked) || asked.tolerance.is_some() {
        return Err(Failure::input("for a history, `report` takes only --output"));
    }
    let history = over_time(&asked.problem, None)?;
    if !files::write(asked.page(), &report::html::over_time(&history))? {
        output::note(common, format!("the page is in {}", asked.page().display()));
        output::result(common, || report::json::over_time(&history), || report::over_time(&history))?;
    }
    Ok(ExitCode::SUCCESS)
}
