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

/// `(class, tasks)` of a user.
type Row<'py> = Vec<(usize, Bound<'py, PyAny>)>;

/// What a document says of an allocation of a problem.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Allocation {
    pub problem: Arc<evenhand::Problem>,
    pub file: Arc<AllocationFile>,
    /// The document.
    pub text: String,
    /// What the mechanism has to say, where it was one of ours that made it.
    pub outcome: Option<Box<Outcome>>,
}

impl Allocation {
    /// Reads a document, which messages call `name`.
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
    /// Reads a text, which messages call `name`.
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

    /// How an iterative method ended.
    #[getter]
    fn status(&self) -> Option<&'static str> {
        self.outcome.as_ref()?.findings.status.map(|status| status.name())
    }

    /// By user: `(class, tasks)`, without zeros.
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Row<'py>>> {
        let row = |row: &Vec<(usize, _)>| {
            let stated = row.iter().filter(|(_, x): &&(usize, evenhand::problem::Rational)| !x.is_zero());
            stated.map(|(i, x)| Ok((*i, numbers::fraction(py, x)?))).collect()
        };
        self.of().tasks.iter().map(row).collect()
    }

    /// `(user, class, tasks)` in doubles, without zeros.
    fn doubles(&self) -> Vec<(usize, usize, f64)> {
        let rows = self.of().tasks.iter().enumerate();
        let all = rows.flat_map(|(n, row)| row.iter().map(move |(i, x)| (n, *i, to_f64(x))));
        all.filter(|(_, _, x)| *x != 0.0).collect()
    }

    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.of().totals().iter().map(|total| numbers::fraction(py, total)).collect()
    }

    /// By user: its dominant share of the whole cluster.
    fn dominant_shares<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shares =
            py.detach(|| (0..self.problem.n_users()).map(|n| dominant_share(&self.problem, self.of(), n)));
        shares.map(|share| numbers::fraction(py, &share)).collect()
    }

    /// By resource: the part of the whole cluster that is used; none where there is none of it.
    fn utilisation<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let used = py.detach(|| by_resource(&self.problem, self.of()));
        used.iter().map(|used| numbers::optional(py, used.as_ref())).collect()
    }

    /// As the program shows it.
    fn shown(&self, py: Python<'_>) -> Shown {
        py.detach(|| {
            let of_file = || Outcome::of(self.of().clone());
            let outcome = self.outcome.as_deref().cloned().unwrap_or_else(of_file);
            Shown::of(report::outcome(&self.problem, &outcome, false), self.text.clone())
        })
    }

    /// Who holds what of every server class, as SVG; none where no class has any capacity.
    fn picture(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let drawn: Option<Result<String, plot::PlotError>> =
            py.detach(|| report::holdings(&self.problem, self.of()).map(|bars| bars.to_svg()));
        Ok(drawn.transpose().map_err(Failure::solver)?)
    }
}
