//! Proofs that an allocation maximises a sum of utilities: prices and the exact gap that they imply.

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, lift_prices, total_worth};
use evenhand_exact::{Instance, Prices, ShareCoefficients};
use evenhand_levels::njc::{Face, Tasks, Witness, entitlements};
use evenhand_problem::number::from_f64;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Sharing};

use crate::fair_sum::FairPoint;
use crate::mechanism::{Findings, Status};
use crate::njc::face::{read_face, round_onto};
use crate::rounding::cut;

/// Returns the prices of `point` as evidence about `allocation`, with the gap that they prove.
pub fn findings(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Findings {
    let proven = Instance::new(problem, allocation).ok();
    let proven = proven.map(|instance| findings_of(&instance, alpha, share, point));
    let iterations = Some(point.iterations);
    proven.unwrap_or_else(|| Findings { status: Some(Status::Limit), iterations, ..Findings::default() })
}

/// Returns the prices of `point` as [`findings`] does, for an allocation whose instance is already prepared.
pub fn findings_of(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Findings {
    let iterations = Some(point.iterations);
    let proven = prices_of(instance, alpha, share, point).and_then(|prices| {
        let gap = gap(instance, alpha, share, &prices).ok()?;
        Some(within(instance, alpha, share, prices, gap))
    });
    let nothing = || Findings { status: Some(Status::Limit), ..Findings::default() };
    Findings { iterations, ..proven.unwrap_or_else(nothing) }
}

/// Returns the prices and the gap as [`findings`] does, from exact prices near the prices of the optimum.
pub fn findings_at(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    prices: &Prices,
) -> Findings {
    let proven = Instance::new(problem, allocation).ok().and_then(|instance| {
        let prices = lift_prices(&instance, alpha, share, &prices.rows, &prices.users)?;
        let gap = gap(&instance, alpha, share, &prices).ok()?;
        Some(within(&instance, alpha, share, prices, gap))
    });
    proven.unwrap_or_else(|| Findings { status: Some(Status::Limit), ..Findings::default() })
}

/// Returns findings with a gap that was already proven, and the status that follows from its size.
pub fn findings_of_proof(
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
    // An answer counts as solved only if its gap is proven to be small.
    let is_solved = relative.as_ref().is_some_and(|gap| *gap <= Rational::from(SOLVED));
    let status = if is_solved { Status::Solved } else { Status::Limit };
    // The exact quotient would have as many digits as the numbers of all users together.
    let relative_gap = relative.map(|gap| if gap.is_zero() { gap } else { cut(&gap, RELATIVE_BITS) });
    Findings {
        prices: Some(prices),
        gap: Some(gap),
        relative_gap,
        status: Some(status),
        ..Findings::default()
    }
}

/// The bits of the relative gap, which only people and thresholds use.
const RELATIVE_BITS: u32 = 64;

/// The largest gap, as a fraction of `sum_n w_n x_n^(1-a)`, of an answer that counts as solved. It is a tenth of the
/// tolerance by which inexact allocations are judged (docs/theory.md, section 7).
pub const SOLVED: (u32, u64) = (1, 10_000_000_000);

/// Computes an exact feasible allocation near `point`, or `None` if the rounding fails.
///
/// Rows that `point` saturates are saturated exactly, and users that have nearly all their tasks get exactly all of
/// them.
pub fn tight<'p>(
    constraints: &Constraints<'p>,
    sharing: Sharing,
    point: &FairPoint,
) -> Option<(Tasks, Instance<'p>)> {
    let entitlements = entitlements(constraints);
    let rows = constraints.rows().iter().enumerate();
    let saturated = rows.filter(|(row, at)| point.row_slack[*row] < SATURATED && !at.capacity.is_zero());
    let bottlenecks: Vec<usize> = saturated.map(|(row, _)| row).collect();
    let satisfied = |slack: &f64| (*slack < SATURATED).then_some(Witness::Satisfied);
    let witnesses = point.user_slack.iter().map(satisfied).collect();
    let face = read_face(constraints, point, &entitlements, SATURATED);
    let face = face.unwrap_or(Face { bottlenecks, witnesses });
    let rounded = |value| from_f64(value).unwrap_or_default();
    let tasks = round_onto(constraints, point, &face, &entitlements, rounded)?;
    let allocation = Allocation { sharing, tasks, ..Allocation::default() };
    let instance = Instance::new(constraints.problem(), &allocation).ok()?;
    feasible::holds_exactly(&instance).then_some((allocation.tasks, instance))
}

/// The fraction of a row or of a task limit below which the remainder counts as zero.
const SATURATED: f64 = 1e-8;

/// Returns the prices of `point`, raised if rounding made them too low.
pub fn prices_of(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    point: &FairPoint,
) -> Option<Prices> {
    let exact = |prices: &[f64]| prices.iter().map(|p| from_f64(*p)).collect::<Option<Vec<Rational>>>();
    lift_prices(instance, alpha, share, &exact(&point.row_prices)?, &exact(&point.user_prices)?)
}
