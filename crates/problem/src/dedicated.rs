//! Dedicated clouds (DRFH, section IV-D): the tasks that every user runs alone, on whole servers of its own.

use rug::{Integer, Rational};

use crate::allocation::{Allocation, Arithmetic};
use crate::constraint::Sharing;
use crate::problem::Problem;

/// Returns the tasks that every user runs on its own share of the servers. DRFH compares a shared cluster with this
/// benchmark.
///
/// The servers are divided by weight, class by class. Each server goes to one user. A user first gets its share of a
/// class, rounded down. The remaining servers go to the users that are furthest below their share of all servers so
/// far. A user also gets its share of classes on which it may not run, although it cannot use them.
///
/// With `whole`, every server runs whole tasks. Otherwise tasks are divisible.
///
/// # Examples
/// Two users have equal weights. The first gets two of the three small servers, so the second gets the large one.
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

/// Returns the number of servers of each user, for each class.
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
    // The number of servers by which each user is below its share so far.
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
        // Fewer servers remain than there are users, since rounding cost each user less than one server.
        let mut order: Vec<usize> = (0..parts.len()).filter(|n| parts[*n] > 0).collect();
        order.sort_by(|a, b| behind[*b].cmp(&behind[*a]));
        for &n in order.iter().take(left.to_usize().unwrap_or_default()) {
            own[n][i] += 1;
            behind[n] -= 1;
        }
    }
    own
}
