//! `simulate`: tasks come, run and finish.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evenhand::problem::format::{Document, Source, read_text};
use evenhand::report::{self, Page};
use evenhand::simulate::{self, Checkpoint, Observer, ReadScenario, Scenario, SimulateError, Simulated};
use indicatif::ProgressBar;
use serde_json::Value;

use crate::arguments::{Common, Simulate};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Simulate, common: &Common) -> Result<ExitCode, Failure> {
    let until = call.seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs_f64(seconds)));
    let folder = call.scenario.parent().unwrap_or_else(|| Path::new(""));
    let text = read_text(&call.scenario)?;
    let name = call.scenario.to_string_lossy();
    let of_format = |error| Failure::format(&error, &text);
    let document = Source { name: &name, text: &text }.document().map_err(of_format)?;
    if simulate::reservation::is_admission(&document) {
        return super::admission::run(&document, call, until, common);
    }
    if simulate::is_course(&document) {
        return super::course::run(&document, call, until, common);
    }
    let scenario = document.scenario(folder).map_err(of_format)?;
    let bar = output::progress(common, None);
    let simulated = match &call.resume {
        Some(file) => with_checkpoints(&document, &scenario, call, file, (common.seed, until), &bar),
        None => {
            let look = |time, events| bar.set_message(stand(time, events));
            simulate::run_until(&scenario, &seeds(call, common), until, &look)
                .map_err(|error| of_scenario(&document, &scenario, error))
        }
    };
    bar.finish_and_clear();
    let simulated = simulated?;
    for note in &simulated.notes {
        output::note(common, note);
    }
    if let Some(folder) = &call.output {
        write(folder, &simulated, &call.series)?;
    }
    let stopped = simulated.runs.iter().filter(|(_, run)| run.is_stopped).map(|(_, run)| (run.seed, run.end));
    let summary = simulate::document(&simulated);
    let stopped = finish(call, common, summary, || report::simulation(&simulated), stopped);
    match &call.resume {
        Some(file) => {
            stopped.map_err(|failure| failure.tip(format!("the same call goes on from {}", file.display())))
        }
        None => stopped,
    }
}

/// Refuses options of runs that place whole tasks: other runs keep no checkpoints, and write one form of series.
pub(super) fn refuse_checkpoints(call: &Simulate, runs: &str) -> Result<(), Failure> {
    if call.resume.is_some() {
        let why = format!("--resume: runs of {runs} keep no checkpoints: a run that was stopped begins anew");
        return Err(Failure::input(why));
    }
    if call.series != "csv" {
        return Err(Failure::input(format!("--series: the series of {runs} is written as csv")));
    }
    Ok(())
}

/// The seeds of the runs.
pub(super) fn seeds(call: &Simulate, common: &Common) -> Vec<u64> {
    (0..u64::from(call.replications)).map(|k| common.seed.wrapping_add(k)).collect()
}

/// Saves a file of one of several runs, which are told apart by their seeds.
pub(super) fn save(
    folder: &Path,
    (seed, runs): (u64, usize),
    name: &str,
    bytes: impl AsRef<[u8]>,
) -> Result<(), Failure> {
    let name = if runs == 1 { name.to_owned() } else { format!("{seed}-{name}") };
    files::save_in(folder, &name, bytes)
}

/// Writes the summary last, since where it stands everything else does, and says the result. Runs that were stopped,
/// each with its seed and the time in it, are no success.
pub(super) fn finish(
    call: &Simulate,
    common: &Common,
    summary: Value,
    page: impl FnOnce() -> Page,
    stopped: impl Iterator<Item = (u64, f64)>,
) -> Result<ExitCode, Failure> {
    if let Some(folder) = &call.output {
        files::save_in(folder, "summary.json", format!("{summary:#}\n"))?;
    }
    output::result(common, || summary, page)?;
    let mut stopped = stopped.peekable();
    let Some(&(seed, time)) = stopped.peek() else { return Ok(ExitCode::SUCCESS) };
    let others = match stopped.count() - 1 {
        0 => String::new(),
        others => format!(", and {others} others"),
    };
    let seconds = call.seconds.unwrap_or_default();
    Err(Failure::solver(format!(
        "--seconds {seconds}: the time was up: the run with seed {seed} stopped at time {time}{others}; the results \
         are those up to there"
    )))
}

