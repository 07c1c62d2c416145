//! `solve`: an allocation.

use std::process::ExitCode;
use std::time::Instant;

use evenhand::problem::Arithmetic;
use evenhand::problem::format::AllocationDocument;
use evenhand::report;
use serde_json::json;

use super::mechanism;
use crate::arguments::{Common, Format, Solve};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Solve, common: &Common) -> Result<ExitCode, Failure> {
    let mechanism = mechanism(&call.mechanism)?;
    let problem = files::problem(&call.problem, common)?;
    let arithmetic = if call.exact { Arithmetic::Exact } else { Arithmetic::Float };
    let started = Instant::now();
    let outcome = mechanism.allocate(&problem, arithmetic)?;
    let mut document = AllocationDocument::new(&problem, &outcome.allocation);
    document.seconds = Some(started.elapsed().as_secs_f64());
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        document.extra.insert("warnings".to_owned(), json!(warnings));
    }
    let text = document.to_json().map_err(|error| Failure::solver(error.to_string()))?;
    if let Some(path) = &call.output
        && files::write(path, &text, &[&call.problem])?
    {
        return Ok(ExitCode::SUCCESS);
    }
    match common.format {
        Format::Json => output::text(&text)?,
        Format::Table => output::text(&report::allocation(&problem, &outcome.allocation))?,
    }
    Ok(ExitCode::SUCCESS)
}
