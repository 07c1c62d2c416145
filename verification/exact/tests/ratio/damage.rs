//! Documents damaged at random.
#![allow(dead_code)]

use evenhand_problem::{Rational, number};
use rand::Rng;
use rand::seq::IndexedRandom;
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
pub fn damage(document: &mut Value, rng: &mut Pcg64) -> String {
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
