//! What all share-based mechanisms do: the weighted lexicographic maximum of one share.
//!
//! With a time after which exact work ends ([`SECONDS`]) the answer may be an interval for each level: an allocation
//! that is feasible exactly, and bounds that hold for the lexicographic maximum.

use std::time::Instant;

use evenhand_exact::{Axiom, Parameters, Share, Tasks};
use evenhand_lp::level::{
    LevelIntervals, LexicographicOptimum, Settings, Within, lexicographic, lexicographic_float,
    lexicographic_within,
};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::flags::{Flags, SECONDS};
use crate::mechanism::{Info, Intervals, MechanismError, Outcome, Status};
use crate::rounding;

/// The widest interval that counts as an answer, in parts of what the user would have with everything to itself.
const WIDEST: (u32, u32) = (1, 1_000_000_000);

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
            exact(info, lexicographic(&constraints, &coefficients, &settings).map_err(solver)?)
        }
        Arithmetic::Float => {
            let optimum = lexicographic_float(&constraints, &coefficients, &settings).map_err(solver)?;
            let LexicographicOptimum { tasks, rounds, solves, pivots, .. } = optimum;
            let tasks = rounding::feasible(&constraints, tasks);
            let mut outcome = outcome(info, tasks, rounds, solves);
            outcome.pivots = pivots;
            outcome.allocation.arithmetic = Arithmetic::Float;
            outcome
        }
    })
}

/// [`allocate`] with what the flags say.
pub fn allocate_with(
    info: &Info,
    share: Share,
    problem: &Problem,
    flags: &Flags,
) -> Result<Outcome, MechanismError> {
    let Some(budget) = flags.seconds()? else {
        return allocate(info, share, problem, flags.arithmetic);
    };
    if flags.arithmetic == Arithmetic::Float {
        let why = "doubles prove no bounds: leave --float out".to_owned();
        return Err(MechanismError::Unreadable { option: SECONDS.name, why });
    }
    let not_applicable = |why: String| MechanismError::NotApplicable { mechanism: info.id, why };
    let coefficients = share.coefficients(problem).map_err(|error| not_applicable(error.to_string()))?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    // A time beyond all clocks is none.
    let settings = Settings { until: Instant::now().checked_add(budget), ..Settings::default() };
    Ok(match lexicographic_within(&constraints, &coefficients, &settings) {
        Within::Exact(optimum) => exact(info, optimum),
        Within::Between(found) => intervals(info, found),
    })
}

fn intervals(info: &Info, found: LevelIntervals) -> Outcome {
    let width = found.width();
    let status = if width <= Rational::from(WIDEST) { Status::Interval } else { Status::Limit };
    let LevelIntervals { tasks, levels, rounds, solves, .. } = found;
    let mut outcome = outcome(info, tasks, rounds, solves);
    outcome.findings.status = Some(status);
    outcome.findings.intervals = Some(Intervals { levels, width });
    outcome
}

fn exact(info: &Info, optimum: LexicographicOptimum<Rational>) -> Outcome {
    let mut outcome = outcome(info, optimum.tasks, optimum.rounds, optimum.solves);
    outcome.pivots = optimum.pivots;
    outcome.findings.levels = Some(optimum.duals);
    outcome
}

fn outcome(info: &Info, tasks: Tasks, rounds: usize, programmes: usize) -> Outcome {
    let mechanism = Some(info.id.to_owned());
    let allocation = Allocation { mechanism, arithmetic: Arithmetic::Exact, tasks, ..Allocation::default() };
    Outcome { rounds, programmes, ..Outcome::of(allocation) }
}
