//! Results as documents and as pages for people.

use evenhand::report::json::{text_with_decimals, with_decimals};
use evenhand::report::{Form, Page, Terminal};
use pyo3::prelude::*;
use serde_json::Value;

use crate::failure::Failure;

/// A document, and the page that shows it.
#[pyclass(frozen, module = "evenhand._evenhand")]
#[derive(Clone)]
pub struct Shown {
    page: Page,
    text: String,
}

impl Shown {
    pub fn of(page: Page, text: String) -> Self {
        Self { page, text }
    }

    pub fn new(page: Page, document: &Value) -> Self {
        Self { page, text: format!("{document:#}\n") }
    }
}

#[pymethods]
impl Shown {
    /// Returns the document, as the program writes it with `--format json`.
    fn to_json(&self) -> &str {
        &self.text
    }

    /// Returns the document with a decimal next to each exact number, as the program writes it with `--decimals`.
    fn with_decimals(&self, py: Python<'_>) -> PyResult<String> {
        let document = py.detach(|| serde_json::from_str(&self.text)).map_err(Failure::defect)?;
        Ok(py.detach(|| format!("{:#}\n", with_decimals(document))))
    }

    /// Returns the page in one of the forms `text`, `csv`, `markdown`, `latex` and `html`.
    fn render(&self, form: &str) -> Option<String> {
        let form = match form {
            "text" => Form::Text(Terminal::default()),
            "csv" => Form::Csv,
            "markdown" => Form::Markdown,
            "latex" => Form::Latex,
            "html" => Form::Html,
            _ => return None,
        };
        Some(self.page.render(&form))
    }
}

/// Returns the document of an allocation with a decimal next to each exact number.
#[pyfunction]
pub fn allocation_with_decimals(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(py.detach(|| text_with_decimals(text)).map_err(Failure::defect)?)
}
