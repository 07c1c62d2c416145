//! The claim that every user has the tasks of the lexicographic max-min among whole tasks over time. The maximum itself
//! is the evidence, whether the claim is true or false.

use evenhand_exact::{Axiom, Claim, Evidence, Instance, Share};
use evenhand_mechanisms::{MechanismError, packings};
use evenhand_problem::{Problem, Rational};

use super::{Optima, Undecided};

/// Returns the maximum, as evidence for or against the axiom.
pub fn evidence(problem: &Problem, share: Share) -> Result<Evidence, Undecided> {
    packings::evidence(problem, share).map_err(|error| match error {
        MechanismError::Solver { source, .. } => source.into(),
        error => Undecided::Mechanism(error.to_string()),
    })
}

/// Returns the claim that every user has the tasks of the maximum.
pub fn claim(
    instance: &Instance<'_>,
    share: Share,
    tolerance: &Rational,
    optima: &Optima,
) -> Result<Claim, Undecided> {
    let evidence = optima.packings(instance.problem(), share)?;
    Ok(Claim::with_evidence(Axiom::MaxMinPackings, Some(share), evidence, instance, tolerance)?)
}
