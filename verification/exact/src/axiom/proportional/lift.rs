//! Lifts prices that a solver computed approximately: the prices are raised until every inequality is satisfied.

use evenhand_budget::each;
use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Integer, Rational};

use super::rounded::{Rounded, Towards};
use super::worth::Worths;
use crate::costs::{Costs, check_signs};
use crate::instance::Instance;
use crate::prices::Prices;
use crate::quotient::Quotient;
use crate::share::ShareCoefficients;
use crate::sparse::entries;

/// The number of bits of a computed price, and of a factor after the point. It is more than twice the precision of a
/// double, so the rounding is negligible compared to the error of a solver. It is also small enough for prices to be
/// checked quickly.
const BITS: u32 = 128;

/// Returns prices near the given ones for which [`gap`](super::gap) finds every inequality true.
///
/// All row prices are multiplied by one factor of at least 1. The price on the tasks of each user with finitely many
/// tasks becomes the least price with which its inequalities are satisfied. Of all factors (to 128 bits), the factor
/// with the least `eps` for a feasible allocation is chosen. If the prices are far too low for a few users, the prices
/// of these users' tasks rise. If they are a little too low for all users, the factor rises. Prices that already prove
/// a gap are returned unchanged.
///
/// `row_prices` has one price for each row of [`Constraints`](evenhand_problem::Constraints), followed by one for each
/// limit of the groups. `user_prices` has one price for each user.
///
/// Returns `None` in these cases: a number is negative or a list has the wrong length; an active user has no tasks, or
/// can run at no cost; `alpha` is out of bounds; or the numbers are too wide.
#[must_use]
pub fn lift_prices(
    instance: &Instance<'_>,
    alpha: &Rational,
    share: Option<&ShareCoefficients>,
    row_prices: &[Rational],
    user_prices: &[Rational],
) -> Option<Prices> {
    check_signs(instance, row_prices, user_prices).ok()?;
    let worths = Worths::new(instance, alpha, share).ok()?;
    let costs = Costs::new(instance, entries(row_prices), entries(user_prices), std::iter::empty()).ok()?;
    let needs = Needs { instance, worths, costs };
    let (n_users, n_classes) = (instance.problem().n_users(), instance.problem().n_servers());
    let shortfalls: Vec<_> = each(n_users, n_classes, |n| needs.shortfall(n)).into_iter().flatten().collect();
    if shortfalls.iter().all(|short| short.is_covered) {
        let (rows, users) = (row_prices.to_vec(), user_prices.to_vec());
        return Some(Prices { user_weights: Vec::new(), rows, users });
    }
    let factor = needs.factor(shortfalls, row_prices)?;
    let rows = row_prices.iter().map(|price| Rational::from(price * &factor)).collect();
    let factor = Quotient::from(&factor);
    let users = each(n_users, n_classes, |n| needs.user_price(n, &factor, &user_prices[n]));
    Some(Prices { user_weights: Vec::new(), rows, users })
}

/// The amount by which the row prices alone are below the worth of a user's tasks.
struct Shortfall {
    /// The factor by which the row prices have to be multiplied, times `2^BITS` and rounded up. `None` if the row
    /// prices are 0.
    factor: Option<Integer>,
    /// The cost of all tasks of the user at the row prices. `None` if the tasks are unlimited.
    cost: Option<Rational>,
    /// True if the price on the tasks of the user covers the shortfall.
    is_covered: bool,
}

/// The given prices, and the worths of tasks that they have to cover.
struct Needs<'a, 'b> {
    instance: &'a Instance<'b>,
    worths: Worths<'a, 'b>,
    costs: Costs<'a, 'b>,
}

