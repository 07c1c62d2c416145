//! The kernel's verdict on a certificate.

use evenhand::kernel::{File, Options, check as judge};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::workshop::{self, Granted, Size};

/// Whether a certificate is true, and what was asked for: why not, the verdict in words and as a document.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    name: String,
    certificate: String,
    problem: Option<String>,
    allocation: Option<String>,
    require: Vec<String>,
    max_tolerance: Option<String>,
    sharing: Option<String>,
    granted: Granted,
) -> PyResult<(Option<String>, String, String)> {
    workshop::run(py, (granted.limits(), Size::Small), None, move |_| {
        let file = |name: &str, text: String| File { name: name.to_owned(), text };
        let options = Options {
            problem: problem.map(|text| file("problem", text)),
            allocation: allocation.map(|text| file("allocation", text)),
            require,
            max_tolerance,
            sharing,
        };
        let report =
            judge(&file(&name, certificate), &options).map_err(|unusable| match unusable.status {
                3 => Failure::Limit(unusable.what),
                _ => Failure::field("certificate", unusable.what),
            })?;
        Ok((report.reason.clone(), report.text(), report.json()))
    })
}
