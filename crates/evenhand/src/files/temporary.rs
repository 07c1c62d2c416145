//! Files that exist only while the program runs: lock files, and files with new content before they replace
//! an old file. They are removed when the program ends, also if TERM or INT (Ctrl-C) ends it. Files that a
//! killed program left are removed later.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

const PREFIX: &str = ".evenhand-";
const SUFFIX: &str = ".part";

/// The temporary files of this process. A thread that creates a file holds the lock of this set, so that a
/// signal handler misses no file.
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    #[cfg(unix)]
    signals::watch();
    TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files. The lock is never released, so that no further files are created. The program must end
/// after this call.
pub fn clear() {
    let files = TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    files.iter().for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(files);
}

/// Creates a file with an unpredictable name in a folder. The file is locked, so that [`sweep`] does not remove it.
///
/// # Errors
/// If the system refuses to create the file.
pub fn new(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // The umask applies to these permissions in the same way as to those of every new file.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut files = temporary_files();
    loop {
        let file = builder.tempfile_in(folder)?;
        match file.as_file().try_lock() {
            // Another program removed the file before this program locked it.
            Ok(()) if !file.path().exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // On file systems without locks, temporary files are not swept.
            Ok(()) | Err(TryLockError::Error(_)) => {
                files.insert(file.path().to_owned());
                return Ok(file);
            }
        }
    }
}

/// Removes a file from the set of temporary files. The file has got its final name, or was removed.
pub fn forget(path: &Path) {
    temporary_files().remove(path);
}

/// Removes the files that killed programs left in a folder. A file that another program still writes is
/// locked and is not removed.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                // The error is ignored, because a file that cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A lock that keeps other programs from using a file. It is released when it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// Locks `name` in a folder by a lock file in the same folder. Returns `None` if another program has locked
/// it.
///
/// # Errors
/// If the system refuses to create or lock the lock file.
pub fn lock(folder: &Path, name: &OsStr) -> io::Result<Option<Lock>> {
    let path = folder.join([OsStr::new("."), name, OsStr::new(".lock")].into_iter().collect::<OsString>());
    let mut files = temporary_files();
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // The previous owner removed the lock file after this program opened it and before this program
            // locked it.
            Ok(()) if !is_at(&file, &path) => {}
            // On file systems without locks, a second run is not noticed.
            Ok(()) | Err(TryLockError::Error(_)) => {
                files.insert(path.clone());
                return Ok(Some(Lock { path, _file: file }));
            }
        }
    }
}

/// Removes the lock file while it is still locked, so that no other process can own it.
impl Drop for Lock {
    fn drop(&mut self) {
        let mut files = temporary_files();
        let _ = fs::remove_file(&self.path);
        files.remove(&self.path);
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().map(place).ok() == fs::metadata(path).map(place).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
pub use signals::ignored as ignored_signals;

#[cfg(unix)]
mod signals {
    use std::sync::{Once, mpsc};
    use std::thread;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Starts a thread that removes the temporary files when TERM or INT ends the program. A signal that the
    /// parent ignores stays ignored, for example INT for background jobs of a shell.
    pub fn watch() {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let (ready, is_ready) = mpsc::channel();
            let watching = move || {
                let ignored = ignored();
                let ends = [SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
                let Ok(mut signals) = Signals::new(ends) else { return };
                // The receiver below is still waiting, so sending cannot fail.
                let _ = ready.send(());
                for signal in signals.forever() {
                    super::clear();
                    let _ = emulate_default_handler(signal);
                }
            };
            // If no thread can be started, the signals end the program as usual, without removing the files.
            if thread::Builder::new().spawn(watching).is_ok() {
                let _ = is_ready.recv();
            }
        });
    }

    /// Returns the ignored signals as a bit mask, in which bit 0 is signal 1. Returns 0 if the system does
    /// not report them.
    pub fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_keeps_files_that_are_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let being_written = new(folder.path()).unwrap();
        let left = folder.path().join(".evenhand-left.part");
        let of_others = folder.path().join("evenhand.part");
        fs::write(&left, "").unwrap();
        fs::write(&of_others, "").unwrap();
        sweep(folder.path());
        assert!(being_written.path().exists() && of_others.exists() && !left.exists());
        forget(being_written.path());
        let path = being_written.into_temp_path().keep().unwrap();
        sweep(folder.path());
        assert!(!path.exists());
    }

    #[test]
    fn a_file_has_at_most_one_lock() {
        let folder = tempfile::tempdir().unwrap();
        let locked = |name: &str| lock(folder.path(), OsStr::new(name)).unwrap();
        let first = locked("a").unwrap();
        assert!(locked("a").is_none() && locked("b").is_some());
        drop(first);
        // The lock file of a killed program does not lock anything.
        fs::write(folder.path().join(".a.lock"), "").unwrap();
        let again = locked("a");
        assert!(again.is_some());
        drop(again);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
