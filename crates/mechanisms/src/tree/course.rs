//! The course of the filling: segments, one after the other, as far as what is known of the classes allows.

mod about;
mod kept;
mod moving;
mod standing;
mod step;

use std::cmp::Ordering;
use std::sync::Arc;

use evenhand_exact::tree::{Bound, Forest, Holdings, Shared, Ways};
use evenhand_problem::Rational;
use thiserror::Error;

use about::About;
use kept::{Kept, Known};
use moving::Moving;
use standing::Asking;

/// Nothing ends the filling, which no tree of a problem does: every task asks for something, and all capacities end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("nothing ends the filling")]
pub struct Endless;

/// Holdings on their way. A copy shares what is known of nodes until that changes; it has tasks and ways of its own.
#[derive(Clone)]
pub struct Course<'f> {
    forest: &'f Forest<'f>,
    /// Those of a node that grows are as old as the clock of its parent was when it was last looked at.
    holdings: Holdings,
    /// Users that are stopped have none, and stay so: what is used only grows.
    ways: Ways,
    /// By node.
    moving: Vec<Shared<Moving>>,
    /// Those that are not reached, of so many that it has kept.
    bounds: Vec<Kept>,
    kept: usize,
    /// By node and bound, how much more the tasks of its users are worth while its clock advances by one, about; absent where it is
    /// not known.
    worths: Vec<Option<Arc<[f64]>>>,
    /// By position: those that the next event reaches.
    reached: Vec<usize>,
    /// By node: the users below it.
    below: Arc<[Vec<usize>]>,
    /// By node: who may grow and is below its guarantee too, and who may.
    asking: Vec<Shared<[Asking; 2]>>,
    /// How many users may grow.
    growing: usize,
    /// Bits of the tasks.
    bits: u64,
}

/// Bits of a number.
fn width(x: &Rational) -> u64 {
    u64::from(x.numer().significant_bits() + x.denom().significant_bits())
}

impl<'f> Course<'f> {
    /// Where users have so many tasks, which keep these bounds.
    #[must_use]
    pub fn new(forest: &'f Forest<'f>, tasks: Vec<Rational>, bounds: &[Bound]) -> Self {
        let users = 0..tasks.len();
        let mut below = vec![Vec::new(); forest.nodes.len()];
        for n in users.clone() {
            let leaf = forest.leaf(n);
            std::iter::once(leaf).chain(forest.above(leaf)).for_each(|v| below[v].push(n));
        }
        let moving = forest.nodes.iter().map(|_| Shared::default()).collect();
        let holdings = Holdings::new(forest, tasks);
        let ways = vec![Some(Vec::new()); users.len()];
        let (none, reached, growing) = (Vec::new(), Vec::new(), ways.len());
        let asking = vec![Shared::default(); forest.nodes.len()];
        let (below, worths) = (below.into(), vec![None; forest.nodes.len()]);
        let bits = holdings.tasks.iter().map(width).sum();
        let mut course = Self {
            forest,
            holdings,
            ways,
            moving,
            bounds: none,
            kept: 0,
            worths,
            reached,
            below,
            asking,
            growing,
            bits,
        };
        users.for_each(|n| course.look_at(n));
        course.keep(bounds);
        course
    }

    /// Keeps further bounds from now on; `false` where one is broken already.
    pub fn keep(&mut self, bounds: &[Bound]) -> bool {
        let mut known = Known::from([(0, self.moving[0].clock.clone())]);
        let tasks = self.about();
        for bound in bounds {
            let mut bound = Kept::new(bound, self.kept);
            self.kept += 1;
            match self.find(&mut bound, &tasks, &mut known) {
                Ordering::Less => return false,
                Ordering::Equal => self.reached.push(self.bounds.len()),
                Ordering::Greater => {}
            }
            self.bounds.push(bound);
        }
        self.moving[0].found_for = None;
        self.weigh();
        self.stop_at_bounds();
        true
    }

