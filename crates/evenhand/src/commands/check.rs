//! `check`: verify a certificate, in the kernel that is also the program `evenhand-check`.

use std::path::Path;
use std::process::ExitCode;

use evenhand::problem::format::read_text;
use evenhand::report::Page;
use evenhand_check::{File, Options, Unusable};

use crate::arguments::{Check, Common, Format};
use crate::failure::Failure;
use crate::output;

pub fn run(call: &Check, common: &Common) -> Result<ExitCode, Failure> {
    let certificate = file(&call.certificate)?;
    let options = Options {
        problem: call.problem.as_deref().map(file).transpose()?,
        allocation: call.allocation.as_deref().map(file).transpose()?,
        require: call.require.clone(),
        max_tolerance: call.max_tolerance.clone(),
        sharing: call.sharing.clone(),
    };
    let report = evenhand_check::check(&certificate, &options)?;
    match common.format {
        Format::Json => output::document(&format!("{}\n", report.json()))?,
        _ => output::page(&Page::new().lines(report.text().lines()), common)?,
    }
    Ok(ExitCode::from(u8::from(report.reason.is_some())))
}

fn file(path: &Path) -> Result<File, Failure> {
    Ok(File { name: path.to_string_lossy().into_owned(), text: read_text(path)? })
}

impl From<Unusable> for Failure {
    fn from(unusable: Unusable) -> Self {
        match unusable.status {
            3 => Self::solver(unusable.what),
            _ => Self::input(unusable.what),
        }
    }
}
