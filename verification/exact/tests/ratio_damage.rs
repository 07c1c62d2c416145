//! Good ratio certificates damaged at random: each is refused, or what it states is still true and
//! proven, as a second, plain checker finds.
#![allow(missing_docs)]

#[path = "ratio/build.rs"]
mod build;
#[path = "ratio/instances.rs"]
mod instances;
#[path = "ratio/plain.rs"]
mod plain;

use build::Method;
use evenhand_exact::ratio::{Certificate, check};
use evenhand_problem::format::Source;
use evenhand_problem::{Rational, number};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

/// A place in a document: keys and positions from the root.
type Path = Vec<String>;

fn paths(value: &Value, here: &mut Path, found: &mut Vec<Path>) {
    found.push(here.clone());
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value) in inner {
        here.push(key);
        paths(value, here, found);
        here.pop();
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step).unwrap(),
        Value::Array(list) => &mut list[step.parse::<usize>().unwrap()],
        _ => unreachable!(),
    })
}

fn as_number(value: &Value) -> Option<Rational> {
    match value {
        Value::Number(n) => number::parse(&n.to_string()).ok(),
        Value::String(text) => number::parse(text).ok(),
        _ => None,
    }
}

fn other_number(value: &Rational, rng: &mut Pcg64) -> String {
    let any = Rational::from((rng.random_range(-5..12), rng.random_range(1..5)));
    match rng.random_range(0..9) {
        0 => (value + any).to_string(),
        1 => Rational::from(-value).to_string(),
        2 => Rational::from(value * 2u32).to_string(),
        3 => any.to_string(),
        4 => "0".to_owned(),
        5 => (value + Rational::from((1, 1_000_000_007))).to_string(),
        6 => Rational::from(value + 1u32).to_string(),
        7 => Rational::from(value - 1u32).to_string(),
        // The same number in another spelling: nothing changes.
        _ => format!("{}/{}", value.numer().clone() * 6u32, value.denom().clone() * 6u32),
    }
}

/// Damages the document in one way; what was done, in words.
fn damage(document: &mut Value, rng: &mut Pcg64) -> String {
    let mut all = Vec::new();
    paths(document, &mut Vec::new(), &mut all);
    match rng.random_range(0..12) {
        0..=5 => {
            let mut numbers = all;
            numbers.retain(|path| as_number(at(document, path)).is_some());
            let Some(path) = numbers.choose(rng) else { return "nothing".to_owned() };
            let old = as_number(at(document, path)).unwrap();
            let new = other_number(&old, rng);
            *at(document, path) = Value::String(new.clone());
            format!("{path:?}: {old} becomes {new}")
        }
        6 | 7 => {
            let path = all[1..].choose(rng).unwrap();
            let (last, parent) = path.split_last().unwrap();
            match at(document, parent) {
                Value::Object(fields) => drop(fields.remove(last)),
                Value::Array(list) => drop(list.remove(last.parse().unwrap())),
                _ => {}
            }
            format!("{path:?} deleted")
        }
        8 => {
            let mut lists = all;
            lists.retain(|path| matches!(at(document, path), Value::Array(list) if !list.is_empty()));
            let path = lists.choose(rng).unwrap();
            let Value::Array(list) = at(document, path) else { unreachable!() };
            let (from, to) = (rng.random_range(0..list.len()), rng.random_range(0..=list.len()));
            list.insert(to, list[from].clone());
            format!("{path:?}: element {from} again at {to}")
        }
        9 => {
            let objects: Vec<Path> = all
                .into_iter()
                .filter(|path| matches!(at(document, path), Value::Object(o) if o.len() > 1))
                .collect();
            let Some(path) = objects.choose(rng) else { return "nothing".to_owned() };
            let Value::Object(fields) = at(document, path) else { unreachable!() };
            let keys: Vec<String> = fields.keys().cloned().collect();
            let (a, b) = (keys.choose(rng).unwrap(), keys.choose(rng).unwrap());
            let (x, y) = (fields[a].clone(), fields[b].clone());
            fields.insert(a.clone(), y);
            fields.insert(b.clone(), x);
            format!("{path:?}: {a} and {b} swapped")
        }
        _ => {
            // Words, numbers, nodes and whole proofs change places.
            let of_a_kind = |a: &Value, b: &Value| {
                matches!(
                    (a, b),
                    (Value::String(_), Value::String(_))
                        | (Value::Array(_), Value::Array(_))
                        | (Value::Number(_), Value::Number(_))
                        | (Value::Object(_), Value::Object(_))
                )
            };
            let a = all[1..].choose(rng).unwrap();
            let x = at(document, a).clone();
            let mut others: Vec<&Path> =
                all[1..].iter().filter(|b| !b.starts_with(a) && !a.starts_with(b)).collect();
            others.retain(|b| of_a_kind(at(document, b), &x));
            let Some(b) = others.choose(rng) else { return "nothing".to_owned() };
            let y = at(document, b).clone();
            *at(document, a) = y;
            *at(document, b) = x;
            format!("{a:?} and {b:?} swapped")
        }
    }
}

