//! The commands `completions`, `man` and `schema`: print the shell completions, the manual pages and the file
//! formats of the program.

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;
use evenhand::problem::schema;
use evenhand::report::{self, json::document, table::Table};
use serde_json::{Value, json};

use crate::arguments::{Arguments, Common, Completions, Format, Man, Schema};
use crate::failure::{Failure, unknown};
use crate::{files, output};

pub fn completions(call: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(call.shell, &mut Arguments::command(), "evenhand", &mut script);
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(call: &Man) -> Result<ExitCode, Failure> {
    let mut program = Arguments::command();
    program.build();
    match &call.output {
        None => output::text(&page(&program)?)?,
        Some(folder) => write(&program, folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual pages of a command and of its subcommands, such as `evenhand.1` and `evenhand-solve.1`.
fn write(command: &Command, folder: &Path) -> Result<(), Failure> {
    // The display name of a built command is `evenhand-solve`, while its text contains `evenhand solve`.
    let name = command.get_display_name().unwrap_or(command.get_name());
    files::save_in(folder, &format!("{name}.1"), page(command)?)?;
    let mut subcommands = command.get_subcommands().filter(|command| command.get_name() != "help");
    subcommands.try_for_each(|subcommand| write(subcommand, folder))
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut roff = Vec::new();
    Page::new(command.clone()).render(&mut roff).map_err(Failure::solver)?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}

pub fn schema(call: &Schema, common: &Common) -> Result<ExitCode, Failure> {
    match &call.name {
        Some(name) => {
            output::text(schema::schema(name).ok_or_else(|| unknown("schema", name, schema::NAMES))?)?;
        }
        None if common.format == Format::Json => {
            output::json(&document("schemas", json!({"names": schema::NAMES.as_slice()})), common)?;
        }
        None => output::page(&schemas(), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a table of the names of the schemas and their titles.
fn schemas() -> report::Page {
    let title = |name: &&str| {
        let schema = serde_json::from_str::<Value>(schema::schema(name).unwrap_or_default()).ok();
        schema.and_then(|schema| Some(schema["title"].as_str()?.to_owned())).unwrap_or_default()
    };
    report::Page::new()
        .table(Table::of(schema::NAMES).words("name", |name| *name).words("schema of", title).table())
}
