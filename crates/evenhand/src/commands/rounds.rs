//! The command `simulate` for jobs that are scheduled in rounds.

use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::format::Document;
use evenhand::report;
use evenhand::simulate::{self, RoundRun, SimulateError};

use super::course::of_policy;
use super::simulate::{RunFolder, finish, refuse_checkpoints, seeds};
use crate::arguments::{Common, Simulate};
use crate::failure::Failure;

pub fn run(
    document: &Document<'_>,
    call: &Simulate,
    until: Option<Instant>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    refuse_checkpoints(call, "jobs in rounds")?;
    let source = document.source();
    let scenario =
        simulate::rounds_scenario(document).map_err(|error| Failure::format(&error, source.text))?;
    let run = |seed: u64| simulate::run_rounds(&scenario, seed, until);
    let runs: Result<Vec<RoundRun>, SimulateError> = seeds(call, common).into_iter().map(run).collect();
    let runs = runs.map_err(|error| of_policy(document, error))?;
    let mut run_folder = RunFolder::new(call, runs.len());
    for run in runs.iter().filter(|_| call.output.is_some()) {
        let seed = Some(run.seed);
        run_folder.save(seed, "jobs.csv", simulate::rounds_jobs_csv(&scenario, run))?;
        run_folder.save(seed, "rounds.csv", simulate::rounds_csv(&scenario, run))?;
    }
    let stopped = runs.iter().filter_map(|run| Some((run.seed, run.stopped_at.as_ref()?.to_f64())));
    let summary = simulate::rounds_document(&scenario, &runs);
    finish(run_folder, common, summary, || report::rounds(&scenario, &runs), stopped)
}
