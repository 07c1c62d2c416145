//! Allocation problems.

use std::path::PathBuf;
use std::sync::Arc;

use evenhand::problem::format::{Source, problem_sha256, problem_to_json, read_text};
use evenhand::problem::{ServerClass, User, dedicated, format::AllocationDocument};
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::failure::Failure;
use crate::numbers;
use crate::workshop::{self, Granted, Size};

/// An allocation problem.
#[pyclass(frozen, module = "evenhand._evenhand")]
pub struct Problem(pub Arc<evenhand::Problem>);

#[pymethods]
impl Problem {
    /// Reads a text. Messages call it `name`.
    #[staticmethod]
    fn parse(py: Python<'_>, name: String, text: String, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Small), None, move |_| {
            evenhand_budget::read(text.len() as u64);
            Ok(Self(Arc::new(Source { name: &name, text: &text }.problem()?)))
        })
    }

    /// Reads a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, granted: Granted) -> PyResult<Self> {
        workshop::run(py, (granted.limits(), Size::Small), None, move |_| {
            let text = read_text(&path)?;
            Ok(Self(Arc::new(Source { name: &path.to_string_lossy(), text: &text }.problem()?)))
        })
    }

    /// Returns the canonical text.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| problem_to_json(&self.0))
    }

    fn sha256(&self, py: Python<'_>) -> String {
        py.detach(|| problem_sha256(&self.0))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn resources(&self) -> Vec<String> {
        self.0.resources().to_vec()
    }

    #[getter]
    fn servers(&self) -> Vec<&str> {
        self.0.servers().iter().map(ServerClass::name).collect()
    }

    #[getter]
    fn users(&self) -> Vec<&str> {
        self.0.users().iter().map(User::name).collect()
    }

    #[getter]
    fn groups(&self) -> Vec<&str> {
        self.0.groups().list().iter().map(|group| group.name.as_str()).collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }

    /// Returns the solo tasks of each user, the number of tasks that it could run alone, `min(T_n,
    /// gamma_n)`.
    fn alone<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let users = self.0.users().iter().enumerate();
        let alone = users.map(|(n, user)| {
            let gamma = self.0.total_gamma(n);
            numbers::fraction(py, &user.tasks().cloned().into_iter().fold(gamma, Ord::min))
        });
        alone.collect()
    }

    /// Returns the allocation in which each user runs tasks on its own fraction of every server.
    fn dedicated(&self, py: Python<'_>, whole: bool, granted: Granted) -> PyResult<Allocation> {
        let problem = Arc::clone(&self.0);
        workshop::run(py, (granted.limits(), Size::of(&self.0)), None, move |_| {
            let allocation = dedicated(&problem, whole);
            let text = AllocationDocument::new(&problem, &allocation).to_json().map_err(Failure::defect)?;
            Allocation::read(&problem, "dedicated", text)
        })
    }
}
