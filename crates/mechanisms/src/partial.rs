//! Partial allocation: every user gets a fraction of its proportionally fair tasks, and the rest stays unused.
//!
//! A user that states false demands can gain under proportional fairness. The mechanism of Cole, Gkatzelis and Goel
//! ("Mechanism design for fair division: allocating divisible items without payments", EC 2013) takes this incentive
//! away: user `n` keeps the fraction
//!
//! $$f_n = \Bigl(\prod_{m \ne n} \bigl(x_m / x_m^{(-n)}\bigr)^{w_m}\Bigr)^{1/w_n}$$
//!
//! of its tasks `x_n`, where `x^(-n)` is the proportionally fair allocation of the cluster without `n`. The fraction is the
//! harm that `n` does to the other users. It is at least `1/e`.
//!
//! The proportionally fair tasks can be irrational, and so can the root. All bounds are therefore exact lower and upper bounds.
//! The answer uses the lower bounds, so it is feasible.

use evenhand_problem::{Integer, Problem, Rational};
use rug::ops::{DivRounding, Pow};

use crate::error::MechanismError;
use crate::fair_sum::polish::DIGITS;
use crate::mechanism::Outcome;
use crate::rounding::digits_below;

/// The bits of the bounds of a factor and of a root, which are more than 30 decimal digits.
const BITS: u32 = 128;
/// The largest number of bits of a product of powers.
const MOST_BITS: u64 = 10_000_000;

/// A lower and an upper bound.
pub type Bounds = (Rational, Rational);

/// Reduces a proportionally fair answer. `solve` computes the proportionally fair answer of a problem.
///
/// # Errors
/// Returns [`MechanismError::NotApplicable`] if the quotients of the weights need powers that are too large, and the errors of
/// `solve`.
pub fn reduce(
    mechanism: &'static str,
    problem: &Problem,
    mut outcome: Outcome,
    solve: impl Fn(&Problem) -> Result<Outcome, MechanismError>,
) -> Result<Outcome, MechanismError> {
    let active: Vec<usize> = (0..problem.n_users()).filter(|n| problem.is_active(*n)).collect();
    let all = totals(problem, &active, &outcome).ok_or_else(|| unproven(mechanism))?;
    let mut fractions = vec![(Rational::from(1), Rational::from(1)); problem.n_users()];
    for &n in active.iter().filter(|_| active.len() > 1) {
        let others: Vec<usize> = active.iter().copied().filter(|m| *m != n).collect();
        let without = solve(&problem.without_tasks_of(&[n]))?;
        let alone = totals(problem, &others, &without).ok_or_else(|| unproven(mechanism))?;
        let quotients = others.iter().map(|m| {
            let (with, without) = (&all[*m], &alone[*m]);
            (*m, (Rational::from(&with.0 / &without.1), Rational::from(&with.1 / &without.0)))
        });
        let too_large = || MechanismError::NotApplicable {
            mechanism,
            why: "the quotients of the weights are too long for --partial".to_owned(),
        };
        fractions[n] = fraction(problem, n, quotients.collect()).ok_or_else(too_large)?;
    }
    for (tasks, (least, most)) in outcome.allocation.tasks.iter_mut().zip(&fractions) {
        for (_, x) in tasks.iter_mut() {
            *x *= least;
            if least != most && *x > 0 {
                *x = digits_below(x, DIGITS);
            }
        }
    }
    outcome.findings.prices = None;
    outcome.findings.gap = None;
    outcome.findings.relative_gap = None;
    outcome.findings.fractions = Some(fractions);
    Ok(outcome)
}

fn unproven(mechanism: &'static str) -> MechanismError {
    let why = "no proven bounds of the proportionally fair tasks".to_owned();
    MechanismError::NotFound { mechanism, why }
}

