//! Writing a file in one step.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::examine::{folder_of, is_standard, leads_nowhere, not_an_input, shown};
use super::temporary;
use crate::failure::Failure;
use crate::output;

/// Writes a document where the caller wants it, in one step; returns whether that was standard
/// output, which then holds nothing else.
///
/// # Errors
/// The file cannot be written, or is one of the inputs.
pub fn write(path: &Path, text: &str, inputs: &[&Path]) -> Result<bool, Failure> {
    if is_standard(path) {
        output::text(text)?;
        return Ok(true);
    }
    not_an_input(path, inputs)?;
    save(path, text.as_bytes())?;
    Ok(false)
}

/// Writes a file in one step: a reader sees the old file or the whole new one, never a part.
///
/// A symbolic link is followed, one that leads nowhere refused. The permissions of a file that is there are
/// kept; a new file has those that the umask leaves. What is no ordinary file, such as a pipe or `/dev/null`, is written to
/// directly. The temporary file beside it has a name that nobody can foresee and is created exclusively.
///
/// # Errors
/// The system refuses, with status 3: whether there is somewhere to write to was found out before.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let saved = match fs::metadata(path) {
        Ok(old) if old.is_file() => {
            path.canonicalize().and_then(|path| replace(&path, bytes, Some(old.permissions())))
        }
        Ok(found) if !found.is_dir() => fs::OpenOptions::new().write(true).open(path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.flush()
        }),
        _ if leads_nowhere(path) => Err(io::Error::other("it is a link that leads nowhere")),
        _ => replace(path, bytes, None),
    };
    saved.map_err(|error| Failure::solver(format!("{}: cannot be written: {error}", shown(path))))
}

/// [`save`] of a file in a folder, which is made if need be.
///
/// # Errors
/// As [`save`].
pub fn save_in(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let made = fs::create_dir_all(folder);
    made.map_err(|error| Failure::solver(format!("{}: cannot be created: {error}", shown(folder))))?;
    save(&folder.join(name), bytes.as_ref())
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let part = temporary::new(&folder_of(path))?;
    let name = part.path().to_owned();
    let replaced = fill(part, path, bytes, permissions);
    temporary::forget(&name);
    replaced
}

fn fill(
    mut part: NamedTempFile,
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    part.write_all(bytes)?;
    permissions.map_or(Ok(()), |permissions| part.as_file().set_permissions(permissions))?;
    part.as_file().sync_all()?;
    part.persist(path).map(drop).map_err(|error| error.error)
}
