//! Numbers and names as text, and texts in lines that fit on a terminal.

use evenhand_problem::number::to_f64;
use evenhand_problem::{Constraints, Integer, Rational, RowKind};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub use evenhand_problem::{printable, printable_lines};

/// The largest length of an exact text that is shown next to its decimal.
const LONGEST_EXACT: usize = 12;
/// The least percentage that is written like other numbers. Extremely large demands lead to extremely large
/// shares.
const LARGEST_PERCENTAGE: f64 = 1e7;
/// The number of significant digits that are shown, followed by the number of significant digits of a double.
const SIGNIFICANT: f64 = 6.0;
const MOST_SIGNIFICANT: f64 = 15.0;
/// The least width of a line, even on a narrower terminal.
const LEAST_WIDTH: usize = 20;

/// Returns a number for people. It is exact if the exact number is short. Otherwise it has at most six
/// significant digits.
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

/// Returns a number with six significant digits. It has more digits if they are needed to show that the
/// number is not whole.
///
/// A number that is not whole is never written as a whole number. If 15 digits cannot distinguish it from a
/// whole number, the text is the whole number and the difference.
///
/// # Examples
/// ```
/// use evenhand_report::text::decimal;
/// assert_eq!(decimal(&"5/7".parse().unwrap()), "0.714286");
/// assert_eq!(decimal(&"999999898/1000000000".parse().unwrap()), "0.9999999");
/// assert_eq!(decimal(&"1234567/10".parse().unwrap()), "123456.7");
/// // Files may contain numbers beyond the range of doubles.
/// let large = evenhand_problem::number::parse("-7.25e381").unwrap();
/// assert_eq!(decimal(&large), "-7.250e381");
/// assert_eq!(decimal(&large.recip()), "-1.379e-382");
/// let near = evenhand_problem::number::parse("1e-30").unwrap();
/// assert_eq!(decimal(&(1 - near)), "1 - 1.000e-30");
/// ```
#[must_use]
pub fn decimal(value: &Rational) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let nearest = to_f64(value);
    let size = nearest.abs();
    if !(f64::MIN_POSITIVE..=f64::MAX).contains(&size) {
        return beyond_doubles(value);
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{nearest:.3e}");
    }
    let before = size.log10().floor();
    let digits = |significant: f64| (significant - 1.0 - before).max(0.0) as usize;
    let shown = |digits: usize| {
        let text = format!("{nearest:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    let short = shown(digits(SIGNIFICANT));
    if value.is_integer() || short.contains('.') {
        return short;
    }
    let longer = (digits(SIGNIFICANT) + 1..=digits(MOST_SIGNIFICANT)).map(shown);
    longer.into_iter().find(|text| text.contains('.')).unwrap_or_else(|| beside_whole(value))
}

/// Returns a number that no double distinguishes from a whole number, such as `1 - 2.000e-20`.
fn beside_whole(value: &Rational) -> String {
    let whole = value.clone().round();
    let rest = Rational::from(value - &whole);
    let sign = if rest < 0 { '-' } else { '+' };
    format!("{whole} {sign} {}", decimal(&rest.abs()))
}

/// Returns a double in the form of [`decimal`], without its rounding error. A number that is not finite is
/// written as Rust writes it.
#[must_use]
pub fn double(value: f64) -> String {
    unrounded(value).map_or_else(|| value.to_string(), |value| decimal(&value))
}

/// Returns the nearest whole number if the double differs from it only by rounding errors. Otherwise returns
/// the value of the double itself. Returns `None` if the double is not finite.
fn unrounded(value: f64) -> Option<Rational> {
    /// The relative error that sums of doubles may have.
    const ROUNDING: f64 = 1e-13;
    let whole = value.round();
    let is_whole = (value - whole).abs() <= ROUNDING * whole.abs();
    Rational::from_f64(if is_whole { whole } else { value })
}

/// Returns a number outside the range of doubles, such as `1.234e567`. The digits come from the quotient of
/// the number and a power of ten.
fn beyond_doubles(value: &Rational) -> String {
    let bits = f64::from(value.numer().significant_bits()) - f64::from(value.denom().significant_bits());
    let shift = (bits * std::f64::consts::LOG10_2).floor() as i32;
    let power = Integer::from(Integer::u_pow_u(10, shift.unsigned_abs()));
    let near = if shift < 0 { Rational::from(value * power) } else { Rational::from(value / power) };
    let text = format!("{:.3e}", to_f64(&near));
    match text.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) => format!("{digits}e{}", exponent + shift),
        _ => text,
    }
}

/// The units of bytes. Each unit is 1,024 times the previous unit.
const BYTES: [&str; 4] = ["MiB", "GiB", "TiB", "PiB"];

