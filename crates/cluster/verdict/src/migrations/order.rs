//! The order of migrations: each stops and starts elsewhere in one step, so each needs room when it is made.

use std::collections::{BTreeMap, HashSet};

use evenhand_problem::Rational;

use crate::moves::Tasks;
use crate::servers::Place;
use crate::starts::{Assignment, Standing};

/// The number of migrations up to which all orders are tried.
const MOST_FOR_ALL_ORDERS: usize = 14;

/// One migration: a start that stops and starts again in the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// By user: the servers that the tasks leave.
    pub from: Vec<(usize, Vec<Place>)>,
    /// By user, ascending: the servers on which the tasks start again.
    pub to: Vec<(usize, Vec<Place>)>,
    /// The position of the gang in the snapshot, if the snapshot names it.
    pub name: Option<usize>,
}

/// Returns tasks by user and server.
pub fn tasks_of(parts: &[(usize, Vec<Place>)]) -> BTreeMap<usize, Tasks> {
    let mut all: BTreeMap<usize, Tasks> = BTreeMap::new();
    for (n, places) in parts {
        let tasks = all.entry(*n).or_default();
        places.iter().for_each(|place| *tasks.entry(*place).or_default() += 1);
    }
    all
}

fn change(standing: &mut Standing<'_>, parts: &[(usize, Vec<Place>)], sign: i32) {
    for (n, places) in parts {
        places.iter().for_each(|place| standing.change(*n, *place, &Rational::from(sign)));
    }
}

/// Makes a migration if its tasks may start on the new servers once they have stopped. Returns whether it was made.
pub fn make(standing: &mut Standing<'_>, step: &Step) -> bool {
    change(standing, &step.from, -1);
    if standing.may_start(&Assignment { parts: step.to.clone() }).is_ok() {
        change(standing, &step.to, 1);
        return true;
    }
    change(standing, &step.from, 1);
    false
}

/// Undoes a migration.
pub fn undo(standing: &mut Standing<'_>, step: &Step) {
    change(standing, &step.to, -1);
    change(standing, &step.from, 1);
}

/// Returns the migrations in an order in which each has room, and after which the gang may start and no user lacks more of a
/// guarantee than before; `None` if no order was found. The cluster is unchanged afterwards.
pub fn ordered(standing: &mut Standing<'_>, steps: &[Step], gang: &Assignment) -> Option<Vec<Step>> {
    let before = lacks(standing);
    let made = greedy(standing, steps).or_else(|| {
        let is_small = steps.len() <= MOST_FOR_ALL_ORDERS;
        is_small.then(|| by_trying(standing, steps)).flatten()
    })?;
    let may_start = standing.may_start(gang).is_ok();
    let is_harmless = may_start && {
        change(standing, &gang.parts, 1);
        let after = lacks(standing);
        change(standing, &gang.parts, -1);
        before.iter().zip(&after).all(|(before, after)| after <= before)
    };
    made.iter().rev().for_each(|at| undo(standing, &steps[*at]));
    is_harmless.then(|| made.iter().map(|at| steps[*at].clone()).collect())
}

/// Makes migrations one after the other, each time the first that has room. The last to leave are tried first, because the others
/// may need the capacity that they leave.
fn greedy(standing: &mut Standing<'_>, steps: &[Step]) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..steps.len()).rev().collect();
    let mut made: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|at| {
            let is_made = make(standing, &steps[*at]);
            if is_made {
                made.push(*at);
            }
            !is_made
        });
        if left.len() == before {
            made.iter().rev().for_each(|at| undo(standing, &steps[*at]));
            return None;
        }
    }
    Some(made)
}

/// Tries all orders. Sets of migrations after which no order goes on are remembered.
fn by_trying(standing: &mut Standing<'_>, steps: &[Step]) -> Option<Vec<usize>> {
    let mut made: Vec<usize> = Vec::new();
    let mut dead: HashSet<u32> = HashSet::new();
    extend(standing, steps, 0, &mut made, &mut dead).then_some(made)
}

fn extend(
    standing: &mut Standing<'_>,
    steps: &[Step],
    done: u32,
    made: &mut Vec<usize>,
    dead: &mut HashSet<u32>,
) -> bool {
    if made.len() == steps.len() {
        return true;
    }
    if dead.contains(&done) {
        return false;
    }
    for (at, step) in steps.iter().enumerate() {
        if done & (1 << at) == 0 && make(standing, step) {
            made.push(at);
            if extend(standing, steps, done | (1 << at), made, dead) {
                return true;
            }
            made.pop();
            undo(standing, step);
        }
    }
    dead.insert(done);
    false
}

/// Returns what users lack of their guarantees, with and without admitted tasks; the kernel compares both.
fn lacks(standing: &Standing<'_>) -> Vec<Rational> {
    let problem = standing.problem;
    if problem.groups().list().is_empty() {
        return Vec::new();
    }
    let users: Vec<usize> = (0..problem.n_users()).filter(|n| problem.is_active(*n)).collect();
    let admitted = |n: usize| standing.rules.admitted(n);
    let mut lacks: Vec<Rational> = users.iter().map(|n| standing.rooms.lack(*n)).collect();
    if (0..problem.n_users()).any(|n| admitted(n) > 0) {
        lacks.extend(standing.rooms.lacks_of_running(&users, &admitted));
    }
    lacks
}
