//! The golden cases: inputs and answers of an independent implementation in exact arithmetic.
#![allow(dead_code, missing_docs)]

use evenhand_problem::{Rational, number};
use serde_json::Value;

/// All cases whose id starts with `prefix`: at least one.
pub fn cases(prefix: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).expect("a list");
    let cases: Vec<Value> = cases.into_iter().filter(|case| id(case).starts_with(prefix)).collect();
    assert!(!cases.is_empty(), "no golden case is a {prefix}");
    cases
}

/// The case of that id.
pub fn case(id_of_it: &str) -> Value {
    let found = cases(id_of_it).into_iter().find(|case| id(case) == id_of_it);
    found.unwrap_or_else(|| panic!("{id_of_it} is not among the golden cases"))
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
