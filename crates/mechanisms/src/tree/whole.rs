//! Whole tasks by the tree: `fill` where users stand in groups or run gangs (theory, section 9).
//!
//! At every turn the root serves the child whose key is least, that one its own, down to a user, which gets one gang
//! of tasks (one task where it states none), all on the first servers on which they fit, or none. Who has fewer tasks
//! left than its gang, finds no servers for it, or would exceed a limit above it, the capacity beside what is kept
//! back, or with `zero-weight: never` the guarantee of a group of weight 0, is left behind for good: what is used only
//! grows.

use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};

use super::forest::{Forest, Leaf};
use super::growth::Ways;
use super::holdings::Holdings;
use super::key::key;
use super::servers::Servers;
use super::turn::{gang, is_within_limits, pick};
use crate::filling::{Draw, Ties};
use crate::mechanism::MechanismError;

/// Most work: users looked at, over all turns.
const WORK: u64 = 2_000_000_000;

/// Whole tasks by the tree, each gang on the first servers on which it fits.
///
/// # Errors
/// [`MechanismError`]: as [`allocate`](super::allocate) has them, and a limit on the work.
pub fn fill_whole(
    problem: &Problem,
    mechanism: &'static str,
    ties: Ties,
    seed: u64,
) -> Result<Allocation, MechanismError> {
    let forest = super::forest_of(problem, &super::Settings::default())?;
    let mut filling = Filling {
        holdings: Holdings::new(&forest, vec![Rational::new(); problem.n_users()]),
        servers: Servers::new(problem),
        is_out: vec![false; problem.n_users()],
        ways: (0..problem.n_users()).map(|_| None).collect(),
        forest: &forest,
    };
    let mut draw = Draw::new(seed, 0);
    let mut work = 0_u64;
    let mut last = None;
    loop {
        work = work.saturating_add(problem.n_users() as u64 + 1);
        if work > WORK {
            let why = "too many turns: it serves one gang of tasks after the other".to_owned();
            return Err(MechanismError::Limit { mechanism, why });
        }
        filling.look(last);
        let active: Vec<usize> = (0..problem.n_users()).filter(|n| !filling.is_out[*n]).collect();
        if active.is_empty() {
            break;
        }
        let key_of = |v: usize, below: &[usize]| key(&forest, &filling.holdings, v, below).0;
        let n = pick(&forest, &filling.ways, &active, ties, &mut draw, key_of);
        filling.serve(n);
        last = Some(n);
    }
    let (tasks, placements) = filling.servers.into_tasks();
    Ok(Allocation {
        mechanism: Some(mechanism.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks,
        placements: Some(placements),
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    })
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
    fn look(&mut self, last: Option<usize>) {
        let changed = last.map(|last| self.top(last));
        for n in 0..self.is_out.len() {
            if self.is_out[n] {
                continue;
            }
            let Some(leaf) = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref() else { continue };
            let may = self.may_run(leaf) && self.servers.have_room(n, gang(self.forest, n));
            if !may {
                self.is_out[n] = true;
                self.ways[n] = None;
            } else if changed.is_none_or(|top| self.top(n) == top) {
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

    fn serve(&mut self, n: usize) {
        let gang = gang(self.forest, n);
        self.servers.place(n, gang);
        self.holdings.add(self.forest, n, &Rational::from(gang));
    }
}
