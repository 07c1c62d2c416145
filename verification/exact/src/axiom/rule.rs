//! What an axiom is to claims and certificates: one trait, which the file of every axiom implements.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational};

use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names};
use crate::parameters::{ParameterError, Parameters};
use crate::refusal::{Inapplicable, Refusal};

/// An axiom: its name and parameters, when it applies, and how its evidence is found, judged, read and written.
///
/// An axiom is of one of two kinds. Either [`Rule::derive`] finds everything in the allocation alone, evidence that is
/// written for people and never read; or it [needs evidence](Rule::needs_evidence) that only a solver finds, which
/// [`Rule::judge`] judges.
pub(crate) trait Rule: Sync {
    /// The name that files and the command line use.
    fn name(&self) -> &'static str;

    /// Its parameters, with what is absent filled in.
    ///
    /// # Errors
    /// That these are not its parameters.
    fn parameters(&self, stated: Parameters) -> Result<Parameters, Refusal> {
        stated.without_share()?.without_alpha()
    }

    /// The parameters that a text states after the name and a colon.
    ///
    /// # Errors
    /// That it states none.
    fn parsed(&self, _text: &str, _problem: &Problem) -> Result<Parameters, ParameterError> {
        Err(ParameterError::None { axiom: self.name() })
    }

    /// The most claims of it that a certificate may hold.
    fn most_claims(&self) -> usize {
        usize::MAX
    }

    /// Whether it applies to a problem.
    ///
    /// # Errors
    /// Why not.
    fn applies_to(&self, _parameters: &Parameters, _problem: &Problem) -> Result<(), Inapplicable> {
        Ok(())
    }

    /// Whether it applies to an allocation of a problem to which it applies.
    ///
    /// # Errors
    /// Why not.
    fn applies(&self, _instance: &Instance<'_>) -> Result<(), Inapplicable> {
        Ok(())
    }

    /// Whether nothing is tolerated of tasks on single servers, which fit or not.
    fn is_exact_on_servers(&self) -> bool {
        false
    }

    /// Whether a claim takes evidence that only a solver finds.
    fn needs_evidence(&self) -> bool {
        false
    }

    /// Whether evidence from outside shows the margin itself, so that the tolerance decides between yes and no.
    fn shows_both(&self) -> bool {
        false
    }

    /// What the allocation shows; `None` where nothing is compared.
    ///
    /// # Errors
    /// [`Refusal`] where that would be too large, or the axiom needs evidence.
    fn derive(&self, _instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Err(Refusal::new(format!("`{}` needs evidence", self.name())))
    }

    /// The verdict and the margin that evidence from outside shows; the verdict counts where nothing is compared, and
    /// where it does not show [both](Rule::shows_both).
    ///
    /// # Errors
    /// [`Refusal`] where it shows nothing.
    fn judge(
        &self,
        _instance: &Instance<'_>,
        _parameters: &Parameters,
        _evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        Err(wrong_form())
    }

    /// Removes from evidence what the axiom does not use, and adds what the allocation gives.
    ///
    /// # Errors
    /// [`Refusal`] where that would be too large.
    fn complete(
        &self,
        _instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: Evidence,
    ) -> Result<Evidence, Refusal> {
        Ok(evidence)
    }

    /// A margin in tasks of the user that it is about; `None` where it is about no single user.
    fn in_tasks(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
        margin: &Rational,
    ) -> Option<Rational> {
        of_user(instance, evidence.user()?, margin)
    }

    /// Reads evidence of an axiom that [needs](Rule::needs_evidence) some, which is an object with at least one field.
    ///
    /// # Errors
    /// [`FormatError`] for what is no evidence of this axiom.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        Err(reader.error(object.raw(), format!("`{}` takes no evidence", self.name())))
    }

    /// Evidence as it is written; `None` for that of other axioms.
    fn write(&self, _names: &Names<'_>, _evidence: &Evidence) -> Option<Json> {
        None
    }
}

/// What [`Rule::derive`] finds.
pub(crate) struct Found {
    pub margin: Rational,
    /// The evidence of yes.
    pub yes: Evidence,
    /// That of no, for a margin beyond the tolerance; absent: it is the same.
    pub no: Option<Evidence>,
}

/// A margin in tasks of a user; `None` where there is no such user.
pub(crate) fn of_user(instance: &Instance<'_>, n: usize, margin: &Rational) -> Option<Rational> {
    (n < instance.problem().n_users()).then(|| Rational::from(margin * instance.scale(n)))
}

/// Minus a margin, in tasks of a user.
pub(crate) fn loss(instance: &Instance<'_>, n: usize, margin: &Rational) -> Rational {
    -Rational::from(margin * instance.scale(n))
}

pub(crate) fn wrong_form() -> Refusal {
    Refusal::new("the evidence is not of the form that the axiom takes")
}
