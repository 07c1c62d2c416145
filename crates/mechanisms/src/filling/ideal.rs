//! How far whole tasks stay behind tasks that can be divided.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{Allocation, Arithmetic, Problem};

use super::rule::Score;
use crate::max_min::{DRFH, TSF};
use crate::mechanism::{Integrality, Measure};
use crate::ps_dsf::PS_DSF;

/// Compares `allocation` with the exact divisible allocation of the same score.
pub(super) fn compare(problem: &Problem, allocation: &Allocation, score: Score) -> Integrality {
    let mechanism = match score {
        Score::Drf => &DRFH,
        Score::Tsf => &TSF,
        Score::PsDsf | Score::ResidualPsDsf => &PS_DSF,
    };
    let divisible = mechanism.allocate(problem, Arithmetic::Exact);
    let divisible = divisible.map(|outcome| measure(problem, &outcome.allocation, score));
    Integrality { mechanism: mechanism.info.id, whole: measure(problem, allocation, score), divisible }
}

fn measure(problem: &Problem, allocation: &Allocation, score: Score) -> Measure {
    let share = match score {
        Score::Drf => Some(Share::Dominant),
        Score::Tsf => Some(Share::TaskShare),
        Score::PsDsf | Score::ResidualPsDsf => None,
    };
    let coefficients = share.and_then(|share| share.coefficients(problem).ok());
    let totals = allocation.totals();
    let share = |n: usize| {
        let per_task = match &coefficients {
            Some(coefficients) => coefficients.uniform(n)?.clone(),
            None => problem.total_gamma(n).recip(),
        };
        Some(&totals[n] * per_task / problem.users()[n].weight())
    };
    let least = (0..problem.n_users()).filter(|&n| problem.is_active(n)).filter_map(share).min();
    Measure { least_weighted_share: least, tasks: totals.iter().sum() }
}

/// The axiom of allocations whose tasks are placed whole.
pub(super) fn whole_tasks(allocation: &Allocation) -> Option<(Axiom, Parameters)> {
    let placements = allocation.placements.as_ref()?;
    let is_whole = placements.iter().flat_map(|placement| &placement.tasks).all(|(_, x)| x.is_integer());
    is_whole.then(|| (Axiom::IntegerFeasible, Parameters::default()))
}
