//! `reproduce`: published values beside ours.

use std::process::ExitCode;

use evenhand::report::{Form, Page};
use evenhand_papers::{Entry, document, entries, sections, table, words};

use crate::arguments::{Common, Format, Reproduce};
use crate::failure::Failure;
use crate::{output, suggest};

pub fn run(call: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    let found = selected(&call.ids)?;
    match (common.format, common.form) {
        (Format::Json, _) => output::json(&document(&found))?,
        (Format::Table, Form::Text(_)) => output::page(&words(&found), common)?,
        (Format::Table, _) => output::page(&Page::new().table(table(&found)), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The entries that the ids name, a section or one entry of it each; all where none is named.
fn selected(ids: &[String]) -> Result<Vec<Entry>, Failure> {
    let known = sections();
    let section_of = |id: &str| id.split('.').next().unwrap_or(id).to_owned();
    if let Some(id) = ids.iter().find(|id| !known.contains(&section_of(id).as_str())) {
        return Err(suggest::unknown("section", id, known));
    }
    let wanted = |section: &&str| ids.is_empty() || ids.iter().any(|id| section_of(id) == *section);
    let mut found = Vec::new();
    for section in known.into_iter().filter(wanted) {
        found.extend(entries(section).map_err(|error| Failure::solver(error.to_string()))?);
    }
    let is_meant = |entry: &Entry, id: &str| {
        entry.id == *id || entry.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
    };
    if let Some(id) = ids.iter().find(|id| !found.iter().any(|entry| is_meant(entry, id))) {
        return Err(suggest::unknown("entry", id, found.iter().map(|entry| entry.id.as_str())));
    }
    found.retain(|entry| ids.is_empty() || ids.iter().any(|id| is_meant(entry, id)));
    Ok(found)
}
