//! Allocations, with the documents that state them.

use std::sync::Arc;

use evenhand::mechanisms::Outcome;
use evenhand::problem::format::{AllocationFile, Source};
use evenhand::problem::number::to_f64;
use evenhand::problem::utilisation::{by_resource, dominant_share};
use evenhand::report::{self, plot};
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::numbers;
use crate::problem::Problem;
use crate::shown::Shown;
use crate::workshop::{self, Granted, Size};

/// The `(class, tasks)` pairs of a user.
type Row<'py> = Vec<(usize, Bound<'py, PyAny>)>;

/// An allocation of a problem, read from its document.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Allocation {
    pub problem: Arc<evenhand::Problem>,
    pub file: Arc<AllocationFile>,
    /// The text of the document.
    pub text: String,
    /// The outcome, if a mechanism of the library made the allocation.
    pub outcome: Option<Box<Outcome>>,
}

impl Allocation {
    /// Reads a document. Messages call it `name`.
    pub fn read(problem: &Arc<evenhand::Problem>, name: &str, text: String) -> Result<Self, Failure> {
        let file = Source { name, text: &text }.allocation(problem)?;
        if !file.is_for(problem) {
            let what = "the allocation is for another problem: its `problem_sha256` differs";
            return Err(Failure::field("problem_sha256", what));
        }
        Ok(Self { problem: Arc::clone(problem), file: Arc::new(file), text, outcome: None })
    }

    fn of(&self) -> &evenhand::Allocation {
        &self.file.allocation
    }
}

#[pymethods]
impl Allocation {
    /// Reads a text. Messages call it `name`.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        problem: &Problem,
        name: String,
        text: String,
        granted: Granted,
    ) -> PyResult<Self> {
        let problem = Arc::clone(&problem.0);
        workshop::run(py, (granted.limits(), Size::Small), None, move |_| {
            evenhand_budget::read(text.len() as u64);
            Self::read(&problem, &name, text)
        })
    }

    fn to_json(&self) -> &str {
        &self.text
    }

    #[getter]
    fn problem(&self) -> Problem {
        Problem(Arc::clone(&self.problem))
    }

    #[getter]
    fn mechanism(&self) -> Option<&str> {
        self.of().mechanism.as_deref()
    }

    #[getter]
    fn arithmetic(&self) -> &'static str {
        self.of().arithmetic.name()
    }

    #[getter]
    fn sharing(&self) -> &'static str {
        self.of().sharing.name()
    }

    /// Returns the status with which an iterative method stopped.
    #[getter]
    fn status(&self) -> Option<&'static str> {
        self.outcome.as_ref()?.findings.status.map(|status| status.name())
    }

    /// Returns the `(class, tasks)` pairs of each user, without zeros.
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Row<'py>>> {
        let row = |row: &Vec<(usize, _)>| {
            let stated = row.iter().filter(|(_, x): &&(usize, evenhand::problem::Rational)| !x.is_zero());
            stated.map(|(i, x)| Ok((*i, numbers::fraction(py, x)?))).collect()
        };
        self.of().tasks.iter().map(row).collect()
    }

    /// Returns `(user, class, tasks)` in doubles, without zeros.
    fn doubles(&self) -> Vec<(usize, usize, f64)> {
        let rows = self.of().tasks.iter().enumerate();
        let all = rows.flat_map(|(n, row)| row.iter().map(move |(i, x)| (n, *i, to_f64(x))));
        all.filter(|(_, _, x)| *x != 0.0).collect()
    }

    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.of().totals().iter().map(|total| numbers::fraction(py, total)).collect()
    }

    /// Returns the dominant share of each user in the whole cluster.
    fn dominant_shares<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shares =
            py.detach(|| (0..self.problem.n_users()).map(|n| dominant_share(&self.problem, self.of(), n)));
        shares.map(|share| numbers::fraction(py, &share)).collect()
    }

    /// Returns the fraction of each resource of the cluster that is used; `None` if no server has the resource.
    fn utilisation<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let used = py.detach(|| by_resource(&self.problem, self.of()));
        used.iter().map(|used| numbers::optional(py, used.as_ref())).collect()
    }

    /// Returns the page and the document of the allocation.
    fn shown(&self, py: Python<'_>) -> Shown {
        py.detach(|| {
            let of_file = || Outcome::of(self.of().clone());
            let outcome = self.outcome.as_deref().cloned().unwrap_or_else(of_file);
            Shown::of(report::outcome(&self.problem, &outcome, false), self.text.clone())
        })
    }

    /// Returns the use of every server class by user as SVG; `None` if no class has any capacity.
    fn picture(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let drawn: Option<Result<String, plot::PlotError>> =
            py.detach(|| report::holdings(&self.problem, self.of()).map(|bars| bars.to_svg()));
        Ok(drawn.transpose().map_err(Failure::solver)?)
    }
}
