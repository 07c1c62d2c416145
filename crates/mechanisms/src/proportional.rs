//! What proves, or refutes, that an allocation maximises a sum of utilities: prices with their exact
//! gap, or an allocation with a larger sum.

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, has_nothing, lift_prices, worth};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Parameters, Prices, ShareCoefficients};
use evenhand_lp::njc::{Face, Tasks, Witness, entitlements};
use evenhand_lp::weighted_sum::{SumGoal, maximise_sum, maximise_sum_float};
use evenhand_ode::cluster;
use evenhand_problem::number::from_f64;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Sharing};

use crate::fair_sum::{self, FairPoint, near};
use crate::mechanism::{Findings, Status};
use crate::njc::{face, lift::lift};
use crate::rounding;

/// The prices of `point` as evidence about `allocation`, with the gap that they prove.
pub fn findings(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Findings {
    let proven = Instance::new(problem, allocation).ok().and_then(|instance| {
        let prices = prices_of(&instance, alpha, share, point)?;
        let gap = gap(&instance, alpha, share, &prices).ok()?;
        let is_small = gap <= spent(instance.constraints(), &prices) * Rational::from(SOLVED);
        Some((prices, gap, is_small))
    });
    // What is not proven is not solved.
    let is_proven = proven.as_ref().is_some_and(|(_, _, is_small)| *is_small);
    let (prices, gap) = proven.map(|(prices, gap, _)| (prices, gap)).unzip();
    let status = match point.status {
        cluster::Status::Solved if is_proven => Status::Solved,
        _ => Status::Limit,
    };
    Findings { prices, gap, status: Some(status), iterations: Some(point.iterations), ..Findings::default() }
}

/// Gap, as a part of all that is worth its price, up to which an answer counts as solved.
const SOLVED: (u32, u32) = (1, 1_000_000);

/// The prices of `point`, if they prove the allocation to be close to the optimum.
pub fn proving(instance: &Instance<'_>, alpha: &Rational, point: &FairPoint) -> Option<Prices> {
    let prices = prices_of(instance, alpha, None, point)?;
    let gap = gap(instance, alpha, None, &prices).ok()?;
    (gap <= spent(instance.constraints(), &prices) * Rational::from(SOLVED)).then_some(prices)
}

/// What the capacities and the task limits are worth at `prices`.
fn spent(constraints: &Constraints<'_>, prices: &Prices) -> Rational {
    let rows = constraints.rows().iter().zip(&prices.rows);
    let rows = rows.map(|(row, price)| Rational::from(&row.capacity * price));
    let users = constraints.problem().users().iter().zip(&prices.users);
    let users = users.filter_map(|(user, price)| Some(Rational::from(user.tasks()? * price)));
    rows.sum::<Rational>() + users.sum::<Rational>()
}

/// An exact allocation near `point` whose saturated rows are saturated exactly, with exactly all tasks
/// for those that have them; `None` where there is none, or it does not fit.
pub fn tight(constraints: &Constraints<'_>, point: &FairPoint) -> Option<Tasks> {
    let entitlements = entitlements(constraints);
    let rows = constraints.rows().iter().enumerate();
    let saturated = rows.filter(|(row, at)| point.row_slack[*row] < SATURATED && !at.capacity.is_zero());
    let bottlenecks: Vec<usize> = saturated.map(|(row, _)| row).collect();
    let satisfied = |slack: &f64| (*slack < SATURATED).then_some(Witness::Satisfied);
    let witnesses = point.user_slack.iter().map(satisfied).collect();
    let face = face::read(constraints, point, &entitlements, SATURATED);
    let face = face.unwrap_or(Face { bottlenecks, witnesses });
    let rounded = |value| from_f64(value).unwrap_or_default();
    let tasks = lift(constraints, point, &face, &entitlements, rounded)?;
    let allocation = Allocation { sharing: Sharing::Rdm, tasks, ..Allocation::default() };
    let instance = Instance::new(constraints.problem(), &allocation).ok()?;
    let fits = feasible::tightest(&instance).is_none_or(|(_, margin)| margin >= 0);
    fits.then_some(allocation.tasks)
}

/// Part of a row or of a limit that counts as nothing left.
const SATURATED: f64 = 1e-8;

/// Prices of many digits as evidence about `allocation`, with the gap that they prove.
pub fn of_prices(
    problem: &Problem,
    allocation: &Allocation,
    row_prices: &[Rational],
    user_prices: &[Rational],
) -> Findings {
    let one = Rational::from(1);
    let proven = Instance::new(problem, allocation).ok().and_then(|instance| {
        let prices = lift_prices(&instance, &one, None, row_prices, user_prices)?;
        let gap = gap(&instance, &one, None, &prices).ok()?;
        Some((prices, gap))
    });
    let (prices, gap) = proven.unzip();
    Findings { prices, gap, status: Some(Status::Solved), ..Findings::default() }
}

/// The prices of `point`, raised where rounding has left them too low.
pub fn prices_of(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Option<Prices> {
    let exact = |prices: &[f64]| prices.iter().map(|p| from_f64(*p)).collect::<Option<Vec<Rational>>>();
    lift_prices(instance, alpha, share, &exact(&point.row_prices)?, &exact(&point.user_prices)?)
}

/// Whether the allocation is proportionally (or alpha) fair within the tolerance.
///
/// Prices of a floating-point optimum prove most allocations that are, an allocation that the
/// floating-point programme finds refutes most that are not; where neither decides, the exact
/// programme does: its value is the least gap there is.
///
/// # Errors
/// What was tried, in words.
pub fn claim(
    instance: &Instance<'_>,
    parameters: &Parameters,
    tolerance: &Rational,
) -> Result<Claim, String> {
    let judge = |evidence| {
        Claim::with_evidence(Axiom::Proportional, parameters.clone(), evidence, instance, tolerance)
    };
    let problem = instance.problem();
    let alpha = parameters.alpha.clone().unwrap_or_else(|| Rational::from(1));
    let share = parameters.share.map(|share| share.coefficients(problem)).transpose();
    let share = share.map_err(|error| error.to_string())?;
    if let Some(user) = (0..problem.n_users()).find(|&n| has_nothing(instance, share.as_ref(), n)) {
        return judge(Evidence::Nothing { user }).map_err(|refusal| refusal.to_string());
    }
    let constraints = instance.constraints();
    if let Ok(point) = fair_sum::maximise(constraints, near(&alpha), share.as_ref()) {
        if let Some(Ok(claim)) =
            prices_of(instance, &alpha, share.as_ref(), &point).map(|prices| judge(Evidence::Prices(prices)))
        {
            return Ok(claim);
        }
        let better = rounding::feasible(constraints, point.tasks());
        if let Ok(claim) = judge(Evidence::Better(better)) {
            return Ok(claim);
        }
    }
    if share.is_some() {
        return Err("neither the prices nor the tasks of the optimum found decide it".to_owned());
    }
    let worth: Vec<Rational> = worth(instance, &alpha, None)
        .map_err(|refusal| refusal.to_string())?
        .into_iter()
        .map(|enclosure| enclosure.map_or_else(Rational::new, |(_, upper)| upper))
        .collect();
    let goal = || SumGoal { worth: &worth, floors: None };
    if let Ok(tasks) = maximise_sum_float(constraints, goal())
        && let Ok(claim) = judge(Evidence::Better(rounding::feasible(constraints, tasks)))
    {
        return Ok(claim);
    }
    let optimum = maximise_sum(constraints, goal()).map_err(|error| error.to_string())?;
    let prices = lift_prices(instance, &alpha, None, &optimum.prices, &optimum.user_prices);
    if let Some(Ok(claim)) = prices.map(|prices| judge(Evidence::Prices(prices))) {
        return Ok(claim);
    }
    judge(Evidence::Better(optimum.tasks))
        .map_err(|refusal| format!("neither proven nor refuted ({refusal})"))
}
