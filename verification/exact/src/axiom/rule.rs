//! The trait that every axiom implements for claims and certificates.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational};

use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names};
use crate::parameters::{ParameterError, Parameters};
use crate::refusal::{Inapplicable, Refusal};

/// An axiom: its name and parameters, when it applies, and how its evidence is computed, judged, read and written.
///
/// There are two kinds of axioms. For the first kind, [`Rule::derive`] computes everything from the allocation alone.
/// The evidence is then written for people, and never read. The second kind [needs evidence](Rule::needs_evidence) that
/// only a solver can compute. [`Rule::judge`] judges this evidence.
pub(crate) trait Rule: Sync {
    /// Returns the name in files and on the command line.
    fn name(&self) -> &'static str;

    /// Returns the parameters of the axiom, with defaults filled in.
    ///
    /// # Errors
    /// Returns an error if these are not parameters of the axiom.
    fn parameters(&self, stated: Parameters) -> Result<Parameters, Refusal> {
        stated.without_share()?.without_alpha()
    }

    /// Parses the parameters that a text states after the name and a colon.
    ///
    /// # Errors
    /// Returns an error if the axiom has no parameters.
    fn parsed(&self, _text: &str, _problem: &Problem) -> Result<Parameters, ParameterError> {
        Err(ParameterError::None { axiom: self.name() })
    }

    /// Returns the largest number of claims of the axiom that a certificate may have.
    fn most_claims(&self) -> usize {
        usize::MAX
    }

    /// Returns an error if the axiom does not apply to a problem.
    ///
    /// # Errors
    /// Returns the reason why the axiom does not apply.
    fn applies_to(&self, _parameters: &Parameters, _problem: &Problem) -> Result<(), Inapplicable> {
        Ok(())
    }

    /// Returns an error if the axiom does not apply to an allocation. The axiom has to apply to the problem.
    ///
    /// # Errors
    /// Returns the reason why the axiom does not apply.
    fn applies(&self, _instance: &Instance<'_>) -> Result<(), Inapplicable> {
        Ok(())
    }

    /// Returns true if no tolerance is allowed for tasks on single servers. There a task either fits or does not fit.
    fn is_exact_on_servers(&self) -> bool {
        false
    }

    /// Returns true if a claim needs evidence that only a solver can compute.
    fn needs_evidence(&self) -> bool {
        false
    }

    /// Returns true if evidence from a solver proves the margin itself. In this case the tolerance decides whether the
    /// axiom holds.
    fn shows_both(&self) -> bool {
        false
    }

    /// Computes the margin and the evidence from the allocation alone. Returns `None` if there are no numbers to
    /// compare.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the computation would exceed the budget, or if the axiom needs evidence.
    fn derive(&self, _instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        Err(Refusal::new(format!("`{}` needs evidence", self.name())))
    }

    /// Returns the verdict and the margin that evidence from a solver shows. The verdict counts if there is no margin,
    /// or if the evidence does not prove the margin itself ([`Rule::shows_both`]).
    ///
    /// # Errors
    /// Returns [`Refusal`] if the evidence proves nothing.
    fn judge(
        &self,
        _instance: &Instance<'_>,
        _parameters: &Parameters,
        _evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        Err(wrong_form())
    }

    /// Removes the data that the axiom does not use from the evidence, and adds data that follows from the allocation.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the work would exceed the budget.
    fn complete(
        &self,
        _instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: Evidence,
    ) -> Result<Evidence, Refusal> {
        Ok(evidence)
    }

    /// Converts a margin to tasks of the user that has this margin. Returns `None` if the margin does not belong to a
    /// single user.
    fn in_tasks(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
        margin: &Rational,
    ) -> Option<Rational> {
        of_user(instance, evidence.user()?, margin)
    }

    /// Reads the evidence of an axiom that [needs evidence](Rule::needs_evidence). The evidence is an object with at
    /// least one field.
    ///
    /// # Errors
    /// Returns [`FormatError`] if the object is not evidence of this axiom.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        Err(reader.error(object.raw(), format!("`{}` takes no evidence", self.name())))
    }

    /// Returns the evidence as it is written, or `None` if it is evidence of another axiom.
    fn write(&self, _names: &Names<'_>, _evidence: &Evidence) -> Option<Json> {
        None
    }
}

/// The result of [`Rule::derive`].
pub(crate) struct Found {
    pub margin: Rational,
    /// The evidence that the axiom holds.
    pub yes: Evidence,
    /// The evidence that the axiom is violated, for a margin beyond the tolerance. `None` if it is the same as `yes`.
    pub no: Option<Evidence>,
}

/// Returns a margin in tasks of a user, or `None` if there is no such user.
pub(crate) fn of_user(instance: &Instance<'_>, n: usize, margin: &Rational) -> Option<Rational> {
    (n < instance.problem().n_users()).then(|| Rational::from(margin * instance.scale(n)))
}

/// Returns minus a margin, in tasks of a user.
pub(crate) fn loss(instance: &Instance<'_>, n: usize, margin: &Rational) -> Rational {
    -Rational::from(margin * instance.scale(n))
}

pub(crate) fn wrong_form() -> Refusal {
    Refusal::new("the evidence does not have the form that this axiom needs")
}
