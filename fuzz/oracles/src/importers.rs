//! The oracle for importers of cluster traces and of dumps of schedulers.
//!
//! An input begins with a line that contains `openb`, `google TIME user|shape` or the name of a scheduler.
//! Files follow, which lines `----` separate. A file may be compressed.

use std::io::Cursor;

use evenhand_dumps::{Options, snapshot};
use evenhand_import::{GoogleOptions, GoogleUsers, Import, ImportError, Input, google, openb};
use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::printable;
use evenhand_problem::snapshot::System;

use crate::{readers, said};

/// The separator between two files.
const BETWEEN: &[u8] = b"\n----\n";

/// Imports files.
pub fn importers(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(command) = std::str::from_utf8(&bytes[..end]) else { return };
    let files = split(&bytes[end + 1..]);
    if let Ok(system) = command.parse() {
        return dumps(system, files);
    }
    match imported(command, files) {
        None => {}
        Some(Ok(import)) => {
            import.notes.iter().for_each(|note| said::one_line(&printable(&note.to_string())));
            readers::same_problem(&import.problem);
        }
        Some(Err(error)) => said::one_line(&printable(&error.to_string())),
    }
}

/// Checks that a snapshot does not change when it is written and read again.
fn dumps(system: System, files: Vec<&[u8]>) {
    let inputs = files.into_iter().map(|bytes| Input::new("file", Cursor::new(bytes.to_vec())));
    let Ok(inputs) = inputs.collect() else { return };
    match snapshot(system, inputs, &Options::default()) {
        Err(error) => said::one_line(&printable(&error.to_string())),
        Ok(made) => {
            let text = snapshot_to_json(&made);
            let read = Source { name: "snapshot", text: &text }.snapshot();
            assert!(read.as_ref().is_ok_and(|read| *read == made), "{read:?} of\n{text}");
        }
    }
}

fn imported(command: &str, files: Vec<&[u8]>) -> Option<Result<Import, ImportError>> {
    let mut words = command.split(' ');
    let format = words.next()?;
    let mut inputs = Vec::new();
    for (number, bytes) in files.into_iter().enumerate() {
        match Input::new(format!("file-{number}"), Cursor::new(bytes.to_vec())) {
            Ok(input) => inputs.push(input),
            Err(error) => return Some(Err(error)),
        }
    }
    let first = if inputs.is_empty() { return None } else { inputs.remove(0) };
    match format {
        "openb" => Some(openb(first, inputs.into_iter().next()?)),
        "google" => {
            let time = words.next()?.parse().ok()?;
            let users = match words.next()? {
                "user" => GoogleUsers::ByUser,
                _ => GoogleUsers::ByShape,
            };
            Some(google(first, inputs, GoogleOptions { time, users }))
        }
        _ => None,
    }
}

fn split(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut files = Vec::new();
    while let Some(end) = bytes.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        files.push(&bytes[..=end]);
        bytes = &bytes[end + BETWEEN.len()..];
    }
    files.push(bytes);
    files
}
