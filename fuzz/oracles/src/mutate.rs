//! Documents changed at random: numbers, names and structure, so that most of them are still read.

use evenhand_problem::{Rational, number};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// Changes that are made at most at a time.
const MOST_CHANGES: u32 = 4;

/// Numbers at the edges of what formats and doubles can say.
const EXTREMES: [&str; 24] = [
    "0",
    "-1",
    "1",
    "1/3",
    "2",
    "1e300",
    "1e-300",
    "3e-300",
    "1e150",
    "1e-150",
    "1e17",
    "1e-17",
    "1e400",
    "1e-400",
    "1e401",
    "4.9e-324",
    "1.7976931348623157e308",
    "0.1",
    "10.000000000000002",
    "9007199254740993",
    "1000000000000",
    "1000000000001",
    "64Ki",
    "1500m",
];

/// Strings that are awkward to read, to print or to find again.
const WORDS: [&str; 8] =
    ["", "\u{202e}", "\u{0}", "a\nb", "\u{1b}[31m", "time", "satisfied", "é\u{301}\u{1f600}"];

/// A place in a document: keys and positions from the root.
type Path = Vec<String>;

/// The document with a few changes; `None` when the bytes are no JSON document.
#[must_use]
pub fn mutated(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let mut rng = Pcg64::seed_from_u64(seed.into());
    for _ in 0..rng.random_range(1..=MOST_CHANGES) {
        change(&mut document, &mut rng);
    }
    Some(document.to_string().into_bytes())
}

/// The first document with a part of the second in place of a part of its own, of the same name if
/// possible; `None` when one of them is no JSON document.
#[must_use]
pub fn crossed(first: &[u8], second: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(first).ok()?;
    let mut other: Value = serde_json::from_slice(second).ok()?;
    let mut rng = Pcg64::seed_from_u64(seed.into());
    let to = paths(&document).choose(&mut rng)?.clone();
    let all = paths(&other);
    let alike: Vec<&Path> = all.iter().filter(|path| path.last() == to.last()).collect();
    let from = alike.choose(&mut rng).copied().or_else(|| all.choose(&mut rng))?;
    let part = at(&mut other, from)?.clone();
    *at(&mut document, &to)? = part;
    Some(document.to_string().into_bytes())
}

fn paths(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, here: &mut Path, found: &mut Vec<Path>) {
    found.push(here.clone());
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value) in inner {
        here.push(key);
        collect(value, here, found);
        here.pop();
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

fn as_number(value: &Value) -> Option<Rational> {
    match value {
        Value::Number(n) => number::parse(&n.to_string()).ok(),
        Value::String(text) => number::parse_result(text).ok(),
        _ => None,
    }
}

fn change(document: &mut Value, rng: &mut Pcg64) -> Option<()> {
    let all = paths(document);
    let any = all.choose(rng)?.clone();
    let another = all.choose(rng)?.clone();
    match rng.random_range(0..16) {
        0..=6 => {
            let numbers: Vec<&Path> = all
                .iter()
                .filter(|path| at(document, path).is_some_and(|v| as_number(v).is_some()))
                .collect();
            let (path, other) = (numbers.choose(rng)?, numbers.choose(rng)?);
            let (value, other) = (as_number(at(document, path)?)?, as_number(at(document, other)?)?);
            *at(document, path)? = other_number(&value, &other, rng);
        }
        7 => remove(document, &any)?,
        8 => double(document, &any, rng)?,
        9 => {
            // Two parts change places.
            let (a, b) = (at(document, &any)?.clone(), at(document, &another)?.clone());
            *at(document, &any)? = b;
            *at(document, &another)? = a;
        }
        10 => {
            // Places of the same name: what stands there is of the same form.
            let alike: Vec<&Path> = all.iter().filter(|path| path.last() == any.last()).collect();
            let part = at(document, alike.choose(rng)?)?.clone();
            *at(document, &any)? = part;
        }
        11 => {
            let texts: Vec<&Path> =
                all.iter().filter(|path| at(document, path).is_some_and(|v| v.is_string())).collect();
            let (path, other) = (texts.choose(rng)?, texts.choose(rng)?);
            *at(document, path)? = at(document, other)?.clone();
        }
        12 => {
            let values = [json!(true), json!(false), json!(null), json!({}), json!([]), json!(0), json!("0")];
            *at(document, &any)? = values.choose(rng)?.clone();
        }
        13 => *at(document, &any)? = Value::String((*WORDS.choose(rng)?).to_owned()),
        14 => rename(document, &any, another.last()?)?,
        _ => {
            let inner = at(document, &any)?.clone();
            *at(document, &any)? = if rng.random() { json!([inner]) } else { json!({ "cpu": inner }) };
        }
    }
    Some(())
}

fn other_number(value: &Rational, other: &Rational, rng: &mut Pcg64) -> Value {
    let small = Rational::from((rng.random_range(-9..20), rng.random_range(1..9)));
    let text = match rng.random_range(0..12) {
        0 => Rational::from(value + &small).to_string(),
        1 => Rational::from(-value).to_string(),
        2 => Rational::from(value * 2u32).to_string(),
        3 => small.to_string(),
        4 => other.to_string(),
        5 => (value + Rational::from((1, 1_000_000_007))).to_string(),
        6 => Rational::from(value + other).to_string(),
        7 => format!("{}/{}", value.numer().clone() * 6u32, value.denom().clone() * 6u32),
        8 => format!("{:e}", number::to_f64(value).next_up()),
        9 => return json!(number::to_f64(value)),
        _ => (*EXTREMES.choose(rng).unwrap_or(&"0")).to_owned(),
    };
    // A number in JSON, or a string.
    let bare = rng.random_bool(0.3).then(|| serde_json::from_str(&text).ok()).flatten();
    bare.unwrap_or(Value::String(text))
}

fn remove(document: &mut Value, path: &[String]) -> Option<()> {
    let (last, parent) = path.split_last()?;
    match at(document, parent)? {
        Value::Object(fields) => drop(fields.remove(last)),
        Value::Array(list) => drop(list.remove(last.parse().ok()?)),
        _ => {}
    }
    Some(())
}

/// Once more in the list; with another name, if it has one, half of the time.
fn double(document: &mut Value, path: &[String], rng: &mut Pcg64) -> Option<()> {
    let (last, parent) = path.split_last()?;
    let mut copy = at(document, path)?.clone();
    match at(document, parent)? {
        Value::Array(list) => {
            if let Some(Value::String(name)) = copy.get_mut("name").filter(|_| rng.random()) {
                name.push('\'');
            }
            list.insert(last.parse().ok()?, copy);
        }
        Value::Object(fields) => drop(fields.insert(format!("{last}'"), copy)),
        _ => {}
    }
    Some(())
}

fn rename(document: &mut Value, path: &[String], name: &str) -> Option<()> {
    let (last, parent) = path.split_last()?;
    let fields: &mut Map<String, Value> = at(document, parent)?.as_object_mut()?;
    let value = fields.remove(last)?;
    fields.insert(name.to_owned(), value);
    Some(())
}
