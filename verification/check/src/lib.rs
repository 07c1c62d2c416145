//! The kernel of Evenhand: decides from the definitions whether a certificate is true.
//!
//! This crate shares no code with the programs that write certificates. It has its own JSON reader and its own types
//! for problems and allocations, and depends on nothing but GMP. It is short enough to be read in one sitting, next
//! to two pages: `docs/checker.md` says which parts have to be trusted and why each rule suffices, and
//! `docs/theory.md` defines the axioms.
//!
//! | modules | contents |
//! |---|---|
//! | `work`, `json`, `number` | faults and budgets; the JSON tree; exact numbers |
//! | `names`, `problem`, `canonical`, `sha256` | the allocation problem, its canonical form and its hash |
//! | `allocation`, `case` | the stated tasks; the judged case, with its rows, its repair and its slack |
//! | `share`, `axioms` | shares; one file for each kind of axiom |
//! | `groups` | groups of users; not needed to check an allocation without groups |
//! | `certificate` | the claims of a certificate, and the comparison with the reader's requirements |
//! | `reservation` | ratio and worst-load certificates, which use none of the axioms |
//! | `cluster` | bundles of certificates about a running cluster: verdicts and moves |
//! | `window` | certificates about a window of time: sums of samples, and max-min of decayed usage |
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
mod window;
mod work;

use json::{Json, object, quoted};
use work::{Checked, Fault};

/// The text of a file, and its name for messages.
#[derive(Debug, Clone)]
pub struct File {
    /// The path, as the caller gave it.
    pub name: String,
    /// The content of the file.
    pub text: String,
}

/// The requirements of the reader on a certificate. The certificate also has to be true.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The problem that the certificate must be about. The order of names and the form of numbers in the file do not
    /// matter.
    pub problem: Option<File>,
    /// The allocation that the certificate must be about. The order of names and the form of numbers in the file do not
    /// matter.
    pub allocation: Option<File>,
    /// The claims that the certificate has to make, in the form `AXIOM` or `AXIOM:PARAMETER`. The claims of ratio and
    /// worst-load certificates are `exact` and `ratio:A`. For bundles about a cluster, `rule:NAME` is also possible.
    pub require: Vec<String>,
    /// The largest tolerance that the certificate may have. `None` means one millionth.
    pub max_tolerance: Option<String>,
    /// The required way of sharing servers: `rdm` (resources are divided) or `tdm` (time is shared). `None` means
    /// `rdm`.
    pub sharing: Option<String>,
}

/// The result of judging a certificate.
#[derive(Debug, Clone)]
pub struct Report {
    /// The reason why the certificate is not valid. `None` if the certificate is valid.
    pub reason: Option<String>,
    /// The claims of the certificate, one sentence each.
    pub claims: Vec<String>,
    /// The lines for people that identify the problem, the allocation and the settings.
    subject: Vec<String>,
    /// The same information for programs: names of JSON fields with their values.
    fields: Vec<(&'static str, String)>,
}

/// The reason why a check has no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The exit status: 2 for input that is not a certificate, 3 for a certificate that is too large.
    pub status: u8,
    /// The file, line and column, and a description of the defect.
    pub what: String,
}

/// A result, or the reason why there is no result.
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

    /// Reads a file that the reader of the certificate supplies.
    fn read<T>(&self, read: impl Fn(&Json<'_>) -> Checked<T>) -> Usable<T> {
        let root = self.parsed()?;
        read(&root).map_err(|fault| self.unusable(&root, fault))
    }

    /// Converts a fault in this text to an error with file, line and column.
    fn unusable(&self, root: &Json<'_>, fault: Fault) -> Unusable {
        let Fault::Malformed { at, what } = fault else { return Unusable { status: 3, what: fault.what() } };
        let before = String::from_utf8_lossy(&self.text.as_bytes()[..at.min(self.text.len())]);
        let (line, last) = (before.matches('\n').count() + 1, before.rsplit('\n').next());
        let (column, path) = (last.unwrap_or_default().chars().count() + 1, root.path(at));
        let path = if path.is_empty() { path } else { format!("{}: ", path.trim_start_matches('.')) };
        Unusable { status: 2, what: format!("{}:{line}:{column}: {path}{what}", self.name) }
    }

    /// Returns the reason why a readable certificate is not valid, or `None` if it is valid. An unmet requirement of
    /// the reader is reported before a false statement.
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
/// Returns [`Unusable`] if there is no verdict: the text is not a certificate, an option is malformed, or judging the
/// certificate would take more work or memory than is allowed.
pub fn check(certificate: &File, options: &Options) -> Result<Report, Unusable> {
    work::begin();
    let root = certificate.parsed()?;
    match root.get("kind").text() {
        Ok("ratio-certificate" | "worst-load-certificate") => reservation::check(certificate, &root, options),
        Ok("verdict-certificate" | "moves-certificate") => cluster::check(certificate, &root, options),
        Ok("lp-certificate") => linear::check(certificate, &root, options),
        Ok("window-certificate") => window::check(certificate, &root, options),
        _ => certificate::check(certificate, &root, options),
    }
}

impl Report {
    /// Returns the report for people.
    #[must_use]
    pub fn text(&self) -> String {
        let plural = if self.claims.len() == 1 { "" } else { "s" };
        let valid = || format!("valid: {} claim{plural}, each proven", self.claims.len());
        let first = self.reason.as_ref().map_or_else(valid, |reason| format!("not valid: {reason}"));
        let proven = self.claims.iter().filter(|_| self.reason.is_none()).map(|claim| format!("  {claim}"));
        let lines = [first].into_iter().chain(proven).chain(self.subject.iter().cloned());
        lines.map(|line| printable(&line)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the report for programs, which is one JSON document.
    #[must_use]
    pub fn json(&self) -> String {
        let (valid, claims) = (self.reason.is_none().to_string(), self.claims.len().to_string());
        let reason = self.reason.iter().map(|reason| ("reason", quoted(reason)));
        let fields =
            [("kind", quoted("verdict")), ("version", "1".to_owned()), ("valid", valid), ("claims", claims)];
        let all = fields.into_iter().chain(reason).chain(self.fields.iter().cloned());
        object(all.map(|(name, value)| (name, Some(value))))
    }
}

/// Returns a line that is safe to print on a terminal. Control characters and invisible characters are written as
/// `\u{..}`.
#[must_use]
pub fn printable(line: &str) -> String {
    // Hidden characters are control characters, line and paragraph separators, Unicode's default ignorable code points,
    // interlinear annotation marks, and the blank Braille pattern.
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
