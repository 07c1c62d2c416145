//! Checks before the work starts that the output files can be written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::temporary::{Lock, lock, sweep};
use crate::failure::Failure;

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub struct CommandFiles<'a> {
    /// The files that are read. The path `-` stands for standard input.
    pub inputs: Vec<&'a Path>,
    /// The files that are written. The path `-` stands for standard output.
    pub outputs: Vec<&'a Path>,
    /// The files that are read if they exist, and that are updated during the command.
    pub updated: Vec<&'a Path>,
    /// The folders into which files are written. Each folder is created together with its first file.
    pub folders: Vec<&'a Path>,
}

/// Checks the files of a command, and locks the files that are updated until the command ends.
///
/// Refuses two inputs from standard input, and a file that another program updates. Refuses an output whose
/// folder is missing or read-only, an output that is a folder or a dangling link, and an output that would
/// replace an input or another output. Removes temporary files that killed programs left in the same folders.
///
/// # Errors
/// If at least one of these problems exists. The failure describes the first problem and names the file.
pub fn examine(command_files: &CommandFiles<'_>) -> Result<Vec<Lock>, Failure> {
    super::distinct(&command_files.inputs)?;
    let read = [&command_files.inputs[..], &command_files.updated].concat();
    for output in &command_files.outputs {
        not_an_input(output, &read)?;
    }
    let written = [&command_files.outputs[..], &command_files.updated].concat();
    for (position, output) in written.iter().enumerate() {
        if written[..position].iter().any(|other| is_same(other, output)) {
            let what = if is_standard(output) { "standard output (-)".to_owned() } else { shown(output) };
            return Err(Failure::input(format!("{what}: two outputs go to the same file; name two files")));
        }
        if !is_standard(output) {
            output_file(output)?;
        }
    }
    command_files.folders.iter().try_for_each(|folder| output_folder(folder))?;
    let locks =
        command_files.updated.iter().filter_map(|path| locked(path).transpose()).collect::<Result<_, _>>()?;
    if !command_files.updated.is_empty() {
        written.iter().for_each(|path| sweep(&folder_of(path)));
        command_files.folders.iter().for_each(|folder| sweep(folder));
    }
    Ok(locks)
}

/// Locks a file that is updated. Returns `None` for a pipe or a device, which are not locked.
fn locked(path: &Path) -> Result<Option<Lock>, Failure> {
    if is_standard(path) || path.exists() && !is_ordinary(path) {
        return Ok(None);
    }
    // The lock belongs to the file itself, no matter which links lead to the file.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().unwrap_or_default();
    let refuse = |why: String| Failure::input(format!("{}: {why}", shown(&path)));
    match lock(&folder_of(&path), name) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(refuse(
            "another run keeps this file up to date; wait for it, or name another file".to_owned(),
        )),
        Err(error) => Err(refuse(format!("cannot be locked: {error}"))),
    }
}

/// Refuses an output that is one of the inputs.
pub fn not_an_input(output: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let is_input = |input: &&Path| !is_standard(input) && is_same(input, output) && is_ordinary(output);
    if inputs.iter().any(is_input) {
        return Err(Failure::input(format!(
            "{}: the output would replace an input; name another file",
            shown(output)
        )));
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
        // The program writes to pipes and devices directly.
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
        return refuse("cannot be created: one of its folders is a link that leads nowhere".to_owned());
    }
    // Missing folders will be created below the nearest folder that exists.
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or_else(|| Path::new("."));
    match tempfile::tempfile_in(there) {
        Ok(_) => Ok(()),
        Err(error) if there == folder => refuse(format!("cannot be written to: {error}")),
        Err(error) => refuse(format!("cannot be created: {error}")),
    }
}

/// Returns `true` if two paths name the same file. The file need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| -> Option<(PathBuf, Option<OsString>)> {
        match path.canonicalize() {
            Ok(path) => Some((path, None)),
            Err(_) => Some((folder_of(path).canonicalize().ok()?, Some(path.file_name()?.to_owned()))),
        }
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

/// Returns `true` if the path is a symbolic link to a file that does not exist.
pub(super) fn leads_nowhere(path: &Path) -> bool {
    path.is_symlink() && std::fs::metadata(path).is_err()
}

/// Returns `true` if the path is a regular file. Pipes and devices are not replaced, and may be both read and
/// written.
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
