//! `schema`: the JSON Schema of a format.

use std::process::ExitCode;

use evenhand::problem::schema::{NAMES, schema};
use evenhand::report::Page;
use evenhand::report::table::{Cell, Column, Table};
use serde_json::{Value, json};

use crate::arguments::{Common, Format, Schema};
use crate::failure::Failure;
use crate::{output, suggest};
use evenhand::report::json::document;

pub fn run(call: &Schema, common: &Common) -> Result<ExitCode, Failure> {
    match &call.name {
        Some(name) => {
            output::text(schema(name).ok_or_else(|| suggest::unknown("schema", name, NAMES))?)?;
        }
        None if common.format == Format::Json => {
            output::json(&document("schemas", json!({"names": NAMES})))?;
        }
        None => output::page(&list(), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The names, and what each is the schema of.
fn list() -> Page {
    let mut table = Table::new([Column::words("name"), Column::words("schema of")]);
    for name in NAMES {
        let text = schema(name).unwrap_or_default();
        let title = serde_json::from_str::<Value>(text).ok();
        let title = title.as_ref().and_then(|schema| schema["title"].as_str()).unwrap_or_default();
        table.row([Cell::text(name), Cell::text(title)]);
    }
    Page::new().table(table)
}
