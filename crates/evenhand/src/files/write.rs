//! Writing a file in one step.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::Path;

use super::examine::{folder_of, is_standard, not_an_input, shown};
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
/// A symbolic link that is there is followed and the permissions of the file are kept; a new file has
/// those that the umask leaves. What is no ordinary file, such as a pipe or `/dev/null`, is written to
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
        // Folders that files are written into are made if need be; of other files they are there.
        _ => fs::create_dir_all(folder_of(path)).and_then(|()| replace(path, bytes, None)),
    };
    saved.map_err(|error| Failure::solver(format!("{}: cannot be written: {error}", shown(path))))
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".evenhand-").suffix(".part");
    #[cfg(unix)]
    {
        // The umask takes from these what it takes from every new file.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut part = builder.tempfile_in(folder_of(path))?;
    part.write_all(bytes)?;
    permissions.map_or(Ok(()), |permissions| part.as_file().set_permissions(permissions))?;
    part.as_file().sync_all()?;
    part.persist(path).map(drop).map_err(|error| error.error)
}
