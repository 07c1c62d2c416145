//! The course of hierarchical filling: from event to event, under the capacity bounds that are known so far.
//!
//! # Algorithm
//! The filling (docs/theory.md, section 9) raises the tasks of all users that may grow, at rates that keep the levels
//! of growing siblings equal. Between two events all rates are constant. A segment ([`Course::segment`]) computes the
//! rates, advances to the next event, and updates the nodes that it concerns.
//!
//! Three ideas make this fast enough for large trees:
//!
//! * Every node has a clock of its own ([`moving`]). The amounts of a node are linear in its clock, and the clock of
//!   its parent is linear in it too. An event changes only the node where it happens and the nodes above. All other
//!   nodes keep their rates and are updated only when they are needed.
//! * Numbers are pairs of doubles with an error bound, and exact numbers only where a decision depends on them
//!   ([`number`], [`approx`]).
//! * On several classes, capacity is represented by a few linear bounds on the tasks ([`tracked_bound`]). The caller
//!   checks from time to time whether the tasks can be placed, and adds a bound if they cannot.

mod approx;
mod choosing;
mod flat;
mod fraction;
mod moving;
mod number;
mod pair;
mod standing;
mod step;
mod tracked_bound;

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use evenhand_exact::tree::{Amount, Bound, Forest, Holdings, Shared, Ways};
use evenhand_levels::placement::Totals;
use evenhand_problem::Rational;
use thiserror::Error;

use approx::Approx;
use moving::Moving;
use number::Number;
use standing::{KnownStanding, RequestingUsers};
use tracked_bound::TrackedBound;

/// The error that no event ends the filling. It cannot occur for the tree of a problem: every task demands a
/// resource, and all capacities are finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no bound ends the filling")]
pub struct Endless;

/// All nodes, each after its children, and the position of each node in this order.
struct Order {
    upwards: Vec<usize>,
    place: Vec<usize>,
}

/// The state of the filling. Copies share the states of nodes until one of them changes a node. Every copy
/// has its own tasks and ways.
#[derive(Clone)]
pub struct Course<'f> {
    forest: &'f Forest<'f>,
    /// The amounts of all nodes. The amounts of a growing node date from its last update (see [`moving`]).
    holdings: Holdings<Number>,
    /// The *way* of each user that may grow: the nodes above the user, each with whether the user is below
    /// the guarantee of that node. The way of a stopped user is `None`. A stopped user stays stopped, because
    /// used amounts only grow.
    ways: Ways,
    /// The state of each node.
    moving: Vec<Shared<Moving>>,
    /// The bounds that are not reached yet.
    bounds: Vec<TrackedBound>,
    /// The number of bounds that were ever added.
    n_bounds: usize,
    /// For each node and bound, the approximate rate at which the tasks below the node gain worth in the
    /// bound, per unit of the node's clock. The entry is `None` if it has to be recomputed.
    worths: Vec<Option<Arc<[Approx]>>>,
    /// The positions in `bounds` of the bounds that the next event reaches.
    reached: Vec<usize>,
    order: Arc<Order>,
    /// The users below each node.
    below: Arc<[Vec<usize>]>,
    /// For each node, two sets of users below it: the users that may grow and are below the guarantee of the node, and
    /// all users that may grow.
    requesting: Vec<Shared<[RequestingUsers; 2]>>,
    /// The last result of [`Course::standing_of`] for each node.
    standings: Vec<KnownStanding>,
    /// For each node, whether each of its marks was reached at its last event.
    marks: Vec<Rc<[bool]>>,
    /// The number of users that may grow.
    growing: usize,
}

