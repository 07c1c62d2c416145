//! Documents that are damaged at random in numbers, names and structure. Most of them can still be read.

use evenhand_problem::{Rational, number};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// The largest number of changes that [`mutated`] makes. With more changes hardly any document can be read.
const MOST_CHANGES: u32 = 4;

/// Numbers at the limits of formats and doubles.
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

/// Strings that are hard to read, to print or to match.
const WORDS: [&str; 8] =
    ["", "\u{202e}", "\u{0}", "a\nb", "\u{1b}[31m", "time", "satisfied", "é\u{301}\u{1f600}"];

/// A position in a document: the keys and positions from the root.
type Path = Vec<String>;

/// The strength of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    /// Numbers stay near those of the document, so that slow judges can handle them and most documents can be read.
    Mild,
    /// Changes may also use [`EXTREMES`], [`WORDS`], and values of another type.
    Wild,
}

/// Damages the document with one change. Returns a description of the change.
pub fn damage(document: &mut Value, rng: &mut Pcg64) -> String {
    change(document, rng, Force::Mild).unwrap_or_else(|| "nothing".to_owned())
}

/// Returns the text with one or two of its bytes changed, dropped or doubled, or cut off at one of them.
pub fn damaged_text(text: &str, rng: &mut Pcg64) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..3) {
        if bytes.is_empty() {
            break;
        }
        let position = rng.random_range(0..bytes.len());
        match rng.random_range(0..4) {
            // A document with another digit can still be read.
            _ if bytes[position].is_ascii_digit() => bytes[position] = rng.random_range(b'0'..=b'9'),
            0 => bytes[position] = b"0123456789-/\"{}[],:. ntf"[rng.random_range(0..23)],
            1 => drop(bytes.remove(position)),
            2 => bytes.truncate(position.max(1)),
            _ => bytes.insert(position, bytes[position]),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the document with a few changes, which may be extreme numbers. Returns `None` if the bytes are not a
/// JSON document.
#[must_use]
pub fn mutated(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let mut rng = Pcg64::seed_from_u64(seed.into());
    for _ in 0..rng.random_range(1..=MOST_CHANGES) {
        let _ = change(&mut document, &mut rng, Force::Wild);
    }
    Some(document.to_string().into_bytes())
}

/// Returns the first document with one of its values replaced by a value of the second document, under the
/// same key if possible. Returns `None` if one of them is not a JSON document.
#[must_use]
pub fn crossed(first: &[u8], second: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(first).ok()?;
    let mut other: Value = serde_json::from_slice(second).ok()?;
    let mut rng = Pcg64::seed_from_u64(seed.into());
    let to = paths(&document).choose(&mut rng)?.clone();
    let all = paths(&other);
    let same_key: Vec<&Path> = all.iter().filter(|path| path.last() == to.last()).collect();
    let from = same_key.choose(&mut rng).copied().or_else(|| all.choose(&mut rng))?;
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

/// Makes one change. Returns `None` if the chosen kind of change is not possible.
fn change(document: &mut Value, rng: &mut Pcg64, force: Force) -> Option<String> {
    let all = paths(document);
    let any = all.choose(rng)?.clone();
    let mut places = |wanted: &dyn Fn(&Value) -> bool| -> Vec<Path> {
        all.iter().filter(|path| at(document, path).is_some_and(|value| wanted(value))).cloned().collect()
    };
    let kinds = if force == Force::Wild { 27 } else { 24 };
    match rng.random_range(0..kinds) {
        0..=11 => {
            let places = places(&|value| as_number(value).is_some());
            let (path, other) = (places.choose(rng)?, places.choose(rng)?);
            let (value, other) = (as_number(at(document, path)?)?, as_number(at(document, other)?)?);
            let new = other_number(&value, &other, rng, force);
            let said = format!("{path:?}: {value} becomes {new}");
            *at(document, path)? = new;
            Some(said)
        }
        12 => {
            let path = places(&|value| value.is_boolean() || value.is_null()).choose(rng)?.clone();
            let verdict = [json!(true), json!(false), json!(null)].choose(rng)?.clone();
            let said = format!("{path:?} becomes {verdict}");
            *at(document, &path)? = verdict;
            Some(said)
        }
        13 | 14 => remove(document, &any).map(|()| format!("{any:?} is deleted")),
        15 => double(document, &any, rng).map(|()| format!("{any:?} stands there again")),
        16 | 17 => {
            let path = places(&|value| value.as_object().is_some_and(|o| o.len() > 1)).choose(rng)?.clone();
            let keys: Vec<String> = at(document, &path)?.as_object()?.keys().cloned().collect();
            let field = |key: &String| [&path[..], std::slice::from_ref(key)].concat();
            swap(document, &field(keys.choose(rng)?), &field(keys.choose(rng)?))
        }
        18..=20 => {
            let kind = std::mem::discriminant(at(document, &any)?);
            let same_kind = |value: &Value| std::mem::discriminant(value) == kind;
            let mut others: Vec<&Path> = all.iter().filter(|b| !b.starts_with(&any)).collect();
            others.retain(|b| !any.starts_with(b) && at(document, b).is_some_and(|value| same_kind(value)));
            let other = others.choose(rng)?;
            swap(document, &any, other)
        }
        21 | 22 => {
            // Values under the same key have the same form.
            let same_key: Vec<&Path> = all.iter().filter(|path| path.last() == any.last()).collect();
            let other = same_key.choose(rng)?;
            swap(document, &any, other)
        }
        23 => {
            let texts = places(&Value::is_string);
            let (to, from) = (texts.choose(rng)?, texts.choose(rng)?);
            *at(document, to)? = at(document, from)?.clone();
            Some(format!("{to:?} becomes that of {from:?}"))
        }
        24 => {
            let values = [json!(true), json!(false), json!(null), json!({}), json!([]), json!(0), json!("0")];
            let value = values.choose(rng)?.clone();
            let said = format!("{any:?} becomes {value}");
            *at(document, &any)? = value;
            Some(said)
        }
        25 => {
            *at(document, &any)? = json!(*WORDS.choose(rng)?);
            Some(format!("{any:?} becomes an awkward word"))
        }
        _ if rng.random() => {
            let name = all.choose(rng)?.last()?.clone();
            rename(document, &any, &name).map(|()| format!("{any:?} is called {name}"))
        }
        _ => {
            let inner = at(document, &any)?.clone();
            *at(document, &any)? = if rng.random() { json!([inner]) } else { json!({ "cpu": inner }) };
            Some(format!("{any:?} is wrapped"))
        }
    }
}

fn swap(document: &mut Value, a: &[String], b: &[String]) -> Option<String> {
    let (x, y) = (at(document, a)?.clone(), at(document, b)?.clone());
    *at(document, a)? = y;
    // If `b` is inside the replaced value, it no longer exists.
    *at(document, b)? = x;
    Some(format!("{a:?} and {b:?} change places"))
}

fn other_number(value: &Rational, other: &Rational, rng: &mut Pcg64, force: Force) -> Value {
    let small = Rational::from((rng.random_range(-9..20), rng.random_range(1..9)));
    let kinds = if force == Force::Wild { 16 } else { 13 };
    let text = match rng.random_range(0..kinds) {
        0 => Rational::from(value + &small).to_string(),
        1 => Rational::from(-value).to_string(),
        2 => Rational::from(value * 2u32).to_string(),
        3 => small.to_string(),
        4 => other.to_string(),
        5 => (value + Rational::from((1, 1_000_000_007))).to_string(),
        6 => Rational::from(value + other).to_string(),
        // The number is written in another spelling and does not change its value.
        7 => format!("{}/{}", value.numer().clone() * 6u32, value.denom().clone() * 6u32),
        8 => Rational::from(value + 1u32).to_string(),
        9 => Rational::from(value - 1u32).to_string(),
        10 => "0".to_owned(),
        11 => format!("{:e}", number::to_f64(value).next_up()),
        12 => return json!(number::to_f64(value)),
        _ => (*EXTREMES.choose(rng).unwrap_or(&"0")).to_owned(),
    };
    // The number is written as a JSON number or as a string.
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

/// Inserts a second copy of a value into its list or object. In a list, a copy with a name gets another name half
/// of the time.
fn double(document: &mut Value, path: &[String], rng: &mut Pcg64) -> Option<()> {
    let (last, parent) = path.split_last()?;
    let mut copy = at(document, path)?.clone();
    match at(document, parent)? {
        Value::Array(list) => {
            if let Some(Value::String(name)) = copy.get_mut("name").filter(|_| rng.random()) {
                name.push('\'');
            }
            let before = rng.random_range(0..=list.len().min(last.parse::<usize>().ok()? + 1));
            list.insert(before, copy);
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
