//! The exact answer, to as many digits as a comparison can need.
//!
//! The Eisenberg-Gale point is algebraic but in general irrational (THEORY, fact 4), so the reference
//! is a rational point with a proof of how near it is. Newton's method in rationals, rounded to
//! 512 bits after every step, solves the equations of the bottlenecks for their prices; every
//! user takes `x_i = min(1, e_i / sum_j p_j r_ij)`. The result is scaled until it is feasible, its
//! prices are raised until they prove something, and `evenhand_exact` computes the gap `eps` that
//! they prove: nothing of the way there has to be believed.
//!
//! From the gap to the distance: for feasible `x` and the optimum `y`, the gap says
//! `sum_i e_i (y_i / x_i - 1) <= eps`, and optimality of `y` says `sum_i e_i (x_i / y_i - 1) <= 0`.
//! With `t = y_i / x_i` the sum of both is `sum_i e_i (t - 1)^2 / t <= eps`, in which no term is
//! negative, so with `s = eps / min e` every `|t - 1|` is at most `sqrt(s) + s`.

use evenhand_exact::{Instance, Prices, axiom::proportional};
use evenhand_ode::path::{self, PathSettings};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};
use rug::Integer;
use rug::ops::Pow;
use thiserror::Error;

use super::BenchError;
use super::instances::PoolInstance;
use super::rounding::{eliminate, rounded};

/// A step that changes the prices by less than this many bits of them is the last.
const LAST_CHANGE: u32 = 300;
/// The largest gap of a reference, as a negative power of ten.
pub const MOST_GAP_DIGITS: u32 = 100;
/// Newton steps at most: the correct bits double with each.
const MOST_STEPS: usize = 40;
/// The answer to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Fraction of its request that each user gets; feasible.
    pub x: Vec<Rational>,
    /// By resource, in units of entitlement per capacity.
    pub prices: Vec<Rational>,
    /// By user: price of its limit, in units of entitlement.
    pub user_prices: Vec<Rational>,
    /// The `eps` that the prices prove for `x`, exactly.
    pub gap: Rational,
    /// No `x_i` is further from the optimum than this, relative to `x_i`: a proven bound, rounded
    /// up.
    pub error_bound: f64,
    /// Newton steps taken in rationals.
    pub steps: usize,
}

/// Why there is no reference.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// Newton's method did not converge.
    #[error("Newton's method did not converge in {MOST_STEPS} steps")]
    NoConvergence,
    /// A user pays nothing and has no limit, or the equations contradict each other.
    #[error("the equations of the bottlenecks have no solution")]
    Singular,
    /// The gap that was proven is too large.
    #[error("the proven gap is {0:.1e}, more than 1e-{MOST_GAP_DIGITS}")]
    Gap(f64),
    /// The exact checker refused the prices.
    #[error("the prices prove nothing: {0}")]
    Refused(String),
}

/// The reference of an instance, verified.
///
/// # Errors
/// [`BenchError`] when the instance is no problem or has no reference.
pub fn of(instance: &PoolInstance, problem: &Problem) -> Result<Reference, BenchError> {
    let pool = instance.pool()?;
    let start = path::follow(&pool, &PathSettings::default());
    let failed = |source| BenchError::Reference { instance: instance.name.clone(), source };
    let start: Vec<Rational> = start.prices.iter().map(|&p| exact(p)).collect();
    let (prices, steps) = newton(instance, start).map_err(failed)?;
    let reference = proven(instance, problem, &prices, steps).map_err(failed)?;
    let most = Rational::from((1, Integer::from(10).pow(MOST_GAP_DIGITS)));
    match reference.gap <= most {
        true => Ok(reference),
        false => Err(failed(ReferenceError::Gap(to_f64(&reference.gap)))),
    }
}

/// The value of a finite number.
pub(super) fn exact(value: f64) -> Rational {
    Rational::from_f64(value).unwrap_or_default()
}

/// What user `i` pays for all of its request.
fn paid(request: &[Rational], prices: &[Rational]) -> Rational {
    request.iter().zip(prices).map(|(r, p)| Rational::from(r * p)).sum()
}

