//! The lists of mechanisms, axioms and properties, and the readers of their names from Python.

use evenhand::certify::{self, Request};
use evenhand::exact::Axiom;
use evenhand::exact::axiom::proportional::check_alpha;
use evenhand::mechanisms::{Flags, Mechanism, registry};
use evenhand::problem::{Arithmetic, Rational, hint};
use evenhand::{Problem, Share};
use evenhand_audit::Property;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::numbers;

/// A mechanism: its name, title, what it equalises, its guarantees, reference, and the names of its settings.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, Vec<&'static str>);

#[pyfunction]
pub fn mechanisms() -> Vec<Row> {
    let row = |mechanism: &&'static Mechanism| {
        let info = mechanism.info;
        let flags = mechanism.flags.iter().map(|flag| flag.name).collect();
        (info.id, info.title, info.equalises, info.guarantees, info.reference, flags)
    };
    registry::ALL.iter().map(row).collect()
}

#[pyfunction]
pub fn axioms() -> Vec<&'static str> {
    Axiom::ALL.into_iter().map(Axiom::name).collect()
}

#[pyfunction]
pub fn properties() -> Vec<&'static str> {
    Property::ALL.into_iter().map(Property::name).collect()
}

/// Returns the mechanism of that name.
pub fn mechanism(name: &str) -> Result<&'static Mechanism, Failure> {
    let hint = || hint(name, registry::names());
    registry::find(name)
        .ok_or_else(|| Failure::field("mechanism", format!("there is no mechanism `{name}`{}", hint())))
}

/// Returns the flags of a mechanism. Each setting is a pair of a name and a text.
pub fn flags(
    mechanism: &'static Mechanism,
    exact: bool,
    seed: u64,
    settings: &[(String, String)],
) -> Result<Flags, Failure> {
    let mut flags = Flags::new(if exact { Arithmetic::Exact } else { Arithmetic::Float });
    flags.seed = seed;
    for (name, text) in settings {
        let Some(flag) = mechanism.flags.iter().find(|flag| flag.name == *name) else {
            let known = mechanism.flags.iter().map(|flag| flag.name);
            let what =
                format!("the mechanism `{}` has no setting `{name}`{}", mechanism.info.id, hint(name, known));
            return Err(Failure::field(&name.replace('-', "_"), what));
        };
        flag.check(text)?;
        flags = flags.with(flag.name, text);
    }
    Ok(flags)
}

/// Reads an axiom with its parameter after a colon, if it has one.
pub fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    Request::parse(text, problem).map_err(|error| Failure::field("axioms", error))
}

pub fn requests(axioms: &[String], problem: &Problem) -> Result<Vec<Request>, Failure> {
    axioms.iter().map(|text| request(text, problem)).collect()
}

/// Sets the share of the requests that have one.
pub fn apply_share(
    requests: &mut Vec<Request>,
    share: Option<&str>,
    is_default: bool,
    problem: &Problem,
) -> Result<(), Failure> {
    let Some(name) = share else { return Ok(()) };
    let share = Share::parse(name, problem).map_err(|error| Failure::field("share", error))?;
    certify::apply_share(requests, share, is_default).map_err(|error| Failure::field("share", error))
}

/// Sets the exponent of the requests that have one.
pub fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    is_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    certify::apply_alpha(requests, alpha, is_default).map_err(|error| Failure::field("alpha", error))
}

/// Reads the exponent from the text that Python passes.
pub fn alpha(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let alpha = numbers::parse("alpha", text)?;
    check_alpha(&alpha).map_err(|refusal| Failure::field("alpha", refusal))?;
    Ok(Some(alpha))
}

/// The most characters of a number in a message.
const MOST_SHOWN: usize = 40;

/// Reads the tolerance from the text that Python passes. It is at least 0 and below 1.
pub fn tolerance(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let tolerance = numbers::parse("tolerance", text)?;
    match (0..1).contains(&tolerance) {
        true => Ok(Some(tolerance)),
        false => {
            let shown: String = text.chars().take(MOST_SHOWN).collect();
            let more = if shown.len() < text.len() { "..." } else { "" };
            let what = format!("found {shown}{more}: expected a number of at least 0 and below 1");
            Err(Failure::field("tolerance", what))
        }
    }
}
