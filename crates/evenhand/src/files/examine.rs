//! Whether there is somewhere to write to, found out before the work starts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::temporary::{Lock, lock, sweep};
use crate::failure::Failure;

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub struct Places<'a> {
    /// Files that are read; `-` is standard input.
    pub inputs: Vec<&'a Path>,
    /// Files that are written; `-` is standard output.
    pub outputs: Vec<&'a Path>,
    /// Files that are read if they are there, and kept up to date.
    pub kept: Vec<&'a Path>,
    /// Folders that files are written into, made with the first file if need be.
    pub folders: Vec<&'a Path>,
}

/// Refuses what cannot work: two inputs from standard input, an output whose folder is missing or cannot
/// be written to, that is a folder or a link that leads nowhere, or that would replace an input or another
/// output; and a file that is kept up to date by another program. The locks that say so last as long as the
/// command. What a program that was killed has left beside these files is removed.
///
/// # Errors
/// The first of these, with the name of the file.
pub fn examine(places: &Places<'_>) -> Result<Vec<Lock>, Failure> {
    super::distinct(&places.inputs)?;
    let read = [&places.inputs[..], &places.kept].concat();
    for output in &places.outputs {
        not_an_input(output, &read)?;
    }
    let written = [&places.outputs[..], &places.kept].concat();
    for (position, output) in written.iter().enumerate() {
        if written[..position].iter().any(|other| is_same(other, output)) {
            let what = if is_standard(output) { "standard output (-)".to_owned() } else { shown(output) };
            return Err(Failure::input(format!("{what}: two outputs cannot be one file")));
        }
        if !is_standard(output) {
            output_file(output)?;
        }
    }
    places.folders.iter().try_for_each(|folder| output_folder(folder))?;
    let locks = places.kept.iter().filter_map(|path| locked(path).transpose()).collect::<Result<_, _>>()?;
    if !places.kept.is_empty() {
        written.iter().for_each(|path| sweep(&folder_of(path)));
        places.folders.iter().for_each(|folder| sweep(folder));
    }
    Ok(locks)
}

/// Locks a file that is kept up to date. Pipes and devices are not kept.
fn locked(path: &Path) -> Result<Option<Lock>, Failure> {
    if is_standard(path) || path.exists() && !is_ordinary(path) {
        return Ok(None);
    }
    // Whatever links lead to it.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().unwrap_or_default();
    let refuse = |why: String| Failure::input(format!("{}: {why}", shown(&path)));
    match lock(&folder_of(&path), name) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(refuse("another run keeps this file up to date".to_owned())),
        Err(error) => Err(refuse(format!("cannot be locked: {error}"))),
    }
}

/// Refuses an output that is one of the inputs.
pub fn not_an_input(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let is_input = |input: &&Path| !is_standard(input) && is_same(input, output) && is_ordinary(output);
    if inputs.iter().any(is_input) {
        return Err(Failure::input(format!("{}: the output would replace an input", shown(output))));
    }
    Ok(())
}

fn output_file(path: &Path) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::input(format!("{}: {why}", shown(path))));
    if path.as_os_str().is_empty() {
        return Err(Failure::input("the name of the output file is empty"));
    }
    if leads_nowhere(path) {
        return refuse("cannot be written: it is a link that leads nowhere");
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return refuse("cannot be written: it is a folder"),
        // Pipes and devices are written to directly.
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(found) if found.permissions().readonly() => return refuse("cannot be written: it is read-only"),
        _ => {}
    }
    let ends_with_slash = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    if ends_with_slash || path.file_name().is_none() {
        return refuse("cannot be written: it names a folder, and a file is expected");
    }
    let folder = folder_of(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
    if !folder.exists() {
        return refuse(&format!("cannot be written: there is no folder `{}`", folder.display()));
    }
    match tempfile::tempfile_in(&folder) {
        Ok(_) => Ok(()),
        Err(error) => refuse(&format!("cannot be written: `{}`: {error}", folder.display())),
    }
}

fn output_folder(folder: &Path) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::input(format!("{}: {why}", shown(folder))));
    if is_standard(folder) {
        return Err(Failure::input("several files go to a folder, not to standard output (-)"));
    }
    if folder.exists() && !folder.is_dir() {
        return refuse("is not a folder".to_owned());
    }
    if folder.ancestors().take_while(|above| !above.exists()).any(leads_nowhere) {
        return refuse("cannot be created: a link leads nowhere".to_owned());
    }
    // What is not there yet is made in the nearest folder that is.
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or_else(|| Path::new("."));
    match tempfile::tempfile_in(there) {
        Ok(_) => Ok(()),
        Err(error) if there == folder => refuse(format!("cannot be written to: {error}")),
        Err(error) => refuse(format!("cannot be created: {error}")),
    }
}

/// Whether two paths name one file, which need not be there.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| -> Option<(PathBuf, Option<OsString>)> {
        match path.canonicalize() {
            Ok(path) => Some((path, None)),
            Err(_) => Some((folder_of(path).canonicalize().ok()?, Some(path.file_name()?.to_owned()))),
        }
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

/// Whether it is a link to what is not there.
pub(super) fn leads_nowhere(path: &Path) -> bool {
    path.is_symlink() && std::fs::metadata(path).is_err()
}

/// A pipe or a device is not replaced: it may be read and written.
pub fn is_ordinary(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

pub(super) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new(".")).to_path_buf()
}

pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
