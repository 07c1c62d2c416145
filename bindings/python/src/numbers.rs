//! Conversion of exact numbers between Rust and Python.

use evenhand::problem::{Integer, Rational, number};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyType};

use crate::failure::Failure;

static FRACTION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns a number as a `fractions.Fraction`.
pub fn fraction<'py>(py: Python<'py>, value: &Rational) -> PyResult<Bound<'py, PyAny>> {
    let class = FRACTION.import(py, "fractions", "Fraction")?;
    match value.is_integer() {
        true => class.call1((integer(py, value.numer())?,)),
        false => class.call1((integer(py, value.numer())?, integer(py, value.denom())?)),
    }
}

pub fn optional<'py>(py: Python<'py>, value: Option<&Rational>) -> PyResult<Option<Bound<'py, PyAny>>> {
    value.map(|value| fraction(py, value)).transpose()
}

/// Returns an integer of any length. Python refuses decimal texts of more than 4300 digits.
fn integer<'py>(py: Python<'py>, value: &Integer) -> PyResult<Bound<'py, PyAny>> {
    if let Some(small) = value.to_i64() {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    // Hexadecimal texts have no limit.
    py.get_type::<PyInt>().call1((value.to_string_radix(16), 16))
}

/// Reads the number that Python wrote for `field`.
pub fn parse(field: &str, text: &str) -> Result<Rational, Failure> {
    number::parse(text).map_err(|error| Failure::field(field, error))
}
