//! The course of the filling: segments, one after the other, as far as what is known of the classes allows.

mod about;
mod choosing;
mod flat;
mod fraction;
mod kept;
mod moving;
mod number;
mod pair;
mod standing;
mod step;

use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use evenhand_exact::tree::{Amount, Bound, Forest, Holdings, Shared, Ways};
use evenhand_levels::placement::Totals;
use evenhand_problem::Rational;
use thiserror::Error;

use about::About;
use kept::Kept;
use moving::Moving;
use number::Number;
use standing::{Asking, KnownStanding};

/// Nothing ends the filling, which no tree of a problem does: every task asks for something, and all capacities end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("nothing ends the filling")]
pub struct Endless;

/// All nodes, each after its children, and the place of each there.
struct Order {
    upwards: Vec<usize>,
    place: Vec<usize>,
}

/// Holdings on their way. A copy shares what is known of nodes until that changes; it has tasks and ways of its own.
#[derive(Clone)]
pub struct Course<'f> {
    forest: &'f Forest<'f>,
    /// Those of a node that grows are as old as the clock of its parent was when it was last looked at.
    holdings: Holdings<Number>,
    /// Users that are stopped have none, and stay so: what is used only grows.
    ways: Ways,
    /// By node.
    moving: Vec<Shared<Moving>>,
    /// Those that are not reached, of so many that it has kept.
    bounds: Vec<Kept>,
    kept: usize,
    /// By node and bound, how much more the tasks of its users are worth while its clock advances by one, about; absent where it is
    /// not known.
    worths: Vec<Option<Arc<[About]>>>,
    /// By position: those that the next event reaches.
    reached: Vec<usize>,
    order: Arc<Order>,
    /// By node: the users below it.
    below: Arc<[Vec<usize>]>,
    /// By node: who may grow and is below its guarantee too, and who may.
    asking: Vec<Shared<[Asking; 2]>>,
    /// By node.
    standings: Vec<KnownStanding>,
    /// By node: which of its marks it had reached at its last event.
    marks: Vec<Rc<[bool]>>,
    /// How many users may grow.
    growing: usize,
}

impl<'f> Course<'f> {
    /// Where users have so many tasks, which keep these bounds.
    #[must_use]
    pub fn new(forest: &'f Forest<'f>, tasks: &[Rational], bounds: &[Bound]) -> Self {
        let users = 0..tasks.len();
        let mut below = vec![Vec::new(); forest.nodes.len()];
        for n in users.clone() {
            let leaf = forest.leaf(n);
            std::iter::once(leaf).chain(forest.above(leaf)).for_each(|v| below[v].push(n));
        }
        let mut holdings = Holdings::new(forest, tasks.iter().cloned().map(Number::from).collect());
        // What is used and what runs are one number as long as they are equal.
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
        let asking = vec![Shared::default(); forest.nodes.len()];
        let standings = vec![KnownStanding::default(); forest.nodes.len()];
        // None are known, so that the first event of a node is looked at.
        let marks = vec![Rc::from([]); forest.nodes.len()];
        let (below, worths) = (below.into(), vec![None; forest.nodes.len()]);
        let mut course = Self {
            forest,
            holdings,
            ways,
            moving,
            bounds: none,
            kept: 0,
            worths,
            reached,
            order,
            below,
            asking,
            standings,
            marks,
            growing,
        };
        users.for_each(|n| course.look_at(n));
        course.keep(bounds);
        course
    }

    /// Keeps further bounds from now on; `false` where one is broken already.
    pub fn keep(&mut self, bounds: &[Bound]) -> bool {
        let tasks = self.about();
        for bound in bounds {
            let mut bound = Kept::new(bound, self.kept);
            self.kept += 1;
            match self.find(&mut bound, &tasks) {
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

    /// Tasks by user, with what these may be off by: to some 20 digits after a long course, and much sooner than exactly.
    fn about(&self) -> Vec<About> {
        let mut now = vec![About::default(); self.moving.len()];
        let mut tasks = vec![About::default(); self.ways.len()];
        for v in self.order.upwards.iter().copied().rev() {
            let node = &self.moving[v];
            let parent = self.forest.nodes[v].parent.filter(|_| node.is_growing);
            now[v] = parent.map_or_else(
                || node.clock.about(),
                |parent| (now[parent] - node.zero.about()) / node.pace.about(),
            );
            if let Some(leaf) = &self.forest.nodes[v].leaf {
                tasks[leaf.user] = now[v];
            }
        }
        tasks
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
    fn find(&self, bound: &mut Kept, tasks: &[About]) -> Ordering {
        bound.find(tasks).unwrap_or_else(|| bound.is_left(&self.line(bound).at(&self.moving[0].clock)))
    }

    /// Goes on to the next event; `false` where no user can grow.
    ///
    /// # Errors
    /// [`Endless`], which does not happen.
    pub fn segment(&mut self) -> Result<bool, Endless> {
        if self.growing == 0 {
            return Ok(false);
        }
        self.direct(0, &Rc::default());
        let next = self.moving[0].next.clone().ok_or(Endless)?;
        let step = (next.about() - self.moving[0].clock.about()).range();
        self.advance(0, next);
        self.bounds.iter_mut().for_each(|bound| bound.advance(step));
        let mut events = Vec::new();
        self.happens(0, &mut events);
        // What is below may be older than the event, which changes nothing here: where a mark is reached is an event too, and
        // brings its node up to date.
        for v in events {
            let marks = self.marks(v);
            if self.marks[v] == marks {
                continue;
            }
            self.marks[v] = marks;
            for at in 0..self.below[v].len() {
                self.look_at(self.below[v][at]);
            }
        }
        self.stop_at_bounds();
        Ok(true)
    }

    /// Which of its marks a node has reached: of a user its number of tasks, else limits, guarantees, what is kept back, and at the
    /// root capacities. [`Holdings::way`] depends on nothing else.
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
            self.standings[v].forget();
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

impl Totals for Course<'_> {
    fn nearly(&self) -> Vec<Rational> {
        self.about().into_iter().map(About::nearly).collect()
    }

    fn break_bound(&self, bound: &Bound) -> bool {
        self.find(&mut Kept::new(bound, self.kept), &self.about()).is_lt()
    }

    /// Also below nodes that wait: these are as old as their own clocks, but what is below them is not.
    fn exactly(&mut self) -> Vec<Rational> {
        let order = Arc::clone(&self.order);
        for v in order.upwards.iter().copied().rev() {
            self.update_children(v);
        }
        let is_late = evenhand_budget::is_late();
        let find = |x: &Number| if is_late { x.at_last() } else { x.exactly() };
        self.holdings.tasks.iter().map(find).collect()
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

    /// Where nearly all numbers are only known in doubles until they are needed.
    #[test]
    fn the_course_ends_where_the_definition_says() {
        // At the last one two resources of a group become equal before both reach its guarantee, one after the other.
        for seed in (0..40).chain([1502]) {
            for shape in SHAPES {
                let problem = trees::problem(&mut Pcg64::seed_from_u64(seed), shape);
                let filled = allocate(&problem, &Settings::default()).unwrap().allocation.totals();
                assert_eq!(filled, plain::tree::fill(&problem), "seed {seed}\n{}", problem_to_json(&problem));
            }
        }
    }
}
