//! The parameters of axioms: a share and an exponent.

use evenhand_problem::Rational;
use evenhand_problem::number::NumberError;
use thiserror::Error;

use crate::refusal::Refusal;
use crate::share::{Share, ShareError};

/// The parameters of an axiom. Only max-min has a share, and only proportional has an `alpha`, and possibly
/// [`Share::Generic`].
///
/// An optional [`Share`] can be used where parameters are expected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Parameters {
    /// The share that max-min equalises. For proportional, the share that is used instead of the tasks.
    pub share: Option<Share>,
    /// The exponent of proportional. `None` stands for 1.
    pub alpha: Option<Rational>,
}

/// The reason why a text does not name an axiom with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No axiom has this name.
    #[error("there is no axiom `{name}`: expected {known}")]
    UnknownAxiom {
        /// The name.
        name: String,
        /// The names of all axioms.
        known: String,
    },
    /// The axiom has no parameters.
    #[error("`{axiom}` has no parameter")]
    None {
        /// The name of the axiom.
        axiom: &'static str,
    },
    /// The text names a share that does not exist.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The exponent is not a number.
    #[error("`{text}`: {error}")]
    Number {
        /// The text that was given as the exponent.
        text: String,
        /// The defect of the text.
        error: NumberError,
    },
    /// The axiom does not have these parameters.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The axiom needs a parameter that the text does not state.
    #[error("`{axiom}` needs its parameter, as in `{example}`")]
    Missing {
        /// The name of the axiom.
        axiom: &'static str,
        /// The name with a parameter.
        example: &'static str,
    },
}

impl From<Option<Share>> for Parameters {
    fn from(share: Option<Share>) -> Self {
        Self { share, alpha: None }
    }
}

impl Parameters {
    /// Returns parameters without a share and with this `alpha`.
    #[must_use]
    pub fn alpha(alpha: Rational) -> Self {
        Self { share: None, alpha: Some(alpha) }
    }

    /// Returns the parameters unchanged. Returns an error if they state a share.
    pub(crate) fn without_share(self) -> Result<Self, Refusal> {
        match self.share {
            None => Ok(self),
            Some(_) => Err(Refusal::new("only max-min takes a share (and proportional the share generic)")),
        }
    }

    /// Returns the parameters unchanged. Returns an error if they state an exponent.
    pub(crate) fn without_alpha(self) -> Result<Self, Refusal> {
        match self.alpha {
            None => Ok(self),
            Some(_) => Err(Refusal::new("only proportional takes an alpha")),
        }
    }
}
