//! The command `check`: verifies a certificate by the kernel. The program `evenhand-check` uses the same
//! kernel.

use std::path::Path;
use std::process::ExitCode;

use evenhand::problem::format::read_text;
use evenhand::report::Page;
use evenhand::report::html::{self, Asked};
use evenhand_check::{File, Options, Report, Unusable};

use crate::arguments::{Check, Common, Format};
use crate::failure::Failure;
use crate::{files, output};

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
    if let Some(path) = &call.output {
        if files::write(path, &page(call, &certificate, &report))? {
            return Ok(status(&report));
        }
        output::note(common, format!("the page is in {}", path.display()));
    }
    match common.format {
        Format::Json => output::document(&format!("{}\n", report.json()))?,
        _ => output::page(&Page::new().lines(report.text().lines()), common)?,
    }
    Ok(status(&report))
}

fn status(report: &Report) -> ExitCode {
    ExitCode::from(u8::from(report.reason.is_some()))
}

/// Returns the certificate as a page. The checker on the page uses the tolerance of this call. It accepts
/// servers that are shared by time if this call accepted them.
fn page(call: &Check, certificate: &File, report: &Report) -> String {
    let stated: Option<serde_json::Value> = serde_json::from_str(&certificate.text).ok();
    let sharing = stated.as_ref().and_then(|stated| stated.pointer("/allocation/sharing")?.as_str());
    let asked = Asked {
        by_time: call.sharing.as_deref() == Some("tdm")
            || (report.reason.is_none() && sharing == Some("tdm")),
        tolerance: call.max_tolerance.clone(),
    };
    let name = call.certificate.file_name().unwrap_or_default().to_string_lossy();
    let said: Vec<String> = report.text().lines().map(str::to_owned).collect();
    html::certificate(&name, &certificate.text, &said, asked)
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