impl<'f> Course<'f> {
    /// Creates the state in which users have `tasks`, which satisfy `bounds`.
    #[must_use]
    pub fn new(forest: &'f Forest<'f>, tasks: &[Rational], bounds: &[Bound]) -> Self {
        let users = 0..tasks.len();
        let mut below = vec![Vec::new(); forest.nodes.len()];
        for n in users.clone() {
            let leaf = forest.leaf(n);
            std::iter::once(leaf).chain(forest.above(leaf)).for_each(|v| below[v].push(n));
        }
        let mut holdings = Holdings::new(forest, tasks.iter().cloned().map(Number::from).collect());
        // Equal numbers for usage and running tasks are shared, so that each operation is done only once.
        for (used, running) in holdings.used.iter_mut().zip(&holdings.running) {
            let equal = used.iter_mut().zip(running.iter()).filter(|(used, running)| used == running);
            equal.for_each(|(used, running)| used.clone_from(running));
        }
        let ways = vec![Some(Vec::new()); users.len()];
        let start = |v: usize| Shared::new(Moving::start(forest, &holdings, v));
        let moving = (0..forest.nodes.len()).map(start).collect();
        let upwards: Vec<usize> = forest.upwards().collect();
        let mut place = vec![0; upwards.len()];
        upwards.iter().enumerate().for_each(|(at, v)| place[*v] = at);
        let order = Arc::new(Order { upwards, place });
        let (none, reached, growing) = (Vec::new(), Vec::new(), ways.len());
        let requesting = vec![Shared::default(); forest.nodes.len()];
        let standings = vec![KnownStanding::default(); forest.nodes.len()];
        // No marks are known yet, so the first event of every node updates its users.
        let marks = vec![Rc::from([]); forest.nodes.len()];
        let (below, worths) = (below.into(), vec![None; forest.nodes.len()]);
        let mut course = Self {
            forest,
            holdings,
            ways,
            moving,
            bounds: none,
            n_bounds: 0,
            worths,
            reached,
            order,
            below,
            requesting,
            standings,
            marks,
            growing,
        };
        users.for_each(|n| course.update_way(n));
        course.add_bounds(bounds);
        course
    }

