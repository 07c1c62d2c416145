//! `report`: a comparison as one document of HTML, with plots and certificates.

use std::process::ExitCode;

use evenhand::certify::compare::Compared;
use evenhand::certify::self_test;
use evenhand::problem::Problem;
use evenhand::report;

use super::compare::{compared, print};
use crate::arguments::{Common, Report};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Report, common: &Common) -> Result<ExitCode, Failure> {
    compared(call, common, write)
}

fn write(call: &Report, problem: &Problem, columns: &[Compared], common: &Common) -> Result<(), Failure> {
    let asked = &call.comparison;
    for judged in columns.iter().filter_map(|column| column.result.as_ref().ok()) {
        let certificate = &judged.examination.certificate;
        if !certificate.claims.is_empty() {
            let unchecked = self_test(certificate).map_err(Failure::solver)?;
            output::unchecked(common, unchecked.as_deref());
        }
    }
    let document = report::document(problem, columns, asked.users.is_some()).map_err(Failure::solver)?;
    if !files::write(&call.output, &document)? {
        output::note(common, format!("the page is in {}", call.output.display()));
        print(asked, problem, columns, common)?;
    }
    Ok(())
}
