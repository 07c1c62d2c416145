//! Parsers of the values of options. Names are checked, completed and explained from the lists of the library.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use evenhand::Axiom;
use evenhand::mechanisms::registry;
use evenhand::mechanisms::tree::Rule;
use evenhand::problem::{Rational, number, schema};
use evenhand::usage::Law;
use evenhand_audit::Property;

/// Returns a parser of one of these names, each given with its help text.
pub fn one_of(names: &'static [(&'static str, &'static str)]) -> Name {
    Name::of(names.iter().map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Returns a parser of the rule of a scheduler, or of `tree`, which is the problem's own share.
pub fn rule_or_tree() -> Name {
    let own = PossibleValue::new("tree").help("the problem's own share");
    Name::of(
        std::iter::once(own)
            .chain(Rule::NAMES.iter().map(|(name, about)| PossibleValue::new(name).help(about))),
    )
}

/// Returns a parser of the rule of a verdict: the rule of a scheduler, `tree`, or a law of usage over time.
pub fn rule_tree_or_law() -> Name {
    let mut rules = rule_or_tree();
    let ideal = ("ideal", "over a window: usage with a half-life, over weight");
    let laws = std::iter::once(&ideal).chain(Law::NAMES);
    // Karma needs demands, which no history of a cluster has.
    for (name, about) in laws.filter(|(name, _)| *name != Law::Karma.name()) {
        if !rules.values.iter().any(|value| value.get_name() == *name) {
            rules.values.push(PossibleValue::new(name).help(about));
        }
    }
    rules
}

/// Returns a parser of the name of a mechanism or one of its aliases.
pub fn mechanism() -> Name {
    Name::of(registry::ALL.iter().map(|mechanism| {
        let info = mechanism.info;
        PossibleValue::new(info.id).aliases(info.aliases.iter().copied()).help(info.title)
    }))
}

/// Returns a parser of the name of a schema.
pub fn schema_name() -> Name {
    let short = |name| schema::SHORT.iter().filter(move |(_, kind)| *kind == name).map(|(short, _)| *short);
    Name::of(schema::NAMES.into_iter().map(|name| PossibleValue::new(name).aliases(short(name))))
}

/// Returns a parser of an axiom, followed by a colon and its parameter if it has one: `max-min:tsf`. The command itself checks
/// the parameter.
pub fn axiom() -> Name {
    let values = Axiom::ALL.iter().map(|axiom| PossibleValue::new(axiom.name()));
    Name { with_parameter: true, ..Name::of(values) }
}

/// Returns a parser of the value of `check --require`: an axiom, `rule:NAME` for a verdict, `exact` or `ratio:A` for a packing, the
/// status of a linear programme.
pub fn required() -> Name {
    let values = Axiom::ALL.iter().map(|axiom| PossibleValue::new(axiom.name()));
    let others = ["rule", "window-max-min", "exact", "ratio", "optimal", "infeasible", "unbounded"]
        .into_iter()
        .map(PossibleValue::new);
    Name { with_parameter: true, ..Name::of(values.chain(others)) }
}

/// Returns a parser of a property of a mechanism.
pub fn property() -> Name {
    Name::of(Property::ALL.iter().map(|property| PossibleValue::new(property.name())))
}

/// A parser of one of several names. For an unknown name, the error suggests the nearest known one.
#[derive(Debug, Clone)]
pub struct Name {
    values: Vec<PossibleValue>,
    /// `true` if `name:parameter` is accepted.
    with_parameter: bool,
}

impl Name {
    fn of(values: impl Iterator<Item = PossibleValue>) -> Self {
        Self { values: values.collect(), with_parameter: false }
    }

    fn error(&self, command: &Command, arg: Option<&Arg>, text: &str, name: &str) -> Error {
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_owned()));
        let known = self.values.iter().flat_map(PossibleValue::get_name_and_aliases);
        if let Some(nearest) = nearest(name, known) {
            error.insert(ContextKind::SuggestedValue, ContextValue::String(nearest.to_owned()));
        }
        let names = self.values.iter().map(|value| value.get_name().to_owned()).collect();
        error.insert(ContextKind::ValidValue, ContextValue::Strings(names));
        error
    }
}

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy();
        let name = match text.split_once(':') {
            Some((name, _)) if self.with_parameter => name,
            _ => &*text,
        };
        if self.values.iter().any(|value| value.matches(name, false)) {
            return Ok(text.into_owned());
        }
        Err(self.error(command, arg, &text, name))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().cloned()))
    }
}

/// Reads the name of a file for a picture. Only SVG is supported.
pub fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(path),
        _ if text == "-" || text.starts_with("/dev/") => Ok(path),
        Some(other) => Err(format!("pictures are written as SVG only, not .{other}; end the name with .svg")),
        None => Err("pictures are written as SVG only: end the name of the file with .svg".to_owned()),
    }
}

/// The largest number of points of a sweep.
const MOST_STEPS: usize = 100_000;

/// The multiples of the load of a sweep, written `FROM:TO:STEPS`.
#[derive(Debug, Clone)]
pub struct Range {
    /// The first multiple of the load.
    pub from: Rational,
    /// The last multiple of the load.
    pub to: Rational,
    /// The number of points, both ends included.
    pub steps: usize,
}

