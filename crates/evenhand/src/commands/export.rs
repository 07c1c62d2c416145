//! The command `export`: writes certificates for other checkers, and problems for other solvers.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use evenhand::Certificate;
use evenhand::exact::ratio::{self, worst_load};
use evenhand::problem::format::{FormatError, Source};
use evenhand::report::Page;
use evenhand::report::json::document;
use evenhand::report::table::Table;
use evenhand_export::{
    Export, ExportError, Form, Write, coq_of_certificate, of_certificate, of_problem, of_ratio, of_worst_load,
};
use serde_json::json;

use crate::arguments::{self, Common, ExportForm, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &arguments::Export, common: &Common) -> Result<ExitCode, Failure> {
    let form = match (call.to, &call.output) {
        (ExportForm::Vipr, Some(folder)) => return certificate(&call.file, folder, common),
        (ExportForm::Vipr, None) => {
            return Err(Failure::input("vipr writes several files: name their folder with -o"));
        }
        (ExportForm::Coq, _) => {
            let certificate = files::read(&call.file, of_allocation)??;
            return written(&coq_of_certificate(&certificate)?, call);
        }
        (ExportForm::Mps, _) => Form::Mps,
        (ExportForm::Lp, _) => Form::Lp,
    };
    written(&of_problem(&files::problem(&call.file, common)?, form)?, call)
}

/// Writes the content to the file of `--output`, or to standard output.
fn written(content: &dyn Display, call: &arguments::Export) -> Result<ExitCode, Failure> {
    match &call.output {
        Some(path) => drop(files::write(path, content)?),
        None => output::text(content)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a certificate of an allocation. Only this kind of certificate has theorems.
fn of_allocation(source: &Source<'_>) -> Result<Result<Certificate, Failure>, FormatError> {
    let of = if ratio::is_ratio_certificate(source) {
        "a ratio"
    } else if worst_load::is_worst_load_certificate(source) {
        "a worst load"
    } else {
        return Ok(Ok(Certificate::parse(source)?));
    };
    let message = format!(
        "{of}: this kind of certificate cannot be written for Coq; `evenhand-proof` proves it (docs/proof.md)"
    );
    Ok(Err(Failure::input(message)))
}

/// Writes the files of an exported certificate, each in one step. The certificate is checked before the first
/// file is written, so that a certificate that cannot be exported leaves no folder.
fn certificate(path: &Path, folder: &Path, common: &Common) -> Result<ExitCode, Failure> {
    let mut saved = Ok(());
    let export = files::read(path, |source| {
        exported(source, &mut |name, content| {
            if saved.is_ok() {
                saved = files::write_in(folder, name, content, &[path]);
            }
        })
    })??;
    saved?;
    if export.files.is_empty() {
        return Err(Failure::input(format!(
            "{}: none of its claims is a linear programme, so there is nothing to export",
            path.display()
        )));
    }
    match common.format {
        Format::Json => {
            let left = export.left_out.iter().map(|left| json!({"what": left.what, "why": left.why}));
            let left: Vec<_> = left.collect();
            output::json(&document("export", json!({"files": export.files, "left_out": left})), common)?;
        }
        _ => output::page(&page(&export), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn exported(source: &Source<'_>, write: Write<'_>) -> Result<Result<Export, ExportError>, FormatError> {
    Ok(if ratio::is_ratio_certificate(source) {
        of_ratio(&ratio::RatioCertificate::parse(source)?, write)
    } else if worst_load::is_worst_load_certificate(source) {
        of_worst_load(&worst_load::WorstLoadCertificate::parse(source)?, write)
    } else {
        of_certificate(&Certificate::parse(source)?, write)
    })
}

/// Returns the table of the written files, and the table of the claims that were left out.
fn page(export: &Export) -> Page {
    let written = Table::of(&export.files).words("written", |file| file.as_str()).table();
    let left = Table::of(&export.left_out)
        .words("left out", |out| out.what.as_str())
        .words("because", |out| out.why.as_str())
        .table();
    let page = Page::new().table(written);
    if left.is_empty() { page } else { page.table(left) }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::TooLarge(_) | ExportError::TooLong { .. } => Self::solver(error),
            _ => Self::input(error),
        }
    }
}
