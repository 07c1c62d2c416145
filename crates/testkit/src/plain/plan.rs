//! Plans of servers, by plain loops written from docs/plan.md. All orders of starts and all servers are
//! tried. The code is meant for a few tasks.

use std::collections::BTreeSet;

use super::starts::{Running, Task};

/// Returns all assignments of servers with which a user could start. Of identical servers, only the first is
/// tried.
#[must_use]
pub fn assignments(running: &Running<'_>, n: usize) -> Vec<Vec<Task>> {
    let mut found = Vec::new();
    if running.waits(n) {
        let users = running.together(n);
        let users: Vec<usize> =
            users.into_iter().flat_map(|m| (0..running.gang(m)).map(move |_| m)).collect();
        extend(running, &users, &mut Vec::new(), &mut found);
    }
    found
}

fn extend(running: &Running<'_>, users: &[usize], start: &mut Vec<Task>, found: &mut Vec<Vec<Task>>) {
    let Some(n) = users.get(start.len()) else {
        if running.may_start(start) {
            found.push(start.clone());
        }
        return;
    };
    let mut others = running.clone();
    others.tasks.extend(start.iter());
    for (class, index) in different(&others, None) {
        if others.has_room((*n, class, index)) {
            start.push((*n, class, index));
            extend(running, users, start, found);
            start.pop();
        }
    }
}

/// Returns all servers except `gone`. Of servers with the same class and the same tasks, only the first is
/// returned.
fn different(running: &Running<'_>, gone: Option<(usize, u64)>) -> Vec<(usize, u64)> {
    let mut seen = BTreeSet::new();
    let mut servers = running.servers();
    servers.retain(|server| Some(*server) != gone);
    servers.retain(|(class, index)| {
        let here = running.tasks.iter().filter(|(_, i, j)| (i, j) == (class, index));
        let mut users: Vec<usize> = here.map(|(n, ..)| *n).collect();
        users.sort_unstable();
        seen.insert((*class, users))
    });
    servers
}

/// Returns `true` if starts of these users can be made one after the other in some order. A user is listed
/// once for each of its starts.
#[must_use]
pub fn all_start(running: &Running<'_>, starts: &[usize]) -> bool {
    all_start_after(running, starts, &mut BTreeSet::new())
}

type State = (Vec<Task>, Vec<usize>);

fn all_start_after(running: &Running<'_>, starts: &[usize], seen: &mut BTreeSet<State>) -> bool {
    if starts.is_empty() {
        return true;
    }
    let mut tasks = running.tasks.clone();
    tasks.sort_unstable();
    if !seen.insert((tasks, starts.to_vec())) {
        return false;
    }
    (0..starts.len()).any(|at| {
        let mut rest = starts.to_vec();
        let n = rest.remove(at);
        assignments(running, n).into_iter().any(|start| {
            let mut after = running.clone();
            after.tasks.extend(start);
            all_start_after(&after, &rest, seen)
        })
    })
}

/// Returns `true` if some starts of these users lead to a cluster for which `is_enough` returns true. The
/// starts may be of any number and in any order.
pub fn some_start(
    running: &Running<'_>,
    users: &[usize],
    is_enough: &mut dyn FnMut(&Running<'_>) -> bool,
) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![running.clone()];
    while let Some(mut state) = open.pop() {
        state.tasks.sort_unstable();
        if !seen.insert(state.tasks.clone()) {
            continue;
        }
        if is_enough(&state) {
            return true;
        }
        for n in users {
            for start in assignments(&state, *n) {
                let mut after = state.clone();
                after.tasks.extend(start);
                open.push(after);
            }
        }
    }
    false
}

/// Returns a cluster in which all tasks of `server` run on other servers. Returns `None` if there is no such
/// cluster.
#[must_use]
pub fn emptied<'s>(running: &Running<'s>, server: (usize, u64)) -> Option<Running<'s>> {
    let here = |(_, class, index): &Task| (*class, *index) == server;
    let moving: Vec<usize> = running.tasks.iter().filter(|task| here(task)).map(|(n, ..)| *n).collect();
    for n in &moving {
        let pinned = running.p().groups().member(*n).pinned.clone().unwrap_or_default();
        let count = moving.iter().filter(|m| *m == n).count();
        if running.constraint(*n).protected || pinned + count > running.count(*n) {
            return None;
        }
    }
    let mut after = running.clone();
    after.tasks.retain(|task| !here(task));
    let mut moved = Vec::new();
    place(&after, &moving, server, &mut moved)
}

fn place<'s>(
    running: &Running<'s>,
    moving: &[usize],
    gone: (usize, u64),
    moved: &mut Vec<Task>,
) -> Option<Running<'s>> {
    let mut trial = running.clone();
    trial.tasks.extend(moved.iter());
    let Some(n) = moving.get(moved.len()) else {
        return keeps_limits(&trial, moved).then_some(trial);
    };
    for (class, index) in different(&trial, Some(gone)) {
        let task = (*n, class, index);
        if trial.has_room(task) && may_move(&trial, task, gone.0) {
            moved.push(task);
            let found = place(running, moving, gone, moved);
            moved.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn may_move(running: &Running<'_>, (n, class, index): Task, from: usize) -> bool {
    let rule = running.constraint(n);
    let is_gang = running.gang(n) > 1;
    let is_closed = running.snapshot.closed.iter().any(|of| of.server == class);
    let has_own = running.tasks.contains(&(n, class, index));
    let of_gang: Vec<&Vec<usize>> =
        rule.class_sets.iter().filter(|set| is_gang && set.contains(&from)).collect();
    let is_in_sets = match (rule.class_sets.is_empty(), of_gang.is_empty()) {
        (true, _) => true,
        (false, true) => rule.class_sets.iter().any(|set| set.contains(&class)),
        (false, false) => of_gang.iter().all(|set| set.contains(&class)),
    };
    !is_closed && is_in_sets && !(is_gang && rule.distinct_servers && has_own)
}

fn keeps_limits(running: &Running<'_>, moved: &[Task]) -> bool {
    let p = running.p();
    moved.iter().all(|(n, class, _)| {
        let groups = p.groups().list().iter().enumerate().filter(|(v, _)| running.is_in(*n, *v));
        let mut limits = groups.flat_map(|(v, group)| group.on.iter().map(move |on| (v, on)));
        limits.all(|(v, on)| {
            on.limit.iter().all(|(r, most)| {
                let takes = on.servers.contains(class) && p.demand(*n, *class)[*r] > 0;
                !takes || running.taken_on(v, &on.servers, *r) <= *most
            })
        })
    })
}