/// Use of every resource, less its capacity.
pub(super) fn excess(instance: &PoolInstance, x: &[Rational]) -> Vec<Rational> {
    let mut excess = vec![Rational::from(-1); instance.n_resources()];
    for (request, x) in instance.requests.iter().zip(x) {
        for (excess, r) in excess.iter_mut().zip(request) {
            *excess += Rational::from(r * x);
        }
    }
    excess
}

/// The semismooth Newton method for `min(p_j, slack_j) = 0`, with prices for entitlements of sum 1
/// in the comparison.
fn newton(
    instance: &PoolInstance,
    mut prices: Vec<Rational>,
) -> Result<(Vec<Rational>, usize), ReferenceError> {
    let total: Rational = instance.entitlements.iter().sum();
    let small = Rational::from((1, Integer::from(1) << LAST_CHANGE));
    for steps in 1..=MOST_STEPS {
        let (x, slopes) = respond(instance, &prices)?;
        let excess = excess(instance, &x);
        let is_active: Vec<bool> =
            prices.iter().zip(&excess).map(|(p, e)| Rational::from(p / &total) + e > 0).collect();
        let active: Vec<usize> = (0..prices.len()).filter(|&j| is_active[j]).collect();
        let slope = |j: usize, k: usize| &slopes[j.max(k)][j.min(k)];
        let system = active.iter().map(|&j| {
            // What leaves the bottlenecks loses its price in the same step.
            let idle = (0..prices.len()).filter(|&k| !is_active[k]);
            let rhs = idle.fold(excess[j].clone(), |sum, k| sum + Rational::from(slope(j, k) * &prices[k]));
            let mut row: Vec<Rational> = active.iter().map(|&k| slope(j, k).clone()).collect();
            row.push(rounded(&rhs));
            row
        });
        let change = eliminate(system.collect()).ok_or(ReferenceError::Singular)?;
        let mut greatest = Rational::new();
        let mut next = vec![Rational::new(); prices.len()];
        for (&j, change) in active.iter().zip(&change) {
            next[j] = rounded(&Rational::from(&prices[j] + change)).max(Rational::new());
        }
        for (next, price) in next.iter().zip(&prices) {
            greatest = greatest.max(Rational::from(next - price).abs());
        }
        prices = next;
        if greatest <= Rational::from(&small * &total) {
            return Ok((prices, steps));
        }
    }
    Err(ReferenceError::NoConvergence)
}

/// The lower half of a symmetric matrix, by rows.
type Slopes = Vec<Vec<Rational>>;

/// What users take at these prices, and how the use of every resource falls with every price.
fn respond(instance: &PoolInstance, prices: &[Rational]) -> Result<(Vec<Rational>, Slopes), ReferenceError> {
    let m = prices.len();
    let mut slopes: Vec<Vec<Rational>> = (0..m).map(|j| vec![Rational::new(); j + 1]).collect();
    let mut x = Vec::with_capacity(instance.n_users());
    for (request, entitlement) in instance.requests.iter().zip(&instance.entitlements) {
        let paid = paid(request, prices);
        if paid <= *entitlement {
            x.push(Rational::from(1));
            continue;
        }
        let taken = rounded(&Rational::from(entitlement / &paid));
        let slope = rounded(&Rational::from(&taken / &paid));
        for (j, row) in slopes.iter_mut().enumerate().filter(|(j, _)| !request[*j].is_zero()) {
            let weighted = Rational::from(&slope * &request[j]);
            for (sum, r) in row.iter_mut().zip(request) {
                *sum += Rational::from(&weighted * r);
            }
        }
        x.push(taken);
    }
    for sum in slopes.iter_mut().flatten() {
        *sum = rounded(sum);
    }
    Ok((x, slopes))
}

