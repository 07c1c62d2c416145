//! Runs mechanisms on problems.

use std::sync::Arc;
use std::time::Instant;

use evenhand::certify::polish::polish as nearest;
use evenhand::mechanisms::{Flags, Mechanism, Outcome, tree};
use evenhand::problem::format::AllocationDocument;
use evenhand::report;
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::request;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

/// The answer of a mechanism: an allocation, or the fair shares of groups.
#[derive(IntoPyObject)]
pub enum Given {
    Allocation(Allocation),
    Entitlements(Shown),
}

#[pyfunction]
#[pyo3(signature = (problem, mechanism, exact, seed, settings, granted, progress = None))]
pub fn solve(
    py: Python<'_>,
    problem: &Problem,
    mechanism: &str,
    exact: bool,
    seed: u64,
    settings: Vec<(String, String)>,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Given> {
    let problem = Arc::clone(&problem.0);
    let mechanism = request::mechanism(mechanism)?;
    let flags = request::flags(mechanism, exact, seed, &settings)?;
    let cost = (granted.limits(), Size::of(&problem));
    workshop::run(py, cost, progress.as_ref(), move |_| given(&problem, mechanism, &flags))
}

fn given(problem: &Arc<evenhand::Problem>, mechanism: &Mechanism, flags: &Flags) -> Result<Given, Failure> {
    let started = Instant::now();
    let outcome = mechanism.allocate_with(problem, flags)?;
    if let Some(entitlements) = &outcome.findings.entitlements {
        let document = report::json::entitlements(problem, &tree::settings(flags)?, entitlements, None);
        let page = report::entitlements(problem, entitlements, None);
        return Ok(Given::Entitlements(Shown::new(page, &document)));
    }
    allocation(problem, outcome, Some(started.elapsed().as_secs_f64())).map(Given::Allocation)
}

/// Returns the allocation as its document states it. Floating-point numbers are rounded to the decimals of the
/// document.
pub fn allocation(
    problem: &Arc<evenhand::Problem>,
    outcome: Outcome,
    seconds: Option<f64>,
) -> Result<Allocation, Failure> {
    let mut document = report::json::allocation(problem, &outcome);
    document.seconds = seconds;
    let text = document.to_json().map_err(Failure::defect)?;
    let read = Allocation::read(problem, "allocation", text)?;
    Ok(Allocation { outcome: Some(Box::new(outcome)), ..read })
}

/// Computes the exact answer of the mechanism that is nearest to the given allocation, and the distance between the
/// two.
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
