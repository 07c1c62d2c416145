//! The command `simulate` for a reservation: jobs are admitted into reserved slots.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::Place;
use evenhand::problem::format::Document;
use evenhand::report;
use evenhand::simulate::reservation::{self, AdmissionError};
use evenhand_budget::{Limits, within};

use super::simulate::{RunFolder, finish, refuse_checkpoints, seeds};
use crate::arguments::{Common, Simulate};
use crate::failure::Failure;

pub fn run(
    document: &Document<'_>,
    call: &Simulate,
    until: Option<Instant>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    refuse_checkpoints(call, "a reservation")?;
    let folder = call.scenario.parent().unwrap_or_else(|| Path::new(""));
    let source = document.source();
    // The reader of the scenario also reads the trace, so the remaining time limits it.
    let time = until.map(|until| until.saturating_duration_since(Instant::now()));
    let limits = Limits { time, ..Limits::default() };
    let scenario = within(&limits, || reservation::scenario(document, folder));
    let scenario = scenario.map_err(|late| Failure::solver(format!("{}: {late}", source.name)))?;
    let scenario = scenario.map_err(|error| Failure::format(&error, source.text))?;
    let admitted = reservation::run(&scenario, &seeds(call, common), until).map_err(|error| match error {
        AdmissionError::Initial { ref name, .. } => {
            let place = Place::root().key("initial").key(name);
            Failure::format(&document.error(document.locate(&place), error.to_string()), source.text)
        }
        error @ AdmissionError::TooLarge { .. } => Failure::solver(format!("{}: {error}", source.name)),
        AdmissionError::Packing(error) => Failure::solver(error),
        error => Failure::input(format!("{}: {error}", source.name)),
    })?;
    let mut run_folder = RunFolder::new(call, admitted.runs.len());
    if run_folder.is_asked_for() {
        for (seed, run) in &admitted.runs {
            run_folder.save(Some(*seed), "series.csv", reservation::series_csv(&admitted, run))?;
            let says = "The reward over time next to the optimum or bound, and slots and jobs by type";
            run_folder.picture(
                *seed,
                "series.svg",
                report::admission_series(&admitted, run).to_svg(),
                says,
            )?;
        }
        run_folder.save(None, "bounds.csv", reservation::beside_csv(&admitted))?;
    }
    let stopped = admitted.runs.iter().filter_map(|(seed, run)| Some((*seed, run.stopped_at?)));
    let summary = reservation::document(&admitted);
    let status = finish(run_folder, common, summary, || report::admission(&admitted), stopped)?;
    if admitted.is_beside_cut {
        let why =
            "--seconds: the time was up before all bounds were computed; the runs themselves are complete";
        return Err(Failure::solver(why));
    }
    Ok(status)
}
