//! The command `simulate`: simulates tasks that arrive, run and finish.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evenhand::problem::format::{Document, Source, read_text};
use evenhand::report::plot::PlotError;
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
    if is_snapshot(&document) {
        let snapshot = document.source().snapshot().map_err(of_format)?;
        for warning in snapshot.problem.warnings() {
            output::warn(common, warning.to_string());
        }
        if call.history || !call.half_life.is_empty() {
            let option = if call.history { "--history" } else { "--half-life" };
            return Err(Failure::input(format!(
                "{option}: {name} is a snapshot, and this option is for scenarios"
            )));
        }
        return super::waits::run(call, snapshot, common);
    }
    if call.waits.durations.is_some() || call.waits.rule_option.rule.is_some() {
        let option = if call.waits.durations.is_some() { "--durations" } else { "--rule" };
        return Err(Failure::input(format!(
            "{option}: {name} is a scenario, and this option is for snapshots"
        ))
        .tip("a scenario states the durations and the policy itself"));
    }
    let is_of_tasks = !simulate::reservation::is_admission(&document)
        && !simulate::is_course(&document)
        && !simulate::is_of_rounds(&document);
    for (option, is_given) in [("--history", call.history), ("--half-life", !call.half_life.is_empty())] {
        if is_given && !is_of_tasks {
            return Err(Failure::input(format!("{option}: {name} is not a scenario of whole tasks")));
        }
    }
    if simulate::reservation::is_admission(&document) {
        return super::admission::run(&document, call, until, common);
    }
    if simulate::is_course(&document) {
        return super::course::run(&document, call, until, common);
    }
    if simulate::is_of_rounds(&document) {
        return super::rounds::run(&document, call, until, common);
    }
    let mut scenario = document.scenario(folder).map_err(of_format)?;
    scenario.has_history = call.history;
    if !call.half_life.is_empty() {
        return super::half_life::run(call, &document, scenario, common);
    }
    if call.resume.is_some() && scenario.usage.is_some() {
        let why = "--resume: runs with an order by past usage cannot be resumed; start without --resume";
        return Err(Failure::input(why));
    }
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
    let mut run_folder = RunFolder::new(call, simulated.runs.len());
    write(&mut run_folder, &simulated, &call.series)?;
    let stopped = simulated.runs.iter().filter(|(_, run)| run.is_stopped).map(|(_, run)| (run.seed, run.end));
    let summary = simulate::document(&simulated);
    let stopped = finish(run_folder, common, summary, || report::simulation(&simulated), stopped);
    match &call.resume {
        Some(file) => stopped.map_err(|failure| {
            failure.tip(format!("run the same command again to resume from {}", file.display()))
        }),
        None => stopped,
    }
}

/// Returns `true` if a document is a snapshot of a running cluster.
fn is_snapshot(document: &Document<'_>) -> bool {
    let kind = || {
        let object = document.object(document.root()).ok()?;
        Some(document.string(object.get("kind")?).ok()? == "snapshot")
    };
    kind() == Some(true)
}

/// Refuses options that apply only to runs of whole tasks. Other runs save no state, and write their series
/// only as CSV.
pub(super) fn refuse_checkpoints(call: &Simulate, runs: &str) -> Result<(), Failure> {
    if call.resume.is_some() {
        let why = format!("--resume: runs of {runs} cannot be resumed; start without --resume");
        return Err(Failure::input(why));
    }
    if call.series != "csv" {
        return Err(Failure::input(format!("--series: the series of {runs} is written as csv only")));
    }
    Ok(())
}

/// Returns the seeds of the runs.
pub(super) fn seeds(call: &Simulate, common: &Common) -> Vec<u64> {
    (0..u64::from(call.replications)).map(|k| common.seed.wrapping_add(k)).collect()
}

/// The folder of the runs, if the command line names a folder, and the content of its page other than tables.
pub(super) struct RunFolder<'a> {
    call: &'a Simulate,
    runs: usize,
    files: Vec<String>,
    /// The pictures of the first run, each with a caption.
    pictures: Vec<(String, &'static str)>,
}

impl<'a> RunFolder<'a> {
    pub fn new(call: &'a Simulate, runs: usize) -> Self {
        Self { call, runs, files: Vec::new(), pictures: Vec::new() }
    }

    /// Returns `true` if the command line names a folder.
    pub fn is_asked_for(&self) -> bool {
        self.call.output.is_some()
    }

    /// Saves a file. If the command has several runs, the name of the file begins with the seed of its run.
    pub fn save(&mut self, seed: Option<u64>, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        let Some(folder) = &self.call.output else { return Ok(()) };
        let name = match seed {
            Some(seed) if self.runs > 1 => format!("{seed}-{name}"),
            _ => name.to_owned(),
        };
        files::save_in(folder, &name, bytes)?;
        self.files.push(name);
        Ok(())
    }

