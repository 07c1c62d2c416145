//! Scenarios: tasks, users and jobs over time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use evenhand::problem::format::{Document, Source, read_text};
use evenhand::report;
use evenhand::simulate::reservation::{self, AdmissionError};
use evenhand::simulate::{self as simulation, ReadScenario, SimulateError};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size, Tell};

/// The results of the runs: the summary, the notes, and the seed and the tables of each run.
type Simulated = (Shown, Vec<String>, Vec<(u64, Vec<(&'static str, String)>)>);

/// Runs a scenario once for each seed. The scenario is a file, or a text that messages call `name`.
#[pyfunction]
#[pyo3(signature = (path, name, text, folder, seeds, seconds, granted, progress = None))]
pub fn simulate(
    py: Python<'_>,
    path: Option<PathBuf>,
    name: String,
    text: Option<String>,
    folder: PathBuf,
    seeds: Vec<u64>,
    seconds: Option<f64>,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Simulated> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose();
    let time = time.map_err(|error| Failure::field("seconds", error))?;
    let until = time.and_then(|time| Instant::now().checked_add(time));
    let limits = if until.is_some() { granted.endless() } else { granted.limits() };
    workshop::run(py, (limits, Size::Large), progress.as_ref(), move |tell| {
        let text = match (text, path) {
            (Some(text), _) => text,
            (None, Some(path)) => read_text(&path)?,
            (None, None) => return Err(Failure::field("scenario", "there is none")),
        };
        let document = Source { name: &name, text: &text }.document()?;
        if reservation::is_admission(&document) {
            admissions(&document, &folder, &seeds, until)
        } else if simulation::is_course(&document) {
            courses(&document, &seeds, until)
        } else if simulation::is_of_rounds(&document) {
            rounds(&document, &seeds, until)
        } else {
            tasks(&document, &folder, &seeds, until, tell)
        }
    })
}

fn tasks(
    document: &Document<'_>,
    folder: &Path,
    seeds: &[u64],
    until: Option<Instant>,
    tell: &Tell,
) -> Result<Simulated, Failure> {
    let scenario = document.scenario(folder)?;
    let look = |time: f64, events: u64| tell.tell(time, None, format!("{events} events"));
    let simulated = simulation::run_until(&scenario, seeds, until, &look);
    let simulated = simulated.map_err(|error| of_simulation(error.place(&scenario), error))?;
    let shown = Shown::new(report::simulation(&simulated), &simulation::document(&simulated));
    let tables = simulated.runs.iter().map(|(problem, run)| {
        let mut tables = vec![
            ("jobs", simulation::jobs_csv(problem, run)),
            ("users", simulation::users_csv(problem, run)),
            ("completion_times", simulation::completion_csv(run)),
        ];
        if report::simulation_series(problem, run).is_some() {
            tables.push(("series", simulation::series_csv(problem, run)));
        }
        (run.seed, tables)
    });
    Ok((shown, simulated.notes.clone(), tables.collect()))
}

fn courses(document: &Document<'_>, seeds: &[u64], until: Option<Instant>) -> Result<Simulated, Failure> {
    let scenario = simulation::course_scenario(document)?;
    let policy = || Some(evenhand::problem::Place::root().key("policy"));
    let run = |seed: &u64| simulation::run_course(&scenario, *seed, until);
    let courses: Result<Vec<_>, SimulateError> = seeds.iter().map(run).collect();
    let courses = courses.map_err(|error| of_simulation(policy(), error))?;
    let document = simulation::course_document(&scenario, &courses);
    let tables = courses.iter().map(|course| {
        let series = simulation::course_tasks_csv(&scenario, course);
        let used = simulation::course_utilisation_csv(&scenario, course);
        (course.seed, vec![("series", series), ("utilisation", used)])
    });
    let tables = tables.collect();
    Ok((Shown::new(report::course(&scenario, &courses), &document), Vec::new(), tables))
}

fn rounds(document: &Document<'_>, seeds: &[u64], until: Option<Instant>) -> Result<Simulated, Failure> {
    let scenario = simulation::rounds_scenario(document)?;
    let policy = || Some(evenhand::problem::Place::root().key("policy"));
    let run = |seed: &u64| simulation::run_rounds(&scenario, *seed, until);
    let runs: Result<Vec<_>, SimulateError> = seeds.iter().map(run).collect();
    let runs = runs.map_err(|error| of_simulation(policy(), error))?;
    let document = simulation::rounds_document(&scenario, &runs);
    let tables = runs.iter().map(|run| {
        let jobs = simulation::rounds_jobs_csv(&scenario, run);
        (run.seed, vec![("jobs", jobs), ("rounds", simulation::rounds_csv(&scenario, run))])
    });
    let tables = tables.collect();
    Ok((Shown::new(report::rounds(&scenario, &runs), &document), Vec::new(), tables))
}

fn admissions(
    document: &Document<'_>,
    folder: &Path,
    seeds: &[u64],
    until: Option<Instant>,
) -> Result<Simulated, Failure> {
    let scenario = reservation::scenario(document, folder)?;
    let admitted = reservation::run(&scenario, seeds, until).map_err(|error| match error {
        AdmissionError::TooLarge { .. } => Failure::Limit(error.to_string()),
        AdmissionError::Packing(error) => Failure::solver(error),
        error => Failure::field("scenario", error),
    })?;
    let document = reservation::document(&admitted);
    let mut tables: Vec<_> = admitted
        .runs
        .iter()
        .map(|(seed, run)| (*seed, vec![("series", reservation::series_csv(&admitted, run))]))
        .collect();
    if let Some((_, first)) = tables.first_mut() {
        first.push(("bounds", reservation::beside_csv(&admitted)));
    }
    Ok((Shown::new(report::admission(&admitted), &document), Vec::new(), tables))
}

fn of_simulation(place: Option<evenhand::problem::Place>, error: SimulateError) -> Failure {
    match error {
        SimulateError::Mechanism(error) => error.into(),
        SimulateError::TooManyServers { .. }
        | SimulateError::TooManyExpected { .. }
        | SimulateError::TooManyRows { .. }
        | SimulateError::TooManyTasks { .. }
        | SimulateError::TooManyRuns(_)
        | SimulateError::TooManyJobs(_)
        | SimulateError::Late(_) => Failure::Limit(error.to_string()),
        error => Failure::Input {
            what: error.to_string(),
            field: place.map(|place| place.to_string()),
            place: None,
        },
    }
}
