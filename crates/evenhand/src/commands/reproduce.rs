//! The command `reproduce`: shows published values next to computed values.

use std::path::Path;
use std::process::ExitCode;

use evenhand::report::Page;
use evenhand_papers::{
    Entry, Exhibit, album, document, document_of_exhibits, entries_with, exhibits, is_part, list_of_exhibits,
    sections, starts, table, unchecked_exhibits, words,
};
use indicatif::ProgressStyle;

use crate::arguments::{Common, Format, Reproduce};
use crate::failure::{Failure, unknown};
use crate::{files, output};

pub fn run(call: &Reproduce, common: &Common) -> Result<ExitCode, Failure> {
    if call.list {
        return list(common);
    }
    let found = selected(&call.ids, common)?;
    let mut is_complete = found.iter().all(Entry::is_checked);
    if let Some(folder) = &call.output {
        is_complete &= write(folder, call, &found)?;
    }
    match common.format {
        Format::Json => output::json(&document(&found), common)?,
        Format::Table => output::page(&words(&found), common)?,
        _ => {
            output::page(&Page::new().table(table(&found)), common)?;
        }
    }
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// Lists the tables and figures of the papers.
fn list(common: &Common) -> Result<ExitCode, Failure> {
    let exhibits = exhibits();
    output::result(
        common,
        || document_of_exhibits(&exhibits),
        || Page::new().table(list_of_exhibits(&exhibits)),
    )
}

/// Writes the album of the selected entries. The index page is written last. Returns `true` if the data of
/// every table and figure were available.
fn write(folder: &Path, call: &Reproduce, found: &[Entry]) -> Result<bool, Failure> {
    let mut exhibits = exhibits();
    let is_asked_for = |exhibit: &Exhibit| {
        let ids = &call.ids;
        ids.is_empty()
            || ids.iter().any(|id| is_part(exhibit.id, id))
            || found.iter().any(|entry| exhibit.holds(entry))
    };
    exhibits.retain(is_asked_for);
    let files = album(&exhibits, found).map_err(Failure::solver)?;
    for file in files {
        files::save_in(folder, &file.name, file.text)?;
    }
    Ok(unchecked_exhibits(&exhibits).next().is_none())
}

/// Returns the entries with these ids, or all entries if there are no ids. An id names a section, a table, a
/// figure, or a single entry.
fn selected(ids: &[String], common: &Common) -> Result<Vec<Entry>, Failure> {
    let known = sections();
    let section_of = |id: &str| id.split('.').next().unwrap_or(id).to_owned();
    if let Some(id) = ids.iter().find(|id| !known.contains(&section_of(id).as_str())) {
        return Err(unknown("section", id, known));
    }
    let exhibits = exhibits();
    // A table or figure may contain values of several sections.
    let of_exhibit = |id: &str| exhibits.iter().find(|exhibit| exhibit.id == id);
    let prefixes: Vec<&str> = ids
        .iter()
        .flat_map(|id| of_exhibit(id).map_or(&[][..], Exhibit::values).iter().copied().chain([id.as_str()]))
        .collect();
    let bar = output::progress(common, Some(1));
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} parts").map_err(Failure::solver)?);
    let found = entries_with(&prefixes, &|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let mut found = found.map_err(Failure::solver)?;
    // The entry of a section without data has no parts. An id of such a part therefore selects the whole
    // entry.
    let is_asked_for =
        |entry: &Entry, id: &str| is_part(&entry.id, id) || !entry.is_checked() && is_part(id, &entry.id);
    let exists = |id: &String| of_exhibit(id).is_some() || found.iter().any(|entry| is_asked_for(entry, id));
    if let Some(id) = ids.iter().find(|id| !exists(id)) {
        return Err(unknown(
            "entry",
            id,
            found.iter().map(|entry| entry.id.as_str()).chain(starts().map(|start| -> &str { start })),
        ));
    }
    found.retain(|entry| ids.is_empty() || prefixes.iter().any(|id| is_asked_for(entry, id)));
    Ok(found)
}
