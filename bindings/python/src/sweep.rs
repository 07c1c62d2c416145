//! The lines of sweeps. The library formats them, so that the program writes the same lines.

use std::sync::Arc;

use evenhand_sweep::{Cause, Fault, Found, Head, Judging, Line, Subject, judged, solved};
use pyo3::prelude::*;
use serde_json::value::RawValue;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::request;
use crate::workshop::{self, Granted, Size};

/// The subject of a line: the number of the problem, the mechanism, and its settings as JSON.
type About = (u64, String, String);

/// How allocations are judged: whether to certify, the axioms, and the tolerance.
type Judge = (bool, Option<Vec<String>>, Option<String>);

/// Returns the line of a mechanism of the library.
#[pyfunction]
pub fn sweep_line(
    py: Python<'_>,
    problem: &Problem,
    about: About,
    mechanism: &str,
    exact: bool,
    seed: u64,
    settings: Vec<(String, String)>,
    judge: Judge,
    granted: Granted,
) -> PyResult<String> {
    let problem = Arc::clone(&problem.0);
    let mechanism = request::mechanism(mechanism)?;
    let flags = request::flags(mechanism, exact, seed, &settings)?;
    let judging = judging(judge)?;
    let cost = (granted.endless(), Size::of(&problem));
    workshop::run(py, cost, None, move |_| {
        let subject = Subject::new(problem);
        let found = solved(&subject, mechanism, &flags, &judging, &granted.limits());
        text(&subject, about, found)
    })
}

/// Returns the line of an allocation that a rule in Python has made. `also` names axioms to examine besides the usual ones.
#[pyfunction]
pub fn sweep_judged(
    py: Python<'_>,
    allocation: &Allocation,
    about: About,
    also: Vec<String>,
    judge: Judge,
    granted: Granted,
) -> PyResult<String> {
    let (problem, file) = (Arc::clone(&allocation.problem), Arc::clone(&allocation.file));
    let judging = judging(judge)?;
    let cost = (granted.endless(), Size::of(&problem));
    workshop::run(py, cost, None, move |_| {
        let subject = Subject::new(problem);
        let found = judged(&subject, &file, &also, &judging, &granted.limits());
        text(&subject, about, found)
    })
}

/// Returns the line of a rule in Python that gave no allocation. Without a cause, the rule is not defined for the problem.
#[pyfunction]
pub fn sweep_failed(problem: &Problem, about: About, cause: Option<&str>, what: String) -> PyResult<String> {
    let cause = cause.map(|name| name.parse().unwrap_or(Cause::Solver));
    Ok(text(&Subject::new(Arc::clone(&problem.0)), about, Err(Fault { cause, what, field: None }))?)
}

fn judging((certify, axioms, tolerance): Judge) -> Result<Judging, Failure> {
    Ok(Judging { certify, axioms, tolerance: request::tolerance(tolerance.as_deref())? })
}

/// Returns the text of a line. Wrong input becomes an exception, because it is wrong for every problem of the sweep.
fn text(
    subject: &Subject,
    (number, mechanism, settings): About,
    found: Result<Found, Fault>,
) -> Result<String, Failure> {
    if let Err(Fault { cause: Some(Cause::Input), what, field }) = found {
        return Err(Failure::Input { what, field: field.map(|name| name.replace('-', "_")), place: None });
    }
    let settings = RawValue::from_string(settings).map_err(Failure::defect)?;
    let problem = Some((subject.problem.name().to_owned(), subject.sha256.clone()));
    Ok(Line { head: Head { problem, number, varied: Vec::new(), mechanism, settings }, found }.to_json())
}