impl Needs<'_, '_> {
    /// Returns the shortfall of user `n`, or `None` if the row prices are enough.
    fn shortfall(&self, n: usize) -> Option<Shortfall> {
        if !self.instance.is_active(n) {
            return None;
        }
        let upper = self.worths.end(n, Towards::Infinity);
        let mut worst: Option<(Option<Quotient>, Quotient)> = None;
        let mut is_covered = true;
        let mut cost = Integer::new();
        for i in self.instance.scaled.classes(n) {
            let scale = self.costs.of(&mut cost, n, i, &self.costs.base(Integer::new()));
            let most = self.worths.most(&upper, n, i);
            let over = Integer::from(&self.costs.denominator * &*scale);
            let need = Integer::from(&most.numerator * &over);
            let covered = Integer::from(&cost + self.costs.user(n) * &*scale) * &most.denominator;
            is_covered &= need <= covered;
            let factor = (!cost.is_zero()).then(|| Quotient::new(need, &cost * most.denominator));
            let is_worse = worst.as_ref().is_none_or(|(worst, _)| match (worst, &factor) {
                (Some(worst), Some(factor)) => factor > worst,
                (worst, factor) => worst.is_some() && factor.is_none(),
            });
            if is_worse {
                worst = Some((factor, Quotient::new(cost.clone(), over)));
            }
        }
        let (factor, cost) = worst?;
        if factor.as_ref().is_some_and(|factor| factor.numerator <= factor.denominator) {
            return None;
        }
        let cost = self.instance.problem().users()[n].tasks().map(|tasks| {
            let all = Quotient::new(cost.numerator * tasks.numer(), cost.denominator * tasks.denom());
            if all.numerator.is_zero() { Rational::new() } else { rounded(&all, Towards::Zero) }
        });
        let factor = factor.map(|factor| (factor.numerator << BITS).div_ceil(factor.denominator));
        Some(Shortfall { factor, cost, is_covered })
    }

    /// Returns the factor with the least `eps`. With a factor `f`, a feasible `x` has
    /// `eps = f sum p C + sum_n q_n(f) T_n`, up to terms that do not depend on `f`. For every unit of `f`,
    /// `q_n(f) T_n` falls by the cost of all tasks of `n`, until `f` is the factor that `n` needs.
    fn factor(&self, shortfalls: Vec<Shortfall>, row_prices: &[Rational]) -> Option<Rational> {
        let mut least = Integer::from(1) << BITS;
        let mut finite = Vec::new();
        for short in shortfalls {
            match (short.factor, short.cost) {
                (None, None) => return None,
                (Some(factor), None) => least = least.max(factor),
                (Some(factor), Some(cost)) => finite.push((factor, cost)),
                // Here no factor suffices, so the user needs a price on its tasks.
                (None, Some(_)) => {}
            }
        }
        finite.par_sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        let rows = row_prices.iter().enumerate();
        let mut slope: Rational =
            rows.map(|(row, price)| Rational::from(self.instance.most(row) * price)).sum();
        for (factor, cost) in finite {
            slope -= cost;
            if slope <= 0 {
                least = least.max(factor);
                break;
            }
        }
        Some(Rational::from((least, Integer::from(1) << BITS)))
    }

    /// Returns `q_n` after the row prices are multiplied by `factor`. The given price is kept if it is sufficient and
    /// not too high.
    fn user_price(&self, n: usize, factor: &Quotient, given: &Rational) -> Rational {
        if !self.instance.is_active(n) || self.instance.problem().users()[n].tasks().is_none() {
            return Rational::new();
        }
        let upper = self.worths.end(n, Towards::Infinity);
        let mut cost = Integer::new();
        let mut needed: Option<Quotient> = None;
        for i in self.instance.scaled.classes(n) {
            let scale = self.costs.of(&mut cost, n, i, &self.costs.base(Integer::new()));
            let most = self.worths.most(&upper, n, i);
            let over = Integer::from(&self.costs.denominator * &*scale) * &factor.denominator;
            let paid = Integer::from(&cost * &factor.numerator) * &most.denominator;
            let need = Quotient::new(most.numerator * &over - paid, most.denominator * over);
            if needed.as_ref().is_none_or(|needed| need > *needed) {
                needed = Some(need);
            }
        }
        let Some(needed) = needed.filter(|needed| needed.numerator > 0) else { return Rational::new() };
        let enough = rounded(&needed, Towards::Infinity);
        if Quotient::from(given) >= needed && *given <= enough { given.clone() } else { enough }
    }
}

fn rounded(value: &Quotient, towards: Towards) -> Rational {
    Rounded::new(value, towards).short(BITS, towards).to_quotient().to_rational()
}
