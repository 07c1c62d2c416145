//! `schema`: the JSON Schema of a format.

use std::process::ExitCode;

use evenhand::problem::schema::{NAMES, schema};
use evenhand::report::Page;
use evenhand::report::table::Table;
use serde_json::{Value, json};

use crate::arguments::{Common, Format, Schema};
use crate::failure::{Failure, unknown};
use crate::output;
use evenhand::report::json::document;

pub fn run(call: &Schema, common: &Common) -> Result<ExitCode, Failure> {
    match &call.name {
        Some(name) => {
            output::text(schema(name).ok_or_else(|| unknown("schema", name, NAMES))?)?;
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
    let title = |name: &&str| {
        let schema = serde_json::from_str::<Value>(schema(name).unwrap_or_default()).ok();
        schema.and_then(|schema| Some(schema["title"].as_str()?.to_owned())).unwrap_or_default()
    };
    Page::new().table(Table::of(NAMES).words("name", |name| *name).words("schema of", title).table())
}
