//! The corpus of the fuzz targets: every input ends well.
#![allow(missing_docs)]

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use evenhand_testkit::certificates::{accepted, malformed, rejected};

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

/// The certificates of the test kit.
#[test]
fn certificates_of_the_checker() {
    let all = accepted().into_iter().chain(rejected()).chain(malformed());
    let wrong =
        all.filter(|case| catch_unwind(|| evenhand_oracles::certificates(case.text.as_bytes())).is_err());
    let wrong: Vec<String> = wrong.map(|case| case.name).collect();
    assert!(wrong.is_empty(), "{}", wrong.join(", "));
}

#[test]
fn importers() {
    replay(evenhand_oracles::importers, &["fuzz/corpus/importers"]);
}

#[test]
fn pipeline() {
    replay(evenhand_oracles::pipeline, &["fuzz/corpus/pipeline", DEFECTS, "examples"]);
}
