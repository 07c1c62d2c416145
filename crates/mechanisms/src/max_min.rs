//! What all share-based mechanisms do: the weighted lexicographic maximum of one share.

use evenhand_exact::Share;
use evenhand_lp::level::{LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::mechanism::{Info, MechanismError, Outcome};

/// The weighted lexicographic max-min allocation of `share` (THEORY, section 2).
pub fn allocate(
    info: &'static Info,
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
            let tasks = as_written(tasks);
            let exact = LexicographicOptimum { tasks, duals, rounds, solves, pivots };
            let mut outcome = outcome(info, exact);
            outcome.allocation.arithmetic = Arithmetic::Float;
            outcome
        }
    })
}

/// Why `share` is not defined for `problem`, if so.
pub fn applies(share: Share, problem: &Problem) -> Result<(), String> {
    share.coefficients(problem).map(|_| ()).map_err(|error| error.to_string())
}

/// Doubles as the decimals that they are written as.
pub fn as_written(tasks: Vec<Vec<(usize, f64)>>) -> Vec<Vec<(usize, Rational)>> {
    let exact = |value: f64| evenhand_problem::number::from_f64(value).unwrap_or_default();
    tasks.into_iter().map(|list| list.into_iter().map(|(i, x)| (i, exact(x))).collect()).collect()
}

fn outcome(info: &'static Info, optimum: LexicographicOptimum<Rational>) -> Outcome {
    Outcome {
        allocation: Allocation {
            mechanism: Some(info.id.to_owned()),
            sharing: Sharing::Rdm,
            arithmetic: Arithmetic::Exact,
            tasks: optimum.tasks,
        },
        rounds: optimum.rounds,
        programmes: optimum.solves,
        pivots: optimum.pivots,
    }
}
