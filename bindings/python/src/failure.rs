//! The reasons why there is no result, as exceptions of `evenhand._errors`.

use std::any::Any;

use evenhand::certify::CertifyError;
use evenhand::certify::ratio::RatioError;
use evenhand::exact::InstanceError;
use evenhand::import::ImportError;
use evenhand::lp::LpError;
use evenhand::lp::read::ReadError as LpReadError;
use evenhand::mechanisms::MechanismError;
use evenhand::problem::format::{FormatError, ReadError};
use evenhand_budget::exceeded;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::workshop::give_back_memory;

/// The reason why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// Input that cannot be read, or that is contradictory.
    Input { what: String, field: Option<String>, place: Option<(String, usize, usize)> },
    /// The mechanism is not defined for the problem.
    NotApplicable(String),
    /// A limit of work, memory or time was reached.
    Limit(String),
    /// A solver failed.
    Solver(String),
    /// A defect of this package.
    Defect(String),
    /// An exception that Python code raised.
    Raised(PyErr),
}

impl Failure {
    pub fn field(field: &str, what: impl ToString) -> Self {
        Self::Input { what: what.to_string(), field: Some(field.to_owned()), place: None }
    }

    pub fn solver(what: impl ToString) -> Self {
        Self::Solver(what.to_string())
    }

    pub fn defect(what: impl ToString) -> Self {
        Self::Defect(what.to_string())
    }

    /// Returns the failure of the system to open or read a file.
    pub fn of_file(file: &str, error: &std::io::Error) -> Self {
        Self::Raised(of_system(file, error))
    }

    /// Returns the failure of a computation that unwound, because a limit was reached or because it panicked.
    pub fn of_panic(payload: &(dyn Any + Send)) -> Self {
        if let Some(exceeded) = exceeded(payload) {
            return Self::Limit(exceeded.to_string());
        }
        let words = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
        Self::Defect(words.unwrap_or_else(|| "it stopped without a message".to_owned()))
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        if error.is_too_large {
            return Self::Limit(error.to_string());
        }
        Self::Input {
            what: error.message,
            field: Some(error.place.to_string()),
            place: Some((error.file, error.line, error.column)),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Format(error) => error.into(),
            ReadError::TooLarge { .. } => Self::Limit(error.to_string()),
            ReadError::Io { file, source } => Self::of_file(&file, &source),
            error => Self::Input { what: error.to_string(), field: None, place: None },
        }
    }
}

/// Returns the exception that Python itself raises when the system refuses a file. It is an `OSError` with the number,
/// the reason and the name.
fn of_system(file: &str, error: &std::io::Error) -> PyErr {
    let reason = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let reason = reason.split(" (os error").next().unwrap_or(&reason).to_owned();
            PyOSError::new_err((number, reason, file.to_owned()))
        }
        None => PyOSError::new_err(format!("{file}: {reason}")),
    }
}

impl From<MechanismError> for Failure {
    fn from(error: MechanismError) -> Self {
        let what = error.to_string();
        match error {
            MechanismError::NotApplicable { .. } => Self::NotApplicable(what),
            MechanismError::DoesNotTake { option, .. }
            | MechanismError::Unreadable { option, .. }
            | MechanismError::NeedsOption { option, .. }
            | MechanismError::BadOption { option, .. } => Self::field(&option.replace('-', "_"), what),
            MechanismError::Limit { .. } => Self::Limit(what),
            _ => Self::Solver(what),
        }
    }
}

impl From<InstanceError> for Failure {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::TooLarge(_) => Self::Limit(error.to_string()),
            error => Self::field("tasks", error),
        }
    }
}

impl From<CertifyError> for Failure {
    fn from(error: CertifyError) -> Self {
        match error {
            CertifyError::Instance(error) => error.into(),
            CertifyError::Parameters(_) | CertifyError::NoShare => Self::field("axioms", error),
            CertifyError::Tolerance => Self::field("tolerance", error),
            error => Self::Defect(error.to_string()),
        }
    }
}

impl From<RatioError> for Failure {
    fn from(error: RatioError) -> Self {
        match error {
            RatioError::TooLarge(why) => Self::Limit(why),
            RatioError::Packing(error) => Self::Solver(error.to_string()),
            error => Self::Defect(error.to_string()),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Io { file, source } => Self::of_file(&file, &source),
            error => Self::Input { what: error.to_string(), field: None, place: None },
        }
    }
}

impl From<LpReadError> for Failure {
    fn from(error: LpReadError) -> Self {
        match error {
            LpReadError::Json(error) => error.into(),
            LpReadError::Line { file, line, message } => {
                let line = usize::try_from(line).unwrap_or(usize::MAX);
                Self::Input { what: message, field: None, place: Some((file, line, 1)) }
            }
            error => Self::Input { what: error.to_string(), field: None, place: None },
        }
    }
}

impl From<LpError> for Failure {
    fn from(error: LpError) -> Self {
        match error {
            LpError::PivotLimit { .. } | LpError::TooLarge => Self::Limit(error.to_string()),
            error => Self::Solver(error.to_string()),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| raised(py, failure).unwrap_or_else(|error| error))
    }
}

fn raised(py: Python<'_>, failure: Failure) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    let (class, what) = match failure {
        Failure::Raised(error) => return Ok(error),
        Failure::Input { what, field, place } => {
            fields.set_item("field", field)?;
            if let Some((file, line, column)) = place {
                fields.set_item("file", file)?;
                fields.set_item("line", line)?;
                fields.set_item("column", column)?;
            }
            ("InputError", what)
        }
        Failure::NotApplicable(what) => ("NotApplicable", what),
        Failure::Limit(what) => {
            give_back_memory(py);
            ("LimitError", what)
        }
        Failure::Solver(what) => ("SolverError", what),
        Failure::Defect(what) => ("DefectError", what),
    };
    let errors = py.import("evenhand._errors");
    let Ok(errors) = errors else { return Ok(PyRuntimeError::new_err(what)) };
    let error = errors.getattr(class)?.call((what,), Some(&fields))?;
    Ok(PyErr::from_value(error))
}
