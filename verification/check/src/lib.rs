//! The kernel of Evenhand: whether a certificate is true, decided from the definitions.
//!
//! Nothing here is shared with the programs that write certificates: this crate has its own reader of JSON,
//! its own problems and allocations, and nothing but GMP below it. It is to be read in one sitting, beside
//! `docs/checker.md`, which says what is believed and why each rule suffices, and `docs/theory.md`, which
//! defines the axioms.
//!
//! | to read | what it holds |
//! |---|---|
//! | `work`, `json`, `number` | faults and budgets; the text as a tree; exact numbers |
//! | `names`, `problem`, `canonical`, `sha256` | the allocation problem, its canonical form and hash |
//! | `allocation`, `case` | tasks as they are stated; rows, repair, slack: what is judged |
//! | `share`, `axioms` | shares; one file for each kind of axiom |
//! | `groups` | groups of users: not needed to check an allocation without them |
//! | `claim`, `certificate` | what is claimed, and whether it is what the reader asked for |
//! | `reservation` | ratio and worst-load certificates, which need none of the axioms |
//! | `cluster` | bundles of certificates about a running cluster: verdicts and moves |
//!
//! # Examples
//! ```
//! use evenhand_check::{File, Options, check};
//! let text = r#"{"kind": "certificate", "version": 2, "problem": {"kind": "allocation-problem",
//!     "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 4}}],
//!     "users": [{"name": "u", "demand": {"cpu": 1}}]},
//!   "allocation": {"kind": "allocation", "tasks": {"u": {"s": 4}}}, "not_checked": [],
//!   "claims": [{"axiom": "feasible", "holds": true, "margin": "0",
//!               "evidence": {"server": "s", "resource": "cpu", "slack": "0"}}]}"#;
//! let file = File { name: "c.json".to_owned(), text: text.to_owned() };
//! assert!(check(&file, &Options::default()).unwrap().reason.is_none());
//! ```
#![forbid(unsafe_code)]

mod allocation;
mod axioms;
mod canonical;
mod case;
mod certificate;
mod cluster;
mod groups;
mod json;
mod linear;
mod names;
mod number;
mod problem;
mod reservation;
mod sha256;
mod share;
mod work;

use json::{Json, object, quoted};
use work::{Checked, Fault};

