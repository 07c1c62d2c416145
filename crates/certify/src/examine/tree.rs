//! Whether everybody has what hierarchical filling gives it: the filling itself is the evidence.

use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_mechanisms::{MechanismError, tree};
use evenhand_problem::{Problem, Rational};

use super::{Optima, Undecided};

/// Groups and users; above this size `certify` examines `tree` only on request. The work of running the filling once
/// more grows with their square and with the digits of its numbers, and a checker gives up after a minute.
const MOST_NODES: usize = 300;

/// Whether the axiom belongs to the usual ones.
pub fn is_short(problem: &Problem) -> bool {
    problem.groups().list().len() + problem.n_users() <= MOST_NODES
}

/// The evidence of yes and of no.
pub fn filling(problem: &Problem) -> Result<Evidence, Undecided> {
    tree::filling(problem).map_err(|error| match error {
        MechanismError::Solver { source, .. } => source.into(),
        error => Undecided::Mechanism(error.to_string()),
    })
}

/// Whether the tasks are those of the filling.
pub fn claim(instance: &Instance<'_>, tolerance: &Rational, optima: &Optima) -> Result<Claim, Undecided> {
    let evidence = optima.filling(instance.problem())?;
    Ok(Claim::with_evidence(Axiom::Tree, None, evidence, instance, tolerance)?)
}
