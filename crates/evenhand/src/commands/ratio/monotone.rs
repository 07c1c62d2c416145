//! `ratio --monotone`: whether more load may earn greedy less.

use std::path::Path;
use std::process::ExitCode;

use evenhand::certify::ratio::{Monotone, monotone};
use evenhand::exact::ratio::{MOST_BYTES, RatioCertificate};
use evenhand::problem::Reservation;
use evenhand::report;

use super::limits;
use crate::arguments::{Common, Ratio};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Ratio, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    super::one_pool(call, problem, "the monotone greedy property")?;
    let found = monotone(problem, &limits(call))?;
    if let Monotone::Fails(two) = &found {
        output::unchecked(common, two.unchecked.as_deref());
    }
    let document = report::json::monotone(problem, &found);
    if let Some(folder) = &call.output {
        files::save_in(folder, "monotone.json", format!("{document:#}\n"))?;
        if let Monotone::Fails(two) = &found {
            save(folder, "smaller.cert.json", &two.smaller)?;
            save(folder, "larger.cert.json", &two.larger)?;
        }
    }
    output::result(common, || document, || report::ratio::monotone(problem, &found))?;
    Ok(match found {
        Monotone::Holds { .. } => ExitCode::SUCCESS,
        Monotone::Fails(_) => ExitCode::from(1),
    })
}

fn save(folder: &Path, name: &str, certificate: &RatioCertificate) -> Result<(), Failure> {
    files::save_in(folder, name, super::written(certificate.to_json_within(MOST_BYTES))?)
}
