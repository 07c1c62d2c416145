//! The order of migrations. Each migration stops a task and starts it again in one step, so the new server must have
//! free capacity at that moment.

use std::collections::{BTreeMap, HashSet};

use evenhand_problem::Rational;

use crate::moves::Tasks;
use crate::servers::Place;
use crate::starts::{Assignment, Standing};

/// The largest number of migrations for which all orders are tried.
const MOST_FOR_ALL_ORDERS: usize = 14;

/// One migration: a start that stops and starts again at the same moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The servers that the tasks leave, by user.
    pub from: Vec<(usize, Vec<Place>)>,
    /// The servers on which the tasks start again, by user in ascending order.
    pub to: Vec<(usize, Vec<Place>)>,
    /// The position of the gang in the snapshot, if the snapshot names it.
    pub name: Option<usize>,
}

/// Returns the number of tasks on each server, by user.
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

/// Makes a migration if its tasks may start on the new servers after they have stopped. Returns `true` if the
/// migration was made.
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

/// Returns the migrations in a feasible order. In a feasible order each migration has free capacity when it
/// is made, the gang may start afterwards, and no user lacks more of a guarantee than before. Returns `None`
/// if no such order was found. The cluster is unchanged after the call.
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

/// Makes migrations one after the other, each time the first feasible migration. The tasks that left last in
/// the search are tried first, because other migrations may need the capacity that they free. Returns the
/// order. Returns `None` if some migration was never feasible.
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

/// Tries all orders. If no order is feasible after a set of migrations, the set is remembered and not tried again.
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

/// Returns the number of tasks that guarantees still promise to each user, with and without admitted tasks. The kernel
/// compares both numbers.
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
