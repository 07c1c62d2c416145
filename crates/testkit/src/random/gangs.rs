//! Random problems with gangs whose tasks are on single servers. Many servers have free capacity for only a
//! part of a gang.

use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Placement, Problem, Rational, Sharing};
use rand::Rng;
use rand_pcg::Pcg64;
use serde_json::json;

use super::trees::{self, Shape};

/// The largest numbers of groups, users and server classes.
const SHAPE: Shape = Shape { groups: 4, users: 4, classes: 4 };

/// Returns a random problem, and whole tasks that fit on its servers and within the users' tasks. Groups may exceed
/// their limits.
pub fn placed(rng: &mut Pcg64) -> (Problem, Allocation) {
    let mut document = trees::json(rng, SHAPE);
    for server in document["servers"].as_array_mut().into_iter().flatten() {
        server["count"] = json!(rng.random_range(1..=3));
        for (_, amount) in server["capacity"].as_object_mut().into_iter().flatten() {
            *amount = json!(rng.random_range(3..=12));
        }
    }
    for user in document["users"].as_array_mut().into_iter().flatten() {
        if rng.random_bool(0.7) {
            user["gang"] = json!(rng.random_range(2..=6));
        }
        if rng.random_bool(0.3) {
            user["tasks"] = json!(rng.random_range(0..=12));
        }
    }
    if rng.random_bool(0.4) {
        trees::demands_by_class(rng, &mut document);
    }
    if rng.random_bool(0.6) {
        trees::limit_classes(rng, &mut document);
    }
    if rng.random_bool(0.5) {
        // In half of the problems only limits on classes stop users. All other fields that may stop users are
        // removed.
        for group in document["groups"].as_array_mut().into_iter().flatten() {
            for field in ["guarantee", "limit", "lend", "weight"] {
                group.as_object_mut().map(|group| group.remove(field));
            }
        }
    }
    let text = document.to_string();
    let problem =
        Source { name: "gangs", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let allocation = tasks(rng, &problem);
    (problem, allocation)
}

/// Returns tasks of random users on random servers with enough free capacity.
fn tasks(rng: &mut Pcg64, problem: &Problem) -> Allocation {
    let mut left: Vec<Option<Rational>> = problem.users().iter().map(|user| user.tasks().cloned()).collect();
    let (mut placements, mut sums) = (Vec::new(), vec![vec![0_u32; problem.n_servers()]; problem.n_users()]);
    let fill = rng.random_range(0..=6);
    for (server, class) in problem.servers().iter().enumerate() {
        for index in 0..class.count() {
            let mut free = class.capacity().to_vec();
            let mut on = vec![0_u32; problem.n_users()];
            for _ in 0..fill {
                let n = rng.random_range(0..problem.n_users());
                let demand = problem.demand(n, server).to_vec();
                let has_room = demand.iter().zip(&free).all(|(d, free)| d <= free);
                let is_left = left[n].as_ref().is_none_or(|left| *left >= 1);
                if !has_room || !is_left || !problem.classes_of(n).any(|i| i == server) {
                    continue;
                }
                free.iter_mut().zip(&demand).for_each(|(free, d)| *free -= d);
                left[n] = left[n].take().map(|left| left - 1u32);
                on[n] += 1;
                sums[n][server] += 1;
            }
            let some = |tasks: &[u32]| -> Vec<(usize, Rational)> {
                let entries = tasks.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
                entries.map(|(at, tasks)| (at, Rational::from(*tasks))).collect()
            };
            if on.iter().any(|tasks| *tasks > 0) {
                placements.push(Placement { server, index, tasks: some(&on) });
            }
        }
    }
    let some = |tasks: &Vec<u32>| {
        let entries = tasks.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
        entries.map(|(i, tasks)| (i, Rational::from(*tasks))).collect()
    };
    Allocation {
        tasks: sums.iter().map(some).collect(),
        placements: Some(placements),
        arithmetic: Arithmetic::Exact,
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    }
}
