//! `schema`: the JSON Schema of a format.

use std::process::ExitCode;

use evenhand::problem::schema::{NAMES, schema};

use crate::arguments::Schema;
use crate::failure::Failure;
use crate::output;

pub fn run(call: &Schema) -> Result<ExitCode, Failure> {
    let name = &call.name;
    let text = schema(name).ok_or_else(|| {
        Failure::input(format!("there is no schema `{name}`: expected {}", NAMES.join(", ")))
    })?;
    output::text(text)?;
    Ok(ExitCode::SUCCESS)
}
