//! Real cluster data, which is not part of the repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// What stands at `name` in the folder of the data (`EVENHAND_DATA`, or `../shared/data` beside the checkout); `None`
/// where it is not there, which is said on standard error past the test harness: a test that did not run must
/// not look like one that passed.
pub fn data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("EVENHAND_DATA").map_or_else(beside, PathBuf::from).join(name);
    if path.exists() {
        return Some(path.canonicalize().unwrap());
    }
    not_run(&format!("there is no {} (set EVENHAND_DATA)", path.display()));
    None
}

/// Says on standard error, past the test harness, that the test does not examine something, and why.
pub fn not_run(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("\nNOT RUN: {test}: {why}\n");
    // The harness keeps what the macros print. Nothing is left to be done when standard error is gone.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