impl Range {
    /// Reads a range.
    ///
    /// # Errors
    /// Returns a message that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [from, to, steps] = parts[..] else {
            return Err("expected FROM:TO:STEPS".to_owned());
        };
        let multiple = |name: &str, text: &str| {
            let value = number::parse(text).map_err(|error| format!("{name}: {error}"))?;
            if value < 0 {
                Err(format!("{name} is negative; multiples of the load must be at least 0"))
            } else {
                Ok(value)
            }
        };
        let (from, to) = (multiple("FROM", from)?, multiple("TO", to)?);
        let steps = steps.parse().ok().filter(|steps| (1..=MOST_STEPS).contains(steps));
        let steps = steps.ok_or_else(|| format!("STEPS: expected a whole number from 1 to {MOST_STEPS}"))?;
        match steps {
            _ if from > to => Err("FROM is larger than TO; state the smaller multiple first".to_owned()),
            1 if from < to => {
                Err("STEPS is 1, and FROM and TO are two points; expected at least 2".to_owned())
            }
            2.. if from == to => {
                Err("STEPS is above 1, and FROM and TO are the same point; expected 1".to_owned())
            }
            _ => Ok(Self { from, to, steps }),
        }
    }
}

/// The largest number of parts of a sweep.
const MOST_PARTS: u64 = 1_000_000_000;

/// Part `I/N` of a sweep: the `I`-th of `N` parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The number of the part, from 1.
    pub number: u64,
    /// The number of parts.
    pub count: u64,
}

/// Reads a part of a sweep.
///
/// # Errors
/// Returns a message that says what is expected.
pub fn part(text: &str) -> Result<Part, String> {
    let expected = || format!("expected I/N, whole numbers with 1 <= I <= N <= {MOST_PARTS}");
    let (number, count) = text.split_once('/').ok_or_else(expected)?;
    let whole = |text: &str| text.parse::<u64>().map_err(|_| expected());
    let part = Part { number: whole(number)?, count: whole(count)? };
    let is_one = (1..=part.count).contains(&part.number) && part.count <= MOST_PARTS;
    if is_one { Ok(part) } else { Err(expected()) }
}

impl Part {
    /// The part that is the whole sweep.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Returns the lines of this part out of `all` lines. The sizes of two parts differ by at most one line.
    pub fn lines(self, all: u64) -> std::ops::Range<u64> {
        let until = |part: u64| {
            u64::try_from(u128::from(all) * u128::from(part) / u128::from(self.count)).unwrap_or(all)
        };
        until(self.number - 1)..until(self.number)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

/// The least similarity of a name that is suggested (Jaro's similarity, 0 to 1, which clap uses for options).
const LEAST_SIMILARITY: f64 = 0.7;
/// The number of characters of a name that are compared.
const COMPARED_CHARACTERS: usize = 60;

/// Returns the candidate that is most similar to `name`, or `None` if no candidate is similar. If several are equally
/// similar, the first of them is returned.
///
/// Case and surrounding blanks are ignored, because people get them wrong most often.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = shortened(name);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let other = shortened(candidate);
        // A single slip of the finger is similar enough, however short the name is.
        let is_slip = wanted.len() > 1 && strsim::osa_distance(&wanted, &other) == 1;
        // Two letters in the wrong order rank above a missing or additional letter.
        let slip = if wanted.len() == other.len() { 1.5 } else { 1.0 };
        let similarity = strsim::jaro(&wanted, &other) + if is_slip { slip } else { 0.0 };
        if similarity > LEAST_SIMILARITY && best.is_none_or(|(most, _)| similarity > most) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the characters that are compared. Names may be long, and the time grows with the product of their lengths.
fn shortened(name: &str) -> String {
    name.trim().chars().take(COMPARED_CHARACTERS).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{nearest, part};

    #[test]
    fn shards_cover_all_lines_once() {
        for (all, of) in [(0, 3), (1, 3), (10, 4), (1_000_000_000, 7), (3, 1_000_000_000)] {
            let lines = |number: u64| part(&format!("{number}/{of}")).unwrap().lines(all);
            assert_eq!((lines(1).start, lines(of).end), (0, all));
            for number in (2..=of).take(10) {
                assert_eq!(lines(number - 1).end, lines(number).start);
                assert!(lines(number).count() as u64 <= all / of + 1);
            }
        }
        for wrong in ["", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3", "1/1000000001", "1/ 2"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn suggests_similar_names() {
        let names = ["high-memory", "high-cpu", "Frank", "user 1", "user 2"];
        assert_eq!(nearest("high-memroy", names), Some("high-memory"));
        assert_eq!(nearest("frank", names), Some("Frank"));
        assert_eq!(nearest("user1", names), Some("user 1"));
        assert_eq!(nearest("drhf", ["drf", "drfh"]), Some("drfh"));
        assert_eq!(nearest("tfs", ["drf", "tsf", "fill"]), Some("tsf"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("x", []), None);
    }
}
