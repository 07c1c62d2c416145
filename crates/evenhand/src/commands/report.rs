//! `report`: a comparison as one document of HTML, with plots and certificates.

use std::path::Path;
use std::process::ExitCode;

use evenhand::certify::self_test;
use evenhand::report;

use super::compare;
use crate::arguments::{Common, Report};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Report, common: &Common) -> Result<ExitCode, Failure> {
    let asked = &call.comparison;
    let problem = files::problem(&asked.problem, common)?;
    let columns = compare::columns(asked, &problem, common)?;
    for judged in columns.iter().filter_map(|column| column.result.as_ref().ok()) {
        let certificate = &judged.examination.certificate;
        if !certificate.claims.is_empty() {
            let unchecked = self_test(certificate).map_err(|error| Failure::solver(error.to_string()))?;
            output::unchecked(common, unchecked.as_deref());
        }
    }
    let document = report::document(&problem, &columns, asked.users.is_some())
        .map_err(|error| Failure::solver(error.to_string()))?;
    let inputs: Vec<&Path> =
        std::iter::once(&asked.problem).chain(&asked.allocations).map(std::path::PathBuf::as_path).collect();
    if !files::write(&call.output, &document, &inputs)? {
        output::note(common, format!("the page is in {}", call.output.display()));
        compare::print(asked, &problem, &columns, common)?;
    }
    Ok(ExitCode::SUCCESS)
}