    /// Saves a picture. The page shows the pictures of the first run.
    pub fn picture(
        &mut self,
        seed: u64,
        name: &str,
        picture: Result<String, PlotError>,
        says: &'static str,
    ) -> Result<(), Failure> {
        let picture = picture.map_err(Failure::solver)?;
        self.save(Some(seed), name, &picture)?;
        if !self.pictures.iter().any(|(_, shown)| *shown == says) {
            self.pictures.push((picture, says));
        }
        Ok(())
    }

    /// Writes the page and then the summary. The summary comes last, because its presence shows that the
    /// folder is complete.
    fn end(mut self, page: Page, summary: &Value) -> Result<(), Failure> {
        if !self.is_asked_for() {
            return Ok(());
        }
        let of_first = if self.runs > 1 { " (the first run)" } else { "" };
        let mut page = page;
        for (picture, says) in std::mem::take(&mut self.pictures) {
            page = page.picture(picture, format!("{says}{of_first}"));
        }
        let files = [std::mem::take(&mut self.files), vec!["summary.json".to_owned()]].concat();
        self.save(None, "index.html", page.files(files).document())?;
        self.save(None, "summary.json", format!("{summary:#}\n"))
    }
}

/// Writes the page and the summary, and prints the result. Returns a failure if runs were stopped. Each
/// stopped run is given by its seed and time.
pub(super) fn finish(
    run_folder: RunFolder<'_>,
    common: &Common,
    summary: Value,
    page: impl FnOnce() -> Page,
    stopped: impl Iterator<Item = (u64, f64)>,
) -> Result<ExitCode, Failure> {
    let call = run_folder.call;
    let page = page();
    run_folder.end(page.clone(), &summary)?;
    output::result(common, || summary, || page)?;
    let mut stopped = stopped.peekable();
    let Some(&(seed, time)) = stopped.peek() else { return Ok(ExitCode::SUCCESS) };
    let others = match stopped.count() - 1 {
        0 => String::new(),
        others => format!(", and {others} others"),
    };
    let seconds = call.seconds.unwrap_or_default();
    Err(Failure::solver(format!(
        "--seconds {seconds}: the time was up: the run with seed {seed} stopped at time {time}{others}; the results \
         cover the runs up to there"
    )))
}

/// Returns the failure for an error in a scenario, with its position in the file. The reader of the trace
/// reports errors in the trace.
pub(super) fn of_scenario(document: &Document<'_>, scenario: &Scenario, error: SimulateError) -> Failure {
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

/// An observer that saves the state of the run in a file.
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
    // Only a checkpoint that could not be written aborts the run.
    simulated.ok_or_else(|| writer.failure.unwrap_or_else(|| Failure::solver("the run was stopped")))
}

/// Writes the tables and plots of every run. If there are several runs, the names of the files begin with the
/// seeds.
fn write(run_folder: &mut RunFolder<'_>, simulated: &Simulated, form: &str) -> Result<(), Failure> {
    for (problem, run) in simulated.runs.iter().filter(|_| run_folder.is_asked_for()).collect::<Vec<_>>() {
        let seed = Some(run.seed);
        run_folder.save(seed, "jobs.csv", simulate::jobs_csv(problem, run))?;
        run_folder.save(seed, "users.csv", simulate::users_csv(problem, run))?;
        if run_folder.call.history {
            let history = simulate::history_csv(problem, run).map_err(Failure::from)?;
            run_folder.save(seed, "history.csv", history)?;
        }
        run_folder.save(seed, "completion-times.csv", simulate::completion_csv(run))?;
        if let Some(figure) = report::simulation_series(problem, run) {
            if form == "parquet" {
                let series = simulate::series_parquet(problem, run).map_err(Failure::solver)?;
                run_folder.save(seed, "series.parquet", &series)?;
            } else {
                run_folder.save(seed, "series.csv", simulate::series_csv(problem, run))?;
            }
            let says = match run.usage {
                Some(_) => {
                    "Use of each resource, the dominant shares of users, and their parts of past usage with their parts of \
                     the weights (dashed), over time"
                }
                None => "Use of each resource, and the dominant shares of users, over time",
            };
            run_folder.picture(run.seed, "series.svg", figure.to_svg(), says)?;
        }
        if let Some(plot) = report::simulation_completion(run) {
            let says = "The fraction of the jobs that finish within a time after their arrival";
            run_folder.picture(run.seed, "completion-times.svg", plot.to_svg(), says)?;
        }
    }
    Ok(())
}
