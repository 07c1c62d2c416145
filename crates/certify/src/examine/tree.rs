//! The claim that every user has the tasks that hierarchical filling gives it. The filling itself is the evidence.

use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_mechanisms::{MechanismError, tree};
use evenhand_problem::{Problem, Rational};

use super::{Optima, Undecided};

/// Number of groups and users above which `certify` examines `tree` only on request. Running the filling again
/// takes work that grows with the square of this number and with the digits of the numbers, and a checker gives up
/// after a minute.
const MOST_NODES: usize = 300;

/// Returns whether the axiom is examined by default.
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

/// Returns the claim that the tasks are those of the filling.
pub fn claim(instance: &Instance<'_>, tolerance: &Rational, optima: &Optima) -> Result<Claim, Undecided> {
    let evidence = optima.filling(instance.problem())?;
    Ok(Claim::with_evidence(Axiom::Tree, None, evidence, instance, tolerance)?)
}
