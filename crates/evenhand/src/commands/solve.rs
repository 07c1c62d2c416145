//! `solve`: an allocation.

mod options;

use std::process::ExitCode;
use std::time::Instant;

use evenhand::mechanisms::{Outcome, Status};
use evenhand::problem::format::AllocationDocument;
use evenhand::{Problem, report};
use serde_json::json;

use options::{check_order, options};

use super::mechanism;
use crate::arguments::{Common, Format, Solve};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Solve, common: &Common) -> Result<ExitCode, Failure> {
    let mechanism = mechanism(&call.mechanism)?;
    let options = options(call, common, mechanism)?;
    if (call.particular.series.is_some() || call.particular.plot.is_some()) && !options.series {
        return Err(Failure::input("--series and --plot go with --method trajectory".to_owned()));
    }
    let problem = files::problem(&call.problem, common)?;
    check_order(options.order.as_ref(), &problem)?;
    let started = Instant::now();
    let outcome = mechanism.allocate(&problem, &options)?;
    let mut document = AllocationDocument::new(&problem, &outcome.allocation);
    document.seconds = Some(started.elapsed().as_secs_f64());
    document.extra = report::json::findings(&problem, &outcome);
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        document.extra.insert("warnings".to_owned(), json!(warnings));
    }
    let text = document.to_json().map_err(|error| Failure::solver(error.to_string()))?;
    let printed = match &call.output {
        Some(path) => files::write(path, &text, &[&call.problem])?,
        None => false,
    };
    let printed = write_series(call, &problem, &outcome)? || printed;
    match common.format {
        _ if printed => {}
        Format::Json => output::text(&text)?,
        Format::Table => output::page(&report::outcome(&problem, &outcome), common)?,
    }
    match outcome.findings.status {
        None | Some(Status::Solved) => Ok(ExitCode::SUCCESS),
        Some(status) => Err(Failure::solver(format!(
            "{} ended with the status `{}`: what was written is its last point{}",
            mechanism.info().id,
            status.name(),
            if outcome.findings.gap.is_some() { ", with the gap that is proven for it" } else { "" }
        ))),
    }
}

/// Writes what `--series` and `--plot` ask for; whether that was standard output.
fn write_series(call: &Solve, problem: &Problem, outcome: &Outcome) -> Result<bool, Failure> {
    let (particular, inputs) = (&call.particular, [call.problem.as_path()]);
    let steps = outcome.findings.series.as_deref().unwrap_or_default();
    let mut printed = false;
    if let Some(path) = &particular.series {
        printed |= files::write(path, &report::trajectory_csv(problem, steps), &inputs)?;
    }
    if let Some(path) = &particular.plot {
        let svg = report::trajectory(problem, steps).to_svg();
        printed |= files::write(path, &svg.map_err(|error| Failure::solver(error.to_string()))?, &inputs)?;
    }
    Ok(printed)
}
