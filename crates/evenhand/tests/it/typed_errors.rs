//! Tests that no library returns errors as plain strings.

use std::path::{Path, PathBuf};

/// The folders whose `src` is a library. Files named `tests.rs` do not count. Two crates are left out on
/// purpose: this crate, because clap requires value parsers to return strings, and the test kit.
const LIBRARIES: [&str; 18] = [
    "crates/problem",
    "crates/import",
    "crates/cluster/dumps",
    "crates/cluster/watch",
    "crates/cluster/usage",
    "crates/mechanisms",
    "crates/certify",
    "crates/export",
    "crates/simulate",
    "crates/studies/audit",
    "crates/studies/hunt",
    "crates/studies/papers",
    "crates/studies/accuracy",
    "crates/report",
    "solvers/levels",
    "solvers/lp",
    "solvers/packing",
    "solvers/ode",
];

#[test]
fn library_errors_have_types() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut bare = Vec::new();
    for library in LIBRARIES {
        let mut folders = vec![root.join(library).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs")
                    && path.file_name().is_some_and(|name| name != "tests.rs")
                {
                    bare.extend(bare_errors(&path));
                }
            }
        }
    }
    assert!(bare.is_empty(), "`Result<_, String>`; use a type with `thiserror`:\n{}", bare.join("\n"));
}

/// Returns the lines that match `Result<.*, String>`.
fn bare_errors(path: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let lines = text.lines().enumerate();
    let bare = lines
        .filter(|(_, line)| line.split_once("Result<").is_some_and(|(_, rest)| rest.contains(", String>")));
    bare.map(|(at, line)| format!("{}:{}: {}", path.display(), at + 1, line.trim())).collect()
}
