//! The bound that the weights and prices of one level prove for every rise.

use std::ops::Range;

use rug::{Integer, Rational};

use super::levels::Levels;
use crate::budget::words;
use crate::prices::PriceVector;
use crate::quotient::{Quotient, absorb, scaled};
use crate::refusal::Refusal;
use crate::share::ShareCoefficients;
use crate::sparse::at;

/// The function `sum_m l_m min(U_m, L)` of `L`. It is concave, and linear between the `U_m`.
pub struct Curve<'l, 'a, 'b> {
    levels: &'l Levels<'a, 'b>,
    /// The pairs `(U_m, l_m)` of the users with a weight, ascending. Both are integers.
    points: Vec<(&'l Integer, Integer)>,
    /// The weights `(user, l_n)` of the evidence, ascending by user, scaled to the same integers.
    weights: Vec<(usize, Integer)>,
    /// For each position `k`, the sum of `l U` over the points before it.
    below: Vec<Integer>,
    /// For each position `k`, the sum of `l` over this point and the points after it.
    above: Vec<Integer>,
    /// The bound `sum p C + sum q T`, scaled to the same integers.
    bound: Quotient,
    /// The number of points at which the curve is below the bound. A user whose share is at least that of the next
    /// point cannot rise.
    open: usize,
}

impl<'l, 'a, 'b> Curve<'l, 'a, 'b> {
    pub(super) fn new(
        levels: &'l Levels<'a, 'b>,
        share: &ShareCoefficients,
        prices: &PriceVector,
    ) -> Result<Self, Refusal> {
        let instance = levels.instance;
        // A user with a weight is examined on every class where it can run.
        let of_user = 1 + instance.problem().n_servers().div_ceil(64);
        let stated = prices.user_weights.len() * of_user + prices.rows.len() + prices.users.len();
        instance.budget().charge(stated as u64)?;
        let bound = prices.bound(instance, Some(share))?;
        let mut common = Integer::from(1);
        for (_, weight) in &prices.user_weights {
            absorb(&mut common, weight.denom());
        }
        let steps = prices.user_weights.len() as u64;
        instance.budget().charge(steps * words(&common) * words(&instance.denominator))?;
        let weights: Vec<(usize, Integer)> =
            prices.user_weights.iter().map(|(n, weight)| (*n, scaled(weight, &common))).collect();
        let mut points: Vec<(&Integer, Integer)> =
            weights.iter().map(|(n, weight)| (&levels.scaled[*n], weight.clone())).collect();
        points.sort_by(|a, b| a.0.cmp(b.0));
        let mut below = vec![Integer::new()];
        for (level, weight) in &points {
            below.push(Integer::from(*level * weight) + &below[below.len() - 1]);
        }
        let mut above = vec![Integer::new(); points.len() + 1];
        for (k, (_, weight)) in points.iter().enumerate().rev() {
            above[k] = Integer::from(&above[k + 1] + weight);
        }
        let bound = Quotient::new(bound.numer() * (common * &levels.over), bound.denom().clone());
        let mut curve = Self { levels, points, weights, below, above, bound, open: 0 };
        curve.open = first(0..curve.points.len(), |k| curve.is_enough(&curve.at(k)));
        Ok(curve)
    }

    /// Returns the value of the curve at a point.
    fn at(&self, k: usize) -> Integer {
        Integer::from(&self.above[k] * self.points[k].0) + &self.below[k]
    }

    /// Returns true if a value of the curve reaches the bound.
    fn is_enough(&self, value: &Integer) -> bool {
        Integer::from(value * &self.bound.denominator) >= self.bound.numerator
    }

    /// Returns true if user `n` has a weight, so that the curve bounds its rise.
    #[must_use]
    pub fn weighs(&self, n: usize) -> bool {
        at(&self.weights, n).is_some_and(|weight| *weight > 0)
    }

    /// Returns the bounds on the rises of the users that have a weight and need a bound: pairs `(user, rise)`, with
    /// the rise over `G_n`, ascending by user.
    pub fn rises(&self) -> impl Iterator<Item = (usize, Rational)> {
        let weighted = self.weights.iter().map(|(n, _)| *n).filter(|&n| self.levels.can_rise(n));
        weighted.filter_map(|n| Some((n, self.rise(n)?)))
    }

    /// Returns true if the bound on the rise of user `n`, over `G_n`, is at most `most`. `most` has to be at least 0.
    /// Returns `None` if the user has no weight. This test needs only one value of the curve, while computing the bound
    /// needs many.
    #[must_use]
    pub fn is_within(&self, n: usize, most: &Rational) -> Option<bool> {
        let weight = at(&self.weights, n).filter(|weight| **weight > 0)?;
        let own = &self.levels.scaled[n];
        // The level up to which the user may rise, as a fraction.
        let rise = Quotient::from(&(Rational::from(most * &self.levels.ceilings[n]) * &self.levels.over));
        let over = &rise.denominator;
        let level = Integer::from(own * over) + &rise.numerator;
        let is_at_most = |(point, _): &(&Integer, Integer)| Integer::from(*point * over) <= level;
        if self.points.get(self.open).is_some_and(is_at_most) {
            return Some(true);
        }
        let place = match self.points.last() {
            Some(last) if !is_at_most(last) => self.points.partition_point(is_at_most),
            _ => self.points.len(),
        };
        let value =
            level * &self.above[place] + Integer::from(&self.below[place] * over) + rise.numerator * weight;
        Some(value * &self.bound.denominator >= Integer::from(&self.bound.numerator * over))
    }

    /// Returns the bound on the rise of user `n`, over `G_n`, or `None` if the user has no weight.
    pub fn rise(&self, n: usize) -> Option<Rational> {
        let weight = at(&self.weights, n).filter(|weight| **weight > 0)?;
        let own = &self.levels.scaled[n];
        if self.points.get(self.open).is_some_and(|(level, _)| *level <= own) {
            return Some(Rational::new());
        }
        let start = self.points.partition_point(|(level, _)| *level <= own);
        // `reaches(k)`: the left side at the `k`-th point reaches the bound if the user rises to the level of this
        // point.
        let reaches =
            |k: usize| self.is_enough(&(self.at(k) + Integer::from(self.points[k].0 - own) * weight));
        let low = first(start..self.points.len(), reaches);
        // Solves `below + above L + weight (L - own) = bound` for `L`.
        let rest = Integer::from(own * weight) - &self.below[low];
        let numerator = Integer::from(&rest * &self.bound.denominator) + &self.bound.numerator;
        let slope = Integer::from(&self.above[low] + weight) * &self.bound.denominator;
        let level = Rational::from((numerator, slope));
        Some((level - own) / &self.levels.over / &self.levels.ceilings[n])
    }
}

/// Returns the first position where `holds` returns true, or the end if there is none. If `holds` returns true at a
/// position, it has to return true at all later positions.
fn first(positions: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (positions.start, positions.end);
    while low < high {
        let middle = low.midpoint(high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