/// A text, and how it is called in messages.
#[derive(Debug, Clone)]
pub struct File {
    /// The path, as it was given.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// What the reader asks of a certificate, beyond that it is true.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// It is about this problem: the same by meaning.
    pub problem: Option<File>,
    /// It is about this allocation: the same by meaning.
    pub allocation: Option<File>,
    /// These are claimed to hold: `AXIOM` or `AXIOM:PARAMETER`; of packing certificates `exact` or `ratio:A`.
    pub require: Vec<String>,
    /// Its tolerance is at most this; a millionth if absent.
    pub max_tolerance: Option<String>,
    /// `rdm` or `tdm`: how servers are shared; `rdm` if absent.
    pub sharing: Option<String>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Report {
    /// Why the certificate is not valid; absent: it is.
    pub reason: Option<String>,
    /// Each claim as a sentence.
    pub claims: Vec<String>,
    /// What it is about, in lines.
    about: Vec<String>,
    /// The same as fields of JSON.
    more: Vec<(&'static str, String)>,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The exit status: 2 for input that is no certificate, 3 for one that is too large.
    pub status: u8,
    /// The file, line and column, and what is wrong there.
    pub what: String,
}

/// What can be said of a file, or why nothing can.
type Usable<T> = Result<T, Unusable>;

impl Unusable {
    fn usage(what: &str) -> Self {
        Self { status: 2, what: what.to_owned() }
    }
}

impl File {
    fn parsed(&self) -> Usable<Json<'_>> {
        json::read(&self.text).map_err(|fault| self.unusable(&json::ABSENT, fault))
    }

    /// What a file of the reader's own holds.
    fn read<T>(&self, read: impl Fn(&Json<'_>) -> Checked<T>) -> Usable<T> {
        let root = self.parsed()?;
        read(&root).map_err(|fault| self.unusable(&root, fault))
    }

    /// A fault of this text.
    fn unusable(&self, root: &Json<'_>, fault: Fault) -> Unusable {
        let Fault::Malformed { at, what } = fault else { return Unusable { status: 3, what: fault.what() } };
        let before = String::from_utf8_lossy(&self.text.as_bytes()[..at.min(self.text.len())]);
        let (line, last) = (before.matches('\n').count() + 1, before.rsplit('\n').next());
        let (column, path) = (last.unwrap_or_default().chars().count() + 1, root.path(at));
        let path = if path.is_empty() { path } else { format!("{}: ", path.trim_start_matches('.')) };
        Unusable { status: 2, what: format!("{}:{line}:{column}: {path}{what}", self.name) }
    }

    /// Why a certificate is not valid, where it could be read: what it is not that was asked for, or what is
    /// false.
    fn reason(&self, root: &Json<'_>, unmet: Vec<String>, verdict: Checked<()>) -> Usable<Option<String>> {
        match (verdict, unmet.into_iter().next()) {
            (Err(fault @ Fault::Malformed { .. }), _) => Err(self.unusable(root, fault)),
            (_, Some(reason)) | (Err(Fault::False(reason)), None) => Ok(Some(reason)),
            (Err(fault), None) => Err(self.unusable(root, fault)),
            (Ok(()), None) => Ok(None),
        }
    }
}

/// Judges a certificate of any kind.
///
/// # Errors
/// [`Unusable`] where there is no verdict: the text is no certificate, an option is malformed, or judging it
/// would take more work or memory than is allowed.
pub fn check(certificate: &File, options: &Options) -> Result<Report, Unusable> {
    work::begin();
    let root = certificate.parsed()?;
    match root.get("kind").text() {
        Ok("ratio-certificate" | "worst-load-certificate") => reservation::check(certificate, &root, options),
        Ok("verdict-certificate" | "moves-certificate") => cluster::check(certificate, &root, options),
        Ok("lp-certificate") => linear::check(certificate, &root, options),
        _ => certificate::check(certificate, &root, options),
    }
}

impl Report {
    /// What is said to people.
    #[must_use]
    pub fn text(&self) -> String {
        let plural = if self.claims.len() == 1 { "" } else { "s" };
        let valid = || format!("valid: {} claim{plural}, each proven", self.claims.len());
        let first = self.reason.as_ref().map_or_else(valid, |reason| format!("not valid: {reason}"));
        let proven = self.claims.iter().filter(|_| self.reason.is_none()).map(|claim| format!("  {claim}"));
        let lines = [first].into_iter().chain(proven).chain(self.about.iter().cloned());
        lines.map(|line| printable(&line)).collect::<Vec<_>>().join("\n")
    }

    /// What is said to programs: one document.
    #[must_use]
    pub fn json(&self) -> String {
        let (valid, claims) = (self.reason.is_none().to_string(), self.claims.len().to_string());
        let reason = self.reason.iter().map(|reason| ("reason", quoted(reason)));
        let fields =
            [("kind", quoted("verdict")), ("version", "1".to_owned()), ("valid", valid), ("claims", claims)];
        let all = fields.into_iter().chain(reason).chain(self.more.iter().cloned());
        object(all.map(|(name, value)| (name, Some(value))))
    }
}

/// Returns a line as a terminal may show it: control characters and invisible characters are written as `\u{..}`.
#[must_use]
pub fn printable(line: &str) -> String {
    // Control characters, ends of lines and paragraphs, Unicode's default ignorable code points, marks of annotation, and the
    // empty Braille pattern.
    let is_hidden = |c: char| {
        let marks = ['\u{ad}', '\u{34f}', '\u{61c}', '\u{2800}', '\u{3164}', '\u{feff}', '\u{ffa0}'];
        let ranges = [
            '\u{115f}'..='\u{1160}',
            '\u{17b4}'..='\u{17b5}',
            '\u{180b}'..='\u{180f}',
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{206f}',
            '\u{fe00}'..='\u{fe0f}',
            '\u{fff0}'..='\u{fffb}',
            '\u{1bca0}'..='\u{1bca3}',
            '\u{1d173}'..='\u{1d17a}',
            '\u{e0000}'..='\u{e0fff}',
        ];
        c.is_control() || marks.contains(&c) || ranges.iter().any(|range| range.contains(&c))
    };
    let shown = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    line.chars().map(shown).collect()
}
