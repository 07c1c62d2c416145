//! Bounds on the tasks in the optimum of a fair sum, given an allocation near the optimum and its proven gap.
//!
//! Let `x` be feasible with the gap `e`. The optimum `y` of `sum_n w_n g_a(U_n)` satisfies
//! `sum_n w_n (y_n - x_n) / x_n^a <= e`, and because it is optimal, `sum_n w_n (x_n - y_n) / y_n^a <= 0`. The sum of
//! both inequalities is `sum_n w_n (y_n - x_n) (x_n^-a - y_n^-a) <= e`. No summand is negative, so each summand is at
//! most `e`. With `y_n = (1 + d) x_n` and `E = e / (w_n x_n^(1-a))` it follows that `d (1 - (1 + d)^-a) <= E`. By the
//! mean value theorem, `a d^2 <= E` if `d <= 0`, and `a d^2 <= E (1 + t)^(a+1)` if `0 <= d <= t`.

use evenhand_exact::axiom::proportional::{total_worth, worth};
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Parameters, ShareCoefficients};
use evenhand_problem::{Integer, Rational};

/// An interval that contains an unknown number. Both ends are equal if the number is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// The lower end.
    pub at_least: Rational,
    /// The upper end.
    pub at_most: Rational,
}

impl Between {
    /// Returns the interval of a known number.
    #[must_use]
    pub fn known(value: Rational) -> Self {
        Self { at_most: value.clone(), at_least: value }
    }

    /// Returns the number, if it is known.
    #[must_use]
    pub fn exact(&self) -> Option<&Rational> {
        (self.at_least == self.at_most).then_some(&self.at_least)
    }

    /// Returns the interval of the difference of two numbers.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            at_least: Rational::from(&self.at_least - &other.at_most),
            at_most: Rational::from(&self.at_most - &other.at_least),
        }
    }

    /// Returns the interval of a multiple of the number.
    #[must_use]
    pub fn times(&self, factor: u32) -> Self {
        Self {
            at_least: Rational::from(&self.at_least * factor),
            at_most: Rational::from(&self.at_most * factor),
        }
    }

    /// Returns true if the number can be 0.
    #[must_use]
    pub fn can_be_zero(&self) -> bool {
        self.at_least <= 0 && self.at_most >= 0
    }
}

/// The number of bits to which roots are rounded up. The results are short numbers with more digits than are shown.
const ROOT_BITS: u32 = 64;

/// The binary exponents of the numbers `t` that are tried. The least `t` that proves `d <= t` is used.
const EXPONENTS: [i32; 6] = [-32, -16, -8, -3, 0, 4];

/// Returns an interval of each user's tasks in the optimum for `alpha`. Returns `None` if `gap` is too large for
/// bounds, or the numbers are too long. The instance must be feasible and have tasks for every active user. No feasible
/// allocation may gain more than `gap` compared with it.
pub fn optimum(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    gap: &Rational,
) -> Option<Vec<Between>> {
    let totals = (0..instance.problem().n_users()).map(|n| instance.total(n));
    if gap.is_zero() {
        return Some(totals.map(Between::known).collect());
    }
    let worth = worth(instance, alpha, share).ok()?;
    let enclosed = totals.enumerate().map(|(n, tasks)| {
        let Some((least, _)) = &worth[n] else { return Some(Between::known(tasks)) };
        let level = match share {
            None => tasks.clone(),
            Some(share) => Rational::from(share.uniform(n)? * &tasks),
        };
        let (down, up) = relative(&(Rational::from(gap / least) / level), alpha)?;
        let limit = instance.problem().users()[n].tasks();
        let at_most = &tasks * (up + 1u32);
        Some(Between {
            at_least: (Rational::from(1) - down).max(Rational::new()) * tasks,
            at_most: limit.map_or(at_most.clone(), |limit| at_most.min(limit.clone())),
        })
    });
    enclosed.collect()
}

