//! The marginal worth of a task, `a_ni = w_n u_ni / U_n^alpha`.

use std::collections::HashMap;

use evenhand_budget::for_a_thread;
use rayon::prelude::*;
use rug::ops::Pow;
use rug::{Integer, Rational};

use super::rounded::{Rounded, Towards};
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::quotient::Quotient;
use crate::refusal::Refusal;
use crate::share::{ScaledShare, ShareCoefficients};

/// The largest numerator and denominator of `alpha`. A power and a root with these terms take few enough roundings for
/// 50 digits (see the file `rounded`). No exponent in use is larger.
pub const MAX_ALPHA_TERM: u32 = 1000;

/// The maximum number of bits of the powers of all users together for sums to be exact. Each active user counts with
/// the longer of the numerator and denominator of `U_n` in lowest terms. The sum is multiplied by the numerator of
/// `alpha` (docs/theory.md, section 7). This keeps the common denominator of a sum at a few kilobytes. If there are
/// more bits, summands are rounded to 192 bits in the safe direction.
const EXACT_BITS: u64 = 1 << 16;

/// The largest number of users times the square of the denominator of `alpha`. This product is roughly the cost of
/// their roots. Each root is of a number of 192 bits times the denominator. The kernel has the same limit
/// (docs/theory.md, section 7).
const MAX_ROOTS: u64 = 1 << 28;

/// The largest number of bits of `U_n^alpha` before the point, or of zeros after it. No sensible file comes near this
/// limit, and numbers of this width still take little time.
const MAX_EXPONENT: u64 = 1 << 16;

/// Returns an error unless `alpha` is within the supported range.
///
/// # Errors
/// Returns [`Refusal`] unless `alpha` is positive, with a numerator and a denominator of at most [`MAX_ALPHA_TERM`].
pub fn check_alpha(alpha: &Rational) -> Result<(), Refusal> {
    terms(alpha).map(|_| ())
}

/// Returns `alpha` as the pair `(numerator, denominator)`.
fn terms(alpha: &Rational) -> Result<(u32, u32), Refusal> {
    let small = |term: &Integer| term.to_u32().filter(|term| (1..=MAX_ALPHA_TERM).contains(term));
    small(alpha.numer()).zip(small(alpha.denom())).ok_or_else(|| {
        let most = MAX_ALPHA_TERM;
        Refusal::new(format!("alpha is positive, with a numerator and a denominator of at most {most}"))
    })
}

/// The numbers `U_n` and `a_ni` of every active user.
pub(super) struct Worths<'a, 'b> {
    instance: &'a Instance<'b>,
    /// The numerator and the denominator of `alpha`.
    alpha: (u32, u32),
    share: Option<ScaledShare>,
    /// The common denominator (next to `L`) over which `U_n` and `u_ni` are integers.
    denominator: Integer,
    /// True if every number is exact.
    is_exact: bool,
    /// For each user, the numerator and the denominator of `U_n^(1/q)`, where `q` is the denominator of `alpha`.
    /// Empty unless all of these roots are rational and short.
    roots: Vec<(Integer, Integer)>,
    /// The ends of enclosures that the evidence states, keyed by user. They are used instead of the ends that are
    /// computed here.
    stated: HashMap<usize, [Rational; 2]>,
}

/// The two numbers that enclose `w_n / U_n^alpha`, for some users, ascending.
pub(crate) type Values = [(usize, [Rational; 2])];

