//! Tests of the corpus of the fuzz targets: every input ends without a fault.
#![allow(missing_docs)]

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use evenhand_oracles::grammar::{random_queues, random_reservation, random_scenario};
use evenhand_oracles::{other_checkpoint, random_checkpoint};
use evenhand_problem::format::Source;
use evenhand_testkit::certificates::{accepted, malformed, rejected};

/// The folder with the inputs on which the program once failed.
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

/// Runs a target on every file in the folders. The folders are relative to the root of the repository.
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
fn readers_survive_their_corpus() {
    replay(evenhand_oracles::readers, &["fuzz/corpus/readers", "fuzz/corpus/pipeline", DEFECTS, "examples"]);
}

#[test]
fn certificates_survive_their_corpus() {
    replay(evenhand_oracles::certificates, &["fuzz/corpus/certificates", DEFECTS]);
}

/// Runs the target on the certificates of the test kit.
#[test]
fn targets_survive_certificates_of_the_checker() {
    let all = accepted().into_iter().chain(rejected()).chain(malformed());
    let wrong =
        all.filter(|case| catch_unwind(|| evenhand_oracles::certificates(case.text.as_bytes())).is_err());
    let wrong: Vec<String> = wrong.map(|case| case.name).collect();
    assert!(wrong.is_empty(), "{}", wrong.join(", "));
}

#[test]
fn importers_survive_their_corpus() {
    replay(evenhand_oracles::importers, &["fuzz/corpus/importers"]);
}

#[test]
fn tree_survives_its_corpus() {
    replay(evenhand_oracles::tree, &["fuzz/corpus/tree", DEFECTS, "examples"]);
}

#[test]
fn scenarios_survive_their_corpus() {
    replay(evenhand_oracles::scenarios, &["fuzz/corpus/scenarios"]);
}

#[test]
fn checkpoints_survive_their_corpus() {
    replay(evenhand_oracles::checkpoints, &["fuzz/corpus/checkpoints"]);
}

#[test]
fn audits_survive_their_corpus() {
    replay(evenhand_oracles::audit, &["fuzz/corpus/audit"]);
}

#[test]
fn exports_survive_their_corpus() {
    let certificates =
        ["allocation", "ratio", "worst-load"].map(|of| format!("crates/testkit/certificates/{of}/accept"));
    let mut folders = vec!["fuzz/corpus/export", "fuzz/corpus/certificates", "examples"];
    folders.extend(certificates.iter().map(String::as_str));
    replay(evenhand_oracles::export, &folders);
}

/// Runs the targets on inputs from the grammars, without a fuzzer. Most of these inputs are valid and get an
/// answer.
#[test]
fn targets_survive_inputs_of_the_grammars() {
    let mut read = [0; 4];
    for seed in 0..40 {
        let queues = random_queues(seed);
        evenhand_oracles::tree(&queues);
        read[0] += usize::from(is_problem(&queues));
        let scenario = random_scenario(seed);
        evenhand_oracles::scenarios(&scenario);
        let checkpoint = random_checkpoint(seed);
        evenhand_oracles::checkpoints(&checkpoint);
        read[1] += usize::from(!checkpoint.is_empty());
        if let Some(other) = other_checkpoint(&checkpoint, seed) {
            evenhand_oracles::checkpoints(&other);
            read[2] += 1;
        }
        let reservation = random_reservation(seed);
        let text = String::from_utf8(reservation).unwrap();
        read[3] += usize::from(Source { name: "reservation.json", text: &text }.reservation().is_ok());
    }
    assert!(read.iter().all(|read| *read >= 10), "{read:?}");
}

fn is_problem(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap();
    Source { name: "problem.json", text }.problem().is_ok()
}

#[test]
fn pipeline_survives_its_corpus() {
    replay(evenhand_oracles::pipeline, &["fuzz/corpus/pipeline", DEFECTS, "examples"]);
}
