//! Numbers and names as text.

use evenhand_problem::number::to_f64;
use evenhand_problem::{Rational, RowKind};

pub use evenhand_problem::{printable, printable_lines};

/// Longest exact text that is shown beside its decimal.
const LONGEST_EXACT: usize = 12;

/// A number for people: exact when short, with at most six significant digits otherwise.
///
/// # Examples
/// ```
/// use evenhand_report::text::number;
/// assert_eq!(number(&"5/7".parse().unwrap()), "5/7 = 0.714286");
/// assert_eq!(number(&"10".parse().unwrap()), "10");
/// assert_eq!(number(&"123456789123/1000000000000".parse().unwrap()), "0.123457");
/// ```
#[must_use]
pub fn number(value: &Rational) -> String {
    let exact = value.to_string();
    if value.is_integer() && exact.len() <= LONGEST_EXACT {
        return exact;
    }
    let decimal = decimal(value);
    if exact.len() <= LONGEST_EXACT { format!("{exact} = {decimal}") } else { decimal }
}

/// A number with at most six significant digits.
#[must_use]
pub fn decimal(value: &Rational) -> String {
    let value = to_f64(value);
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    let before = size.log10().floor();
    let digits = if before >= 5.0 { 0 } else { (5.0 - before) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `1 task`, `2 tasks`, `0.5 tasks`.
#[must_use]
pub fn tasks(value: &Rational) -> String {
    format!("{} {}", decimal(value), if *value == 1 { "task" } else { "tasks" })
}

/// A fraction as a percentage.
#[must_use]
pub fn percent(value: &Rational) -> String {
    format!("{:.1} %", to_f64(value) * 100.0)
}

/// The name of what a row limits.
#[must_use]
pub fn row_name(kind: RowKind, resources: &[String]) -> &str {
    match kind {
        RowKind::Resource(r) => &resources[r],
        RowKind::Time => "time",
    }
}
