//! Whole tasks by the tree: `fill` where users stand in groups or run gangs (theory, section 9).
//!
//! At every turn the root serves the child whose key is least, that one its own, down to a user, which gets one gang
//! of tasks (one task where it states none), all on the first servers on which they fit (or each on the server that suits
//! it best), or none. Who has fewer tasks
//! left than its gang, finds no servers for it, or would exceed a limit above it, the capacity beside what is kept
//! back, or with `zero-weight: never` the guarantee of a group of weight 0, is left behind for good: what is used only
//! grows.

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

/// Most work: users looked at, over all turns.
const WORK: u64 = 2_000_000_000;
/// Steps of one of them: some operations on fractions.
const LOOK: u64 = 300;

/// How whole tasks are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole {
    /// The share of a scheduler in place of the problem's own.
    pub rule: Option<Rule>,
    /// Whether a task goes to the server whose rest suits it best, and not to the first on which it fits.
    pub best_fit: bool,
    /// Who is preferred among equals: users first, then servers.
    pub ties: Ties,
    /// Seed of random ties.
    pub seed: u64,
}

/// Whole tasks by the tree, gangs all or none.
///
/// # Errors
/// [`MechanismError`]: as [`allocate`](super::allocate()) has them, a rule that divides every resource alone, and a limit
/// on the work or the time.
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

/// [`fill_whole`], which ends with what it has where the time of the limits in force is up.
///
/// # Errors
/// As [`fill_whole`] has them.
pub fn fill_in_time(
    problem: &Problem,
    mechanism: &'static str,
    whole: Whole,
) -> Result<Filled, MechanismError> {
    let Whole { rule, best_fit, ties, seed } = whole;
    if rule.is_some_and(|rule| rule.per_resource().is_some()) {
        let why = "it divides every resource alone and places no tasks".to_owned();
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
            turn += filling.servers.held() as u64;
        }
        work = work.saturating_add(turn);
        if work > WORK {
            let why = "too many turns: it serves one gang of tasks after the other".to_owned();
            return Err(MechanismError::Limit { mechanism, why });
        }
        is_late = evenhand_budget::is_late();
        if is_late {
            break;
        }
        evenhand_budget::charge(turn.saturating_mul(LOOK), "filling by whole tasks");
        filling.look(last, &draw);
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

struct Filling<'f> {
    forest: &'f Forest<'f>,
    holdings: Holdings,
    servers: Servers<'f>,
    is_out: Vec<bool>,
    /// By user that is not out.
    ways: Ways,
}

impl Filling<'_> {
    /// The group below the root that a user stands in, or the user itself.
    fn top(&self, n: usize) -> usize {
        let leaf = self.forest.leaf(n);
        let groups = self.forest.above(leaf).take_while(|v| *v != 0);
        groups.last().unwrap_or(leaf)
    }

    /// Leaves out who can have no more. Where a user below the same child of the root was served last, what stands
    /// above a user is found anew; elsewhere nothing has changed there.
    fn look(&mut self, last: Option<usize>, draw: &Draw) {
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

    /// Whether one more gang is within the tasks of the user, all limits above it and the capacity.
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
