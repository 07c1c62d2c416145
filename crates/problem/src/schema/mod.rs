//! JSON Schema (draft 2020-12) of the file formats.
//!
//! A schema describes a document field by field. The reader ([`crate::format`]) checks all rules that relate one field
//! to another, such as whether a name is defined.

/// Defines the names of all schemas, and includes the text of each from its file.
macro_rules! schemas {
    ($($name:literal),* $(,)?) => {
        const SCHEMAS: [(&str, &str); NAMES.len()] =
            [$(($name, include_str!(concat!($name, ".json")))),*];

        /// The names that [`schema`] accepts. Each name is the `kind` of its documents. Files that are read
        /// come first, then documents that the commands print with `--format json`.
        pub const NAMES: [&str; [$($name),*].len()] = [$($name),*];
    };
}

schemas![
    "allocation-problem",
    "reservation-problem",
    "scenario",
    "reservation-scenario",
    "sweep",
    "allocation",
    "snapshot",
    "certificate",
    "ratio-certificate",
    "worst-load-certificate",
    "verdict-certificate",
    "moves-certificate",
    "window-certificate",
    "linear-programme",
    "lp-certificate",
    "lp-answer",
    "simulation-checkpoint",
    "hunt-state",
    "audit-state",
    "examination",
    "verdict",
    "comparison",
    "sweep-summary",
    "ratio",
    "ratio-sweep",
    "worst-load",
    "monotone",
    "explanation",
    "group-explanation",
    "task-explanation",
    "stopped-explanation",
    "promises",
    "settings",
    "levels",
    "entitlements",
    "cluster-verdict",
    "what-if",
    "moves",
    "cluster-plan",
    "removable-servers",
    "cluster-history",
    "watch-status",
    "migrations",
    "waiting-times",
    "half-life-study",
    "reproduction",
    "exhibits",
    "audit",
    "audit-matrix",
    "audit-preemption",
    "hunt",
    "lp-result",
    "lp-judgement",
    "accuracy",
    "speed",
    "export",
    "simulation",
    "admission",
    "course",
    "rounds",
    "usage",
    "window-verdict",
    "schemas",
];

/// The short names of the two kinds of problems, with their kinds.
pub const SHORT: [(&str, &str); 2] =
    [("problem", "allocation-problem"), ("reservation", "reservation-problem")];

/// Returns the schema of a kind of document, complete in itself. Returns `None` for a name that is neither in
/// [`NAMES`] nor `problem` or `reservation`.
///
/// # Examples
/// ```
/// use evenhand_problem::schema::schema;
/// assert!(schema("allocation-problem").unwrap().contains("demand_on"));
/// assert_eq!(schema("problem"), schema("allocation-problem"));
/// assert!(schema("poem").is_none());
/// ```
#[must_use]
pub fn schema(name: &str) -> Option<&'static str> {
    let kind = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, kind)| *kind);
    SCHEMAS.iter().find(|(known, _)| *known == kind).map(|(_, text)| *text)
}
