//! The claim that every user has the tasks that hierarchical filling gives it. The filling itself is the evidence.

use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_mechanisms::{MechanismError, tree};
use evenhand_problem::{Problem, Rational};

use super::{Optima, Undecided};

/// The number of groups and users above which `certify` examines `tree` only on request. The work of running the
/// filling again grows with the square of this number and with the digits of the numbers. A checker stops after a
/// minute without a verdict.
const MOST_NODES: usize = 300;

/// Returns true if the axiom is examined by default.
pub fn is_short(problem: &Problem) -> bool {
    problem.groups().list().len() + problem.n_users() <= MOST_NODES
}

/// Returns the filling, as evidence for or against the axiom.
pub fn filling(problem: &Problem) -> Result<Evidence, Undecided> {
    tree::filling(problem).map_err(|error| match error {
        MechanismError::Solver { source, .. } => source.into(),
        error => Undecided::Mechanism(error.to_string()),
    })
}

/// Returns the claim that every user has the tasks of the filling.
pub fn claim(instance: &Instance<'_>, tolerance: &Rational, optima: &Optima) -> Result<Claim, Undecided> {
    let evidence = optima.filling(instance.problem())?;
    Ok(Claim::with_evidence(Axiom::Tree, None, evidence, instance, tolerance)?)
}
