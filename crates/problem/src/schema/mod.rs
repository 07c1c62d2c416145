//! JSON Schema (draft 2020-12) of the file formats.
//!
//! A schema says what can be said of a document field by field. What relates one field to another,
//! such as names that must be known, is for the reader: [`crate::format`].

/// The names that [`schema`] knows.
pub const NAMES: [&str; 4] = ["problem", "reservation", "allocation", "certificate"];

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
    match name {
        "problem" => Some(include_str!("problem.json")),
        "reservation" => Some(include_str!("reservation.json")),
        "allocation" => Some(include_str!("allocation.json")),
        "certificate" => Some(include_str!("certificate.json")),
        _ => None,
    }
}