fn good() -> Vec<Certificate> {
    let mut rng = Pcg64::seed_from_u64(17);
    let loads = [Rational::from((3, 5)), Rational::from((3, 10)), Rational::from((4, 5))];
    let mut good: Vec<Certificate> =
        [Method::Trees, Method::Tables].map(|m| build::certificate(&instances::intro(&loads), m)).into();
    good.extend((3..5).map(|j| build::certificate(&instances::appendix_c(j), Method::Trees)));
    while good.len() < 40 {
        let problem = instances::random(&mut rng);
        let few = plain::configurations(&problem).unwrap().iter().all(|all| all.len() < 60);
        if few {
            let method = if rng.random_bool(0.7) { Method::Trees } else { Method::Tables };
            good.push(build::certificate(&problem, method));
        }
    }
    good
}

#[derive(Debug, Default)]
struct Count {
    refused: usize,
    malformed: usize,
    still_true: usize,
    changed_and_true: usize,
    too_large: usize,
}

impl Count {
    /// Judges one damaged text by both checkers.
    fn judge(&mut self, good: &Certificate, text: &str, what: &str) {
        let Ok(certificate) = Certificate::parse(&Source { name: "damaged", text }) else {
            self.malformed += 1;
            return;
        };
        let verdict = check(&certificate);
        assert_eq!(verdict.valid, verdict.reason.is_none());
        let Some(truth) = plain::is_true(&certificate) else {
            self.too_large += 1;
            return;
        };
        assert_eq!(verdict.valid, truth, "{what}: {:?}\n{text}", verdict.reason);
        if !truth {
            self.refused += 1;
        } else if certificate == *good {
            self.still_true += 1;
        } else {
            self.changed_and_true += 1;
        }
    }
}

#[test]
fn every_damaged_certificate_is_refused_or_still_true() {
    let mut count = Count::default();
    for (seed, good) in (1u64..).zip(good()) {
        let document: Value = serde_json::from_str(&good.to_json()).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..400 {
            let mut damaged = document.clone();
            let mut what = damage(&mut damaged, &mut rng);
            if rng.random_bool(0.2) && damaged.as_object().is_some_and(|d| d.len() > 4) {
                what = format!("{what}; {}", damage(&mut damaged, &mut rng));
            }
            count.judge(&good, &damaged.to_string(), &what);
        }
    }
    println!("{count:?}");
    assert!(count.refused > 5_000 && count.malformed > 1_000 && count.changed_and_true > 200);
    assert!(count.still_true > 100 && count.too_large < 500);
}

/// Bytes changed, dropped or doubled: whatever comes out, no panic.
#[test]
fn damaged_text_never_panics() {
    let mut count = Count::default();
    for (seed, good) in (10u64..).zip(good()) {
        let text = good.to_json();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..200 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..rng.random_range(1..3) {
                let position = rng.random_range(0..bytes.len().max(1));
                if position >= bytes.len() {
                    break;
                }
                match rng.random_range(0..4) {
                    _ if bytes[position].is_ascii_digit() => bytes[position] = rng.random_range(b'0'..=b'9'),
                    0 => bytes[position] = b"0123456789-/\"{}[],:. ntf"[rng.random_range(0..23)],
                    1 => drop(bytes.remove(position)),
                    2 => bytes.truncate(position.max(1)),
                    _ => bytes.insert(position, bytes[position]),
                }
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            count.judge(&good, &text, "bytes");
        }
    }
    println!("{count:?}");
    assert!(count.refused > 150 && count.malformed > 5_000);
}
