//! What all share-based mechanisms do: the weighted lexicographic maximum of one share.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_lp::level::{LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::mechanism::{Info, MechanismError, Outcome};
use crate::rounding;

/// The axiom of such allocations.
pub fn axiom(share: Share) -> Option<(Axiom, Parameters)> {
    Some((Axiom::MaxMin, Parameters::from(Some(share))))
}

/// The weighted lexicographic max-min allocation of `share` (THEORY, section 2).
pub fn allocate(
    info: &Info,
    share: Share,
    problem: &Problem,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    let not_applicable = |why: String| MechanismError::NotApplicable { mechanism: info.id, why };
    let coefficients = share.coefficients(problem).map_err(|error| not_applicable(error.to_string()))?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let settings = Settings::default();
    let solver = |source| MechanismError::Solver { mechanism: info.id, source };
    Ok(match arithmetic {
        Arithmetic::Exact => {
            outcome(info, lexicographic(&constraints, &coefficients, &settings).map_err(solver)?)
        }
        Arithmetic::Float => {
            let optimum = lexicographic_float(&constraints, &coefficients, &settings).map_err(solver)?;
            let LexicographicOptimum { tasks, duals, rounds, solves, pivots } = optimum;
            let tasks = rounding::feasible(&constraints, tasks);
            let exact = LexicographicOptimum { tasks, duals, rounds, solves, pivots };
            let mut outcome = outcome(info, exact);
            outcome.allocation.arithmetic = Arithmetic::Float;
            outcome
        }
    })
}

fn outcome(info: &Info, optimum: LexicographicOptimum<Rational>) -> Outcome {
    let allocation = Allocation {
        mechanism: Some(info.id.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: optimum.tasks,
        ..Allocation::default()
    };
    Outcome {
        rounds: optimum.rounds,
        programmes: optimum.solves,
        pivots: optimum.pivots,
        ..Outcome::of(allocation)
    }
}
