//! What an axiom is about besides the allocation: a share, an exponent.

use evenhand_problem::{Problem, Rational};

use crate::axiom::{Axiom, bottleneck, proportional};
use crate::refusal::Refusal;
use crate::share::Share;

/// The parameters of an axiom: all absent but for [`Axiom::MaxMin`] (a share) and
/// [`Axiom::Proportional`] (`alpha`, and possibly [`Share::Generic`]).
///
/// An optional [`Share`] can stand where parameters are expected.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Parameters {
    /// The share that max-min equalises; for proportional what takes the place of the tasks.
    pub share: Option<Share>,
    /// The exponent of proportional; 1 if absent.
    pub alpha: Option<Rational>,
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

    /// The same with the default filled in: `alpha` is 1.
    ///
    /// # Errors
    /// [`Refusal`] when they are not the parameters of `axiom`.
    pub fn of(self, axiom: Axiom) -> Result<Self, Refusal> {
        let (share, alpha) = match axiom {
            Axiom::MaxMin if self.share.is_none() => {
                return Err(Refusal::new("max-min is about a share, and none is named"));
            }
            Axiom::MaxMin => (self.share, None),
            Axiom::Proportional => {
                let alpha = self.alpha.clone().unwrap_or_else(|| Rational::from(1));
                proportional::check_alpha(&alpha)?;
                (self.share.filter(|share| *share == Share::Generic), Some(alpha))
            }
            _ => (None, None),
        };
        if self.share != share {
            return Err(Refusal::new(
                "a share belongs to max-min (and generic to proportional), and to nothing else",
            ));
        }
        if self.alpha.is_some() && alpha.is_none() {
            return Err(Refusal::new("an alpha belongs to proportional, and to nothing else"));
        }
        Ok(Self { share, alpha })
    }

    /// Whether `axiom`, with these parameters, applies to `problem`.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn apply(&self, axiom: Axiom, problem: &Problem) -> Result<(), String> {
        match (axiom, self.share) {
            (Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair, _) => {
                bottleneck::of(axiom, problem).map(|_| ())
            }
            (Axiom::MaxMin, None) => Err("max-min is about a share, and none is named".to_owned()),
            (Axiom::MaxMin | Axiom::Proportional, Some(share)) => {
                share.coefficients(problem).map(|_| ()).map_err(|error| error.to_string())
            }
            _ => Ok(()),
        }
    }
}
