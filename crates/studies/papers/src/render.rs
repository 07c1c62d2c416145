//! Writes the entries as pages, tables and JSON documents.

use crate::entry::Entry;
use crate::exhibits::Exhibit;
use evenhand_report::Page;
use evenhand_report::table::{Cell, Column, Table};
use serde_json::{Value, json};

/// Returns the entries as a JSON document.
#[must_use]
pub fn document(entries: &[Entry]) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!({
                "id": entry.id,
                "source": entry.source,
                "paper": if entry.paper.is_empty() { Value::Null } else { json!(entry.paper) },
                "ours": if entry.is_checked() { json!(entry.ours) } else { Value::Null },
                "agrees": entry.agrees,
                "note": entry.note,
            })
        })
        .collect();
    evenhand_report::json::document("reproduction", json!({"entries": entries}))
}

/// Returns the tables and figures as a JSON document.
#[must_use]
pub fn document_of_exhibits(exhibits: &[Exhibit]) -> Value {
    let exhibits: Vec<Value> = exhibits
        .iter()
        .map(|exhibit| {
            json!({
                "id": exhibit.id,
                "title": exhibit.title,
                "values": exhibit.has_values(),
                "picture": exhibit.is_drawn(),
                "not_checked": exhibit.missing().map(|missing| missing.to_string()),
            })
        })
        .collect();
    evenhand_report::json::document("exhibits", json!({"exhibits": exhibits}))
}

/// Returns a page with a paragraph for every entry, and the numbers of entries that agree, differ and were not checked.
#[must_use]
pub fn words(entries: &[Entry]) -> Page {
    let mut page = Page::new();
    for entry in entries {
        let mut text = format!("{}  {}\n  {}\n", entry.id, verdict(entry), entry.source);
        if !entry.paper.is_empty() {
            text.push_str(&format!("  paper: {}\n", entry.paper));
        }
        if entry.is_checked() {
            text.push_str(&format!("  ours:  {}\n", entry.ours));
        }
        let label = if entry.is_checked() { "note: " } else { "why:  " };
        if !entry.note.is_empty() {
            text.push_str(&format!("  {label} {}\n", entry.note));
        }
        page = page.lines(text.lines());
    }
    let count = |is_so: &dyn Fn(&Entry) -> bool| {
        Cell::from(entries.iter().filter(|entry| is_so(entry)).count().to_string())
    };
    let mut counts = Table::new(
        ["entries", "agree", "differ", "nothing to compare"]
            .map(Column::numbers)
            .into_iter()
            .chain([Column::numbers("not checked").unless_all("0")]),
    );
    counts.row([
        count(&|_| true),
        count(&|entry| entry.agrees == Some(true)),
        count(&|entry| entry.agrees == Some(false)),
        count(&|entry| entry.agrees.is_none() && entry.is_checked()),
        count(&|entry| !entry.is_checked()),
    ]);
    page.table(counts)
}

/// Returns a table with a row for every entry.
#[must_use]
pub fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(["id", "source", "paper", "ours", "agrees", "note"].map(Column::words));
    for entry in entries {
        let agrees = match entry.agrees {
            Some(true) => Cell::text(verdict(entry)).good(),
            Some(false) => Cell::text(verdict(entry)).bad(),
            None => Cell::text(verdict(entry)),
        };
        let texts = [entry.id.as_str(), entry.source, &entry.paper, &entry.ours].map(Cell::from);
        table.row(texts.into_iter().chain([agrees, Cell::text(&entry.note)]));
    }
    table
}

/// Returns a table of the tables and figures, with what is reproduced of each.
#[must_use]
pub fn list_of_exhibits(exhibits: &[Exhibit]) -> Table {
    let mut table = Table::new(["id", "what it shows", "reproduced"].map(Column::words));
    for exhibit in exhibits {
        let what = match (exhibit.has_values(), exhibit.is_drawn()) {
            (true, true) => "values and picture",
            (true, false) => "values",
            (false, true) => "picture",
            (false, false) => "-",
        };
        let what = exhibit.missing().map_or_else(|| what.to_owned(), |why| format!("not checked: {why}"));
        table.row([exhibit.id, exhibit.title, &what].map(Cell::from));
    }
    table
}

const fn verdict(entry: &Entry) -> &'static str {
    match entry.agrees {
        Some(true) => "agrees",
        Some(false) => "DIFFERS",
        None if !entry.is_checked() => "NOT CHECKED",
        None => "",
    }
}