/// Returns an amount of a resource. Bytes are written as in `1.5 TiB`, and other numbers as by [`decimal`].
/// An amount of memory or storage of at least one mebibyte is assumed to be in bytes.
///
/// # Examples
/// ```
/// use evenhand_report::text::amount;
/// let tebibytes = "1649267441664".parse().unwrap();
/// assert_eq!(amount("memory", &tebibytes), "1.5 TiB");
/// assert_eq!(amount("memory", &"64".parse().unwrap()), "64");
/// assert_eq!(amount("cpu", &tebibytes), "1649267441664");
/// ```
#[must_use]
pub fn amount(resource: &str, value: &Rational) -> String {
    let name = resource.to_lowercase();
    let is_bytes = ["memory", "storage", "mem", "disk", "hugepages"].iter().any(|of| name.contains(of));
    let mut units = BYTES.iter();
    let mut size = Rational::from(value.abs_ref()) / (1_u32 << 20);
    let Some(mut unit) = units.next().filter(|_| is_bytes && size >= 1) else { return decimal(value) };
    for larger in units {
        if size >= 1024 {
            size /= 1024_u32;
            unit = larger;
        }
    }
    let nearest = to_f64(&size);
    let text = if size >= 100 { format!("{nearest:.0}") } else { format!("{nearest:.2}") };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let text = if text.contains('.') || size.is_integer() { text.to_owned() } else { decimal(&size) };
    format!("{}{text} {unit}", if *value < 0 { "-" } else { "" })
}

/// Returns `1 task`, `2 tasks` or `0.5 tasks`.
#[must_use]
pub fn tasks(value: &Rational) -> String {
    format!("{} {}", decimal(value), if *value == 1 { "task" } else { "tasks" })
}

/// Returns `1 more task` or `11130 more tasks`.
#[must_use]
pub fn more_tasks(value: &Rational) -> String {
    tasks(value).replacen(' ', " more ", 1)
}

/// Returns a fraction as a percentage with one digit after the decimal point. It has more digits if they are
/// needed to show that the percentage is not whole.
///
/// # Examples
/// ```
/// use evenhand_report::text::percent;
/// assert_eq!(percent(&"1/3".parse().unwrap()), "33.3 %");
/// assert_eq!(percent(&"1".parse().unwrap()), "100.0 %");
/// assert_eq!(percent(&"99999/100000".parse().unwrap()), "99.999 %");
/// ```
#[must_use]
pub fn percent(value: &Rational) -> String {
    let exact = Rational::from(value * 100u32);
    let hundredths = to_f64(&exact);
    if hundredths.abs() < LARGEST_PERCENTAGE {
        let text = format!("{hundredths:.1}");
        if exact.is_integer() || !text.ends_with(".0") {
            return format!("{text} %");
        }
    }
    format!("{} %", decimal(&exact))
}

/// Returns a fraction that is a double, in the form of [`percent`].
#[must_use]
pub fn percent_of(value: f64) -> String {
    unrounded(100.0 * value).map_or_else(|| format!("{value} %"), |value| percent(&(value / 100_u32)))
}

/// Returns the first items of a list, and the number of the other items.
#[must_use]
pub fn few(list: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = list.iter().take(most).map(AsRef::as_ref).collect();
    let more = list.len().saturating_sub(most);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// Returns the name of the resource that a row limits, and its server class.
#[must_use]
pub fn row_names<'a>(constraints: &Constraints<'a>, row: usize) -> (&'a str, &'a str) {
    let (row, problem) = (&constraints.rows()[row], constraints.problem());
    (row_name(row.kind, problem.resources()), problem.servers()[row.server].name())
}

/// Returns the name of a row, such as `cpu on the server class`.
#[must_use]
pub fn place(constraints: &Constraints<'_>, row: usize) -> String {
    let (resource, server) = row_names(constraints, row);
    format!("{resource} on {server}")
}

/// Returns the name of the resource that a row limits.
#[must_use]
pub fn row_name(kind: RowKind, resources: &[String]) -> &str {
    match kind {
        RowKind::Resource(r) => &resources[r],
        RowKind::Time => "time",
    }
}

/// Breaks a text into lines of at most `width` characters. Lines are broken between words if possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            // A word that is longer than a line is broken at any character.
            if !line.is_empty() && line.width() + c.width().unwrap_or(0) > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

/// Returns the lines of `text`. Each line is wrapped, and its continuation has the same indentation.
pub(crate) fn paragraph(text: &str, width: Option<usize>) -> String {
    let mut shown = String::new();
    for line in text.split('\n') {
        let words = line.trim_start_matches(' ');
        let indent = " ".repeat(line.len() - words.len());
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()).max(LEAST_WIDTH));
        for piece in wrap(words, room) {
            shown.push_str(format!("{indent}{piece}").trim_end());
            shown.push('\n');
        }
    }
    shown
}