/// What is wrong with a scenario is said with its place; a trace is named by its reader.
fn of_scenario(document: &Document<'_>, scenario: &Scenario, error: SimulateError) -> Failure {
    let (place, message) = (error.place(scenario), error.to_string());
    let is_import = matches!(error, SimulateError::Import(_));
    let failure = Failure::from(error);
    if is_import {
        return failure;
    }
    let source = document.source();
    let error = place.map(|place| document.error(document.locate(&place), message.clone()));
    match error {
        Some(error) if failure.is_of_input() => Failure::format(&error, source.text),
        Some(error) => Failure::solver(error),
        None if failure.is_of_input() => Failure::input(format!("{}: {message}", source.name)),
        None => Failure::solver(format!("{}: {message}", source.name)),
    }
}

fn of_checkpoint(file: &Path, error: &SimulateError) -> Failure {
    Failure::input(format!("{}: {error}", file.display()))
}

fn stand(time: f64, events: u64) -> String {
    format!("time {time:.0}, {events} events")
}

/// Writes where the run stands into a file.
struct Writer<'a> {
    file: &'a PathBuf,
    every: u64,
    until: Option<Instant>,
    bar: &'a ProgressBar,
    failure: Option<Failure>,
}

impl Observer for Writer<'_> {
    fn every(&self) -> u64 {
        self.every
    }

    fn until(&self) -> Option<Instant> {
        self.until
    }

    fn look(
        &mut self,
        time: f64,
        events: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        self.bar.set_message(stand(time, events));
        self.failure = files::save(self.file, checkpoint().to_json().as_bytes()).err();
        Ok(self.failure.is_none())
    }
}

fn with_checkpoints(
    document: &Document<'_>,
    scenario: &Scenario,
    call: &Simulate,
    file: &PathBuf,
    (seed, until): (u64, Option<Instant>),
    bar: &ProgressBar,
) -> Result<Simulated, Failure> {
    let from = if file.exists() {
        Some(Checkpoint::from_json(&read_text(file)?).map_err(|error| of_checkpoint(file, &error))?)
    } else {
        None
    };
    let mut writer = Writer { file, every: call.checkpoint_every, until, bar, failure: None };
    let simulated =
        simulate::run_from(scenario, seed, from.as_ref(), &mut writer).map_err(|error| match error {
            SimulateError::Checkpoint(_) => of_checkpoint(file, &error),
            error => of_scenario(document, scenario, error),
        })?;
    // Only a checkpoint that could not be written abandons the run.
    simulated.ok_or_else(|| writer.failure.unwrap_or_else(|| Failure::solver("the run was stopped")))
}

/// The tables and plots of every run; those of several runs are told apart by their seeds.
fn write(folder: &Path, simulated: &Simulated, form: &str) -> Result<(), Failure> {
    for (problem, run) in &simulated.runs {
        let save = |what: &str, bytes: &[u8]| save(folder, (run.seed, simulated.runs.len()), what, bytes);
        save("jobs.csv", simulate::jobs_csv(problem, run).as_bytes())?;
        save("users.csv", simulate::users_csv(problem, run).as_bytes())?;
        save("completion-times.csv", simulate::completion_csv(run).as_bytes())?;
        if let Some(figure) = report::simulation_series(problem, run) {
            if form == "parquet" {
                let series = simulate::series_parquet(problem, run).map_err(Failure::solver)?;
                save("series.parquet", &series)?;
            } else {
                save("series.csv", simulate::series_csv(problem, run).as_bytes())?;
            }
            save("series.svg", figure.to_svg().map_err(Failure::solver)?.as_bytes())?;
        }
        if let Some(plot) = report::simulation_completion(run) {
            save("completion-times.svg", plot.to_svg().map_err(Failure::solver)?.as_bytes())?;
        }
    }
    Ok(())
}