impl<'a, 'b> Worths<'a, 'b> {
    /// Computes the numbers of all active users.
    ///
    /// # Errors
    /// Returns [`Refusal`] if an active user has no tasks, `alpha` is out of bounds, or the numbers are too wide.
    pub fn new(
        instance: &'a Instance<'b>,
        alpha: &Rational,
        share: Option<&ShareCoefficients>,
    ) -> Result<Self, Refusal> {
        let alpha = terms(alpha)?;
        let share = share.map(ShareCoefficients::unweighted).transpose()?;
        let denominator = share.as_ref().map_or_else(|| Integer::from(1), |share| share.denominator.clone());
        let (roots, stated) = (Vec::new(), HashMap::new());
        let mut worths = Self { instance, alpha, share, denominator, is_exact: false, roots, stated };
        let over = Integer::from(&worths.denominator * &instance.denominator);
        let (mut all_bits, mut n_active) = (0u64, 0u64);
        for n in (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)) {
            let level = worths.level(instance, n);
            if level <= 0 {
                let name = instance.problem().users()[n].name();
                return Err(Refusal::new(format!("user `{name}` has no tasks")));
            }
            let level = Rational::from((level, &over));
            let (numerator, denominator) =
                (level.numer().significant_bits(), level.denom().significant_bits());
            all_bits = all_bits.saturating_add(u64::from(numerator.max(denominator)));
            n_active += 1;
            let magnitude = u64::from(numerator.abs_diff(denominator)) + 1;
            if magnitude * u64::from(alpha.0) > MAX_EXPONENT * u64::from(alpha.1) {
                return Err(TooLarge::memory(MAX_EXPONENT / 8).into());
            }
        }
        let index = u64::from(alpha.1);
        if index > 1 && n_active.saturating_mul(index * index) > MAX_ROOTS {
            return Err(TooLarge::Work { allowed: MAX_ROOTS }.into());
        }
        if all_bits.saturating_mul(u64::from(alpha.0)) <= EXACT_BITS {
            worths.roots = if index > 1 { worths.rational_roots().unwrap_or_default() } else { Vec::new() };
            worths.is_exact = index == 1 || !worths.roots.is_empty();
        }
        Ok(worths)
    }

    /// Computes the same numbers with the ends that the evidence states. Users without stated ends have exact
    /// numbers.
    ///
    /// # Errors
    /// Returns [`Refusal`] if stated ends do not enclose the number, or are missing although `alpha` is not whole.
    pub fn stated(
        instance: &'a Instance<'b>,
        alpha: &Rational,
        share: Option<&ShareCoefficients>,
        values: &Values,
    ) -> Result<Self, Refusal> {
        let mut worths = Self::new(instance, alpha, share)?;
        let (exponent, index) = worths.alpha;
        worths.stated = values.iter().cloned().collect();
        worths.is_exact = true;
        worths.roots.clear();
        for n in (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)) {
            let user = &instance.problem().users()[n];
            let refuse =
                |what: &str| Err(Refusal::new(format!("the level of user `{}` {what}", user.name())));
            let Some([least, most]) = worths.stated.get(&n) else {
                if index > 1 {
                    return refuse(
                        "is raised to a power that is not a whole number, so its `values` have to be stated",
                    );
                }
                continue;
            };
            let over = Integer::from(&worths.denominator * &instance.denominator);
            let level = Rational::from((worths.level(instance, n), over)).pow(exponent);
            let weight = Rational::from(user.weight().pow(index));
            let below = Rational::from(least.pow(index)) * &level;
            if *least <= 0 || *most <= 0 || below > weight || Rational::from(most.pow(index)) * level < weight
            {
                return refuse("is not between the powers of its `values`");
            }
        }
        Ok(worths)
    }

    /// Returns the values that the evidence has to state, for a claim that the axiom holds (`is_of_yes`) or is
    /// violated. The list is empty if numbers are exact.
    pub fn values(&self, is_of_yes: bool) -> Vec<(usize, [Rational; 2])> {
        let is_exact = self.alpha.1 == 1 && (self.is_exact || is_of_yes && self.alpha.0 == 1);
        let active = (0..self.instance.problem().n_users()).filter(|&n| self.instance.is_active(n));
        let ends = |towards| move |n| self.summand(n, towards).to_rational();
        let of_user = |n| (n, [ends(Towards::Zero)(n), ends(Towards::Infinity)(n)]);
        active.filter(|_| !is_exact).map(of_user).collect()
    }

    /// Returns the roots of all users' levels, or `None` if some root is irrational or too long.
    fn rational_roots(&self) -> Option<Vec<(Integer, Integer)>> {
        let root = |value: &Integer| {
            let (root, rest) = value.clone().root_rem(Integer::new(), self.alpha.1);
            rest.is_zero().then_some(root)
        };
        let of_user = |n: usize| {
            if !self.instance.is_active(n) {
                return Some((Integer::from(1), Integer::from(1)));
            }
            let over = Integer::from(&self.denominator * &self.instance.denominator);
            let level = Rational::from((self.level(self.instance, n), over));
            Some((root(level.numer())?, root(level.denom())?))
        };
        (0..self.instance.problem().n_users()).map(of_user).collect()
    }

    /// Returns `u_ni` times its denominator, or `None` without a share.
    pub fn coefficient(&self, n: usize, i: usize) -> Option<&Integer> {
        self.share.as_ref().map(|share| share.of(n, i))
    }

    /// Returns `U_n` in the allocation `other`, times the denominator of the share and the `L` of `other`.
    pub fn level(&self, other: &Instance<'_>, n: usize) -> Integer {
        match &self.share {
            Some(share) => share.level(other, n),
            None => other.totals[n].clone(),
        }
    }

    /// Returns `w_n / U_n^alpha` of an active user, or the end of its enclosure that lies in the direction `towards`.
    pub fn end(&self, n: usize, towards: Towards) -> Quotient {
        if let Some([least, most]) = self.stated.get(&n) {
            return Quotient::from(if towards == Towards::Zero { least } else { most });
        }
        let level = self.level(self.instance, n);
        let weight = self.instance.problem().users()[n].weight();
        let over = Integer::from(&self.denominator * &self.instance.denominator);
        if self.alpha == (1, 1) || self.is_exact {
            let power = |value: Integer| value.pow(self.alpha.0);
            let (level, over) = self.roots.get(n).cloned().unwrap_or((level, over));
            return Quotient::new(power(over) * weight.numer(), power(level) * weight.denom());
        }
        let opposite = if towards == Towards::Zero { Towards::Infinity } else { Towards::Zero };
        let power = Rounded::new(&Quotient::new(level, over), opposite).power(self.alpha.0, opposite);
        let power = power.root(self.alpha.1, opposite).to_quotient();
        let numerator = weight.numer() * power.denominator;
        Rounded::new(&Quotient::new(numerator, power.numerator * weight.denom()), towards).to_quotient()
    }

    /// Returns [`Worths::end`] in a form that can be summed over the users. The number is rounded unless all numbers
    /// are exact.
    pub fn summand(&self, n: usize, towards: Towards) -> Quotient {
        let end = self.end(n, towards);
        if self.is_exact { end } else { Rounded::new(&end, towards).to_quotient() }
    }

    /// Returns the largest possible worth of a task of user `n` on class `i`, given the upper end of the user's
    /// enclosure.
    pub fn most(&self, upper: &Quotient, n: usize, i: usize) -> Quotient {
        match self.coefficient(n, i) {
            None => upper.clone(),
            Some(u) => Quotient::new(
                Integer::from(&upper.numerator * u),
                Integer::from(&upper.denominator * &self.denominator),
            ),
        }
    }

    /// Returns `sum_i a_ni x_ni = w_n U_n^(1 - alpha)`, or the end of its enclosure that lies in the direction
    /// `towards`. The sum is exactly `w_n` if `alpha` is 1.
    pub fn spent(&self, n: usize, towards: Towards) -> Rational {
        if !self.instance.is_active(n) {
            return Rational::new();
        }
        if self.alpha == (1, 1) && self.stated.is_empty() {
            return self.instance.problem().users()[n].weight().clone();
        }
        let end = self.summand(n, towards);
        let over = Integer::from(&self.denominator * &self.instance.denominator);
        Rational::from((end.numerator * self.level(self.instance, n), end.denominator * over))
    }

    /// Returns `sum_n w_n U_n^(1 - alpha)`, the unit of gaps, or an end of its enclosure. Returns `None` if no user
    /// is active.
    pub fn all_spent(&self, towards: Towards) -> Option<Rational> {
        let active: Vec<usize> =
            (0..self.instance.problem().n_users()).filter(|&n| self.instance.is_active(n)).collect();
        (!active.is_empty()).then(|| {
            active.into_par_iter().with_min_len(for_a_thread(1)).map(|n| self.spent(n, towards)).sum()
        })
    }

    /// Returns the denominator of the share.
    pub fn denominator(&self) -> &Integer {
        &self.denominator
    }
}
