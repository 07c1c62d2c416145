//! `reproduce`: published values beside ours.

use std::process::ExitCode;

use evenhand::report::text::table;
use evenhand::reproduce::{Entry, entries, sections};
use serde_json::{Value, json};

use crate::arguments::{Common, Format, Reproduce};
use crate::failure::Failure;
use crate::output;

pub fn run(call: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    let known = sections();
    // An id may name a section or one entry of it.
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    for id in &call.ids {
        let section = id.split('.').next().unwrap_or(id);
        if !known.contains(&section) {
            return Err(Failure::input(format!("nothing is called `{id}`: expected {}", known.join(", "))));
        }
        wanted.push((section, id));
    }
    let selected: Vec<&str> = if wanted.is_empty() {
        known
    } else {
        known.into_iter().filter(|name| wanted.iter().any(|(section, _)| section == name)).collect()
    };
    let mut found = Vec::new();
    for section in selected {
        found.extend(entries(section).map_err(Failure::solver)?);
    }
    if !wanted.is_empty() {
        let is_wanted = |entry: &Entry, id: &str| {
            entry.id == *id || entry.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        for (_, id) in &wanted {
            if !found.iter().any(|entry| is_wanted(entry, id)) {
                return Err(Failure::input(format!("nothing is called `{id}`")));
            }
        }
        found.retain(|entry| wanted.iter().any(|(_, id)| is_wanted(entry, id)));
    }
    match common.format {
        Format::Json => output::json(&document(&found))?,
        Format::Table => output::text(&text(&found))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn document(entries: &[Entry]) -> Value {
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

fn text(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let agrees = match entry.agrees {
            Some(true) => "agrees",
            Some(false) => "DIFFERS",
            None => "",
        };
        text.push_str(&format!("{}  {agrees}\n  {}\n", entry.id, entry.source));
        if !entry.paper.is_empty() {
            text.push_str(&format!("  paper: {}\n", entry.paper));
        }
        text.push_str(&format!("  ours:  {}\n", entry.ours));
        if !entry.note.is_empty() {
            text.push_str(&format!("  note:  {}\n", entry.note));
        }
        text.push('\n');
    }
    let count = |agrees| entries.iter().filter(|entry| entry.agrees == agrees).count().to_string();
    text.push_str(&table(
        &["entries", "agree", "differ", "nothing to compare"],
        vec![vec![entries.len().to_string(), count(Some(true)), count(Some(false)), count(None)]],
    ));
    text
}
