//! The bounds during the filling: their slack, and the event at which the first of them is reached.
//!
//! Every event changes the rates of nearly all bounds, but few events are the last before a bound is reached. The slack
//! of a bound is therefore tracked between two doubles. The slack is computed exactly only if the two doubles do not
//! show whether the bound is the next event.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use evenhand_exact::tree::Bound;
use evenhand_problem::Rational;
use rug::Integer;

use super::Course;
use super::approx::{Approx, LARGE, ROUNDED};
use super::number::Number;

/// The definition of a bound, which copies share.
struct Stated {
    /// The index among all bounds that were ever added to the course.
    at: usize,
    /// The pairs `(user, worth of one task)`.
    worth: Vec<(usize, Integer)>,
    /// The pairs of `worth` with approximate numbers.
    approx: Vec<(usize, Approx)>,
    /// The total worth that the tasks may not exceed.
    most: Rational,
}

/// A bound that is not reached yet.
#[derive(Clone)]
pub(super) struct TrackedBound {
    of: Arc<Stated>,
    /// The lower and the upper limit of the bound's slack.
    left: (f64, f64),
    /// The lower and the upper limit of the rate at which the slack falls, per unit of the root's clock.
    pace: (f64, f64),
}

impl TrackedBound {
    /// Creates a bound with unknown slack. `at` is its index among all bounds that were ever added.
    pub fn new(bound: &Bound, at: usize) -> Self {
        let unknown = (f64::NEG_INFINITY, f64::INFINITY);
        let approx = bound.worth.iter().map(|(n, worth)| (*n, Approx::of_integer(worth))).collect();
        let of = Arc::new(Stated { at, worth: bound.worth.clone(), approx, most: bound.most.clone() });
        Self { of, left: unknown, pace: (0.0, 0.0) }
    }

    /// Returns the index among all bounds that were ever added.
    pub fn at(&self) -> usize {
        self.of.at
    }

    /// Returns the pairs `(user, worth of one task)`.
    pub fn worth(&self) -> &[(usize, Integer)] {
        &self.of.worth
    }

    /// Computes the slack from approximate tasks. Returns its sign, or `None` if doubles do not decide it.
    pub fn evaluate(&mut self, tasks: &[Approx]) -> Option<Ordering> {
        let mut left = Approx::of(&self.of.most);
        for (n, worth) in &self.of.approx {
            left = left - tasks[*n] * *worth;
        }
        let (least, most) = left.range();
        if least > 0.0 {
            self.left = (least, most);
            return Some(Ordering::Greater);
        }
        (most < 0.0).then_some(Ordering::Less)
    }

    /// Records the exact slack and returns its sign.
    pub fn record_slack(&mut self, left: &Number) -> Ordering {
        let order = left.cmp0();
        self.left = left.approx().range();
        order
    }

    /// Updates the slack after the root's clock has advanced by an amount between `least` and `most`.
    pub fn advance(&mut self, (least, most): (f64, f64)) {
        let (low, high) = (self.left.0 - self.pace.1 * most, self.left.1 - self.pace.0 * least);
        let error = |of: f64| ROUNDED * of.abs();
        self.left = (low - error(low) - error(self.left.0), high + error(high) + error(self.left.1));
    }

    /// Returns the earliest and the latest advance of the root's clock at which the bound is reached, or `None` if no
    /// user approaches it.
    fn gap(&self) -> Option<(f64, f64)> {
        let (least, most) = self.pace;
        if most == 0.0 {
            return None;
        }
        let (low, high) = (self.left.0 / most * (1.0 - ROUNDED), self.left.1 / least * (1.0 + ROUNDED));
        let is_known = least > LARGE.recip() && most < LARGE && low > LARGE.recip() && high < LARGE;
        Some(if is_known { (low, high) } else { (0.0, f64::INFINITY) })
    }
}

/// The slack of a bound as a linear function of the root's clock: `left - pace * clock`.
pub(super) struct Line {
    left: Number,
    pace: Number,
}

impl Line {
    /// Returns the slack at a value of the clock.
    pub fn at(&self, clock: &Number) -> Number {
        &self.left - &(&self.pace * clock)
    }
}

