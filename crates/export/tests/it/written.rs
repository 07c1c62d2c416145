//! Collects the files of an export in memory.

use std::fmt::Display;

use evenhand_exact::Certificate;
use evenhand_exact::ratio::{RatioCertificate, worst_load::WorstLoadCertificate};
use evenhand_export::{ExportError, LeftOut, Write};

/// A file that was written.
pub struct File {
    pub name: String,
    pub text: String,
}

/// All files, and the claims without a file.
pub struct Written {
    pub files: Vec<File>,
    pub left_out: Vec<LeftOut>,
}

fn written(
    export: impl FnOnce(Write<'_>) -> Result<evenhand_export::Export, ExportError>,
) -> Result<Written, ExportError> {
    let mut files = Vec::new();
    let export = export(&mut |name: &str, content: &dyn Display| {
        files.push(File { name: name.to_owned(), text: content.to_string() });
    })?;
    assert!(export.files.iter().eq(files.iter().map(|file| &file.name)), "{:?}", export.files);
    Ok(Written { files, left_out: export.left_out })
}

pub fn of_certificate(certificate: &Certificate) -> Result<Written, ExportError> {
    written(|write| evenhand_export::of_certificate(certificate, write))
}

pub fn of_ratio(certificate: &RatioCertificate) -> Result<Written, ExportError> {
    written(|write| evenhand_export::of_ratio(certificate, write))
}

pub fn of_worst_load(certificate: &WorstLoadCertificate) -> Result<Written, ExportError> {
    written(|write| evenhand_export::of_worst_load(certificate, write))
}