    /// Adds bounds, which apply from now on. Returns `false` if the tasks already violate a bound.
    pub fn add_bounds(&mut self, bounds: &[Bound]) -> bool {
        let tasks = self.approximate_tasks();
        for bound in bounds {
            let mut bound = TrackedBound::new(bound, self.n_bounds);
            self.n_bounds += 1;
            match self.compare_slack(&mut bound, &tasks) {
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

    /// Returns the tasks of each user, approximately and with error bounds. After a long course they are
    /// accurate to some 20 digits. This is much faster than the exact computation.
    fn approximate_tasks(&self) -> Vec<Approx> {
        let mut now = vec![Approx::default(); self.moving.len()];
        let mut tasks = vec![Approx::default(); self.ways.len()];
        for v in self.order.upwards.iter().copied().rev() {
            let node = &self.moving[v];
            let parent = self.forest.nodes[v].parent.filter(|_| node.is_growing);
            now[v] = parent.map_or_else(
                || node.clock.approx(),
                |parent| (now[parent] - node.zero.approx()) / node.pace.approx(),
            );
            if let Some(leaf) = &self.forest.nodes[v].leaf {
                tasks[leaf.user] = now[v];
            }
        }
        tasks
    }

    /// Removes all bounds that are not reached yet from `bounds`, which lists all bounds in the order in which they
    /// were added. All users with a positive worth in a remaining bound have stopped there.
    pub fn retain_reached(&self, bounds: &mut Vec<Bound>) {
        let mut reached = vec![true; bounds.len()];
        self.bounds.iter().for_each(|bound| reached[bound.at()] = false);
        let mut reached = reached.into_iter();
        bounds.retain(|_| reached.next().unwrap_or_default());
    }

    /// Computes the slack of a new bound and compares it with 0. Doubles are used if they suffice.
    fn compare_slack(&self, bound: &mut TrackedBound, tasks: &[Approx]) -> Ordering {
        bound
            .evaluate(tasks)
            .unwrap_or_else(|| bound.record_slack(&self.line(bound).at(&self.moving[0].clock)))
    }

    /// Advances to the next event. Returns `false` if no user can grow.
    ///
    /// # Errors
    /// Returns [`Endless`] if there is no next event, which does not happen.
    pub fn segment(&mut self) -> Result<bool, Endless> {
        if self.growing == 0 {
            return Ok(false);
        }
        self.compute_growth(0, &Rc::default());
        let next = self.moving[0].next.clone().ok_or(Endless)?;
        let step = (next.approx() - self.moving[0].clock.approx()).range();
        self.advance(0, next);
        self.bounds.iter_mut().for_each(|bound| bound.advance(step));
        let mut events = Vec::new();
        self.process_events(0, &mut events);
        // The nodes below a node in `events` may not be updated to this event. This is correct here, because
        // reaching a mark of such a node is an event of its own, which would have updated the node.
        for v in events {
            let marks = self.marks(v);
            if self.marks[v] == marks {
                continue;
            }
            self.marks[v] = marks;
            for at in 0..self.below[v].len() {
                self.update_way(self.below[v][at]);
            }
        }
        self.stop_at_bounds();
        Ok(true)
    }

    /// Returns whether a node has reached each of its marks.
    ///
    /// The mark of a user is its number of tasks. The marks of a group are its limits, guarantees and amounts
    /// kept back. The marks of the root are the capacities. [`Holdings::way`] depends on nothing else.
    fn marks(&self, v: usize) -> Rc<[bool]> {
        let (forest, node) = (self.forest, &self.forest.nodes[v]);
        if let Some(leaf) = &node.leaf {
            let has_all = |tasks: &Rational| self.holdings.tasks[leaf.user].cmp_to(tasks).is_ge();
            return leaf.tasks.iter().map(has_all).collect();
        }
        let reached =
            |held: &Number, mark: Option<&Rational>| mark.is_some_and(|mark| held.cmp_to(mark).is_ge());
        let of_resource = |r: usize| {
            let (running, used) = (&self.holdings.running[v][r], &self.holdings.used[v][r]);
            let limit = if v == 0 { Some(&forest.capacity[r]) } else { node.limit[r].as_ref() };
            let guarantee = node.guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref());
            let kept = Some(&node.kept[r]);
            let running = reached(running, limit.filter(|_| v == 0));
            [running, reached(used, limit), reached(used, guarantee), reached(used, kept)]
        };
        (0..forest.resources.len()).flat_map(of_resource).collect()
    }

    /// Recomputes the way of a user: the nodes above the user, and whether the user may grow.
    fn update_way(&mut self, n: usize) {
        let (forest, holdings) = (self.forest, &self.holdings);
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref().filter(|_| self.ways[n].is_some());
        let way = leaf.and_then(|leaf| holdings.way(forest, leaf)).filter(|way| !way.is_stopped);
        self.set_way(n, way.map(|way| way.nodes));
    }

    /// Sets the way of a user. If the new way is different, the growth of all nodes above the user must be
    /// recomputed.
    fn set_way(&mut self, n: usize, way: Option<Vec<(usize, bool)>>) {
        if self.ways[n] == way {
            return;
        }
        let leaf = self.forest.leaf(n);
        for v in std::iter::once(leaf).chain(self.forest.above(leaf)) {
            self.moving[v].found_for = None;
            self.standings[v].forget();
        }
        self.growing -= usize::from(way.is_none());
        self.ways[n] = way;
    }

    /// Stops all users whose tasks have a positive worth in a bound that was reached.
    fn stop_at_bounds(&mut self) {
        let reached = std::mem::take(&mut self.reached);
        for at in reached.iter().rev() {
            self.bounds.swap_remove(*at).worth().iter().for_each(|(n, _)| self.set_way(*n, None));
        }
        if !reached.is_empty() {
            self.weigh();
        }
    }
}

impl Totals for Course<'_> {
    fn nearly(&self) -> Vec<Rational> {
        self.approximate_tasks().into_iter().map(Approx::nearly).collect()
    }

    fn break_bound(&self, bound: &Bound) -> bool {
        self.compare_slack(&mut TrackedBound::new(bound, self.n_bounds), &self.approximate_tasks()).is_lt()
    }

    /// Updates all nodes, also those below nodes that do not grow, and returns the exact tasks of each user.
    /// A node that does not grow is up to date by its own clock, but the nodes below it may be older.
    fn exactly(&mut self) -> Vec<Rational> {
        let order = Arc::clone(&self.order);
        for v in order.upwards.iter().copied().rev() {
            self.update_children(v);
        }
        let is_late = evenhand_budget::is_late();
        let evaluate = |x: &Number| if is_late { x.exactly_uncharged() } else { x.exactly() };
        self.holdings.tasks.iter().map(evaluate).collect()
    }
}

#[cfg(test)]
mod tests {
    use evenhand_problem::format::problem_to_json;
    use evenhand_testkit::plain;
    use evenhand_testkit::random::trees::{self, Shape};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use crate::tree::{Settings, allocate};

    const SHAPES: [Shape; 4] = [
        Shape { groups: 7, users: 9, classes: 1 },
        Shape { groups: 5, users: 7, classes: 4 },
        Shape { groups: 12, users: 30, classes: 1 },
        Shape { groups: 9, users: 16, classes: 3 },
    ];

    /// Checks the course against the definition. In tests, nearly all numbers are known only in doubles until
    /// they are needed.
    #[test]
    fn the_course_ends_in_the_allocation_of_the_definition() {
        // With the last seed, two resources of a group become equal before both reach its guarantee, one after the
        // other.
        for seed in (0..40).chain([1502]) {
            for shape in SHAPES {
                let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), shape);
                let filled = allocate(&problem, &Settings::default()).unwrap().allocation.totals();
                assert_eq!(filled, plain::tree::fill(&problem), "seed {seed}\n{}", problem_to_json(&problem));
            }
        }
    }
}
