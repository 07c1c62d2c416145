//! Certificates as files: those in `accept` are valid; those that `reject.json` makes of them are
//! well-formed and state something false, those of `malformed.json` are no certificates.
#![allow(missing_docs)]

mod common;
#[path = "common/patches.rs"]
mod patches;

use std::path::Path;

use evenhand_exact::{Budget, Certificate, check, check_against, check_within};
use evenhand_problem::format::{Source, problem_to_json};
use patches::damaged;

fn parse(text: &str) -> Result<Certificate, evenhand_problem::format::FormatError> {
    Certificate::parse(&Source { name: "certificate", text })
}

#[test]
fn accepted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accept");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let verdict = check(&certificate);
        assert!(verdict.valid, "{}: {:?}", path.display(), verdict.reason);
        assert!(check_against(&certificate, &certificate.problem).valid);
        names.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), text));
    }
    names.sort();
    let good = common::good_certificates().into_iter();
    let mut good: Vec<_> = good.map(|(name, it)| (name.to_owned(), it.to_json())).collect();
    good.sort();
    assert!(names == good, "the files are not those that `write_accept` writes");
}

/// Judging asks for work before it is done, and says when it is not allowed.
#[test]
fn a_small_budget_is_too_small() {
    let (_, good) = common::good_certificates().swap_remove(0);
    let verdict = check_within(&good, Budget::of(10));
    assert!(!verdict.valid && verdict.too_large);
    assert!(verdict.reason.is_some_and(|reason| reason.contains("more than 10 steps")));
    assert!(check_within(&good, Budget::of(1_000_000)).valid);
}

#[test]
fn rejected() {
    let mut wrong = Vec::new();
    for case in damaged("reject.json", "accept") {
        match parse(&case.text).map(|certificate| check(&certificate)) {
            Ok(verdict) if verdict.reason.as_ref().is_some_and(|reason| reason.contains(&case.words)) => {
                assert!(!verdict.valid && !verdict.too_large, "{}", case.name);
            }
            found => wrong.push(format!("{}: {:?}", case.name, found.map(|verdict| verdict.reason))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed() {
    let mut wrong = Vec::new();
    for case in damaged("malformed.json", "accept") {
        match parse(&case.text) {
            Err(error) if error.to_string().contains(&case.words) => {}
            found => {
                wrong.push(format!("{}: {:?}", case.name, found.map_err(|error| error.to_string()).err()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is not even a JSON document of distinct keys and moderate depth.
#[test]
fn malformed_text() {
    let (_, good) = common::good_certificates().swap_remove(0);
    let good = good.to_json();
    let many = |claims: usize| {
        let claim = |alpha: usize| {
            format!(r#"{{"axiom":"proportional","alpha":"{}","holds":null,"why":"no"}}"#, alpha + 1)
        };
        let claims: Vec<String> = (0..claims).map(claim).collect();
        let (before, rest) = good.split_once("\"claims\": [").unwrap();
        let (_, after) = rest.split_once("\"not_checked\"").unwrap();
        format!("{before}\"claims\": [{}],\"not_checked\"{after}", claims.join(","))
    };
    for (text, words) in [
        (String::new(), "empty"),
        (good[..good.len() / 2].to_owned(), "ends inside"),
        (good.replace("\"version\": 2", "\"version\": 2, \"version\": 2"), "twice"),
        (good.replace("\"version\": 2", &format!("\"version\": {}", "[".repeat(5_000))), ""),
        (many(33), "more than 32 claims"),
    ] {
        let error = parse(&text).err().unwrap_or_else(|| panic!("{words}: it is read")).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(parse(&many(32)).is_ok());
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

/// Writes `accept` anew: `cargo test --release -p evenhand-exact --test files -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accept");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, certificate) in common::good_certificates() {
        std::fs::write(folder.join(name).with_extension("json"), certificate.to_json()).unwrap();
    }
}
