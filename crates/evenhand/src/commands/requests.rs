//! The axioms that `--axiom`, `--share` and `--alpha` ask for.

use evenhand::certify::Request;
use evenhand::exact::Parameters;
use evenhand::problem::Rational;
use evenhand::{Axiom, Problem, Share};

use crate::failure::{Failure, unknown};

/// An axiom as `--axiom` names it, with its parameter after a colon where it has one.
pub fn request(text: &str, problem: &Problem) -> Result<Request, Failure> {
    let (name, parameter) = match text.split_once(':') {
        Some((name, parameter)) => (name, Some(parameter)),
        None => (text, None),
    };
    let known = Axiom::ALL.map(Axiom::name);
    let axiom = Axiom::parse(name).ok_or_else(|| unknown("axiom", name, known))?;
    let parameters = axiom
        .parameters(parameter, problem)
        .map_err(|error| Failure::input(format!("--axiom {text}: {error}")))?;
    Ok(Request { axiom, parameters })
}

/// The value of `--share`.
pub fn share(name: &str, problem: &Problem) -> Result<Share, Failure> {
    Share::parse(name, problem).map_err(|error| Failure::input(format!("--share: {error}")))
}

/// `--share` is about max-min: asked for by name, or implied by naming a share at all.
pub fn apply_share(
    requests: &mut Vec<Request>,
    share: Option<Share>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(share) = share else { return Ok(()) };
    let mut found = false;
    let of_share = [Axiom::MaxMin, Axiom::Proportional];
    for request in requests.iter_mut().filter(|request| of_share.contains(&request.axiom)) {
        if request.axiom == Axiom::MaxMin || share == Share::Generic && !by_default {
            request.parameters.share = Some(share);
            found = true;
        }
    }
    if !found && by_default {
        requests.push(Request { axiom: Axiom::MaxMin, parameters: Some(share).into() });
    } else if !found {
        return Err(Failure::input("--share goes with --axiom max-min (generic also with proportional)"));
    }
    Ok(())
}

/// `--alpha` is about proportional: asked for by name, or implied by naming an exponent at all.
pub fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    match requests.iter_mut().find(|request| request.axiom == Axiom::Proportional) {
        Some(request) => request.parameters.alpha = Some(alpha),
        None if by_default => {
            requests.push(Request { axiom: Axiom::Proportional, parameters: Parameters::alpha(alpha) });
        }
        None => return Err(Failure::input("--alpha goes with --axiom proportional")),
    }
    Ok(())
}