impl Course<'_> {
    /// Returns the root's clock value at which the first bound is reached, and the bounds that are reached
    /// then. Returns `None` if this is after `next`.
    pub(super) fn first_bounds(&mut self, next: Option<&Number>) -> Option<(Number, Vec<usize>)> {
        self.update_paces();
        let clock = self.moving[0].clock.clone();
        let gap = next.map(|next| (next.approx() - clock.approx()).range().1);
        let gaps: Vec<_> = self.bounds.iter().map(TrackedBound::gap).collect();
        // Only bounds that may be reached before the latest possible time are computed exactly.
        let latest = gaps.iter().flatten().map(|gap| gap.1).chain(gap).fold(f64::INFINITY, f64::min);
        let mut first: Option<(Number, Vec<usize>)> = None;
        for at in (0..gaps.len()).filter(|at| gaps[*at].is_some_and(|gap| gap.0 <= latest)) {
            let line = self.line(&self.bounds[at]);
            self.bounds[at].record_slack(&line.at(&clock));
            if line.pace.cmp0().is_eq() {
                continue;
            }
            let reached = &line.left / &line.pace;
            match &mut first {
                Some((when, which)) if *when == reached => which.push(at),
                Some((when, _)) if *when < reached => {}
                _ => first = Some((reached, vec![at])),
            }
        }
        first.filter(|(when, _)| next.is_none_or(|next| when <= next))
    }

    /// Returns the exact slack of a bound as a function of the root's clock, at the current rates.
    pub(super) fn line(&self, bound: &TrackedBound) -> Line {
        // Go from the users to the root. The worth of the tasks below each node is a multiple of its clock plus a
        // constant.
        let mut worth: BTreeMap<usize, (Number, Number)> = BTreeMap::new();
        for (n, worth_of_one) in bound.worth() {
            let one = (Rational::from(worth_of_one).into(), Number::default());
            worth.insert(self.order.place[self.forest.leaf(*n)], one);
        }
        while let Some((at, (pace, more))) = worth.pop_first() {
            let v = self.order.upwards[at];
            let node = &self.moving[v];
            let Some(parent) = self.forest.nodes[v].parent else {
                return Line { left: &Number::from(bound.of.most.clone()) - &more, pace };
            };
            let (part, more) = if node.is_growing {
                let part = &pace / &node.pace;
                let more = &more - &(&part * &node.zero);
                (part, more)
            } else {
                (Number::default(), &more + &(&pace * &node.clock))
            };
            let of = worth.entry(self.order.place[parent]).or_default();
            *of = (&of.0 + &part, &of.1 + &more);
        }
        Line { left: bound.of.most.clone().into(), pace: Number::default() }
    }

    /// Updates the rates at which the bounds are approached.
    fn update_paces(&mut self) {
        self.worths(0);
        let paces = self.worths[0].as_deref().unwrap_or_default();
        for (bound, pace) in self.bounds.iter_mut().zip(paces) {
            let (least, most) = pace.range();
            bound.pace = (least.max(0.0), most);
        }
    }

    /// Recomputes the worth of each user's tasks in the current bounds.
    pub(super) fn weigh(&mut self) {
        self.worths.fill(None);
        // Only users that may grow are needed, since the worth of the other users' tasks stays constant.
        let may_grow = |n: &usize| self.ways[*n].is_some();
        let mut of_users: BTreeMap<usize, Vec<Approx>> = (0..self.ways.len())
            .filter(may_grow)
            .map(|n| (n, vec![Approx::default(); self.bounds.len()]))
            .collect();
        for (at, bound) in self.bounds.iter().enumerate() {
            for (n, worth) in &bound.of.approx {
                if let Some(worths) = of_users.get_mut(n) {
                    worths[at] = *worth;
                }
            }
        }
        for (n, worths) in of_users {
            self.worths[self.forest.leaf(n)] = Some(worths.into());
        }
    }

    /// Computes, for each bound, the rate at which the tasks below a node gain worth per unit of its clock.
    fn worths(&mut self, v: usize) {
        if self.worths[v].is_some() {
            return;
        }
        let mut sums = vec![Approx::default(); self.bounds.len()];
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            self.worths(k);
            let pace = self.moving[k].pace.approx();
            let worths = self.worths[k].as_deref().unwrap_or_default();
            sums.iter_mut().zip(worths).for_each(|(sum, worth)| *sum = *sum + *worth / pace);
        }
        self.worths[v] = Some(sums.into());
    }
}
