//! The axioms that `--axiom`, `--share` and `--alpha` ask for.

use evenhand::certify::{self, Request, RequestError};
use evenhand::problem::Rational;
use evenhand::{Axiom, Problem, Share};

use crate::failure::{Failure, unknown};

/// An axiom as `--axiom` names it, with its parameter after a colon where it has one.
pub fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    Request::parse(text, problem).map_err(|error| match error {
        RequestError::Unknown(name) => unknown("axiom", &name, Axiom::ALL.map(Axiom::name)),
        error => Failure::input(format!("--axiom {error}")),
    })
}

/// The value of `--share`.
pub fn share(name: &str, problem: &Problem) -> Result<Share, Failure> {
    Share::parse(name, problem).map_err(|error| Failure::input(format!("--share: {error}")))
}

/// What `--share` says of the requests.
pub fn apply_share(
    requests: &mut Vec<Request>,
    share: Option<Share>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(share) = share else { return Ok(()) };
    certify::apply_share(requests, share, by_default)
        .map_err(|_| Failure::input("--share goes with --axiom max-min (generic also with proportional)"))
}

/// What `--alpha` says of the requests.
pub fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    certify::apply_alpha(requests, alpha, by_default)
        .map_err(|_| Failure::input("--alpha goes with --axiom proportional"))
}
