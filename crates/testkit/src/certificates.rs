//! Certificates of every kind: valid ones, well-formed ones that state something false, and texts that are no
//! certificates.
//!
//! The valid ones are files, `certificates/KIND/accept/NAME.json`. The others are made of them: a row of
//! `certificates/KIND/reject.json` and `malformed.json` is `[name, base, patches, message]`, the name of an
//! accepted certificate, what is changed in it (see [`patch`]), and words of what a checker or a reader says
//! about the result. Those of `unread.json` stay valid.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::patch;

/// What a certificate is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An allocation: `"kind": "certificate"`.
    Allocation,
    /// Greedy and the optimum at given loads: `"kind": "ratio-certificate"`.
    Ratio,
    /// The worst loads: `"kind": "worst-load-certificate"`.
    WorstLoad,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Allocation, Self::Ratio, Self::WorstLoad];

    /// Where the files of this kind are.
    #[must_use]
    pub fn folder(self) -> PathBuf {
        let name = match self {
            Self::Allocation => "allocation",
            Self::Ratio => "ratio",
            Self::WorstLoad => "worst-load",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates").join(name)
    }
}

/// A document, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// What the document is, or was made of.
    pub kind: Kind,
    /// Unique among the fixtures of its kind with the same verdict.
    pub name: String,
    /// The document.
    pub text: String,
    /// Words of the message that refuses it; empty for what is accepted.
    pub message: String,
}

/// Valid certificates.
#[must_use]
pub fn accepted() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(accepted_of).collect()
}

/// Certificates that are well-formed, and state something false or prove it badly.
#[must_use]
pub fn rejected() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(rejected_of).collect()
}

/// Documents that are no certificates.
#[must_use]
pub fn malformed() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(malformed_of).collect()
}

/// Those of [`accepted`] of one kind.
///
/// # Panics
///
/// When a file of the test kit cannot be read.
#[must_use]
pub fn accepted_of(kind: Kind) -> Vec<Fixture> {
    let folder = kind.folder().join("accept");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let fixture = |path: PathBuf| Fixture {
        kind,
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        text: read(&path),
        message: String::new(),
    };
    let mut all: Vec<Fixture> = paths.map(fixture).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!all.is_empty(), "{} is empty", folder.display());
    all
}

/// Those of [`rejected`] of one kind.
#[must_use]
pub fn rejected_of(kind: Kind) -> Vec<Fixture> {
    patched(kind, "reject.json")
}

/// Certificates of allocations that were changed where nobody reads: in evidence of what an allocation shows by itself.
#[must_use]
pub fn unread() -> Vec<Fixture> {
    patched(Kind::Allocation, "unread.json")
}

/// Those of [`malformed`] of one kind: patched documents, and texts that are no JSON documents of distinct
/// keys and moderate depth.
#[must_use]
pub fn malformed_of(kind: Kind) -> Vec<Fixture> {
    let good = &accepted_of(kind)[0].text;
    let fixture = |(name, text, message): (&str, String, &str)| Fixture {
        kind,
        name: name.to_owned(),
        text,
        message: message.to_owned(),
    };
    let mut all = patched(kind, "malformed.json");
    all.extend(broken(good).map(fixture));
    if kind == Kind::Allocation {
        let claims = with_claims(good, 33);
        all.push(fixture(("more-claims-of-proportional-than-allowed", claims, "more than 32 claims")));
    }
    all
}

/// The certificate with so many claims of `proportional` in place of its own.
///
/// # Panics
///
/// When it is no certificate of an allocation.
#[must_use]
pub fn with_claims(good: &str, count: usize) -> String {
    let claim =
        |alpha: usize| format!(r#"{{"axiom":"proportional","alpha":"{alpha}","holds":null,"why":"no"}}"#);
    let claims: Vec<String> = (1..=count).map(claim).collect();
    let (before, rest) = good.split_once("\"claims\": [").expect("claims");
    let (_, after) = rest.split_once("\"not_checked\"").expect("what was not checked");
    format!("{before}\"claims\": [{}],\"not_checked\"{after}", claims.join(","))
}

/// What becomes of a document whose text is damaged, and words of what is said about it.
fn broken(good: &str) -> [(&'static str, String, &'static str); 5] {
    let (before, after) = good.split_once("\"version\":").expect("a version");
    [
        ("empty", String::new(), "empty"),
        ("list", "[]".to_owned(), "an object"),
        ("truncated", good[..good.len() / 2].to_owned(), "ends inside"),
        ("duplicate-key", format!("{before}\"version\": 2, \"version\":{after}"), "given twice"),
        ("too-deep", format!("{before}\"version\": {}", "[".repeat(5_000)), ""),
    ]
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The documents that a list of patches makes of accepted ones.
fn patched(kind: Kind, list: &str) -> Vec<Fixture> {
    let path = kind.folder().join(list);
    let row = |row: &Value| {
        let (name, base, patches, message) = columns(row).unwrap_or_else(|| panic!("{list}: {row}"));
        let mut document = parsed(&kind.folder().join("accept").join(base).with_extension("json"));
        for patch in patches {
            let applied = patch.as_array().and_then(|patch| patch::apply(&mut document, patch));
            applied.unwrap_or_else(|| panic!("{list}: {name}: {patch} leads nowhere, or changes nothing"));
        }
        Fixture { kind, name: name.to_owned(), text: document.to_string(), message: message.to_owned() }
    };
    parsed(&path).as_array().unwrap_or_else(|| panic!("{list}: a list is expected")).iter().map(row).collect()
}

fn columns(row: &Value) -> Option<(&str, &str, &[Value], &str)> {
    let [name, base, patches, message] = row.as_array()?.as_slice() else { return None };
    Some((name.as_str()?, base.as_str()?, patches.as_array()?, message.as_str()?))
}
