//! Certificates as files: those in `accept` are valid, those in `reject` are well-formed and state
//! something false, those in `malformed` are no certificates. A file `NAME.json` may have a
//! `NAME.txt` beside it: words that the reason or the error contains.
#![allow(missing_docs)]

mod common;

use std::path::{Path, PathBuf};

use evenhand_exact::{Certificate, check, check_against};
use evenhand_problem::format::{Source, problem_to_json};

fn files(folder: &str) -> Vec<(PathBuf, String, Option<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    found.sort();
    assert!(!found.is_empty());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let words = std::fs::read_to_string(path.with_extension("txt")).ok().map(|t| t.trim().to_owned());
        (path, text, words)
    };
    found.into_iter().map(read).collect()
}

fn parse(text: &str) -> Result<Certificate, evenhand_problem::format::FormatError> {
    Certificate::parse(&Source { name: "certificate", text })
}

#[test]
fn accepted() {
    for (path, text, _) in files("accept") {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let verdict = check(&certificate);
        assert!(verdict.valid, "{}: {:?}", path.display(), verdict.reason);
        assert!(check_against(&certificate, &certificate.problem).valid);
    }
}

#[test]
fn rejected() {
    for (path, text, words) in files("reject") {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let reason = check(&certificate).reason.unwrap_or_else(|| panic!("{} is accepted", path.display()));
        assert!(reason.contains(&words.unwrap()), "{}: {reason}", path.display());
    }
}

#[test]
fn malformed() {
    for (path, text, words) in files("malformed") {
        let Err(error) = parse(&text) else { panic!("{} is read", path.display()) };
        assert!(error.to_string().contains(&words.unwrap()), "{}: {error}", path.display());
    }
}

#[test]
fn a_certificate_is_about_its_problem_in_any_spelling() {
    let (_, good) = common::good_certificates().swap_remove(0);
    let text = problem_to_json(&good.problem);
    let read = |text: &str| Source { name: "problem", text }.problem().unwrap();
    let valid = |text: &str| check_against(&good, &read(text)).valid;
    assert!(valid(&text));
    assert!(valid(&text.replace("two servers", "another title")));
    assert!(valid(&text.replace("\"1/5\"", "0.20")));
    assert!(!valid(&text.replace("\"1/5\"", "0.21")));
    assert!(!valid(&text.replace("user 1", "user one")));
    let reordered = r#"{"kind": "allocation-problem", "resources": ["memory", "cpu"],
        "servers": [{"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}},
                    {"name": "high-memory", "count": 1, "capacity": {"cpu": 2, "memory": 12}}],
        "users": [{"name": "user 2", "weight": "2/2", "demand": {"cpu": 1, "memory": 0.2}},
                  {"name": "user 1", "servers": ["high-cpu", "high-memory"], "demand": {"cpu": 0.2, "memory": 1}}]}"#;
    assert!(valid(reordered));
    assert!(!valid(&reordered.replace("\"servers\": [\"high-cpu\", \"high-memory\"], ", "\"tasks\": 10, ")));
    assert!(!valid(&reordered.replace("[\"high-cpu\", \"high-memory\"]", "[\"high-memory\"]")));
}

/// Writes `accept` anew: `cargo test -p evenhand-exact --test files -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accept");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, certificate) in common::good_certificates() {
        std::fs::write(folder.join(name).with_extension("json"), certificate.to_json()).unwrap();
    }
}
