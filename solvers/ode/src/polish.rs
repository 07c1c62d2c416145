//! The limit of the path to many digits: Newton's method in MPFR.
//!
//! Starts from the prices that [`crate::path::follow`] found, and solves the same equations: the
//! resources whose price exceeds their slack are used up, the others have price 0, and every user
//! takes `x_i = min(cap_i, e_i / sum_j p_j r_ij)`. The working precision doubles with every step,
//! as the number of correct digits does.
//!
//! The limit is algebraic but in general irrational, so a number of digits is all that can be had.

mod newton;

use rug::{Float, Rational};
use thiserror::Error;

use crate::path::PathResult;
use newton::Equations;

/// Digits at most.
pub const MOST_DIGITS: u32 = 10_000;
/// Bits of the working precision beyond the digits asked for.
const GUARD_BITS: u32 = 96;

/// The limit to the digits asked for. All numbers are binary fractions, except for caps.
#[derive(Debug, Clone, PartialEq)]
pub struct Polished {
    /// Fraction of its request that each user gets; exactly the cap where the cap binds.
    pub x: Vec<Rational>,
    /// Price of each resource, in units of entitlement per capacity, not negative.
    pub prices: Vec<Rational>,
    /// Price of each user's cap, in units of entitlement, not negative.
    pub user_prices: Vec<Rational>,
    /// Digits: the residual is below `10^-digits`. As [`PathResult::residual`], evaluated on the
    /// numbers returned with more bits than they have.
    pub digits: u32,
    /// Newton steps taken.
    pub steps: usize,
}

/// Why there are no more digits.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PolishError {
    /// A vector of another length than the users and resources ask for.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Length that fits.
        expected: usize,
        /// Length given.
        found: usize,
    },
    /// No digits, or more than [`MOST_DIGITS`].
    #[error("{0} digits: between 1 and {MOST_DIGITS} can be asked for")]
    Digits(u32),
    /// A negative request, or an entitlement or cap that is not positive.
    #[error("user {user}: a request is negative, or the entitlement or cap not positive")]
    Sign {
        /// Index of the user.
        user: usize,
    },
    /// A user without a cap that pays nothing: the starting prices are not those of this problem.
    #[error("user {user} has no cap and pays nothing at the starting prices")]
    Unbounded {
        /// Index of the user.
        user: usize,
    },
    /// The bottlenecks depend on each other, and not in a way that leaves some of them to the
    /// starting prices.
    #[error("the bottlenecks {resources:?} depend on each other")]
    Degenerate {
        /// Indices of the resources.
        resources: Vec<usize>,
    },
    /// Newton's method did not reach the digits: the starting point is too far, or the active set
    /// is degenerate.
    #[error("no convergence to {digits} digits after {steps} steps: the residual is about 1e{exponent}")]
    NoConvergence {
        /// Digits asked for.
        digits: u32,
        /// Newton steps taken.
        steps: usize,
        /// Decimal exponent of the residual.
        exponent: i64,
    },
}

/// Refines the end of a path to `digits` decimal digits.
///
/// `requests` is `users x resources`, in units of the resource's capacity; `entitlements` are
/// positive, in the unit that was used for `start`; a cap is positive, `None` if there is none.
///
/// Where bottlenecks depend on each other exactly, prices are not unique: those of `start` are
/// kept for as many of them as necessary. `x` is unique all the same.
///
/// # Errors
/// Input that does not fit, and [`PolishError::Degenerate`] or [`PolishError::NoConvergence`] if
/// Newton's method does not get there; a result is never returned unverified.
pub fn polish(
    requests: &[Vec<Rational>],
    entitlements: &[Rational],
    caps: &[Option<Rational>],
    start: &PathResult,
    digits: u32,
) -> Result<Polished, PolishError> {
    check(requests, entitlements, caps, start, digits)?;
    let full = precision_of(digits);
    let equations = Equations::new(requests, entitlements, caps);
    let (prices, steps) = newton::solve(&equations, &start.prices, digits, full)?;
    let prices: Vec<Rational> = prices.iter().map(exact).collect();
    let answers = equations.answers(&prices, full)?;
    let residual = equations.residual(&prices, &answers, full + GUARD_BITS);
    if !below(&residual, digits) {
        return Err(PolishError::NoConvergence { digits, steps, exponent: decimal_exponent(&residual) });
    }
    let (x, user_prices) = answers.into_iter().unzip();
    Ok(Polished { x, prices, user_prices, digits, steps })
}

fn check(
    requests: &[Vec<Rational>],
    entitlements: &[Rational],
    caps: &[Option<Rational>],
    start: &PathResult,
    digits: u32,
) -> Result<(), PolishError> {
    let length = |what, expected, found| {
        if expected == found { Ok(()) } else { Err(PolishError::Length { what, expected, found }) }
    };
    length("entitlements", requests.len(), entitlements.len())?;
    length("caps", requests.len(), caps.len())?;
    for row in requests {
        length("requests", start.prices.len(), row.len())?;
    }
    if digits == 0 || digits > MOST_DIGITS {
        return Err(PolishError::Digits(digits));
    }
    for (user, row) in requests.iter().enumerate() {
        let cap_is_fine = caps[user].as_ref().is_none_or(|cap| *cap > 0);
        if row.iter().any(|r| *r < 0) || entitlements[user] <= 0 || !cap_is_fine {
            return Err(PolishError::Sign { user });
        }
    }
    Ok(())
}

/// Bits for the given decimal digits.
fn precision_of(digits: u32) -> u32 {
    (f64::from(digits) * std::f64::consts::LOG2_10).ceil() as u32 + GUARD_BITS
}

/// The value of a finite number; 0 for others, which do not occur.
fn exact(value: &Float) -> Rational {
    value.to_rational().unwrap_or_default()
}

/// Whether a number is below `10^-digits`.
fn below(value: &Float, digits: u32) -> bool {
    let bound = Float::with_val(128, Float::u_pow_u(10, digits)).recip();
    value.is_finite() && *value < bound
}

/// The exponent of a number as a power of ten, rounded up; 0 if it is not finite.
fn decimal_exponent(value: &Float) -> i64 {
    match value.get_exp() {
        Some(binary) => (f64::from(binary) * std::f64::consts::LOG10_2).ceil() as i64,
        None => 0,
    }
}
