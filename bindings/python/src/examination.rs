//! Examinations of allocations, their certificates, and the verdicts of the kernel on these.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use evenhand::certify::{
    Optima, Request, certify as examine, certify_within, default_requests, default_tolerance, least_tolerance,
};
use evenhand::exact::Claim;
use evenhand::kernel::{File, Options, check as judge};
use evenhand::problem::Rational;
use evenhand::report::{self, axiom_title};
use evenhand_budget::{Limits, charge, spent};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::numbers;
use crate::request;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

/// The time limit for the least tolerances of a page. The work of HiGHS is not counted in steps, so a limit of steps
/// would not end it.
const MOST_TIME: Duration = Duration::from_secs(10);

/// A finished examination.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Examination {
    pub found: Arc<evenhand::certify::Examination>,
    /// The optima that several axioms need. They are kept for later questions.
    pub optima: Optima,
    limits: Limits,
    /// The steps of work that the examination took.
    spent: u64,
    /// The same examination with least tolerances, once they have been computed.
    shown: OnceLock<Arc<evenhand::certify::Examination>>,
    /// The axioms that were requested but not examined, because the allocation is infeasible.
    skipped: Vec<Request>,
}

/// A verdict: name, whether it holds, outcome, margin, margin in tasks, reason, whether the margin is a bound.
type Verdict<'py> = (
    String,
    Option<bool>,
    &'static str,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Option<String>,
    bool,
);

impl Examination {
    pub fn of(found: evenhand::certify::Examination, asked: &[Request], granted: Granted) -> Self {
        Self {
            skipped: found.skipped(asked),
            found: Arc::new(found),
            optima: Optima::default(),
            limits: granted.limits(),
            spent: spent(),
            shown: OnceLock::new(),
        }
    }

    /// Returns the examination with the least tolerance at which each violated axiom holds. The computation may take as
    /// much work as the examination took, so some tolerances may be missing.
    fn with_least_tolerances(&self, py: Python<'_>) -> PyResult<Arc<evenhand::certify::Examination>> {
        if let Some(shown) = self.shown.get() {
            return Ok(Arc::clone(shown));
        }
        let is_violated = |claim: &Claim| claim.holds == Some(false);
        if !self.found.certificate.claims.iter().any(is_violated) {
            return Ok(Arc::clone(&self.found));
        }
        let (mut found, spent) = ((*self.found).clone(), self.spent);
        let cost = (self.limits, Size::of(&self.found.certificate.problem));
        let computed = workshop::run(py, cost, None, move |_| {
            charge(spent, "the examination");
            found.look_for_least_tolerances(Some(MOST_TIME));
            Ok(found)
        });
        match computed {
            Ok(found) => Ok(Arc::clone(self.shown.get_or_init(|| Arc::new(found)))),
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
            // If the computation fails, the table has no least tolerances.
            Err(_) => Ok(Arc::clone(&self.found)),
        }
    }

    fn title(&self, claim: &Claim) -> String {
        axiom_title(claim.axiom, &claim.parameters(), &self.found.certificate.problem)
    }
}

