//! Whole tasks scheduled by the tree: the mechanism `fill` for users in groups or with gangs (docs/theory.md,
//! section 9).
//!
//! At every turn, the root chooses its child with the least key. This child chooses among its own children in
//! the same way, down to a user. The user gets all tasks of one gang (one task if it states no gang), or
//! none. Each task goes on the first server where it fits, or on the best server. A user is left out for good
//! in any of these cases: it has fewer tasks left than its gang, the gang fits on no servers, or the gang
//! would exceed a limit above the user or the capacity minus the amounts kept back. With
//! `zero-weight: never`, a user is also left out if the gang would exceed the guarantee of a group of
//! weight 0. All these reasons stay true, because usage only grows.

use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};

use super::allocate::{Settings, forest_of};
use super::rule::Rule;
use super::servers::Servers;
use super::turn::{gang, is_within_limits, pick};
use crate::error::MechanismError;
use crate::filling::draw::Draw;
use crate::filling::rule::Ties;
use crate::filling::run::{Filled, late};
use evenhand_exact::tree::{Forest, Holdings, Leaf, Ways, key};

/// The maximum work: the number of users visited over all turns.
const WORK: u64 = 2_000_000_000;
/// The budget steps of one visit, which takes several operations on fractions.
const LOOK: u64 = 300;

/// The settings for serving whole tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole {
    /// The scheduler whose share is used instead of the problem's own share.
    pub rule: Option<Rule>,
    /// `true` if a task goes on the server whose free capacity matches it best, instead of the first server
    /// where it fits.
    pub best_fit: bool,
    /// The preference among equals, first for users and then for servers.
    pub ties: Ties,
    /// The seed for random choices among equals.
    pub seed: u64,
}

/// Places whole tasks by the tree. A gang is placed completely or not at all.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()), for a rule that divides every
/// resource separately, and if a limit of work or time is reached.
pub fn fill_whole(
    problem: &Problem,
    mechanism: &'static str,
    whole: Whole,
) -> Result<Allocation, MechanismError> {
    match fill_in_time(problem, mechanism, whole)? {
        Filled { is_late: true, .. } => Err(late(mechanism)),
        filled => Ok(filled.allocation),
    }
}

/// Places the same tasks as [`fill_whole`]. Returns the tasks placed so far if the time is up.
///
/// # Errors
/// Returns an error in the same cases as [`fill_whole`].
pub fn fill_in_time(
    problem: &Problem,
    mechanism: &'static str,
    whole: Whole,
) -> Result<Filled, MechanismError> {
    let Whole { rule, best_fit, ties, seed } = whole;
    if rule.is_some_and(|rule| rule.per_resource().is_some()) {
        let why = "it divides every resource separately and places no tasks".to_owned();
        return Err(MechanismError::BadOption { mechanism, option: "rule", why });
    }
    let forest = forest_of(problem, &Settings { rule, ..Settings::default() })?;
    let mut filling = Filling {
        holdings: Holdings::new(&forest, vec![Rational::new(); problem.n_users()]),
        servers: Servers::new(&forest, best_fit.then_some(ties)),
        is_out: vec![false; problem.n_users()],
        ways: (0..problem.n_users()).map(|_| None).collect(),
        forest: &forest,
    };
    let mut draw = Draw::new(seed, 0);
    let mut work = 0_u64;
    let mut last = None;
    let mut is_late;
    loop {
        let mut turn = problem.n_users() as u64 + 1;
        if best_fit {
            turn += filling.servers.n_stored() as u64;
        }
        work = work.saturating_add(turn);
        if work > WORK {
            let why = "too many gangs of tasks: they are served one after another".to_owned();
            return Err(MechanismError::Limit { mechanism, why });
        }
        is_late = evenhand_budget::is_late();
        if is_late {
            break;
        }
        evenhand_budget::charge(turn.saturating_mul(LOOK), "filling by whole tasks");
        filling.update_candidates(last, &draw);
        let active: Vec<usize> = (0..problem.n_users()).filter(|n| filling.ways[*n].is_some()).collect();
        if active.is_empty() {
            break;
        }
        let key_of = |v: usize, below: &[usize]| key(&forest, &filling.holdings, v, below).0;
        let n = pick(&forest, &filling.ways, &active, ties, &mut draw, key_of);
        filling.serve(n, &mut draw);
        last = Some(n);
    }
    let (tasks, placements) = filling.servers.into_tasks();
    let allocation = Allocation {
        mechanism: Some(mechanism.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks,
        placements: Some(placements),
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    };
    Ok(Filled { allocation, is_late })
}

/// The state of the filling.
struct Filling<'f> {
    forest: &'f Forest<'f>,
    holdings: Holdings,
    servers: Servers<'f>,
    /// One entry for each user: `true` if the user is left out for good.
    is_out: Vec<bool>,
    /// The ways of users that may be served.
    ways: Ways,
}

impl Filling<'_> {
    /// Returns the child of the root that contains a user: a group, or the user itself.
    fn top(&self, n: usize) -> usize {
        let leaf = self.forest.leaf(n);
        let groups = self.forest.above(leaf).take_while(|v| *v != 0);
        groups.last().unwrap_or(leaf)
    }

    /// Updates which users may be served, and their ways. The way of a user is recomputed only if the last user served
    /// is below the same child of the root, since nothing has changed in other parts of the tree.
    fn update_candidates(&mut self, last: Option<usize>, draw: &Draw) {
        let changed = last.map(|last| self.top(last));
        for n in 0..self.is_out.len() {
            if self.is_out[n] {
                continue;
            }
            let Some(leaf) = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref() else { continue };
            let may = self.may_run(leaf);
            if !may || !self.servers.have_room(n, gang(self.forest, n), draw) {
                self.is_out[n] = !may || self.servers.is_full_for_good(n, gang(self.forest, n));
                self.ways[n] = None;
            } else if self.ways[n].is_none() || changed.is_none_or(|top| self.top(n) == top) {
                self.ways[n] = self.holdings.way(self.forest, leaf).map(|way| way.nodes);
                self.is_out[n] = self.ways[n].is_none();
            }
        }
    }

    /// Returns whether the user has tasks left for one more gang, and whether the gang respects all limits
    /// above the user and the capacity.
    fn may_run(&self, leaf: &Leaf) -> bool {
        let after = &self.holdings.tasks[leaf.user] + Rational::from(gang(self.forest, leaf.user));
        let is_left = leaf.tasks.as_ref().is_none_or(|tasks| after <= *tasks);
        is_left && leaf.is_able && is_within_limits(self.forest, &self.holdings, leaf)
    }

    fn serve(&mut self, n: usize, draw: &mut Draw) {
        let gang = gang(self.forest, n);
        self.servers.place(n, gang, draw);
        self.holdings.add(self.forest, n, &Rational::from(gang));
    }
}
