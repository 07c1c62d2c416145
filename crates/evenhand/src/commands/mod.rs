//! The commands, one file each.

pub mod certify;
pub mod check;
pub mod compare;
pub mod explain;
pub mod import;
pub mod reproduce;
pub mod schema;
pub mod solve;

use evenhand::mechanisms::{Mechanism, registry};

use crate::failure::Failure;

/// The mechanism of that name, or a failure that lists those there are.
fn mechanism(name: &str) -> Result<&'static dyn Mechanism, Failure> {
    registry::find(name).ok_or_else(|| {
        Failure::input(format!("there is no mechanism `{name}`: expected {}", registry::names().join(", ")))
    })
}
