//! Reading and writing files for the commands.

mod behind;
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

pub use examine::{Places, examine, is_ordinary, is_standard, not_an_input};
pub use partial::Partial;
pub use temporary::clear;
#[cfg(unix)]
pub use temporary::ignored_signals;
pub use write::{save, save_by, save_in, write, write_in};

/// What [`peek`] saw of standard input, which cannot be read twice.
static PEEKED: Mutex<Option<Result<String, ReadError>>> = Mutex::new(None);

/// Looks at a file that is read afterwards; `None` where it cannot be read, which its reader says.
pub fn peek<T>(path: &Path, look: impl FnOnce(&str) -> T) -> Option<T> {
    let text = read_text(path);
    let found = text.as_ref().ok().map(|text| look(text));
    if is_standard(path) {
        *PEEKED.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
    found
}

/// Reads a file and hands its text on; malformed text becomes a failure that shows the line.
pub fn read<T>(path: &Path, parse: impl FnOnce(&Source<'_>) -> Result<T, FormatError>) -> Result<T, Failure> {
    let peeked = || PEEKED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let peeked = if is_standard(path) { peeked() } else { None };
    let text = peeked.unwrap_or_else(|| read_text(path))?;
    let name = path.to_string_lossy();
    parse(&Source { name: &name, text: &text }).map_err(|error| Failure::format(&error, &text))
}

/// Reads a problem and says on standard error what a reader should know of it.
pub fn problem(path: &Path, common: &Common) -> Result<Problem, Failure> {
    let problem = read(path, |source| source.problem())?;
    for warning in problem.warnings() {
        output::warn(common, warning.to_string());
    }
    Ok(problem)
}

/// Reads an allocation of `problem`; one that states another problem's hash is refused.
pub fn allocation(path: &Path, problem: &Problem) -> Result<Allocation, Failure> {
    Ok(allocation_file(path, problem)?.allocation)
}

/// [`allocation`], with what else the file says of it.
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

/// Two inputs cannot both come from standard input.
pub fn distinct(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Failure::input("only one file can be standard input (-)"));
    }
    Ok(())
}
