//! Values on the command line: names are checked, completed and explained from the lists that own them.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use evenhand::Axiom;
use evenhand::mechanisms::registry;
use evenhand::mechanisms::tree::Rule;
use evenhand::problem::{Rational, number, schema};
use evenhand_audit::Property;

/// One of these names, each with what it means.
pub fn one_of(names: &'static [(&'static str, &'static str)]) -> Name {
    Name::of(names.iter().map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// The rule of a scheduler, or `tree`: the problem's own share.
pub fn rule_or_tree() -> Name {
    let own = PossibleValue::new("tree").help("the problem's own share");
    Name::of(
        std::iter::once(own)
            .chain(Rule::NAMES.iter().map(|(name, about)| PossibleValue::new(name).help(about))),
    )
}

/// A mechanism by its name or one of its aliases.
pub fn mechanism() -> Name {
    Name::of(registry::ALL.iter().map(|mechanism| {
        let info = mechanism.info;
        PossibleValue::new(info.id).aliases(info.aliases.iter().copied()).help(info.title)
    }))
}

/// The name of a schema.
pub fn schema_name() -> Name {
    let short = |name| schema::SHORT.iter().filter(move |(_, kind)| *kind == name).map(|(short, _)| *short);
    Name::of(schema::NAMES.into_iter().map(|name| PossibleValue::new(name).aliases(short(name))))
}

/// An axiom, and its parameter after a colon where it has one: `max-min:tsf`. What the parameter may be
/// is for the command to say.
pub fn axiom() -> Name {
    let values = Axiom::ALL.iter().map(|axiom| PossibleValue::new(axiom.name()));
    Name { with_parameter: true, ..Name::of(values) }
}

/// What `check --require` asks for: an axiom, `rule:NAME` of a verdict, `exact` or `ratio:A` of a packing certificate.
pub fn required() -> Name {
    let values = Axiom::ALL.iter().map(|axiom| PossibleValue::new(axiom.name()));
    let others = ["rule", "exact", "ratio"].into_iter().map(PossibleValue::new);
    Name { with_parameter: true, ..Name::of(values.chain(others)) }
}

/// A property of a mechanism.
pub fn property() -> Name {
    Name::of(Property::ALL.iter().map(|property| PossibleValue::new(property.name())))
}

/// One of several names; the nearest one is suggested for a name that is none of them.
#[derive(Debug, Clone)]
pub struct Name {
    values: Vec<PossibleValue>,
    /// Whether `name:parameter` is accepted.
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

/// A file that a picture is drawn into: SVG is all that is drawn.
pub fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(path),
        _ if text == "-" || text.starts_with("/dev/") => Ok(path),
        Some(other) => Err(format!("only .svg is drawn, not .{other}")),
        None => Err("only .svg is drawn: the name of the file should end with .svg".to_owned()),
    }
}

/// Most points of a sweep.
const MOST_STEPS: usize = 100_000;

/// `FROM:TO:STEPS`
#[derive(Debug, Clone)]
pub struct Range {
    /// The first multiple of the load.
    pub from: Rational,
    /// The last one.
    pub to: Rational,
    /// Points, these two included.
    pub steps: usize,
}

impl Range {
    /// Reads it; what is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [from, to, steps] = parts[..] else {
            return Err("expected FROM:TO:STEPS".to_owned());
        };
        let multiple = |name: &str, text: &str| {
            let value = number::parse(text).map_err(|error| format!("{name}: {error}"))?;
            if value < 0 { Err(format!("{name} is negative")) } else { Ok(value) }
        };
        let (from, to) = (multiple("FROM", from)?, multiple("TO", to)?);
        let steps = steps.parse().ok().filter(|steps| (1..=MOST_STEPS).contains(steps));
        let steps = steps.ok_or_else(|| format!("STEPS: expected a whole number from 1 to {MOST_STEPS}"))?;
        match steps {
            _ if from > to => Err("FROM is larger than TO".to_owned()),
            1 if from < to => Err("STEPS: both ends are points, which makes two at least".to_owned()),
            2.. if from == to => Err("STEPS: FROM and TO are one point".to_owned()),
            _ => Ok(Self { from, to, steps }),
        }
    }
}

/// Most parts of a sweep.
const MOST_PARTS: u64 = 1_000_000_000;

/// `I/N`: the I-th of N parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

/// Reads a part; what is wrong, in words.
pub fn part(text: &str) -> Result<Part, String> {
    let expected = || format!("expected I/N, whole numbers with 1 <= I <= N <= {MOST_PARTS}");
    let (number, of) = text.split_once('/').ok_or_else(expected)?;
    let whole = |text: &str| text.parse::<u64>().map_err(|_| expected());
    let part = Part { number: whole(number)?, of: whole(of)? };
    let is_one = (1..=part.of).contains(&part.number) && part.of <= MOST_PARTS;
    if is_one { Ok(part) } else { Err(expected()) }
}

impl Part {
    /// Everything.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Of so many lines, at most [`MOST_PARTS`], those of this part: parts differ by one line at most.
    pub fn lines(self, all: u64) -> std::ops::Range<u64> {
        let until = |part: u64| {
            u64::try_from(u128::from(all) * u128::from(part) / u128::from(self.of)).unwrap_or(all)
        };
        until(self.number - 1)..until(self.number)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Names less alike than this are not suggested (Jaro's similarity, 0 to 1, as clap has it for options).
const ALIKE: f64 = 0.7;
/// Characters of a name that are compared.
const COMPARED: usize = 60;

/// The candidate that is most like `name`, if any is alike; of equals the first.
///
/// Case and surrounding blanks count little: they are what people get wrong most often.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = shortened(name);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let other = shortened(candidate);
        // One slip of the finger, however short the name is.
        let is_slip = wanted.len() > 1 && strsim::osa_distance(&wanted, &other) == 1;
        // Two letters in the wrong order before a letter too many.
        let slip = if wanted.len() == other.len() { 1.5 } else { 1.0 };
        let alike = strsim::jaro(&wanted, &other) + if is_slip { slip } else { 0.0 };
        if alike > ALIKE && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// What is compared: names may be long, and comparing takes time that grows with their product.
fn shortened(name: &str) -> String {
    name.trim().chars().take(COMPARED).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{nearest, part};

    #[test]
    fn parts_are_the_whole() {
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
    fn the_name_that_was_meant() {
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
