//! The commands, one file each.

pub mod bench;
pub mod certify;
pub mod check;
pub mod compare;
pub mod explain;
mod filling;
mod findings;
pub mod hunt;
pub mod import;
pub mod ratio;
pub mod reproduce;
pub mod schema;
pub mod solve;

use evenhand::exact::axiom::proportional::check_alpha;
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::{Rational, number};

use crate::failure::Failure;

/// The value of `--alpha`.
fn alpha(text: Option<&str>) -> Result<Option<Rational>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let alpha = number::parse(text).map_err(|error| Failure::input(format!("--alpha: {error}")))?;
    check_alpha(&alpha).map_err(|refusal| Failure::input(format!("--alpha: {refusal}")))?;
    Ok(Some(alpha))
}

/// The mechanism of that name, or a failure that lists those there are.
fn mechanism(name: &str) -> Result<&'static dyn Mechanism, Failure> {
    registry::find(name).ok_or_else(|| {
        Failure::input(format!("there is no mechanism `{name}`: expected {}", registry::names().join(", ")))
    })
}