/// Returns bounds of the tasks of these users in the exact optimum, indexed by user. Returns `None` if the answer has no
/// proven gap.
///
/// For an answer `x` with the gap `eps` and the optimum `y`, `sum_m w_m (t_m - 1 - log t_m) <= eps` with `t_m = y_m / x_m`,
/// because the sum of `w_m log t_m` is at least 0. For `t = 1 - d` the bracket is at least `d^2 / 2`, and for `t = 1 + d`
/// with `d <= 1` it is at least `d^2 / 6`.
fn totals(problem: &Problem, users: &[usize], outcome: &Outcome) -> Option<Vec<Bounds>> {
    let gap = outcome.findings.gap.clone()?;
    let totals = outcome.allocation.totals();
    let mut bounds = vec![(Rational::new(), Rational::new()); problem.n_users()];
    for &n in users {
        let distance = |factor: u32| {
            let square = Rational::from(&gap * factor) / problem.users()[n].weight();
            root(&square, 2).map(|(_, above)| above)
        };
        let (below, above) = (distance(2)?, distance(6)?);
        if below >= 1 || above > 1 || totals[n] <= 0 {
            return None;
        }
        bounds[n] = (&totals[n] * (1 - below), &totals[n] * (1 + above));
    }
    Some(bounds)
}

/// Returns bounds of `f_n`, at most 1. Returns `None` if the powers are too large.
fn fraction(problem: &Problem, n: usize, quotients: Vec<(usize, Bounds)>) -> Option<Bounds> {
    let weight = |m: usize| problem.users()[m].weight();
    let mut scale = weight(n).denom().clone();
    quotients.iter().for_each(|(m, _)| scale.lcm_mut(weight(*m).denom()));
    let exponent = |m: usize| Rational::from(weight(m) * &scale).numer().to_u32();
    let mut powers = Vec::new();
    let mut divisor = exponent(n)?;
    for (m, quotient) in quotients {
        let power = exponent(m)?;
        divisor = Integer::from(divisor).gcd(&Integer::from(power)).to_u32()?;
        powers.push((power, quotient));
    }
    let (mut least, mut most) = (Rational::from(1), Rational::from(1));
    for (power, (low, high)) in powers {
        let power = power / divisor;
        let bits =
            |value: &Rational| u64::from(value.numer().significant_bits() + value.denom().significant_bits());
        let product = bits(&least) + bits(&most) + u64::from(power) * (bits(&low) + bits(&high));
        evenhand_budget::charge(product, "the powers of a partial allocation");
        if product > MOST_BITS {
            return None;
        }
        least *= low.pow(power);
        most *= high.pow(power);
    }
    let degree = exponent(n)? / divisor;
    let (low, high) = (root(&least, degree)?.0, root(&most, degree)?.1);
    Some((low.min(Rational::from(1)), high.min(Rational::from(1))))
}

/// Returns bounds of a root, which are equal if the root is rational. Returns `None` for a degree of 0.
fn root(value: &Rational, degree: u32) -> Option<Bounds> {
    if value.is_zero() {
        return Some((Rational::new(), Rational::new()));
    }
    let exact = |n: &Integer| {
        let root = Integer::from(n.root_ref(degree));
        (Integer::from((&root).pow(degree)) == *n).then_some(root)
    };
    if degree == 0 {
        return None;
    }
    if let (Some(above), Some(below)) = (exact(value.numer()), exact(value.denom())) {
        let root = Rational::from((above, below));
        return Some((root.clone(), root));
    }
    let size = i64::from(value.numer().significant_bits()) - i64::from(value.denom().significant_bits());
    let shift = i64::from(BITS) - size / i64::from(degree);
    let shift = u32::try_from(shift.max(1)).ok()?;
    let scaled = (Integer::from(value.numer()) << shift.checked_mul(degree)?).div_floor(value.denom());
    let below = Integer::from(scaled.root_ref(degree));
    let unit = Integer::from(1) << shift;
    Some((Rational::from((below.clone(), unit.clone())), Rational::from((below + 1, unit))))
}
