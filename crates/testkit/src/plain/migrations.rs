//! The fewest migrations after which a gang could start, computed by a search over all states of a small
//! cluster.

use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::snapshot::Snapshot;

use super::starts::{Running, Task};

/// The answer of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fewest {
    /// The least cost of the tasks that have to stop and start again.
    Tasks(u64),
    /// No migrations suffice.
    Never,
    /// The search met more states than allowed.
    TooMany,
}

/// Returns the least cost of the tasks that have to stop and start again so that the gang of user `n` could
/// start. Tasks start again one start after the other. `costs` has the cost of one task of each user. The
/// tasks of users in `pinned` stay.
#[must_use]
pub fn fewest(snapshot: &Snapshot, n: usize, pinned: &[usize], costs: &[u64], most: usize) -> Fewest {
    let problem = &snapshot.problem;
    let begin = Running::new(snapshot);
    let may_migrate = |m: usize| {
        begin.together(m).into_iter().all(|k| {
            let rule = begin.constraint(k);
            let is_pinned = problem.groups().member(k).pinned.as_ref().is_some_and(|pinned| *pinned > 0);
            !is_pinned && !pinned.contains(&k) && !rule.protected && rule.not_modelled.is_empty()
        })
    };
    let users: Vec<usize> =
        (0..problem.n_users()).filter(|m| begin.together(*m)[0] == *m && may_migrate(*m)).collect();
    let mut seen: BTreeSet<Vec<Task>> = BTreeSet::new();
    let mut open: BTreeMap<u64, Vec<Vec<Task>>> = BTreeMap::new();
    open.entry(0).or_default().push(sorted(begin.tasks.clone()));
    while let Some(mut entry) = open.first_entry() {
        let cost = *entry.key();
        let Some(tasks) = entry.get_mut().pop() else {
            entry.remove();
            continue;
        };
        if !seen.insert(tasks.clone()) {
            continue;
        }
        let mut state = begin.clone();
        state.tasks = tasks;
        if state.could_start(n).is_some() {
            return Fewest::Tasks(cost);
        }
        if seen.len() > most {
            return Fewest::TooMany;
        }
        for m in &users {
            let starts = state.together(*m);
            let price: u64 = starts.iter().map(|k| costs[*k] * state.gang(*k)).sum();
            for gone in choices(&state, &starts) {
                let mut without = state.clone();
                for task in &gone {
                    let at = without.tasks.iter().position(|of| of == task).expect("a running task");
                    without.tasks.remove(at);
                }
                for start in placements(&without, snapshot, &starts) {
                    let mut after = without.tasks.clone();
                    after.extend(&start);
                    let after = sorted(after);
                    if !seen.contains(&after) {
                        open.entry(cost + price).or_default().push(after);
                    }
                }
            }
        }
    }
    Fewest::Never
}

fn sorted(mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.sort_unstable();
    tasks
}

/// Returns all sets of running tasks that consist of one gang of each user.
fn choices(state: &Running<'_>, users: &[usize]) -> Vec<Vec<Task>> {
    let mut all: Vec<Vec<Task>> = vec![Vec::new()];
    for m in users {
        let own: Vec<Task> = sorted(state.tasks.iter().filter(|(k, ..)| k == m).copied().collect());
        let size = state.gang(*m) as usize;
        let sets = subsets(&own, size);
        all = all.iter().flat_map(|set| sets.iter().map(move |more| [&set[..], more].concat())).collect();
    }
    all
}

/// Returns the subsets of this size, without repetitions.
fn subsets(of: &[Task], size: usize) -> BTreeSet<Vec<Task>> {
    if size == 0 {
        return BTreeSet::from([Vec::new()]);
    }
    let mut all = BTreeSet::new();
    for at in 0..of.len() {
        for rest in subsets(&of[at + 1..], size - 1) {
            all.insert([&[of[at]][..], &rest].concat());
        }
    }
    all
}

/// Returns all assignments of servers with which one gang of each user may start.
fn placements(state: &Running<'_>, snapshot: &Snapshot, users: &[usize]) -> Vec<Vec<Task>> {
    let mut all: Vec<Vec<Task>> = vec![Vec::new()];
    let servers: Vec<(usize, u64)> = snapshot
        .problem
        .servers()
        .iter()
        .enumerate()
        .flat_map(|(i, class)| (0..class.count()).map(move |j| (i, j)))
        .collect();
    for m in users {
        for _ in 0..state.gang(*m) {
            let mut longer = Vec::new();
            for start in &all {
                for (class, index) in &servers {
                    let task = (*m, *class, *index);
                    if start.last().is_some_and(|last| last.0 == *m && *last > task) {
                        continue;
                    }
                    let mut others = state.clone();
                    others.tasks.extend(start);
                    if others.has_room(task) {
                        longer.push([&start[..], &[task]].concat());
                    }
                }
            }
            all = longer;
        }
    }
    all.retain(|start| state.may_start(start));
    all
}
