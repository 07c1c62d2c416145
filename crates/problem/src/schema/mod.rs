//! JSON Schema (draft 2020-12) of the file formats.
//!
//! A schema says what can be said of a document field by field. What relates one field to another,
//! such as names that must be known, is for the reader: [`crate::format`].

/// Name and text of every schema: first what is read, then what the commands print with
/// `--format json` (`certify` an examination, `check` a verdict, `compare` a comparison, `explain` an
/// explanation, group explanation, levels or entitlements, `reproduce` a reproduction or exhibits, `bench` work
/// and precision, or speed, `export` an export,
/// `simulate` a simulation, an admission or a course, `audit` an audit,
/// `schema` the schemas).
const SCHEMAS: [(&str, &str); NAMES.len()] = [
    ("problem", include_str!("problem.json")),
    ("reservation", include_str!("reservation.json")),
    ("scenario", include_str!("scenario.json")),
    ("reservation-scenario", include_str!("reservation-scenario.json")),
    ("allocation", include_str!("allocation.json")),
    ("certificate", include_str!("certificate.json")),
    ("ratio-certificate", include_str!("ratio-certificate.json")),
    ("worst-load-certificate", include_str!("worst-load-certificate.json")),
    ("hunt-state", include_str!("hunt-state.json")),
    ("examination", include_str!("examination.json")),
    ("verdict", include_str!("verdict.json")),
    ("comparison", include_str!("comparison.json")),
    ("ratio", include_str!("ratio.json")),
    ("ratio-sweep", include_str!("ratio-sweep.json")),
    ("worst-load", include_str!("worst-load.json")),
    ("monotone", include_str!("monotone.json")),
    ("explanation", include_str!("explanation.json")),
    ("group-explanation", include_str!("group-explanation.json")),
    ("levels", include_str!("levels.json")),
    ("entitlements", include_str!("entitlements.json")),
    ("reproduction", include_str!("reproduction.json")),
    ("exhibits", include_str!("exhibits.json")),
    ("audit", include_str!("audit.json")),
    ("hunt", include_str!("hunt.json")),
    ("work-precision", include_str!("work-precision.json")),
    ("speed", include_str!("speed.json")),
    ("export", include_str!("export.json")),
    ("simulation", include_str!("simulation.json")),
    ("admission", include_str!("admission.json")),
    ("course", include_str!("course.json")),
    ("schemas", include_str!("schemas.json")),
];

/// The names that [`schema`] knows.
pub const NAMES: [&str; 31] = [
    "problem",
    "reservation",
    "scenario",
    "reservation-scenario",
    "allocation",
    "certificate",
    "ratio-certificate",
    "worst-load-certificate",
    "hunt-state",
    "examination",
    "verdict",
    "comparison",
    "ratio",
    "ratio-sweep",
    "worst-load",
    "monotone",
    "explanation",
    "group-explanation",
    "levels",
    "entitlements",
    "reproduction",
    "exhibits",
    "audit",
    "hunt",
    "work-precision",
    "speed",
    "export",
    "simulation",
    "admission",
    "course",
    "schemas",
];

/// The schema of a format, complete in itself; `None` for a name that is not in [`NAMES`].
///
/// # Examples
/// ```
/// use evenhand_problem::schema::schema;
/// assert!(schema("problem").unwrap().contains("allocation-problem"));
/// assert!(schema("poem").is_none());
/// ```
#[must_use]
pub fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
