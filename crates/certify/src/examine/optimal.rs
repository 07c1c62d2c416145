//! The claims that no envy-free allocation, or no allocation with equal tasks over weight, has more tasks in total. The
//! linear programme of OEF decides: its prices prove the claim, and its optimum refutes it.

use evenhand_exact::{Axiom, Claim, Evidence, Instance};
use evenhand_mechanisms::MechanismError;
use evenhand_mechanisms::oef::{Variant, proof};
use evenhand_problem::Rational;

use super::Undecided;

/// Returns the claim about the axiom `optimal-envy-free` or `optimal-equal`.
pub fn claim(instance: &Instance<'_>, axiom: Axiom, tolerance: &Rational) -> Result<Claim, Undecided> {
    let variant = if axiom == Axiom::OptimalEqual { Variant::Equal } else { Variant::EnvyFree };
    let judge = |evidence| Claim::with_evidence(axiom, None, evidence, instance, tolerance);
    let proof = proof(instance.constraints(), variant).map_err(|error| match error {
        MechanismError::Solver { source, .. } => source.into(),
        error => Undecided::Mechanism(error.to_string()),
    })?;
    judge(proof.prices).or_else(|refusal| {
        judge(Evidence::Better(proof.tasks)).map_err(|better| Undecided::Neither {
            proof: refusal.to_string(),
            refutation: better.to_string(),
        })
    })
}
