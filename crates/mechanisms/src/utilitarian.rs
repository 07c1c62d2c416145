//! The utilitarian optimum: the maximum of the weighted number of tasks, whichever users run them.
//!
//! The mechanism maximises `sum_n w_n x_n` (Kesidis, equations 2 and 18). This sum measures efficiency, not
//! fairness: users with large tasks may get nothing. The price of fairness of another allocation is the ratio
//! of this optimum to the sum `sum_n w_n x_n` of that allocation.

use evenhand_exact::Axiom::{ParetoOptimal, WorkConserving};
use evenhand_exact::LimitRows;
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum, maximise_sum_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::SECONDS;
use crate::guarantees::Condition::Always;
use crate::max_min::only_exact;
use crate::mechanism::{Info, Late, Mechanism, Outcome};
use crate::rounding;

/// The mechanism that maximises the weighted number of tasks.
pub static UTILITARIAN: Mechanism = Mechanism {
    info: &Info {
        id: "utilitarian",
        aliases: &[],
        title: "Utilitarian optimum",
        equalises: "nothing; maximises sum_n w_n x_n",
        guarantees: "Pareto optimal; the most weighted tasks of all allocations",
        reference: "Kesidis, equations 2 and 18",
    },
    proven: &[(Always, &[ParetoOptimal, WorkConserving])],
    flags: &[SECONDS],
    axiom: |_| None,
    equals: |_| Ok(Equals::OfOneWeight),
    joins: true,
    late: Late::Doubles,
    solve: |problem, flags| allocate(problem, flags.arithmetic),
};

/// Computes an allocation with the maximum weighted number of tasks.
///
/// # Errors
/// Returns [`MechanismError::Solver`] if the solver fails.
pub fn allocate(problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let worth: Vec<Rational> = problem.users().iter().map(|u| u.weight().clone()).collect();
    let limits = problem.has_at_most().then(|| LimitRows::new(problem, &Vec::new()));
    if limits.is_some() && arithmetic == Arithmetic::Float {
        return Err(only_exact(UTILITARIAN.info));
    }
    let goal = SumGoal { limits: limits.as_ref(), ..SumGoal::of(&worth) };
    let solver = |source| MechanismError::Solver { mechanism: UTILITARIAN.info.id, source };
    let (tasks, pivots) = match arithmetic {
        Arithmetic::Exact => {
            let optimum = maximise_sum(&constraints, goal).map_err(solver)?;
            (optimum.tasks, optimum.pivots)
        }
        Arithmetic::Float => {
            let tasks = maximise_sum_float(&constraints, goal).map_err(solver)?;
            (rounding::feasible(&constraints, tasks), 0)
        }
    };
    let mechanism = Some(UTILITARIAN.info.id.to_owned());
    let allocation = Allocation { mechanism, arithmetic, tasks, ..Allocation::default() };
    Ok(Outcome { programmes: 1, pivots, ..Outcome::of(allocation) })
}
