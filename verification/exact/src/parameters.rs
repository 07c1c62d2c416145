//! What an axiom is about besides the allocation: a share, an exponent.

use evenhand_problem::Rational;
use evenhand_problem::number::NumberError;
use thiserror::Error;

use crate::refusal::Refusal;
use crate::share::{Share, ShareError};

/// The parameters of an axiom: all absent but for max-min (a share) and proportional (`alpha`, and possibly
/// [`Share::Generic`]).
///
/// An optional [`Share`] can stand where parameters are expected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Parameters {
    /// The share that max-min equalises; for proportional what takes the place of the tasks.
    pub share: Option<Share>,
    /// The exponent of proportional; 1 if absent.
    pub alpha: Option<Rational>,
}

/// Why a text does not name an axiom with its parameters.
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
    /// The axiom takes none.
    #[error("`{axiom}` has no parameter")]
    None {
        /// Its name.
        axiom: &'static str,
    },
    /// There is no such share.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// The exponent is no number.
    #[error("`{text}`: {error}")]
    Number {
        /// What stands in its place.
        text: String,
        /// What is wrong with it.
        error: NumberError,
    },
    /// The parameters are not those of the axiom.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The axiom cannot be required without one.
    #[error("`{axiom}` needs its parameter, as in `{example}`")]
    Missing {
        /// Its name.
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
    /// No share, and this `alpha`.
    #[must_use]
    pub fn alpha(alpha: Rational) -> Self {
        Self { share: None, alpha: Some(alpha) }
    }

    /// The same, where no share is stated.
    pub(crate) fn without_share(self) -> Result<Self, Refusal> {
        match self.share {
            None => Ok(self),
            Some(_) => Err(Refusal::new(
                "a share belongs to max-min (and generic to proportional), and to nothing else",
            )),
        }
    }

    /// The same, where no exponent is stated.
    pub(crate) fn without_alpha(self) -> Result<Self, Refusal> {
        match self.alpha {
            None => Ok(self),
            Some(_) => Err(Refusal::new("an alpha belongs to proportional, and to nothing else")),
        }
    }
}
