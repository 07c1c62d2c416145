//! The entries for people and for programs.

use evenhand_report::Page;
use evenhand_report::table::{Cell, Column, Table};
use serde_json::{Value, json};

use crate::{Entry, Exhibit};

/// The entries as a JSON document.
#[must_use]
pub fn document(entries: &[Entry]) -> Value {
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
    evenhand_report::json::document("reproduction", json!({"entries": entries}))
}

/// The tables and figures as a JSON document.
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
            })
        })
        .collect();
    evenhand_report::json::document("exhibits", json!({"exhibits": exhibits}))
}

/// Every entry as a paragraph, and how many agree.
#[must_use]
pub fn words(entries: &[Entry]) -> Page {
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
#[must_use]
pub fn table(entries: &[Entry]) -> Table {
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

/// The tables and figures, and what there is of each.
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
        table.row([exhibit.id, exhibit.title, what].map(Cell::from));
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
