//! Real cluster data, which is not part of the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the path of `name` in the folder of the data (`EVENHAND_DATA`, or `../shared/data` next to the
/// checkout). Returns `None` if the path does not exist. The missing path is then reported on standard error,
/// past the test harness, because a test that did not run must not look like a test that passed.
pub fn data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("EVENHAND_DATA").map_or_else(beside, PathBuf::from).join(name);
    if path.exists() {
        return Some(path.canonicalize().unwrap());
    }
    not_run(&format!("there is no {} (set EVENHAND_DATA)", path.display()));
    None
}

/// Reports on standard error, past the test harness, that a test skips a check, and the reason.
pub fn not_run(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("\nNOT RUN: {test}: {why}\n");
    // The harness captures the output of the print macros, so the line is written directly. A failed write
    // cannot be handled.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
