//! `check`: verify a certificate with rational arithmetic alone.

use std::process::ExitCode;

use crate::arguments::{Check, Common, Format};
use crate::failure::Failure;
use crate::{files, output};
use evenhand::Certificate;
use evenhand::exact;
use evenhand::report::text::printable;

pub fn run(call: &Check, common: &Common) -> Result<ExitCode, Failure> {
    if let Some(problem) = &call.problem {
        files::distinct(&[&call.certificate, problem])?;
    }
    let certificate = files::read(&call.certificate, Certificate::parse)?;
    let verdict = match &call.problem {
        None => exact::check(&certificate),
        Some(path) => exact::check_against(&certificate, &files::read(path, |source| source.problem())?),
    };
    match common.format {
        Format::Json => output::text(&format!("{}\n", verdict.to_json()))?,
        Format::Table if verdict.valid => {
            let text = evenhand::report::claims(&certificate, &[]);
            output::text(&format!("valid: each of {} claims is proven\n\n{text}", verdict.claims))?;
        }
        Format::Table => {
            let reason = verdict.reason.as_deref().unwrap_or_default();
            output::text(&format!("NOT VALID: {}\n", printable(reason)))?;
        }
    }
    Ok(if verdict.valid { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
