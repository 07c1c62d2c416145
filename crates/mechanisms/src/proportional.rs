//! What proves, or refutes, that an allocation maximises a sum of utilities: prices with their exact
//! gap, or an allocation with a larger sum.

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, has_nothing, lift_prices, total_worth, worth};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Parameters, Prices, ShareCoefficients};
use evenhand_lp::njc::{Face, Tasks, Witness, entitlements};
use evenhand_lp::weighted_sum::{SumGoal, maximise_sum, maximise_sum_float};
use evenhand_problem::number::from_f64;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Sharing};

use crate::fair_sum::polish::polish;
use crate::fair_sum::{self, FairPoint, near};
use crate::fisher;
use crate::mechanism::{Findings, Status};
use crate::njc::{face, onto_face::round_onto};
use crate::rounding::{self, cut};

/// The prices of `point` as evidence about `allocation`, with the gap that they prove.
pub fn findings(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Findings {
    let iterations = Some(point.iterations);
    let nothing_proven = || Findings { status: Some(Status::Limit), iterations, ..Findings::default() };
    let Ok(instance) = Instance::new(problem, allocation) else { return nothing_proven() };
    let proven = prices_of(&instance, alpha, share, point).and_then(|prices| {
        let gap = gap(&instance, alpha, share, &prices).ok()?;
        Some(within(&instance, alpha, share, prices, gap))
    });
    proven.map_or_else(nothing_proven, |findings| Findings { iterations, ..findings })
}

/// A gap that was proven, with the status that it deserves.
pub fn of_proof(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    prices: Prices,
    gap: Rational,
) -> Findings {
    match Instance::new(problem, allocation) {
        Ok(instance) => within(&instance, alpha, None, prices, gap),
        Err(_) => Findings { status: Some(Status::Limit), ..Findings::default() },
    }
}

fn within(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    prices: Prices,
    gap: Rational,
) -> Findings {
    let total = total_worth(instance, alpha, share).unwrap_or_default();
    let relative = if gap.is_zero() { Some(Rational::new()) } else { (total > 0).then(|| &gap / total) };
    // What is not proven is not solved.
    let is_solved = relative.as_ref().is_some_and(|gap| *gap <= Rational::from(SOLVED));
    let status = if is_solved { Status::Solved } else { Status::Limit };
    // All its digits would be as long as the numbers of all users together.
    let relative_gap = relative.map(|gap| if gap.is_zero() { gap } else { cut(&gap, RELATIVE_BITS) });
    Findings {
        prices: Some(prices),
        gap: Some(gap),
        relative_gap,
        status: Some(status),
        ..Findings::default()
    }
}

/// Bits of the relative gap, which is for people and thresholds.
const RELATIVE_BITS: u32 = 64;

/// Gap, as a part of `sum_n w_n x_n^(1-a)`, up to which an answer counts as solved: a tenth of the
/// tolerance with which allocations that are not exact are judged (THEORY, section 7).
pub const SOLVED: (u32, u64) = (1, 10_000_000_000);

/// The prices of `point`, if they prove the allocation to be close to the optimum.
pub fn proving(instance: &Instance<'_>, alpha: &Rational, point: &FairPoint) -> Option<Prices> {
    let prices = prices_of(instance, alpha, None, point)?;
    let gap = gap(instance, alpha, None, &prices).ok()?;
    (gap <= total_worth(instance, alpha, None).ok()? * Rational::from(CLOSE)).then_some(prices)
}

/// Gap, as a part of `sum_n w_n x_n^(1-a)`, up to which prices tell something about an allocation.
const CLOSE: (u32, u32) = (1, 1_000_000);

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
    let tasks = round_onto(constraints, point, &face, &entitlements, rounded)?;
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
    let Ok(instance) = Instance::new(problem, allocation) else { return Findings::default() };
    let proven = lift_prices(&instance, &one, None, row_prices, user_prices).and_then(|prices| {
        let gap = gap(&instance, &one, None, &prices).ok()?;
        Some(within(&instance, &one, None, prices, gap))
    });
    proven.unwrap_or_default()
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
        // Totals and marginal utilities of an optimum are unique: the prices of one prove any other.
        if tolerance.is_zero() && share.is_none() {
            let exact = fisher::best(constraints, &alpha, &point).ok().filter(|found| found.gap.is_zero());
            let exact = exact.or_else(|| polish(constraints, &alpha, &point));
            if let Some(Ok(claim)) = exact.map(|found| judge(Evidence::Prices(found.prices))) {
                return Ok(claim);
            }
        }
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
