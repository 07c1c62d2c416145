//! The exact answer of a mechanism beside an allocation from elsewhere.

use std::sync::Arc;

use evenhand::certify::polish::polish as nearest;
use evenhand::problem::format::AllocationDocument;
use evenhand::report;
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::request;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

/// The exact answer of a mechanism that is nearest to the allocation, and how far it is.
#[pyfunction]
#[pyo3(signature = (allocation, mechanism, seed, settings, granted, progress = None))]
pub fn polish(
    py: Python<'_>,
    allocation: &Allocation,
    mechanism: &str,
    seed: u64,
    settings: Vec<(String, String)>,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Allocation, Shown)> {
    let (problem, given) = (Arc::clone(&allocation.problem), Arc::clone(&allocation.file));
    let mechanism = request::mechanism(mechanism)?;
    let flags = request::flags(mechanism, true, seed, &settings)?;
    let cost = (granted.limits(), Size::of(&problem));
    workshop::run(py, cost, progress.as_ref(), move |_| {
        let found = nearest(&problem, &given.allocation, mechanism, &flags)?;
        let document = AllocationDocument::new(&problem, &found.allocation);
        let text = document.to_json().map_err(Failure::defect)?;
        let shown = Shown::new(report::polished(&problem, &found), &report::json::polished(&problem, &found));
        Ok((Allocation::read(&problem, "allocation", text)?, shown))
    })
}