/// Bounds on the tasks of one user that follow from a claim of `proportional` within a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimumBounds {
    /// The tasks of the user in the judged allocation.
    pub tasks: Rational,
    /// The interval of the user's tasks in the optimum.
    pub optimum: Between,
    /// The distance between the two bounds, as a fraction of the user's solo tasks.
    pub width: Rational,
}

/// Returns the bounds on every user's tasks in the optimum that a claim of `proportional` proves (docs/theory.md,
/// section 3).
///
/// Returns `None` if the claim is about another axiom, does not hold or has no gap, or if groups have limits.
#[must_use]
pub fn optimum_bounds(certificate: &Certificate, claim: &Claim) -> Option<Vec<OptimumBounds>> {
    let margin = claim.margin.as_ref().filter(|margin| **margin < 0 && claim.holds == Some(true))?;
    if claim.axiom != Axiom::Proportional || !matches!(claim.evidence.bare(), Evidence::Prices(_)) {
        return None;
    }
    let problem = &certificate.problem;
    let instance = Instance::new(problem, &certificate.allocation).ok()?;
    if !instance.limits().list().is_empty() {
        return None;
    }
    let Parameters { alpha, share, .. } = claim.parameters();
    let alpha = alpha.unwrap_or_else(|| Rational::from(1));
    let share = share.map(|share| share.coefficients(problem)).transpose().ok()?;
    // `total_worth` is a lower bound with more than 50 correct digits, so this factor makes it an upper bound.
    let total = total_worth(&instance, &alpha, share.as_ref()).ok()? * (1 + (Rational::from(1) >> 100_u32));
    let gap = total * margin.clone().abs();
    let worth = worth(&instance, &alpha, share.as_ref()).ok()?;
    let of_user = |n: usize| {
        let tasks = instance.total(n);
        let alone =
            problem.users()[n].tasks().cloned().into_iter().fold(problem.total_gamma(n), Rational::min);
        let Some((least, _)) = &worth[n] else {
            return Some(OptimumBounds {
                optimum: Between::known(tasks.clone()),
                tasks,
                width: Rational::new(),
            });
        };
        let level = match &share {
            None => tasks.clone(),
            Some(share) => Rational::from(share.uniform(n)? * &tasks),
        };
        let part = Rational::from(&gap / least) / level;
        let down = root_above(&Rational::from(&part / &alpha)).min(Rational::from(1));
        // If no bound is proven, the user still has at most its solo tasks.
        let most = relative(&part, &alpha).map_or_else(|| alone.clone(), |(_, up)| (up + 1_u32) * &tasks);
        let optimum = Between { at_least: (1 - down) * &tasks, at_most: most.min(alone.clone()) };
        let width = Rational::from(&optimum.at_most - &optimum.at_least) / alone;
        Some(OptimumBounds { tasks, optimum, width })
    };
    (0..problem.n_users()).map(of_user).collect()
}

/// Returns by how much the optimum can be below and above the present tasks, as fractions of the present tasks. `part`
/// is the `E` of the module's documentation.
fn relative(part: &Rational, alpha: &Rational) -> Option<(Rational, Rational)> {
    let square = Rational::from(part / alpha);
    let down = root_above(&square);
    let power = Rational::from(alpha.ceil_ref()).numer().to_u32()? + 1;
    let up = EXPONENTS.into_iter().find_map(|exponent| {
        let most = Rational::from(1) << exponent;
        let base = Rational::from(&most + 1u32);
        let raised = (0..power).fold(Rational::from(1), |raised, _| raised * &base);
        let up = root_above(&(raised * &square));
        (up <= most).then_some(up)
    })?;
    Some((down, up))
}

/// Returns the square root of a non-negative number, rounded up.
fn root_above(value: &Rational) -> Rational {
    let (bits, below) = (value.numer().significant_bits(), value.denom().significant_bits());
    let shift = (below + 2 * ROOT_BITS).saturating_sub(bits) / 2;
    let whole = Integer::from(value.numer() << (2 * shift)).div_rem_ceil(value.denom().clone()).0;
    let (root, rest) = whole.sqrt_rem(Integer::new());
    let root = if rest.is_zero() { root } else { root + 1u32 };
    Rational::from(root) >> shift
}
