//! What a certificate claims: an axiom with its parameters, whether it holds, by what margin.

use rug::Rational;

use crate::case::Case;
use crate::json::Json;
use crate::problem::Problem;
use crate::share::Share;
use crate::work::{Checked, ensure};

/// The margin, absent where nothing is compared; and, where the margin is but a bound of the true one, the
/// only verdict that it proves.
pub type Shown = (Option<Rational>, Option<bool>);

/// How the margin of an axiom is found.
pub type Judge = fn(&Case<'_>, &Claim<'_>) -> Checked<Shown>;

pub struct Claim<'j> {
    pub axiom: &'static str,
    pub judge: Judge,
    /// Of `max-min`, and where it is the generic one of `proportional`.
    pub share: Option<Share>,
    /// Of `proportional`: numerator and denominator.
    pub alpha: Option<(u32, u32)>,
    /// Absent: it does not apply.
    pub holds: Option<bool>,
    pub margin: Option<Rational>,
    pub evidence: &'j Json<'j>,
}

impl<'j> Claim<'j> {
    /// Its name with its parameters: what may be claimed once.
    pub fn name(&self, problem: &Problem) -> String {
        let share = self.share.map_or_else(String::new, |share| format!(":{}", share.name(problem)));
        let alpha = self.alpha.map_or_else(String::new, |alpha| format!(":{}", Rational::from(alpha)));
        format!("{}{share}{alpha}", self.axiom)
    }

    /// Whether there is no evidence.
    pub fn has_none(&self) -> bool {
        self.evidence.object().map_or(true, <[_]>::is_empty)
    }

    /// The evidence of an axiom that has to have some.
    pub fn some(&self) -> Checked<&'j Json<'j>> {
        ensure(!self.has_none(), "there is no evidence").map(|()| self.evidence)
    }
}
