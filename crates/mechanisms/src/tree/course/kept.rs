//! Bounds on the way: how much is left of them, and when the first of them is reached.
//!
//! Every event changes how fast nearly all bounds are approached, and few events are the last before one. So what is left of
//! a bound is known between two doubles, and found in rationals where these do not tell whether it is the next event.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use evenhand_exact::tree::Bound;
use evenhand_problem::Rational;
use rug::Integer;

use super::Course;
use super::about::{About, LARGE, ROUNDED, around};

/// A bound as it is stated.
struct Stated {
    /// Its place among all bounds that the course has ever kept.
    at: usize,
    /// `(user, what one of its tasks is worth)`
    worth: Vec<(usize, Integer)>,
    /// The same, about.
    about: Vec<(usize, f64)>,
    most: Rational,
}

/// A bound that is not reached.
#[derive(Clone)]
pub(super) struct Kept {
    of: Arc<Stated>,
    /// What is left: at least, at most.
    left: (f64, f64),
    /// How fast it is approached: at least, at most.
    pace: (f64, f64),
}

impl Kept {
    /// A bound of which it is not known yet what is left, and its place among those that the course has ever kept.
    pub fn new(bound: &Bound, at: usize) -> Self {
        let unknown = (f64::NEG_INFINITY, f64::INFINITY);
        let about = bound.worth.iter().map(|(n, worth)| (*n, worth.to_f64())).collect();
        let of = Arc::new(Stated { at, worth: bound.worth.clone(), about, most: bound.most.clone() });
        Self { of, left: unknown, pace: (0.0, 0.0) }
    }

    /// Its place among all bounds that the course has ever kept.
    pub fn at(&self) -> usize {
        self.of.at
    }

    /// `(user, what one of its tasks is worth)`
    pub fn worth(&self) -> &[(usize, Integer)] {
        &self.of.worth
    }

    /// Finds what is left of it, which is positive, negative or, not known from doubles, `None`.
    pub fn find(&mut self, tasks: &[About]) -> Option<Ordering> {
        let mut left = About::of(&self.of.most);
        for (n, worth) in &self.of.about {
            left = left - tasks[*n].times(*worth);
        }
        let (least, most) = left.range();
        if least > 0.0 {
            self.left = (least, most);
            return Some(Ordering::Greater);
        }
        (most < 0.0).then_some(Ordering::Less)
    }

    /// This is left of it.
    pub fn is_left(&mut self, left: &Rational) -> Ordering {
        self.left = around(left);
        left.cmp0()
    }

    /// After the root's clock has advanced.
    pub fn advance(&mut self, step: &Rational) {
        let (least, most) = around(step);
        let (low, high) = (self.left.0 - self.pace.1 * most, self.left.1 - self.pace.0 * least);
        let error = |of: f64| ROUNDED * of.abs();
        self.left = (low - error(low) - error(self.left.0), high + error(high) + error(self.left.1));
    }

    /// When it is reached: no sooner than, no later than; `None` where no user approaches it.
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

/// The sum, added up in pairs so that long numbers meet late.
fn sum(mut values: Vec<Rational>) -> Rational {
    while values.len() > 1 {
        let add = |pair: &[Rational]| pair.iter().sum();
        values = values.chunks(2).map(add).collect();
    }
    values.pop().unwrap_or_default()
}

/// Clocks of nodes now, or how fast they run beside the root's.
pub(super) type Known = HashMap<usize, Rational>;

impl Course<'_> {
    /// When the first bound is reached by the clock of the root, if that is not after its next event, and which are reached
    /// then.
    pub(super) fn first_bounds(&mut self, next: Option<&Rational>) -> Option<(Rational, Vec<usize>)> {
        self.approach();
        let clock = self.moving[0].clock.clone();
        let gap = next.map(|next| around(&Rational::from(next - &clock)).1);
        let gaps: Vec<_> = self.bounds.iter().map(Kept::gap).collect();
        let latest = gaps.iter().flatten().map(|gap| gap.1).chain(gap).fold(f64::INFINITY, f64::min);
        let (mut clocks, mut rates) = (Known::from([(0, clock.clone())]), Known::from([(0, 1.into())]));
        let mut first: Option<(Rational, Vec<usize>)> = None;
        for at in (0..gaps.len()).filter(|at| gaps[*at].is_some_and(|gap| gap.0 <= latest)) {
            let left = self.left(&self.bounds[at], &mut clocks);
            let rate = |(n, worth): &(usize, Integer)| self.rate(self.forest.leaf(*n), &mut rates) * worth;
            let pace = sum(self.bounds[at].worth().iter().map(rate).collect());
            self.bounds[at].is_left(&left);
            if pace.is_zero() {
                continue;
            }
            let reached = left / pace + &clock;
            match &mut first {
                Some((when, which)) if *when == reached => which.push(at),
                Some((when, _)) if *when < reached => {}
                _ => first = Some((reached, vec![at])),
            }
        }
        first.filter(|(when, _)| next.is_none_or(|next| when <= next))
    }

