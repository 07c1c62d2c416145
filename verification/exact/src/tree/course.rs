//! The course of the filling: segments, one after the other, as far as what is known of the classes allows.

use evenhand_problem::Rational;
use rug::Integer;
use thiserror::Error;

use super::bound::Bound;
use super::forest::Forest;
use super::growth::Ways;
use super::holdings::Holdings;
use super::moving::Moving;

/// Nothing ends the filling, which no tree of a problem does: every task asks for something, and all capacities end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("nothing ends the filling")]
pub struct Endless;

/// Holdings on their way.
pub struct Course<'f> {
    pub(super) forest: &'f Forest<'f>,
    /// Those of a node that grows are as old as the clock of its parent was when somebody looked last.
    pub(super) holdings: Holdings,
    /// Users that are stopped have none, and stay so: what is used only grows.
    pub(super) ways: Ways,
    /// By node.
    pub(super) moving: Vec<Moving>,
    pub(super) bounds: Vec<Kept>,
    /// By node: the users below it.
    below: Vec<Vec<usize>>,
}

/// A bound, and what is left of it.
pub(super) struct Kept {
    /// By user: what one of its tasks is worth.
    worth: Vec<Integer>,
    left: Rational,
}

impl Kept {
    /// What a task of user `n` is worth.
    pub fn worth(&self, n: usize) -> Rational {
        Rational::from(&self.worth[n])
    }
}

impl<'f> Course<'f> {
    /// Where users have so many tasks, which keep these bounds.
    #[must_use]
    pub fn new(forest: &'f Forest<'f>, tasks: Vec<Rational>, bounds: &[Bound]) -> Self {
        let users = 0..tasks.len();
        let kept = |bound: &Bound| {
            let mut worth = vec![Integer::new(); tasks.len()];
            bound.worth.iter().for_each(|(n, of)| worth[*n].clone_from(of));
            Kept { worth, left: bound.left(&tasks) }
        };
        let bounds = bounds.iter().map(kept).collect();
        let mut below = vec![Vec::new(); forest.nodes.len()];
        for n in users.clone() {
            let leaf = forest.leaf(n);
            std::iter::once(leaf).chain(forest.above(leaf)).for_each(|v| below[v].push(n));
        }
        let moving = forest.nodes.iter().map(|_| Moving::default()).collect();
        let holdings = Holdings::new(forest, tasks);
        let mut course =
            Self { forest, holdings, ways: vec![Some(Vec::new()); users.len()], moving, bounds, below };
        users.for_each(|n| course.look_at(n));
        course.stop_at_bounds();
        course
    }

    /// Tasks by user. Also below nodes that wait: these are as old as their own clocks, but what is below them is not.
    pub fn tasks(&mut self) -> &[Rational] {
        let upwards: Vec<usize> = self.forest.upwards().collect();
        for v in upwards.into_iter().rev() {
            self.update_children(v);
        }
        &self.holdings.tasks
    }

    /// Bits of the tasks as they were when somebody looked last.
    #[must_use]
    pub fn bits(&self) -> u64 {
        let of = |x: &Rational| u64::from(x.numer().significant_bits() + x.denom().significant_bits());
        self.holdings.tasks.iter().map(of).sum()
    }

    /// Goes on to the next event; `false` where no user can grow.
    ///
    /// # Errors
    /// [`Endless`], which does not happen.
    pub fn segment(&mut self) -> Result<bool, Endless> {
        let growing: Vec<usize> = (0..self.ways.len()).filter(|n| self.ways[*n].is_some()).collect();
        if growing.is_empty() {
            return Ok(false);
        }
        self.direct(0, growing);
        let next = self.moving[0].next.as_ref().ok_or(Endless)?;
        let step = Rational::from(next - &self.moving[0].clock);
        self.advance(0, &step);
        for (bound, pace) in self.bounds.iter_mut().zip(&self.moving[0].growth.worth) {
            if !pace.is_zero() {
                bound.left -= Rational::from(pace * &step);
            }
        }
        let mut events = Vec::new();
        self.happens(0, &mut events);
        // What is below may be older than the event, which changes nothing here: where a mark is reached is an event too, and
        // brings its node up to date.
        for v in events {
            for at in 0..self.below[v].len() {
                self.look_at(self.below[v][at]);
            }
        }
        self.stop_at_bounds();
        Ok(true)
    }

    /// When bounds are reached that users approach so fast.
    pub(super) fn until_bounds(&self, paces: &[Rational]) -> impl Iterator<Item = Rational> {
        let approached = self.bounds.iter().zip(paces).filter(|(_, pace)| **pace > 0);
        approached.map(|(bound, pace)| Rational::from(&bound.left / pace))
    }

    /// What stands above a user, anew.
    fn look_at(&mut self, n: usize) {
        let (forest, holdings) = (self.forest, &self.holdings);
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref().filter(|_| self.ways[n].is_some());
        let way = leaf.and_then(|leaf| holdings.way(forest, leaf)).filter(|way| !way.is_stopped);
        self.ways[n] = way.map(|way| way.nodes);
    }

    /// No user whose tasks are worth something in a bound that is reached grows any more.
    fn stop_at_bounds(&mut self) {
        for bound in self.bounds.iter().filter(|bound| bound.left.is_zero()) {
            let worth = bound.worth.iter().enumerate().filter(|(_, worth)| !worth.is_zero());
            worth.for_each(|(n, _)| self.ways[n] = None);
        }
    }
}
