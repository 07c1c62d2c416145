//! `reproduce`: published values beside ours.

use std::process::ExitCode;

use evenhand::report::Page;
use evenhand::report::table::{Cell, Column, Table};
use evenhand::reproduce::{Entry, entries, sections};
use serde_json::{Value, json};

use super::document;
use crate::arguments::{Common, Format, Reproduce};
use crate::failure::Failure;
use crate::{output, suggest};

pub fn run(call: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    let found = selected(&call.ids)?;
    match (common.format, common.form) {
        (Format::Json, _) => output::json(&document("reproduction", fields(&found)))?,
        (Format::Table, evenhand::report::Form::Text(_)) => output::page(&words(&found), common)?,
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
        found.extend(entries(section).map_err(Failure::solver)?);
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

fn fields(entries: &[Entry]) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id,
                "source": entry.source,
                "paper": if entry.paper.is_empty() { Value::Null } else { json!(entry.paper) },
                "ours": entry.ours,
                "agrees": entry.agrees,
                "note": entry.note,
            })
        })
        .collect();
    json!({"entries": entries})
}

/// Every entry as a paragraph, and how many agree.
fn words(entries: &[Entry]) -> Page {
    let mut page = Page::new();
    for entry in entries {
        let mut text = format!("{}  {}\n  {}\n", entry.id, verdict(entry), entry.source);
        if !entry.paper.is_empty() {
            text.push_str(&format!("  paper: {}\n", entry.paper));
        }
        text.push_str(&format!("  ours:  {}\n", entry.ours));
        if !entry.note.is_empty() {
            text.push_str(&format!("  note:  {}\n", entry.note));
        }
        page = page.text(text);
    }
    let count = |agrees| entries.iter().filter(|entry| entry.agrees == agrees).count().to_string();
    let names = ["entries", "agree", "differ", "nothing to compare"];
    let mut counts = Table::new(names.map(Column::numbers));
    let all = entries.len().to_string();
    counts.row([all, count(Some(true)), count(Some(false)), count(None)].map(Cell::from));
    page.table(counts)
}

/// One row for every entry.
fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(["id", "source", "paper", "ours", "agrees", "note"].map(Column::words));
    for entry in entries {
        let agrees = match entry.agrees {
            Some(true) => Cell::text(verdict(entry)).good(),
            Some(false) => Cell::text(verdict(entry)).bad(),
            None => Cell::default(),
        };
        let texts = [entry.id.as_str(), entry.source, &entry.paper, &entry.ours].map(Cell::from);
        table.row(texts.into_iter().chain([agrees, Cell::text(&entry.note)]));
    }
    table
}

const fn verdict(entry: &Entry) -> &'static str {
    match entry.agrees {
        Some(true) => "agrees",
        Some(false) => "DIFFERS",
        None => "",
    }
}
