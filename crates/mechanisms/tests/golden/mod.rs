//! The golden cases: inputs and answers of an independent implementation, which are not part of this
//! repository. They are looked for in the folder that `EVENHAND_GOLDEN` names, and in
//! `../shared/golden` beside the repository.
#![allow(dead_code, missing_docs)]

use std::path::PathBuf;

use evenhand_problem::{Rational, number};
use serde_json::Value;

/// All cases whose id starts with `prefix`; `None`, and a word on stderr, when they are not here.
pub fn cases(prefix: &str) -> Option<Vec<Value>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    let folder = std::env::var_os("EVENHAND_GOLDEN").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join("cases.json")) else {
        eprintln!("SKIPPED: no golden cases at ../shared/golden, and EVENHAND_GOLDEN does not name them");
        return None;
    };
    let cases: Vec<Value> = serde_json::from_str(&text).expect("cases.json is a list");
    Some(cases.into_iter().filter(|case| id(case).starts_with(prefix)).collect())
}

/// The case of that id.
pub fn case(id_of_it: &str) -> Option<Value> {
    let found = cases(id_of_it)?.into_iter().find(|case| id(case) == id_of_it);
    Some(found.unwrap_or_else(|| panic!("{id_of_it} is not among the golden cases")))
}

pub fn id(case: &Value) -> &str {
    case["id"].as_str().expect("an id")
}

/// A text or a JSON number as the decimal that it is written as.
pub fn exact(value: &Value) -> Rational {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    number::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn exacts(value: &Value) -> Vec<Rational> {
    value.as_array().expect("a list").iter().map(exact).collect()
}

pub fn matrix(value: &Value) -> Vec<Vec<Rational>> {
    value.as_array().expect("a matrix").iter().map(exacts).collect()
}

pub fn floats(value: &Value) -> Vec<f64> {
    exacts(value).iter().map(number::to_f64).collect()
}
