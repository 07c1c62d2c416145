//! Mechanisms and allocations side by side.

use std::sync::Arc;
use std::time::Duration;

use evenhand::certify::compare::{Compared, Comparison as Asked, Judged, NoResult, columns};
use evenhand::certify::{Checked, self_test};
use evenhand::mechanisms::Outcome;
use evenhand::problem::Arithmetic;
use evenhand::report;
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::examination::Examination;
use crate::failure::Failure;
use crate::numbers;
use crate::problem::Problem;
use crate::request;
use crate::shown::Shown;
use crate::solve;
use crate::workshop::{self, Granted, Size};

/// A finished comparison.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Comparison {
    problem: Arc<evenhand::Problem>,
    columns: Arc<Vec<Compared>>,
    granted: Granted,
}

/// A column of a comparison that has an allocation.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Column {
    problem: Arc<evenhand::Problem>,
    columns: Arc<Vec<Compared>>,
    at: usize,
    granted: Granted,
}

impl Column {
    fn judged(&self) -> Result<&Judged, Failure> {
        let column = &self.columns[self.at];
        column.result.as_ref().map_err(|_| Failure::defect("a column without an allocation"))
    }
}

#[pymethods]
impl Column {
    fn allocation(&self, py: Python<'_>) -> PyResult<Allocation> {
        let outcome = Outcome::of(self.judged()?.allocation.clone());
        let problem = Arc::clone(&self.problem);
        workshop::run(py, (self.granted.limits(), Size::Large), None, move |_| {
            solve::allocation(&problem, outcome, None)
        })
    }

    /// Returns the examination, after the kernel has accepted its certificate.
    fn examination(&self, py: Python<'_>) -> PyResult<Examination> {
        let (mut found, granted) = (self.judged()?.examination.clone(), self.granted);
        workshop::run(py, (granted.limits(), Size::Large), None, move |_| {
            if !found.certificate.claims.is_empty() {
                found.unchecked = self_test(&found.certificate).map_err(Failure::defect)?;
            }
            Ok(Examination::of(found, &[], granted))
        })
    }

    #[getter]
    fn price_of_fairness<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(py, self.judged()?.price_of_fairness.as_ref())
    }

    #[getter]
    fn least_weighted_share<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        numbers::optional(py, self.judged()?.least_weighted_share.as_ref())
    }
}

#[pymethods]
impl Comparison {
    /// Returns the columns: each name, and either the reason why there is no allocation or the column.
    fn columns(&self) -> Vec<(String, Option<String>, Option<Column>)> {
        let of = |(at, column): (usize, &Compared)| {
            let (problem, columns) = (Arc::clone(&self.problem), Arc::clone(&self.columns));
            let (why, judged) = match &column.result {
                Ok(_) => (None, Some(Column { problem, columns, at, granted: self.granted })),
                Err(NoResult::NotApplicable(why)) => (Some(format!("not applicable: {why}")), None),
                Err(NoResult::Failed(why) | NoResult::TooLarge(why)) => (Some(why.clone()), None),
                Err(NoResult::OutOfTime) => (Some("out of time".to_owned()), None),
            };
            (column.name.clone(), why, judged)
        };
        self.columns.iter().enumerate().map(of).collect()
    }

    #[pyo3(signature = (all_users = false))]
    fn shown(&self, py: Python<'_>, all_users: bool) -> Shown {
        py.detach(|| {
            let document = report::json::comparison(&self.problem, &self.columns);
            Shown::new(report::comparison(&self.problem, &self.columns, all_users), &document)
        })
    }

    /// Returns the page of `report`, with plots and certificates.
    #[pyo3(signature = (all_users = false))]
    fn page(&self, py: Python<'_>, all_users: bool) -> PyResult<String> {
        let (problem, columns) = (Arc::clone(&self.problem), Arc::clone(&self.columns));
        workshop::run(py, (self.granted.limits(), Size::Large), None, move |_| {
            for judged in columns.iter().filter_map(|column| column.result.as_ref().ok()) {
                if !judged.examination.certificate.claims.is_empty() {
                    Checked::of(judged.examination.certificate.clone()).map_err(Failure::defect)?;
                }
            }
            Ok(report::document(&problem, &columns, all_users))
        })
    }
}

/// Runs mechanisms, and judges their allocations and the given ones. The columns are in the order of `order`, which lists names of
/// mechanisms and of allocations.
#[pyfunction]
#[pyo3(signature = (problem, mechanisms, allocations, order, axioms, alpha, exact, tolerance, seconds, granted,
                    progress = None))]
pub fn compare(
    py: Python<'_>,
    problem: &Problem,
    mechanisms: Vec<String>,
    allocations: Vec<(String, Py<Allocation>)>,
    order: Vec<String>,
    axioms: Vec<String>,
    alpha: Option<&str>,
    exact: bool,
    tolerance: Option<&str>,
    seconds: f64,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Comparison> {
    workshop::same_process()?;
    let problem = Arc::clone(&problem.0);
    let mechanisms: Result<Vec<_>, Failure> =
        mechanisms.iter().map(|name| request::mechanism(name)).collect();
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| Failure::field("seconds", error))?;
    let asked = Asked {
        mechanisms: mechanisms?,
        allocations: allocations.iter().map(|(name, of)| (name.clone(), (*of.get().file).clone())).collect(),
        axioms: request::requests(&axioms, &problem)?,
        alpha: request::alpha(alpha)?,
        arithmetic: if exact { Arithmetic::Exact } else { Arithmetic::Float },
        tolerance: request::tolerance(tolerance)?,
        time,
        processor: None,
    };
    workshop::run(py, (granted.limits(), Size::Large), progress.as_ref(), move |tell| {
        let total = asked.names().len() as f64;
        let mut found = Vec::new();
        for column in columns(&problem, &asked) {
            found.push(column);
            let name = found.last().map_or("", |column| column.name.as_str());
            tell.tell(found.len() as f64, Some(total), name);
        }
        let place = |name: &str| order.iter().position(|of| of == name).unwrap_or(usize::MAX);
        found.sort_by_key(|column| place(&column.name));
        Ok(Comparison { problem, columns: Arc::new(found), granted })
    })
}
