//! Random snapshots of small clusters. The snapshots have trees of groups with limits, limits on classes,
//! kept-back capacity, gangs, gangs that start together, closed servers, constraints and priorities. Tasks
//! run on servers with free capacity, by no rule of fairness.

use evenhand_problem::format::Source;
use evenhand_problem::snapshot::{Closed, Constraint, Preemption, Snapshot, System, Victims};
use evenhand_problem::{Allocation, Sharing};
use rand::Rng;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64;
use serde_json::json;

use super::trees::{self, Shape};
use crate::plain::starts::{Running, Task};

/// Returns a random snapshot. The same seed gives the same snapshot.
#[must_use]
pub fn snapshot(seed: u64) -> Snapshot {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut document = trees::json(&mut rng, Shape { groups: 6, users: 7, classes: 3 });
    for server in document["servers"].as_array_mut().into_iter().flatten() {
        server["count"] = json!(rng.random_range(1..=3));
        if rng.random_bool(0.5) {
            // Small servers are needed for gangs that run on several servers.
            for (_, amount) in server["capacity"].as_object_mut().into_iter().flatten() {
                *amount = json!(rng.random_range(2..=9));
            }
        }
    }
    for user in document["users"].as_array_mut().into_iter().flatten() {
        let tasks = rng.random_range(0..=9_u32);
        user["tasks"] = json!(tasks);
        if rng.random_bool(0.35) {
            user["gang"] = json!(rng.random_range(1..=3));
        }
        if rng.random_bool(0.15) {
            user["pinned"] = json!(rng.random_range(0..=tasks.min(2)));
        }
    }
    if rng.random_bool(0.4) {
        trees::limit_classes(&mut rng, &mut document);
    }
    if rng.random_bool(0.2) {
        trees::demands_by_class(&mut rng, &mut document);
    }
    let text = document.to_string();
    let problem =
        Source { name: "random", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let allocation = Allocation::empty(problem.n_users(), Sharing::Rdm);
    let mut snapshot = Snapshot::new(problem, Allocation { placements: Some(Vec::new()), ..allocation });
    if rng.random_bool(0.3) {
        let systems = [System::Kubernetes, System::Kueue, System::Slurm];
        snapshot.system = systems.choose(&mut rng).copied();
    }
    constrain(&mut rng, &mut snapshot);
    run(&mut rng, &mut snapshot);
    snapshot
}

fn constrain(rng: &mut Pcg64, snapshot: &mut Snapshot) {
    let problem = &snapshot.problem;
    let classes = problem.n_servers();
    let some = rng.random_bool(0.6);
    for user in (0..problem.n_users()).filter(|_| some) {
        let mut of = Constraint { user, ..Constraint::default() };
        if rng.random_bool(0.4) {
            of.priority = rng.random_range(-1..=2);
        }
        of.protected = rng.random_bool(0.1);
        of.distinct_servers = rng.random_bool(0.2);
        if rng.random_bool(0.25) {
            for _ in 0..rng.random_range(1..=2) {
                let set: Vec<usize> = (0..classes).filter(|_| rng.random_bool(0.5)).collect();
                of.class_sets.extend((!set.is_empty()).then_some(set));
            }
        }
        if rng.random_bool(0.05) {
            of.not_modelled = vec!["the device".to_owned()];
        }
        if of != (Constraint { user, ..Constraint::default() }) {
            snapshot.constraints.push(of);
        }
    }
    if some && rng.random_bool(0.4) {
        let user = rng.random_range(0..problem.n_users());
        let group = problem.groups().member(user).group;
        let siblings = |m: &usize| *m != user && problem.groups().member(*m).group == group;
        let siblings: Vec<usize> = (0..problem.n_users()).filter(siblings).collect();
        if let Some(other) = siblings.choose(rng) {
            for n in [user, *other] {
                let at = snapshot.constraints.iter().position(|of| of.user == n).unwrap_or_else(|| {
                    snapshot.constraints.push(Constraint { user: n, ..Constraint::default() });
                    snapshot.constraints.len() - 1
                });
                snapshot.constraints[at].together = "workload".to_owned();
            }
        }
    }
    for group in 0..problem.groups().list().len() {
        if some && rng.random_bool(0.2) {
            let across = [Victims::Never, Victims::LowerPriority, Victims::Any];
            snapshot.preemption.push(Preemption { group, across: across[rng.random_range(0..3)] });
        }
    }
    if rng.random_bool(0.1) {
        snapshot.closed.push(Closed { server: 0, reason: "cordoned".to_owned() });
    }
}

/// Starts tasks on servers with free capacity, regardless of the limits of groups. Some tasks are admitted
/// and have no server.
fn run(rng: &mut Pcg64, snapshot: &mut Snapshot) {
    let of = snapshot.clone();
    let problem = &of.problem;
    let mut running = Running::new(&of);
    for _ in 0..rng.random_range(0..30) {
        let n = rng.random_range(0..problem.n_users());
        let users = running.together(n);
        let mut trial = running.clone();
        let mut is_placed = running.waits(n);
        for m in users {
            for _ in 0..running.gang(m) {
                let servers: Vec<(usize, u64)> = problem
                    .classes_of(m)
                    .flat_map(|i| (0..problem.servers()[i].count()).map(move |j| (i, j)))
                    .collect();
                let Some((class, index)) = servers.choose(rng).copied() else {
                    is_placed = false;
                    continue;
                };
                let task: Task = (m, class, index);
                is_placed &= trial.has_room(task);
                trial.tasks.push(task);
            }
        }
        if is_placed {
            running = trial;
        }
    }
    snapshot.allocation = running.allocation();
    for n in 0..problem.n_users() {
        if rng.random_bool(0.06) && running.waits(n) && problem.groups().member(n).group.is_some() {
            let admitted = running.gang(n);
            match snapshot.constraints.iter_mut().find(|of| of.user == n) {
                Some(of) => of.admitted = admitted,
                None => {
                    snapshot.constraints.push(Constraint { user: n, admitted, ..Constraint::default() });
                }
            }
        }
    }
}
