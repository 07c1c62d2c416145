//! Reads and writes files for the commands.

mod background;
mod examine;
mod partial;
mod temporary;
mod write;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use evenhand::problem::format::{AllocationFile, FormatError, ReadError, Source, read_text};
use evenhand::{Allocation, Problem};

use crate::arguments::Common;
use crate::failure::Failure;
use crate::output;

pub use examine::{CommandFiles, examine, is_ordinary, is_standard, not_an_input};
pub use partial::Partial;
pub use temporary::clear;
#[cfg(unix)]
pub use temporary::ignored_signals;
pub use write::{save, save_by, save_in, write, write_in};

/// The text of standard input that [`peek`] has read. Standard input cannot be read twice.
static PEEKED: Mutex<Option<Result<String, ReadError>>> = Mutex::new(None);

/// Inspects a file that will be read later. Returns `None` if the file cannot be read. The function that
/// reads the file later reports the error.
pub fn peek<T>(path: &Path, look: impl FnOnce(&str) -> T) -> Option<T> {
    let text = read_text(path);
    let found = text.as_ref().ok().map(|text| look(text));
    if is_standard(path) {
        *PEEKED.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
    found
}

/// Reads a file and parses its text. The failure for a malformed text shows the offending line.
pub fn read<T>(path: &Path, parse: impl FnOnce(&Source<'_>) -> Result<T, FormatError>) -> Result<T, Failure> {
    let peeked = || PEEKED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let peeked = if is_standard(path) { peeked() } else { None };
    let text = peeked.unwrap_or_else(|| read_text(path))?;
    let name = path.to_string_lossy();
    parse(&Source { name: &name, text: &text }).map_err(|error| Failure::format(&error, &text))
}

/// Reads a problem, and stores the warnings about it.
pub fn problem(path: &Path, common: &Common) -> Result<Problem, Failure> {
    let problem = read(path, |source| source.problem())?;
    for warning in problem.warnings() {
        output::warn(common, warning.to_string());
    }
    Ok(problem)
}

/// Reads an allocation of `problem`. Refuses an allocation that states the hash of another problem.
pub fn allocation(path: &Path, problem: &Problem) -> Result<Allocation, Failure> {
    Ok(allocation_file(path, problem)?.allocation)
}

/// Reads an allocation as [`allocation`] does, and also returns the other fields of its file.
pub fn allocation_file(path: &Path, problem: &Problem) -> Result<AllocationFile, Failure> {
    let file = read(path, |source| source.allocation(problem))?;
    if !file.is_for(problem) {
        let name = path.display();
        return Err(Failure::input(format!(
            "{name}: the allocation is for another problem (problem_sha256 differs)"
        )));
    }
    Ok(file)
}

/// Returns an error if more than one path is `-`, because only one file can be read from standard input.
pub fn distinct(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::input("only one file can be standard input (-)"));
    }
    Ok(())
}
