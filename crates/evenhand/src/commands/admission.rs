//! `simulate` of a reservation: jobs are admitted into reserved slots.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::Place;
use evenhand::problem::format::Document;
use evenhand::report;
use evenhand::simulate::reservation::{self, AdmissionError};
use evenhand_budget::{Limits, within};

use crate::arguments::{Common, Simulate};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(
    document: &Document<'_>,
    call: &Simulate,
    until: Option<Instant>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    super::simulate::refuse_checkpoints(call, "a reservation")?;
    let folder = call.scenario.parent().unwrap_or_else(|| Path::new(""));
    let source = document.source();
    // A trace is read with the scenario.
    let time = until.map(|until| until.saturating_duration_since(Instant::now()));
    let limits = Limits { time, ..Limits::default() };
    let scenario = within(&limits, || reservation::scenario(document, folder));
    let scenario = scenario.map_err(|late| Failure::solver(format!("{}: {late}", source.name)))?;
    let scenario = scenario.map_err(|error| Failure::format(&error, source.text))?;
    let seeds: Vec<u64> = (0..u64::from(call.replications)).map(|k| common.seed.wrapping_add(k)).collect();
    let admitted = reservation::run(&scenario, &seeds, until).map_err(|error| match error {
        AdmissionError::Initial { ref name, .. } => {
            let place = Place::root().key("initial").key(name);
            Failure::format(&document.error(document.locate(&place), error.to_string()), source.text)
        }
        error @ AdmissionError::TooLarge { .. } => Failure::solver(format!("{}: {error}", source.name)),
        AdmissionError::Packing(error) => Failure::solver(error.to_string()),
        error => Failure::input(format!("{}: {error}", source.name)),
    })?;
    let summary = reservation::document(&admitted);
    if let Some(folder) = &call.output {
        for (seed, run) in &admitted.runs {
            let name = |name: &str| match admitted.runs.len() {
                1 => name.to_owned(),
                _ => format!("{seed}-{name}"),
            };
            files::save_in(folder, &name("series.csv"), reservation::series_csv(&admitted, run))?;
            let plot = report::admission_series(&admitted, run).to_svg();
            let svg = plot.map_err(|error| Failure::solver(error.to_string()))?;
            files::save_in(folder, &name("series.svg"), svg)?;
        }
        files::save_in(folder, "bounds.csv", reservation::beside_csv(&admitted))?;
        // Last: where it stands everything else does.
        files::save_in(folder, "summary.json", format!("{summary:#}\n"))?;
    }
    output::result(common, || summary, || report::admission(&admitted))?;
    let stopped = admitted.runs.iter().filter_map(|(seed, run)| Some((*seed, run.stopped_at?)));
    let status = super::simulate::ended(stopped, call)?;
    if admitted.is_beside_cut {
        let why = "--seconds: the time was up: the runs are done, and bounds.csv ends before them";
        return Err(Failure::solver(why));
    }
    Ok(status)
}
