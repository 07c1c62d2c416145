//! Tests that only the registry lists all mechanisms, and that only `Axiom::ALL` lists all axioms. Another
//! list of names would miss the next mechanism or axiom.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evenhand::Axiom;
use evenhand::mechanisms::registry;

/// A literal list with at least this many names of mechanisms counts as a list of mechanisms.
const MANY_MECHANISMS: usize = 3;
/// A literal list with at least this many names of axioms counts as a list of axioms. Many tests name three
/// axioms.
const MANY_AXIOMS: usize = 4;

/// The files whose lists are a deliberate choice, each with the reason. These lists contain neither all
/// mechanisms or axioms nor all of one kind.
const CHOSEN: &[(&str, &str)] = &[
    ("crates/studies/audit/tests", "few, since each is audited for seconds"),
    ("crates/studies/audit/src/matrix/claims.rs", "what papers claim, each at its place"),
    ("crates/studies/audit/src/matrix/known.rs", "the axioms of groups"),
    ("crates/certify/src/explain", "those whose answers can be computed with one more unit at once"),
    ("crates/certify/tests", "what the papers promise of each, written apart from the registry"),
    ("crates/mechanisms/src/mechanism.rs", "the mechanisms that keep limits of accelerators"),
    (
        "crates/testkit/src/plain/shares.rs",
        "the plain judge's own words, which share nothing with the registry",
    ),
    ("crates/mechanisms/tests", "scores, some of which are called as mechanisms are"),
    ("crates/studies/papers", "the columns of published tables"),
    ("crates/report/tests/it/document.rs", "a column of each kind"),
    ("crates/simulate/tests", "scores, and the mechanisms of one test each"),
    ("crates/evenhand/src/arguments/names.rs", "names that are alike"),
    ("crates/evenhand/tests/it/bench.rs", "what the table of times has to have"),
    ("crates/evenhand/tests/it/certificates.rs", "a few certificates that are damaged number by number"),
    ("crates/evenhand/tests/it/json.rs", "axioms, some of which are called as mechanisms are"),
    ("crates/evenhand/tests/it/lists.rs", "what this test finds"),
    ("crates/evenhand/tests/it/report.rs", "a fast column, a slow one, and one after it"),
    ("crates/evenhand/tests/it/sweep.rs", "the mechanisms of a grid, in its order"),
    ("benches", "what is measured"),
    ("verification/check/src", "the kernel's own words, which share nothing with the registry"),
    ("verification/check/tests/it/defects.rs", "the claims of a bundle"),
    ("verification/exact/tests", "shares"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Collects all Rust sources below a folder.
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

/// Returns the innermost literal lists of a source file. Each list is returned as the strings in it.
fn lists(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let ends = text.match_indices(']');
    ends.filter_map(|(end, _)| {
        let inner = &text[..end];
        let inner = &inner[inner.rfind('[')? + 1..];
        Some(inner.split('"').skip(1).step_by(2).collect())
    })
}

/// Returns the mechanisms or axioms that a list names, without repetitions. Returns `None` if they are few.
fn many(list: &[&str]) -> Option<Vec<&'static str>> {
    let mechanisms: BTreeSet<&str> =
        list.iter().filter_map(|name| registry::find(name)).map(|mechanism| mechanism.info.id).collect();
    let axioms: BTreeSet<&str> = list.iter().filter_map(|name| Axiom::parse(name)).map(Axiom::name).collect();
    let are_many = [(mechanisms, MANY_MECHANISMS), (axioms, MANY_AXIOMS)];
    are_many
        .into_iter()
        .find(|(names, many)| names.len() >= *many)
        .map(|(names, _)| names.into_iter().collect())
}

#[test]
fn only_the_registry_lists_mechanisms_and_axioms() {
    let (root, mut files) = (root(), Vec::new());
    for folder in ["crates", "fuzz", "solvers", "verification", "benches", "examples"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 300, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_chosen = CHOSEN.iter().any(|(place, _)| path.starts_with(root.join(place)));
        let found = lists(&text).filter_map(|list| many(&list));
        wrong.extend(found.filter(|_| !is_chosen).map(|names| format!("{}: {names:?}", path.display())));
    }
    assert!(
        wrong.is_empty(),
        "take these from `registry` or `Axiom::ALL`, or say why they are chosen: {wrong:#?}"
    );
}

#[test]
fn detects_lists_of_mechanisms_and_axioms() {
    let text = r#"let few = ["drfh", "c-drfh", "tsf"]; let all = [ ("tsf", 1), ("alpha", 2),
        ("drfh", 3)]; let axioms = ["ef1", "feasible", "njc", "envy-free"];"#;
    let found: Vec<Vec<&str>> = lists(text).filter_map(|list| many(&list)).collect();
    assert_eq!(found, [vec!["alpha", "drfh", "tsf"], vec!["ef1", "envy-free", "feasible", "njc"]]);
}
