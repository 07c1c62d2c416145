//! Axioms that are requested by name.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{Problem, Rational, hint};
use thiserror::Error;

use crate::Request;

/// The reason why a request is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// No axiom has this name.
    #[error("there is no axiom `{0}`{hint}", hint = hint(.0, Axiom::ALL.map(Axiom::name)))]
    Unknown(String),
    /// The parameter after the colon does not belong to the axiom, or is not defined by the problem.
    #[error("{text}: {why}")]
    Parameter {
        /// The text of the request.
        text: String,
        /// The fault, in words.
        why: String,
    },
    /// A share is stated, but no requested axiom takes one.
    #[error(
        "no requested axiom takes this share: request max-min (the share generic also goes with proportional)"
    )]
    Share,
    /// An exponent is stated, but no requested axiom takes one.
    #[error("no requested axiom takes an exponent: request proportional")]
    Alpha,
}

impl Request {
    /// Parses the name of an axiom. If the axiom has a parameter, it follows a colon: `max-min:tsf`.
    ///
    /// # Errors
    /// [`RequestError::Unknown`] or [`RequestError::Parameter`].
    pub fn parse(text: &str, problem: &Problem) -> Result<Self, RequestError> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let axiom = Axiom::parse(name).ok_or_else(|| RequestError::Unknown(name.to_owned()))?;
        let parameters = axiom
            .parameters(parameter, problem)
            .map_err(|error| RequestError::Parameter { text: text.to_owned(), why: error.to_string() })?;
        Ok(Self { axiom, parameters })
    }
}

/// Sets the share of the requested max-min axioms. If the requests are the default requests and do not include max-min,
/// max-min is added.
///
/// # Errors
/// [`RequestError::Share`] if no request takes a share.
pub fn apply_share(requests: &mut Vec<Request>, share: Share, is_default: bool) -> Result<(), RequestError> {
    let mut is_about = false;
    for request in requests.iter_mut() {
        let takes = matches!(request.axiom, Axiom::MaxMin | Axiom::MaxMinPackings)
            || request.axiom == Axiom::Proportional && share == Share::Generic && !is_default;
        if takes {
            request.parameters.share = Some(share);
            is_about = true;
        }
    }
    match (is_about, is_default) {
        (false, true) => requests.push(Request { axiom: Axiom::MaxMin, parameters: Some(share).into() }),
        (false, false) => return Err(RequestError::Share),
        (true, _) => {}
    }
    Ok(())
}

/// Sets the exponent of the requested axiom proportional. If the requests are the default requests and do not include
/// proportional, it is added.
///
/// # Errors
/// [`RequestError::Alpha`] if no request takes an exponent.
pub fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Rational,
    is_default: bool,
) -> Result<(), RequestError> {
    match requests.iter_mut().find(|request| request.axiom == Axiom::Proportional) {
        Some(request) => request.parameters.alpha = Some(alpha),
        None if is_default => {
            requests.push(Request { axiom: Axiom::Proportional, parameters: Parameters::alpha(alpha) });
        }
        None => return Err(RequestError::Alpha),
    }
    Ok(())
}
