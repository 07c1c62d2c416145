//! The oracle for exports of certificates and problems to the formats of other programs.

use std::fmt::Display;

use evenhand_budget::within;
use evenhand_exact::{Certificate, ratio};
use evenhand_export::{
    Export, Form, coq_of_certificate, of_certificate, of_problem, of_ratio, of_worst_load,
};
use evenhand_problem::format::{FormatError, Source};
use evenhand_problem::printable;
use evenhand_testkit::vipr;

use crate::{LIMITS, said};

/// The largest size in bytes of a VIPR file that the plain checker reads.
const MOST_CHECKED: usize = 20_000;

/// Writes a certificate of any kind, or a problem, in all its export formats. A plain checker must accept the VIPR files.
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
    let mut check = |name: &str, content: &dyn Display| {
        let text = content.to_string();
        if text.len() <= MOST_CHECKED {
            vipr::check(&text).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
        }
    };
    let export = if ratio::is_ratio_certificate(source) {
        of_ratio(&ratio::RatioCertificate::parse(source)?, &mut check)
    } else if ratio::worst_load::is_worst_load_certificate(source) {
        of_worst_load(&ratio::worst_load::WorstLoadCertificate::parse(source)?, &mut check)
    } else {
        let certificate = Certificate::parse(source)?;
        match coq_of_certificate(&certificate) {
            Ok(theorems) => assert!(!theorems.to_string().is_empty()),
            Err(error) => said::one_line(&printable(&error.to_string())),
        }
        of_certificate(&certificate, &mut check)
    };
    match export {
        Ok(export) => examine(&export),
        Err(error) => said::one_line(&printable(&error.to_string())),
    }
    Ok(())
}

/// Checks that file names are plain and unique.
fn examine(export: &Export) {
    let mut names: Vec<&str> = export.files.iter().map(String::as_str).collect();
    for name in &names {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        assert!(name.chars().all(is_plain) && name.matches('.').count() == 1, "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), export.files.len(), "a name stands twice");
    for left in &export.left_out {
        said::one_line(&printable(&format!("{}: {}", left.what, left.why)));
    }
}
