//! The commands, one file each.

pub mod bench;
pub mod certify;
pub mod check;
pub mod compare;
pub mod explain;
mod findings;
pub mod hunt;
pub mod import;
pub mod ratio;
pub mod reproduce;
pub mod schema;
pub mod shell;
pub mod solve;

use evenhand::exact::axiom::proportional::check_alpha;
use evenhand::mechanisms::{Mechanism, Request, registry};
use evenhand::problem::{Rational, number};
use evenhand::{Axiom, Problem};

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::suggest;

/// The value of `--alpha`.
fn alpha(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let alpha = number::parse(text).map_err(|error| Failure::input(format!("--alpha: {error}")))?;
    check_alpha(&alpha).map_err(|refusal| Failure::input(format!("--alpha: {refusal}")))?;
    Ok(Some(alpha))
}

/// The value of `--tolerance` and its like: from 0 to below 1.
fn tolerance(text: Option<&str>, option: &str) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let value = number::parse(text).map_err(|error| Failure::input(format!("--{option}: {error}")))?;
    if !(0..1).contains(&value) {
        return Err(Failure::input(format!(
            "--{option}: expected a number from 0 to below 1, found `{text}`"
        )));
    }
    Ok(Some(value))
}

/// An axiom as `--axiom` names it, with its parameter after a colon where it has one.
fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let known = Axiom::ALL.map(Axiom::name);
    let axiom = Axiom::parse(name).ok_or_else(|| suggest::unknown("axiom", name, known))?;
    let parameters = axiom
        .parameters(parameter, problem)
        .map_err(|error| Failure::input(format!("--axiom {text}: {error}")))?;
    Ok(Request { axiom, parameters })
}

/// The mechanism of that name.
fn mechanism(name: &str) -> Result<&'static dyn Mechanism, Failure> {
    registry::find(name).ok_or_else(|| suggest::unknown("mechanism", name, registry::names()))
}

/// A JSON document: its fields, after the kind and the version of what it is.
fn document(kind: &str, fields: Value) -> Value {
    let mut document = json!({"kind": kind, "version": 1});
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}
