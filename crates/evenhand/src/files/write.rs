//! Writes a file in one step.

use std::fmt::Display;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::background::BackgroundWriter;
use super::examine::{folder_of, is_standard, leads_nowhere, not_an_input, shown};
use super::temporary;
use crate::failure::Failure;
use crate::output;

/// Writes a document to a file in one step, or to standard output. Returns `true` if the document went to
/// standard output. In this case no other text may be written to standard output.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, content: &(impl Display + ?Sized)) -> Result<bool, Failure> {
    if is_standard(path) {
        output::text(content)?;
        return Ok(true);
    }
    save_with(path, &|out| write!(out, "{content}"))?;
    Ok(false)
}

/// Saves a file as [`save`] does. The content is created while it is written. Another thread writes a large
/// content.
///
/// # Errors
/// The errors of [`save`].
pub fn save_by(path: &Path, content: Content<'_>) -> Result<(), Failure> {
    save_with(path, content)
}

/// A function that writes the content of a file.
pub type Content<'c> = &'c dyn Fn(&mut (dyn Write + Send)) -> io::Result<()>;

/// Writes a file in one step. A reader sees either the old file or the complete new file, and never a part of
/// a file.
///
/// A symbolic link is followed. A link to a file that does not exist is refused. An existing file keeps its
/// permissions, and a new file gets the permissions that the umask allows. A file that is not a regular file,
/// such as a pipe or `/dev/null`, is written to directly. The temporary file is created in the same folder,
/// exclusively and with an unpredictable name.
///
/// # Errors
/// If the system refuses to write the file. The exit status is 3, because the program checked before the work
/// that the file can be written.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    save_with(path, &|out| out.write_all(bytes))
}

fn save_with(path: &Path, content: Content<'_>) -> Result<(), Failure> {
    let saved = match fs::metadata(path) {
        Ok(old) if old.is_file() => {
            path.canonicalize().and_then(|path| replace(&path, content, Some(old.permissions())))
        }
        Ok(found) if !found.is_dir() => {
            fs::OpenOptions::new().write(true).open(path).and_then(|file| put(&file, content))
        }
        _ if leads_nowhere(path) => Err(io::Error::other("it is a link that leads nowhere")),
        _ => replace(path, content, None),
    };
    saved.map_err(|error| Failure::solver(format!("{}: cannot be written: {error}", shown(path))))
}

/// Saves a file in a folder as [`save`] does. The folder is created if it does not exist.
///
/// # Errors
/// The errors of [`save`].
pub fn save_in(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    make(folder)?;
    save(&folder.join(name), bytes.as_ref())
}

/// Writes a file in a folder as [`write()`] does. The folder is created if it does not exist.
///
/// # Errors
/// The errors of [`write()`]. Also if the file is one of the inputs.
pub fn write_in(folder: &Path, name: &str, content: &dyn Display, inputs: &[&Path]) -> Result<(), Failure> {
    let path = folder.join(name);
    not_an_input(&path, inputs)?;
    make(folder)?;
    save_with(&path, &|out| write!(out, "{content}"))
}

fn make(folder: &Path) -> Result<(), Failure> {
    let made = fs::create_dir_all(folder);
    made.map_err(|error| Failure::solver(format!("{}: cannot be created: {error}", shown(folder))))
}

/// Writes content to an open file. Only pieces of the content are in memory at any time.
fn put(file: &fs::File, content: Content<'_>) -> io::Result<()> {
    let mut out = BackgroundWriter::new(file);
    content(&mut out)?;
    out.finish()
}

fn replace(path: &Path, content: Content<'_>, permissions: Option<Permissions>) -> io::Result<()> {
    let part = temporary::new(&folder_of(path))?;
    let name = part.path().to_owned();
    let replaced = fill(part, path, content, permissions);
    temporary::forget(&name);
    replaced
}

fn fill(
    part: NamedTempFile,
    path: &Path,
    content: Content<'_>,
    permissions: Option<Permissions>,
) -> io::Result<()> {
    put(part.as_file(), content)?;
    permissions.map_or(Ok(()), |permissions| part.as_file().set_permissions(permissions))?;
    part.as_file().sync_all()?;
    part.persist(path).map(drop).map_err(|error| error.error)
}