    /// What is left of a bound; `known`: of clocks.
    pub(super) fn left(&self, bound: &Kept, known: &mut Known) -> Rational {
        let held = |(n, worth): &(usize, Integer)| {
            let leaf = self.forest.leaf(*n);
            let since = self.clock(leaf, known) - &self.moving[leaf].clock;
            (since + &self.holdings.tasks[*n]) * worth
        };
        &bound.of.most - sum(bound.worth().iter().map(held).collect())
    }

    /// Finds how fast bounds are approached.
    fn approach(&mut self) {
        self.worths(0);
        let nodes = self.moving.len() as f64;
        let paces = self.worths[0].as_deref().unwrap_or_default();
        for (bound, pace) in self.bounds.iter_mut().zip(paces) {
            // On every way to the root no more is added than there are nodes and users.
            let error = ROUNDED * (nodes + bound.worth().len() as f64);
            let is_known = pace.is_finite() && error < 0.5;
            bound.pace =
                if is_known { (pace * (1.0 - error), pace * (1.0 + error)) } else { (0.0, f64::INFINITY) };
        }
    }

    /// Finds what the tasks of users are worth in the bounds that there are now.
    pub(super) fn weigh(&mut self) {
        let mut of_users = vec![vec![0.0; self.bounds.len()]; self.ways.len()];
        for (at, bound) in self.bounds.iter().enumerate() {
            bound.of.about.iter().for_each(|(n, worth)| of_users[*n][at] = *worth);
        }
        self.worths.fill(None);
        for (n, worths) in of_users.into_iter().enumerate() {
            self.worths[self.forest.leaf(n)] = Some(worths.into());
        }
    }

    /// Finds how fast tasks below a node become worth more; infinity where doubles do not say.
    fn worths(&mut self, v: usize) {
        if self.worths[v].is_some() {
            return;
        }
        let mut sums = vec![0.0; self.bounds.len()];
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            self.worths(k);
            let about = self.moving[k].about;
            let worths = sums.iter_mut().zip(self.worths[k].as_deref().unwrap_or_default());
            for (sum, worth) in worths.filter(|(_, worth)| **worth != 0.0) {
                let part = worth / about;
                let is_known = part > LARGE.recip() && part < LARGE;
                *sum += if is_known { part } else { f64::INFINITY };
            }
        }
        self.worths[v] = Some(sums.into());
    }

    /// What the clock of a node says now, also of one that has not been looked at for long.
    fn clock(&self, v: usize, known: &mut Known) -> Rational {
        if let Some(clock) = known.get(&v) {
            return clock.clone();
        }
        let node = &self.moving[v];
        let parent = self.forest.nodes[v].parent.filter(|_| node.is_growing);
        let clock = parent.map_or_else(
            || node.clock.clone(),
            |parent| (self.clock(parent, known) - &node.since) / &node.pace + &node.clock,
        );
        known.insert(v, clock.clone());
        clock
    }

    /// How fast the clock of a node runs while that of the root advances by one.
    fn rate(&self, v: usize, known: &mut Known) -> Rational {
        if let Some(rate) = known.get(&v) {
            return rate.clone();
        }
        let node = &self.moving[v];
        let parent = self.forest.nodes[v].parent.filter(|_| node.is_growing);
        let rate = parent.map_or_else(Rational::new, |parent| self.rate(parent, known) / &node.pace);
        known.insert(v, rate.clone());
        rate
    }
}
