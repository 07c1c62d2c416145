//! Good certificates damaged at random: each is refused, or what it states is still true, as a
//! second, plain checker finds.
#![allow(missing_docs)]

mod common;
#[path = "common/plain/mod.rs"]
mod plain;

use common::good_certificates;
use evenhand_exact::{Certificate, Verdict, check};
use evenhand_problem::format::Source;
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

fn is_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => evenhand_problem::number::parse(text).is_ok(),
        _ => false,
    }
}

fn other_number(text: &str, rng: &mut Pcg64) -> String {
    let value = evenhand_problem::number::parse(text).unwrap_or_default();
    let any = evenhand_problem::Rational::from((rng.random_range(-9..20), rng.random_range(1..9)));
    match rng.random_range(0..7) {
        0 => (value + any).to_string(),
        1 => (-value).to_string(),
        2 => (value * 2u32).to_string(),
        3 => any.to_string(),
        4 => "0".to_owned(),
        5 => (value + evenhand_problem::Rational::from((1, 1_000_000_007))).to_string(),
        // The same number in another spelling: nothing changes.
        _ => format!("{}/{}", value.numer().clone() * 6u32, value.denom().clone() * 6u32),
    }
}

/// Damages the document in one way; what was done, in words.
fn damage(document: &mut Value, rng: &mut Pcg64) -> String {
    let mut all = Vec::new();
    paths(document, &mut Vec::new(), &mut all);
    let claims = document["claims"].as_array().unwrap().len();
    match rng.random_range(0..10) {
        0..=3 => {
            let numbers: Vec<Path> = all.into_iter().filter(|path| is_number(at(document, path))).collect();
            let path = numbers.choose(rng).unwrap();
            let text = at(document, path).to_string();
            let new = other_number(text.trim_matches('"'), rng);
            *at(document, path) = Value::String(new.clone());
            format!("{path:?}: {text} becomes {new}")
        }
        4 => {
            let claim = rng.random_range(0..claims);
            if !document["claims"][claim].is_object() {
                return format!("claim {claim} is none already");
            }
            let values = [Value::Bool(true), Value::Bool(false), Value::Null];
            let holds = values.choose(rng).unwrap().clone();
            if holds.is_null() {
                document["claims"][claim]["why"] = Value::String("because".to_owned());
            }
            document["claims"][claim]["holds"] = holds;
            format!("verdict of claim {claim} changed")
        }
        5 | 6 => {
            let path = all[1..].choose(rng).unwrap();
            let (last, parent) = path.split_last().unwrap();
            match at(document, parent) {
                Value::Object(fields) => drop(fields.remove(last)),
                Value::Array(list) => drop(list.remove(last.parse().unwrap())),
                _ => {}
            }
            format!("{path:?} deleted")
        }
        7 => {
            let (a, b) = (rng.random_range(0..claims), rng.random_range(0..claims));
            let fields = ["evidence", "margin", "holds", "axiom"];
            let field = fields.choose(rng).unwrap();
            let (x, y) = (document["claims"][a][*field].clone(), document["claims"][b][*field].clone());
            document["claims"][a][*field] = y;
            document["claims"][b][*field] = x;
            format!("{field} of claims {a} and {b} swapped")
        }
        8 => {
            let objects: Vec<Path> = all
                .into_iter()
                .filter(|path| matches!(at(document, path), Value::Object(o) if o.len() > 1))
                .collect();
            let path = objects.choose(rng).unwrap();
            let Value::Object(fields) = at(document, path) else { unreachable!() };
            let keys: Vec<String> = fields.keys().cloned().collect();
            let (a, b) = (keys.choose(rng).unwrap(), keys.choose(rng).unwrap());
            let (x, y) = (fields[a].clone(), fields[b].clone());
            fields.insert(a.clone(), y);
            fields.insert(b.clone(), x);
            format!("{path:?}: {a} and {b} swapped")
        }
        _ => {
            let texts: Vec<Path> = all.into_iter().filter(|path| at(document, path).is_string()).collect();
            let (a, b) = (texts.choose(rng).unwrap(), texts.choose(rng).unwrap());
            let (x, y) = (at(document, a).clone(), at(document, b).clone());
            *at(document, a) = y;
            *at(document, b) = x;
            format!("{a:?} and {b:?} swapped")
        }
    }
}

/// Both find the same. The plain checker knows margins with roots in them to 40 digits only: a digit
/// beyond those is for the other one to refuse.
fn agree(verdict: &Verdict, truth: bool) -> bool {
    let digit = "claim `proportional`: the margin is stated as";
    verdict.valid == truth || truth && verdict.reason.as_ref().is_some_and(|why| why.starts_with(digit))
}

#[test]
fn the_plain_checker_finds_the_good_ones_true() {
    for (name, certificate) in good_certificates() {
        assert_eq!(plain::fault(&certificate), None, "{name}");
    }
}

#[test]
fn every_damaged_certificate_is_refused_or_still_true() {
    let (mut refused, mut malformed, mut true_still) = (0, 0, 0);
    for (seed, (name, good)) in (1u64..).zip(good_certificates()) {
        let document: Value = serde_json::from_str(&good.to_json()).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..600 {
            let mut damaged = document.clone();
            let mut what = damage(&mut damaged, &mut rng);
            if rng.random_bool(0.2)
                && damaged["claims"].is_array()
                && damaged["claims"].as_array().is_some_and(|c| !c.is_empty())
            {
                what = format!("{what}; {}", damage(&mut damaged, &mut rng));
            }
            let text = damaged.to_string();
            let Ok(certificate) = Certificate::parse(&Source { name: "damaged", text: &text }) else {
                malformed += 1;
                continue;
            };
            let verdict = check(&certificate);
            let truth = plain::is_true(&certificate);
            assert!(agree(&verdict, truth), "{name}: {what}: {:?}\n{text}", verdict.reason);
            assert_eq!(verdict.valid, verdict.reason.is_none());
            if truth {
                true_still += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {malformed} malformed, {true_still} still true");
    assert!(refused > 1_000 && malformed > 100 && true_still > 10);
}

/// Bytes changed, dropped or doubled: whatever comes out, no panic.
#[test]
fn damaged_text_never_panics() {
    for (seed, (_, good)) in (10u64..).zip(good_certificates()) {
        let text = good.to_json();
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..500 {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..rng.random_range(1..4) {
                if bytes.is_empty() {
                    break;
                }
                let position = rng.random_range(0..bytes.len());
                match rng.random_range(0..4) {
                    0 => bytes[position] = b"0123456789-/\"{}[],:. ntf"[rng.random_range(0..23)],
                    1 => drop(bytes.remove(position)),
                    2 => bytes.truncate(position.max(1)),
                    _ => bytes.insert(position, bytes[position]),
                }
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Ok(certificate) = Certificate::parse(&Source { name: "damaged", text: &text }) {
                let (verdict, truth) = (check(&certificate), plain::is_true(&certificate));
                assert!(agree(&verdict, truth), "{:?}\n{text}", verdict.reason);
            }
        }
    }
}
