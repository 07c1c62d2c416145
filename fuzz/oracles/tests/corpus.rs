//! The corpus of the fuzz targets: every input ends well.
#![allow(missing_docs)]

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Inputs on which the program once failed.
const DEFECTS: &str = "crates/evenhand/tests/defects";

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{}", folder.display());
    found
}

/// Every file of the folders, which are named from the root of the repository.
fn replay(target: fn(&[u8]), folders: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    for path in folders.iter().flat_map(|folder| files(&root.join(folder))) {
        let bytes = std::fs::read(&path).unwrap();
        if catch_unwind(|| target(&bytes)).is_err() {
            wrong.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join(", "));
}

#[test]
fn readers() {
    replay(evenhand_oracles::readers, &["fuzz/corpus/readers", "fuzz/corpus/pipeline", DEFECTS, "examples"]);
}

#[test]
fn certificates() {
    replay(evenhand_oracles::certificates, &["fuzz/corpus/certificates", DEFECTS]);
}

/// The certificates that the tests of the checker accept, reject, and do not read.
#[test]
fn certificates_of_the_checker() {
    let folders = ["accept", "ratio/accept", "ratio/reject", "ratio/malformed"];
    let worst = ["worst_load/accept", "worst_load/reject", "worst_load/malformed"];
    let folders = folders.iter().chain(&worst).map(|folder| format!("verification/exact/tests/{folder}"));
    let folders: Vec<String> = folders.collect();
    replay(evenhand_oracles::certificates, &folders.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn importers() {
    replay(evenhand_oracles::importers, &["fuzz/corpus/importers"]);
}

#[test]
fn pipeline() {
    replay(evenhand_oracles::pipeline, &["fuzz/corpus/pipeline", DEFECTS, "examples"]);
}
