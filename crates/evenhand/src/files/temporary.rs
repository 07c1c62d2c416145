//! Files that are there only while the program works: what is written before it takes the place of a file, and
//! locks. They go with the program, also where TERM or INT (Ctrl-C) ends it; what KILL leaves is swept later.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

const PREFIX: &str = ".evenhand-";
const SUFFIX: &str = ".part";

/// The files. Whoever makes one holds this, so that a signal misses none.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    #[cfg(unix)]
    signals::watch();
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files, and lets no more be made: the program ends now.
pub fn clear() {
    let there = THERE.lock().unwrap_or_else(PoisonError::into_inner);
    there.iter().for_each(|path| drop(fs::remove_file(path)));
    std::mem::forget(there);
}

/// A new file in a folder, whose name cannot be foreseen. It is locked, so that [`sweep`] leaves it alone.
///
/// # Errors
/// The system refuses.
pub fn new(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // The umask takes from these what it takes from every new file.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut there = there();
    loop {
        let file = builder.tempfile_in(folder)?;
        match file.as_file().try_lock() {
            // Swept before it was locked.
            Ok(()) if !file.path().exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // Where files cannot be locked nothing is swept.
            Ok(()) | Err(TryLockError::Error(_)) => {
                there.insert(file.path().to_owned());
                return Ok(file);
            }
        }
    }
}

/// The file has got its name, or is gone.
pub fn forget(path: &Path) {
    there().remove(path);
}

/// Removes what programs that were killed have left in a folder. What a program still writes is locked.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                // Whatever stays does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// That no other program uses a file, as long as this is there.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

/// Locks `name` in a folder by a file beside it; `None` where another program has it.
///
/// # Errors
/// The system refuses.
pub fn lock(folder: &Path, name: &OsStr) -> io::Result<Option<Lock>> {
    let path = folder.join([OsStr::new("."), name, OsStr::new(".lock")].into_iter().collect::<OsString>());
    let mut there = there();
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // The one before has removed it meanwhile.
            Ok(()) if !is_at(&file, &path) => {}
            // Where files cannot be locked runs are not told apart.
            Ok(()) | Err(TryLockError::Error(_)) => {
                there.insert(path.clone());
                return Ok(Some(Lock { path, _file: file }));
            }
        }
    }
}

/// Removes the file while it is locked, so that no other process owns it.
impl Drop for Lock {
    fn drop(&mut self) {
        let mut there = there();
        let _ = fs::remove_file(&self.path);
        there.remove(&self.path);
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

    /// From now on TERM and INT remove the files before they end the program. What the parent ignores (a shell ignores
    /// INT for jobs in the background) stays ignored.
    pub fn watch() {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let (ready, is_ready) = mpsc::channel();
            let watching = move || {
                let ignored = ignored();
                let ends = [SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
                let Ok(mut signals) = Signals::new(ends) else { return };
                // Who waits for it is there.
                let _ = ready.send(());
                for signal in signals.forever() {
                    super::clear();
                    let _ = emulate_default_handler(signal);
                }
            };
            // Without a thread the signals end the program as they always do.
            if thread::Builder::new().spawn(watching).is_ok() {
                let _ = is_ready.recv();
            }
        });
    }

    /// The signals that are ignored, a bit each from signal 1 on, where the system says it.
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
    fn what_is_being_written_is_not_swept() {
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
    fn a_file_is_locked_once_until_it_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let locked = |name: &str| lock(folder.path(), OsStr::new(name)).unwrap();
        let first = locked("a").unwrap();
        assert!(locked("a").is_none() && locked("b").is_some());
        drop(first);
        // What a killed program has left locks nothing.
        fs::write(folder.path().join(".a.lock"), "").unwrap();
        let again = locked("a");
        assert!(again.is_some());
        drop(again);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