    /// Tasks by user, about; much sooner than [`Course::tasks`].
    #[must_use]
    pub fn nearly(&self) -> Vec<f64> {
        self.about().into_iter().map(|tasks| tasks.value).collect()
    }

    /// The same with what it may be off by.
    fn about(&self) -> Vec<About> {
        let mut now = vec![About::default(); self.moving.len()];
        let mut tasks = vec![About::default(); self.ways.len()];
        let upwards: Vec<usize> = self.forest.upwards().collect();
        for v in upwards.into_iter().rev() {
            let node = &self.moving[v];
            let parent = self.forest.nodes[v].parent.filter(|_| node.is_growing);
            let passed =
                parent.map_or_else(About::default, |parent| now[parent].passed(&node.since, &node.pace));
            now[v] = About::of(&node.clock) + passed;
            if let Some(leaf) = &self.forest.nodes[v].leaf {
                tasks[leaf.user] = About::of(&self.holdings.tasks[leaf.user]) + passed;
            }
        }
        tasks
    }

    /// Tasks by user. Also below nodes that wait: these are as old as their own clocks, but what is below them is not.
    pub fn tasks(&mut self) -> &[Rational] {
        let upwards: Vec<usize> = self.forest.upwards().collect();
        for v in upwards.into_iter().rev() {
            self.update_children(v);
        }
        &self.holdings.tasks
    }

    /// Of the bounds that it has kept, in their order, leaves those of which nothing is left: whoever was worth something in one
    /// has stopped there.
    pub fn retain_reached(&self, bounds: &mut Vec<Bound>) {
        let mut reached = vec![true; bounds.len()];
        self.bounds.iter().for_each(|bound| reached[bound.at()] = false);
        let mut reached = reached.into_iter();
        bounds.retain(|_| reached.next().unwrap_or_default());
    }

    /// What is left of a bound that is new.
    fn find(&self, bound: &mut Kept, tasks: &[About], known: &mut Known) -> Ordering {
        bound.find(tasks).unwrap_or_else(|| bound.is_left(&self.left(bound, known)))
    }

    /// Bits of the tasks as they were when it was last looked at.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.bits
    }

    /// Goes on to the next event; `false` where no user can grow.
    ///
    /// # Errors
    /// [`Endless`], which does not happen.
    pub fn segment(&mut self) -> Result<bool, Endless> {
        if self.growing == 0 {
            return Ok(false);
        }
        self.direct(0, &[]);
        let next = self.moving[0].next.as_ref().ok_or(Endless)?;
        let step = Rational::from(next - &self.moving[0].clock);
        self.advance(0, &step);
        self.bounds.iter_mut().for_each(|bound| bound.advance(&step));
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

    /// What stands above a user, anew.
    fn look_at(&mut self, n: usize) {
        let (forest, holdings) = (self.forest, &self.holdings);
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref().filter(|_| self.ways[n].is_some());
        let way = leaf.and_then(|leaf| holdings.way(forest, leaf)).filter(|way| !way.is_stopped);
        self.lead(n, way.map(|way| way.nodes));
    }

    /// What stands above a user from now on. If that is new, it is no longer known how the nodes above it grow.
    fn lead(&mut self, n: usize, way: Option<Vec<(usize, bool)>>) {
        if self.ways[n] == way {
            return;
        }
        let leaf = self.forest.leaf(n);
        for v in std::iter::once(leaf).chain(self.forest.above(leaf)) {
            self.moving[v].found_for = None;
        }
        self.growing -= usize::from(way.is_none());
        self.ways[n] = way;
    }

    /// No user whose tasks are worth something in a bound that is reached grows any more.
    fn stop_at_bounds(&mut self) {
        let reached = std::mem::take(&mut self.reached);
        for at in reached.iter().rev() {
            self.bounds.swap_remove(*at).worth().iter().for_each(|(n, _)| self.lead(*n, None));
        }
        if !reached.is_empty() {
            self.weigh();
        }
    }
}
