//! Certificates of every kind: valid certificates, well-formed certificates with a false statement, and texts
//! that are not certificates.
//!
//! The valid certificates are files, `certificates/KIND/accept/NAME.json`. The other texts are made from
//! them. A row of `certificates/KIND/reject.json` and `malformed.json` is `[name, base, patches, message]`.
//! `base` is the name of an accepted certificate, `patches` are the changes (see [`patch`]), and `message` is
//! a part of the message of a checker or a reader. The certificates of `unread.json` stay valid.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::patch;

/// The subject of a certificate.
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
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Allocation, Self::Ratio, Self::WorstLoad];

    /// Returns the folder with the files of this kind.
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

/// A document with its expected verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// The kind of the document, or of the certificate from which it was made.
    pub kind: Kind,
    /// The name of the fixture. It is unique among the fixtures of its kind with the same verdict.
    pub name: String,
    /// The document.
    pub text: String,
    /// A part of the message that refuses the document. Empty for accepted documents.
    pub message: String,
}

/// Returns the valid certificates.
#[must_use]
pub fn accepted() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(accepted_of).collect()
}

/// Returns the certificates that are well-formed, but state something false or prove it wrongly.
#[must_use]
pub fn rejected() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(rejected_of).collect()
}

/// Returns the documents that are not certificates.
#[must_use]
pub fn malformed() -> Vec<Fixture> {
    Kind::ALL.into_iter().flat_map(malformed_of).collect()
}

/// Returns the [`accepted`] certificates of one kind.
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

/// Returns the [`rejected`] certificates of one kind.
#[must_use]
pub fn rejected_of(kind: Kind) -> Vec<Fixture> {
    patched(kind, "reject.json")
}

/// Returns certificates of allocations with changes that no judge reads: they are in evidence for claims that
/// the allocation alone decides.
#[must_use]
pub fn unread() -> Vec<Fixture> {
    patched(Kind::Allocation, "unread.json")
}

/// Returns the [`malformed`] documents of one kind: patched ones, and texts that are not JSON documents of distinct
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

/// Returns the certificate with its claims replaced by `count` claims of `proportional`.
///
/// # Panics
///
/// When the text is not a certificate of an allocation.
#[must_use]
pub fn with_claims(good: &str, count: usize) -> String {
    let claim =
        |alpha: usize| format!(r#"{{"axiom":"proportional","alpha":"{alpha}","holds":null,"why":"no"}}"#);
    let claims: Vec<String> = (1..=count).map(claim).collect();
    let (before, rest) = good.split_once("\"claims\": [").expect("claims");
    let (_, after) = rest.split_once("\"not_checked\"").expect("what was not checked");
    format!("{before}\"claims\": [{}],\"not_checked\"{after}", claims.join(","))
}

/// Returns documents with damaged text, each with a part of the expected message.
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

/// Returns the documents that a list of patches makes from accepted ones.
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
