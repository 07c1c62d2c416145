//! Mechanisms are listed once, in the registry: a list of names elsewhere would miss the next one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evenhand::mechanisms::registry;

/// So many names of mechanisms in one literal list are a list of mechanisms.
const MANY: usize = 3;

/// Files whose lists are chosen, and why; a list of all mechanisms, or of all of a kind, is none of these.
const CHOSEN: &[(&str, &str)] = &[
    ("crates/audit/tests", "few, since each is audited for seconds"),
    ("crates/certify/src/explain", "those whose answers can be computed with one more unit at once"),
    ("crates/certify/tests", "what the papers promise of each, written apart from the registry"),
    ("crates/mechanisms/tests", "scores, some of which are called as mechanisms are"),
    ("crates/papers", "the columns of published tables"),
    ("crates/report/tests/it/document.rs", "a column of each kind"),
    ("crates/simulate/tests", "scores, and the mechanisms of one test each"),
    ("crates/evenhand/src/arguments/names.rs", "names that are alike"),
    ("crates/evenhand/tests/it/bench.rs", "what the table of times has to have"),
    ("crates/evenhand/tests/it/certificates.rs", "a few certificates that are damaged number by number"),
    ("crates/evenhand/tests/it/json.rs", "axioms, some of which are called as mechanisms are"),
    ("crates/evenhand/tests/it/lists.rs", "what this test finds"),
    ("crates/evenhand/tests/it/report.rs", "a fast column, a slow one, and one after it"),
    ("benches", "what is measured"),
    ("verification/check/src", "the kernel's own words, which share nothing with the registry"),
    ("verification/exact/tests", "shares"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All Rust sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_built = path.file_name().is_some_and(|name| name == "target");
        if path.is_dir() && !is_built {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The literal lists of a source, innermost ones, as the strings in them.
fn lists(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let ends = text.match_indices(']');
    ends.filter_map(|(end, _)| {
        let inner = &text[..end];
        let inner = &inner[inner.rfind('[')? + 1..];
        Some(inner.split('"').skip(1).step_by(2).collect())
    })
}

/// The mechanisms that it names, each once.
fn named(list: &[&str]) -> Vec<&'static str> {
    let found = list.iter().filter_map(|name| registry::find(name));
    let names: BTreeSet<&str> = found.map(|mechanism| mechanism.info.id).collect();
    names.into_iter().collect()
}

#[test]
fn no_list_of_mechanisms_beside_the_registry() {
    let (root, mut files) = (root(), Vec::new());
    for folder in ["crates", "fuzz", "solvers", "verification", "benches", "examples"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_chosen = CHOSEN.iter().any(|(place, _)| path.starts_with(root.join(place)));
        let many = lists(&text).map(|list| named(&list)).filter(|names| names.len() >= MANY);
        wrong.extend(many.filter(|_| !is_chosen).map(|names| format!("{}: {names:?}", path.display())));
    }
    assert!(wrong.is_empty(), "take these from `registry`, or say why they are chosen: {wrong:#?}");
}

#[test]
fn a_list_is_found() {
    let text = r#"let few = ["drfh", "c-drfh", "tsf"]; let all = [ ("tsf", 1), ("alpha", 2),
        ("drfh", 3)];"#;
    let found: Vec<Vec<&str>> = lists(text).map(|list| named(&list)).collect();
    assert_eq!(found, [vec!["drfh", "tsf"], vec!["alpha", "drfh", "tsf"]]);
}
