//! Bounds on the way: how much is left of them, and when the first of them is reached.
//!
//! Every event changes how fast nearly all bounds are approached, and few events are the last before one. So what is left of
//! a bound is known between two doubles, and found in rationals where these do not tell whether it is the next event.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use evenhand_exact::tree::Bound;
use evenhand_problem::Rational;
use rug::Integer;

use super::Course;
use super::about::{About, LARGE, ROUNDED};
use super::number::Number;

/// A bound as it is stated.
struct Stated {
    /// Its place among all bounds that the course has ever kept.
    at: usize,
    /// `(user, what one of its tasks is worth)`
    worth: Vec<(usize, Integer)>,
    /// The same, about.
    about: Vec<(usize, About)>,
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
        let about = bound.worth.iter().map(|(n, worth)| (*n, About::of_integer(worth))).collect();
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
            left = left - tasks[*n] * *worth;
        }
        let (least, most) = left.range();
        if least > 0.0 {
            self.left = (least, most);
            return Some(Ordering::Greater);
        }
        (most < 0.0).then_some(Ordering::Less)
    }

    /// This is left of it.
    pub fn is_left(&mut self, left: &Number) -> Ordering {
        let order = left.cmp0();
        self.left = left.about().range();
        order
    }

    /// After the root's clock has advanced by at least, at most so much.
    pub fn advance(&mut self, (least, most): (f64, f64)) {
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

/// What is left of a bound by the clock of the root: that of it, less so much for one more of the clock.
pub(super) struct Line {
    left: Number,
    pace: Number,
}

impl Line {
    /// When the clock says this.
    pub fn at(&self, clock: &Number) -> Number {
        &self.left - &(&self.pace * clock)
    }
}

impl Course<'_> {
    /// When the first bound is reached by the clock of the root, if that is not after its next event, and which are reached
    /// then.
    pub(super) fn first_bounds(&mut self, next: Option<&Number>) -> Option<(Number, Vec<usize>)> {
        self.approach();
        let clock = self.moving[0].clock.clone();
        let gap = next.map(|next| (next.about() - clock.about()).range().1);
        let gaps: Vec<_> = self.bounds.iter().map(Kept::gap).collect();
        let latest = gaps.iter().flatten().map(|gap| gap.1).chain(gap).fold(f64::INFINITY, f64::min);
        let mut first: Option<(Number, Vec<usize>)> = None;
        for at in (0..gaps.len()).filter(|at| gaps[*at].is_some_and(|gap| gap.0 <= latest)) {
            let line = self.line(&self.bounds[at]);
            self.bounds[at].is_left(&line.at(&clock));
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

    /// What is left of a bound while everybody grows as now.
    pub(super) fn line(&self, bound: &Kept) -> Line {
        // From the users upwards: what the tasks below a node are worth is so many times its clock, and something more.
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

    /// Finds how fast bounds are approached.
    fn approach(&mut self) {
        self.worths(0);
        let paces = self.worths[0].as_deref().unwrap_or_default();
        for (bound, pace) in self.bounds.iter_mut().zip(paces) {
            let (least, most) = pace.range();
            bound.pace = (least.max(0.0), most);
        }
    }

    /// Finds what the tasks of users are worth in the bounds that there are now.
    pub(super) fn weigh(&mut self) {
        self.worths.fill(None);
        // Only of those who may grow: the tasks of others are never worth more.
        let may_grow = |n: &usize| self.ways[*n].is_some();
        let mut of_users: BTreeMap<usize, Vec<About>> = (0..self.ways.len())
            .filter(may_grow)
            .map(|n| (n, vec![About::default(); self.bounds.len()]))
            .collect();
        for (at, bound) in self.bounds.iter().enumerate() {
            for (n, worth) in &bound.of.about {
                if let Some(worths) = of_users.get_mut(n) {
                    worths[at] = *worth;
                }
            }
        }
        for (n, worths) in of_users {
            self.worths[self.forest.leaf(n)] = Some(worths.into());
        }
    }

    /// Finds how fast tasks below a node become worth more.
    fn worths(&mut self, v: usize) {
        if self.worths[v].is_some() {
            return;
        }
        let mut sums = vec![About::default(); self.bounds.len()];
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            self.worths(k);
            let pace = self.moving[k].pace.about();
            let worths = self.worths[k].as_deref().unwrap_or_default();
            sums.iter_mut().zip(worths).for_each(|(sum, worth)| *sum = *sum + *worth / pace);
        }
        self.worths[v] = Some(sums.into());
    }
}