#[pymethods]
impl Examination {
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Verdict<'py>>> {
        let problem = &self.found.certificate.problem;
        let mut verdicts = Vec::new();
        for (at, claim) in self.found.certificate.claims.iter().enumerate() {
            let in_tasks = self.found.in_tasks.get(at).and_then(Option::as_ref);
            verdicts.push((
                self.title(claim),
                claim.holds,
                claim.outcome().name(),
                numbers::optional(py, claim.margin.as_ref())?,
                numbers::optional(py, in_tasks)?,
                claim.why.clone(),
                claim.is_bound(),
            ));
        }
        for (axiom, why) in &self.found.undecided {
            let name = axiom.name().to_owned();
            verdicts.push((name, None, "not-checked", None, None, Some(why.to_string()), false));
        }
        for request in &self.skipped {
            let name = axiom_title(request.axiom, &request.parameters, problem);
            let why = "the allocation is infeasible beyond the tolerance".to_owned();
            verdicts.push((name, None, "not-checked", None, None, Some(why), false));
        }
        Ok(verdicts)
    }

    /// Returns the least tolerance at which an axiom holds; `None` if no tolerance below 1 suffices.
    #[pyo3(signature = (name, progress = None))]
    fn least_tolerance<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (found, optima) = (Arc::clone(&self.found), self.optima.clone());
        let claim = found.certificate.claims.iter().find(|claim| self.title(claim) == name);
        let request = match claim {
            Some(claim) => Request { axiom: claim.axiom, parameters: claim.parameters() },
            None => request::request(name, &found.certificate.problem)?,
        };
        let least = workshop::run(
            py,
            (self.limits, Size::of(&self.found.certificate.problem)),
            progress.as_ref(),
            move |_| Ok(least_tolerance(&found.certificate, &request, &optima)?),
        )?;
        numbers::optional(py, least.as_ref())
    }

    #[getter]
    fn tolerance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers::fraction(py, &self.found.certificate.tolerance)
    }

    /// Returns the largest change that makes the allocation feasible, as a fraction of the tasks that a user would have
    /// alone.
    #[getter]
    fn repair<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numbers::fraction(py, &self.found.repair)
    }

    #[getter]
    fn sharing(&self) -> &'static str {
        self.found.certificate.allocation.sharing.name()
    }

    #[getter]
    fn infeasible(&self) -> bool {
        self.found.infeasible
    }

    /// Returns the reason why the kernel could not check the certificate.
    #[getter]
    fn unchecked(&self) -> Option<&str> {
        self.found.unchecked.as_deref()
    }

    /// Returns the text of the certificate.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        if self.found.certificate.claims.is_empty() {
            return Err(Failure::solver("no axiom was decided, so there is nothing to certify").into());
        }
        Ok(py.detach(|| self.found.certificate.to_json()))
    }

    fn shown(&self, py: Python<'_>) -> PyResult<Shown> {
        let found = self.with_least_tolerances(py)?;
        Ok(py.detach(|| Shown::new(report::examination(&found), &report::json::examination(&found, None))))
    }
}

/// Examines axioms of an allocation. If none are named, these are the default ones and those in `also`.
#[pyfunction]
#[pyo3(signature = (allocation, axioms, also, tolerance, share, alpha, seconds, granted, progress = None))]
pub fn certify(
    py: Python<'_>,
    allocation: &Allocation,
    axioms: Option<Vec<String>>,
    also: Vec<String>,
    tolerance: Option<&str>,
    share: Option<&str>,
    alpha: Option<&str>,
    seconds: Option<f64>,
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Examination> {
    let (problem, file) = (Arc::clone(&allocation.problem), Arc::clone(&allocation.file));
    let tolerance: Option<Rational> = request::tolerance(tolerance)?;
    let mut requests = match &axioms {
        None => default_requests(&problem, &file.allocation),
        Some(names) => request::requests(names, &problem)?,
    };
    if axioms.is_none() {
        requests.extend(request::requests(&also, &problem)?);
    }
    request::apply_share(&mut requests, share, axioms.is_none(), &problem)?;
    request::apply_alpha(&mut requests, request::alpha(alpha)?, axioms.is_none())?;
    let seconds = seconds.map(Duration::try_from_secs_f64).transpose();
    let seconds = seconds.map_err(|error| Failure::field("seconds", error))?;
    if seconds.is_some() {
        workshop::same_process()?;
    }
    let cost = (granted.limits(), Size::of(&problem));
    workshop::run(py, cost, progress.as_ref(), move |_| {
        let tolerance = tolerance.unwrap_or_else(|| default_tolerance(&file));
        let found = match seconds {
            None => examine(&problem, &file.allocation, &requests, &tolerance),
            Some(seconds) => {
                let allocation = Arc::new(file.allocation.clone());
                certify_within(seconds, &problem, &allocation, &requests, &tolerance)
            }
        };
        Ok(Examination::of(found?, &requests, granted))
    })
}

/// Checks a certificate and the requirements. Returns the reason for a refusal, and the verdict in words and as a
/// document.
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