/// A feasible point near the prices, and what they prove of it.
fn proven(
    instance: &PoolInstance,
    problem: &Problem,
    prices: &[Rational],
    steps: usize,
) -> Result<Reference, ReferenceError> {
    let (mut x, _) = respond(instance, prices)?;
    let most = excess(instance, &x).into_iter().max().unwrap_or_default();
    if most > 0 {
        let part = Rational::from(1) / (most + 1u32);
        for x in &mut x {
            *x *= &part;
        }
    }
    let worth: Vec<Rational> =
        instance.entitlements.iter().zip(&x).map(|(e, x)| Rational::from(e / x)).collect();
    // Who gets less than all must pay what its tasks are worth: one factor for all prices.
    let mut factor = Rational::from(1);
    let limit = Rational::from(1) - Rational::from((1, Integer::from(1) << LAST_CHANGE));
    for ((request, worth), x) in instance.requests.iter().zip(&worth).zip(&x) {
        let paid = paid(request, prices);
        if *x < limit && !paid.is_zero() {
            factor = factor.max(worth / paid);
        }
    }
    let prices: Vec<Rational> = prices.iter().map(|p| Rational::from(p * &factor)).collect();
    let missing = instance.requests.iter().zip(&worth);
    let user_prices: Vec<Rational> =
        missing.map(|(request, worth)| (worth - paid(request, &prices)).max(Rational::new())).collect();
    let mut allocation = Allocation::empty(x.len(), Sharing::default());
    for (tasks, x) in allocation.tasks.iter_mut().zip(&x) {
        tasks.push((0, x.clone()));
    }
    let refused = |error: &dyn std::fmt::Display| ReferenceError::Refused(error.to_string());
    let judged = Instance::new(problem, &allocation).map_err(|error| refused(&error))?;
    let evidence = Prices { user_weights: Vec::new(), rows: prices.clone(), users: user_prices.clone() };
    let one = Rational::from(1);
    let gap = proportional::gap(&judged, &one, None, &evidence).map_err(|refusal| refused(&refusal))?;
    let least = instance.entitlements.iter().min().cloned().unwrap_or(one);
    let part = &gap / least;
    // The square root rounded up, and the rest that is far below its last digit.
    let error_bound = (to_f64(&part).sqrt() + to_f64(&part)) * (1.0 + 1e-14) + f64::MIN_POSITIVE;
    Ok(Reference { x, prices, user_prices, gap, error_bound, steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances;

    /// From the value in double precision, where the bound can be compared with the true distance.
    #[test]
    fn the_bound_holds_far_from_the_limit() {
        let mut compared = 0;
        for instance in (0..8).flat_map(instances::all) {
            let problem = instance.problem().unwrap();
            let best = of(&instance, &problem).unwrap();
            for digits in [1u32, 3, 6, 9] {
                let off = Rational::from(1) + Rational::from((1, Integer::from(10).pow(digits)));
                // Every second price is too high.
                let prices = best.prices.iter().enumerate();
                let prices =
                    prices.map(|(j, p)| if j % 2 == 0 { Rational::from(p * &off) } else { p.clone() });
                let prices: Vec<Rational> = prices.collect();
                let rough = proven(&instance, &problem, &prices, 0).unwrap();
                let distance = rough.x.iter().zip(&best.x).map(|(x, y)| (Rational::from(y / x) - 1u32).abs());
                let distance = to_f64(&distance.max().unwrap());
                assert!(distance <= rough.error_bound + best.error_bound, "{}: {distance:e}", instance.name);
                compared += usize::from(distance > 1e-12);
            }
        }
        assert!(compared > 100, "{compared} distances are more than nothing");
    }

    #[test]
    fn dependent_bottlenecks_are_no_obstacle() {
        // The second resource is the first one again: only the sum of both prices is determined.
        let mut instance = instances::three_users();
        for request in &mut instance.requests {
            let first = request[1].clone();
            request.push(first);
        }
        let single = instances::three_users();
        let one = of(&single, &single.problem().unwrap()).unwrap();
        let two = of(&instance, &instance.problem().unwrap()).unwrap();
        for (a, b) in one.x.iter().zip(&two.x) {
            assert!(to_f64(&(Rational::from(a / b) - 1u32).abs()) < 1e-70);
        }
    }
}
