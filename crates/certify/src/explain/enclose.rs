//! Between which bounds the tasks of the optimum of a fair sum lie, given an allocation near it and its proven gap.
//!
//! For a feasible `x` with the gap `e` the optimum `y` of `sum_n w_n g_a(U_n)` has
//! `sum_n w_n (y_n - x_n) / x_n^a <= e`, and as an optimum `sum_n w_n (x_n - y_n) / y_n^a <= 0`. In the sum of both,
//! `sum_n w_n (y_n - x_n) (x_n^-a - y_n^-a) <= e`, no summand is negative, so that each is at most `e`. With
//! `y_n = (1 + d) x_n` and `E = e / (w_n x_n^(1-a))` that is `d (1 - (1 + d)^-a) <= E`. By the mean value theorem
//! `a d^2 <= E` where `d <= 0`, and `a d^2 <= E (1 + t)^(a+1)` where `0 <= d <= t`.

use evenhand_exact::axiom::proportional::{total_worth, worth};
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Parameters, ShareCoefficients};
use evenhand_problem::{Integer, Rational};

/// An unknown number between two known ones; the same twice where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Between {
    /// It is at least this.
    pub at_least: Rational,
    /// It is at most this.
    pub at_most: Rational,
}

impl Between {
    /// A known number.
    #[must_use]
    pub fn known(value: Rational) -> Self {
        Self { at_most: value.clone(), at_least: value }
    }

    /// The number, where it is known.
    #[must_use]
    pub fn exact(&self) -> Option<&Rational> {
        (self.at_least == self.at_most).then_some(&self.at_least)
    }

    /// How much more `self` is than `other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            at_least: Rational::from(&self.at_least - &other.at_most),
            at_most: Rational::from(&self.at_most - &other.at_least),
        }
    }

    /// So many times the number.
    #[must_use]
    pub fn times(&self, factor: u32) -> Self {
        Self {
            at_least: Rational::from(&self.at_least * factor),
            at_most: Rational::from(&self.at_most * factor),
        }
    }

    /// Whether it can be 0.
    #[must_use]
    pub fn can_be_zero(&self) -> bool {
        self.at_least <= 0 && self.at_most >= 0
    }
}

/// Bits to which roots are rounded up: more than the digits that anybody reads, and short numbers.
const ROOT_BITS: u32 = 64;

/// Binary exponents of the `t` that are tried, so that `d <= t` is proven with the least of them.
const EXPONENTS: [i32; 6] = [-32, -16, -8, -3, 0, 4];

/// By user between which bounds its tasks in the optimum for `alpha` are; `None` where `gap` is too large to say so, or
/// the numbers are too wide. The instance is feasible, has tasks for every active user, and no feasible allocation gains
/// more than `gap` on it.
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
    /// The tasks that are judged.
    pub tasks: Rational,
    /// Between which bounds its tasks are in the optimum.
    pub optimum: Between,
    /// The distance between the two bounds, as a fraction of the user's tasks alone.
    pub width: Rational,
}

/// Returns by user what a claim of `proportional` proves of the optimum (theory, section 3); `None` where the claim is
/// another one, does not hold or has no gap, or where groups have limits.
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
    // The sum is known to more than 50 digits from below.
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
        // Where no bound is proven, no user has more than alone.
        let most = relative(&part, &alpha).map_or_else(|| alone.clone(), |(_, up)| (up + 1_u32) * &tasks);
        let optimum = Between { at_least: (1 - down) * &tasks, at_most: most.min(alone.clone()) };
        let width = Rational::from(&optimum.at_most - &optimum.at_least) / alone;
        Some(OptimumBounds { tasks, optimum, width })
    };
    (0..problem.n_users()).map(of_user).collect()
}

/// How much less and how much more the optimum can be, as parts of what there is, for `E = part`.
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

/// The square root of a number that is not negative, rounded up.
fn root_above(value: &Rational) -> Rational {
    let (bits, below) = (value.numer().significant_bits(), value.denom().significant_bits());
    let shift = (below + 2 * ROOT_BITS).saturating_sub(bits) / 2;
    let whole = Integer::from(value.numer() << (2 * shift)).div_rem_ceil(value.denom().clone()).0;
    let (root, rest) = whole.sqrt_rem(Integer::new());
    let root = if rest.is_zero() { root } else { root + 1u32 };
    Rational::from(root) >> shift
}
