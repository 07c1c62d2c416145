//! Dedicated clouds (DRFH, section IV-D): what every user runs alone, on whole servers of its own.

use rug::{Integer, Rational};

use crate::allocation::{Allocation, Arithmetic};
use crate::constraint::Sharing;
use crate::problem::Problem;

/// The tasks of every user on its own part of the servers, the benchmark that DRFH compares a shared cluster with.
///
/// The servers are dealt out by weight, class by class and each to one user: a user gets its part of a class rounded
/// down, and the rest go to those who are furthest behind their part of all servers so far. A part of a class where a
/// user may not run is its own as well, and of no use. `whole` tasks fill each server alone; else they are divided.
///
/// # Examples
/// Two equal users: the first gets two of the three small servers, so that the large one is the second's.
/// ```
/// use evenhand_problem::{dedicated, format::Source};
/// let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
///     "servers": [{"name": "small", "count": 3, "capacity": {"cpu": 5}},
///                 {"name": "large", "count": 1, "capacity": {"cpu": 9}}],
///     "users": [{"name": "u", "demand": {"cpu": 2}}, {"name": "v", "demand": {"cpu": 3}}]}"#;
/// let problem = Source { name: "p.json", text }.problem().unwrap();
/// assert_eq!(dedicated(&problem, true).totals(), [4, 4]);
/// assert_eq!(dedicated(&problem, false).total(0), 5);
/// ```
#[must_use]
pub fn dedicated(problem: &Problem, whole: bool) -> Allocation {
    let own = own_servers(problem);
    let mut allocation = Allocation::empty(problem.n_users(), Sharing::Rdm);
    allocation.arithmetic = Arithmetic::Exact;
    for (n, own) in own.iter().enumerate() {
        let mut left =
            problem.users()[n].tasks().cloned().map(|tasks| if whole { tasks.floor() } else { tasks });
        for (i, servers) in own.iter().enumerate() {
            let on_one = problem.gamma(n, i) / Rational::from(problem.servers()[i].count());
            let on_one = if whole { on_one.floor() } else { on_one };
            let mut tasks = on_one * servers;
            if let Some(left) = &mut left {
                tasks = tasks.min(left.clone());
                *left -= &tasks;
            }
            if tasks > 0 {
                allocation.tasks[n].push((i, tasks));
            }
        }
    }
    allocation
}

/// The servers of each user, by class.
fn own_servers(problem: &Problem) -> Vec<Vec<Integer>> {
    let weights: Vec<Rational> = (0..problem.n_users())
        .map(|n| if problem.is_active(n) { problem.users()[n].weight().clone() } else { Rational::new() })
        .collect();
    let all: Rational = weights.iter().sum();
    let mut own = vec![vec![Integer::new(); problem.n_servers()]; weights.len()];
    if all == 0 {
        return own;
    }
    let parts: Vec<Rational> = weights.into_iter().map(|weight| weight / &all).collect();
    // How far each user is behind its part of the servers so far.
    let mut behind = vec![Rational::new(); parts.len()];
    for (i, class) in problem.servers().iter().enumerate() {
        let count = Integer::from(class.count());
        let mut left = count.clone();
        for (n, part) in parts.iter().enumerate() {
            let part = Rational::from(part * &count);
            own[n][i] = Rational::from(part.floor_ref()).into_numer_denom().0;
            left -= &own[n][i];
            behind[n] += part - &own[n][i];
        }
        // Fewer are left than there are users, as each lost less than a server by rounding.
        let mut order: Vec<usize> = (0..parts.len()).filter(|n| parts[*n] > 0).collect();
        order.sort_by(|a, b| behind[*b].cmp(&behind[*a]));
        for &n in order.iter().take(left.to_usize().unwrap_or_default()) {
            own[n][i] += 1;
            behind[n] -= 1;
        }
    }
    own
}
