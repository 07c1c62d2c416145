//! Certificates and problems in the formats of other programs.

use evenhand_budget::within;
use evenhand_exact::{Certificate, ratio};
use evenhand_export::{
    Export, ExportError, Form, coq_of_certificate, of_certificate, of_problem, of_ratio, of_worst_load,
};
use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::printable;
use evenhand_testkit::vipr;

use crate::{LIMITS, said};

/// Longest VIPR file that the plain checker reads.
const MOST_CHECKED: usize = 20_000;

/// Writes a certificate of any kind, or a problem, in every form that it has; VIPR files hold for a plain checker.
pub fn export(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = Source { name: "input.json", text };
    let exported = within(&LIMITS, || {
        for form in [Form::Lp, Form::Mps] {
            if let Ok(problem) = source.problem() {
                match of_problem(&problem, form) {
                    Ok(programme) => assert!(!programme.to_string().is_empty()),
                    Err(error) => said::one_line(&printable(&error.to_string())),
                }
            }
        }
        certificate(&source)
    });
    match exported {
        Ok(Ok(())) => {}
        Ok(Err(error)) => said::format_error(&error, &source),
        Err(exceeded) => said::one_line(&printable(&exceeded.to_string())),
    }
}

fn certificate(source: &Source<'_>) -> Result<(), FormatError> {
    let export = if ratio::is_ratio_certificate(source) {
        of_ratio(&ratio::RatioCertificate::parse(source)?)
    } else if ratio::worst_load::is_worst_load_certificate(source) {
        of_worst_load(&ratio::worst_load::WorstLoadCertificate::parse(source)?)
    } else {
        let certificate = Certificate::parse(source)?;
        if let Err(error) = coq_of_certificate(&certificate) {
            said::one_line(&printable(&error.to_string()));
        }
        of_certificate(&certificate)
    };
    for file in files(export) {
        if file.text.len() <= MOST_CHECKED {
            vipr::check(&file.text).unwrap_or_else(|why| panic!("{}: {why}\n{}", file.name, file.text));
        }
    }
    Ok(())
}

/// The files, whose names are plain ones, each once.
fn files(export: Result<Export, ExportError>) -> Vec<evenhand_export::File> {
    let export = match export {
        Ok(export) => export,
        Err(error) => {
            said::one_line(&printable(&error.to_string()));
            return Vec::new();
        }
    };
    let mut names: Vec<&str> = export.files.iter().map(|file| file.name.as_str()).collect();
    for name in &names {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        assert!(name.chars().all(is_plain) && name.matches('.').count() == 1, "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), export.files.len(), "a name stands twice");
    export
        .left_out
        .iter()
        .for_each(|left| said::one_line(&printable(&format!("{}: {}", left.what, left.why))));
    export.files
}
