//! NJC problems, and a check of the definition of NJC that uses only the problem.

use evenhand_levels::njc::{EnumerationLimits, Goal, NjcSet, Tasks, enumerate};
use evenhand_problem::{Constraints, Problem, Rational, Sharing};

use evenhand_testkit::random::problems::{build, spec};
use evenhand_testkit::{q, total};

use super::assert_feasible;

/// Builds the setting of the paper: one server with capacity 1 of each resource, and users with one task each.
/// `requests` has one row for each user.
pub fn pool(requests: &[&str], entitlements: &str) -> Problem {
    let matrix: Vec<Vec<Rational>> =
        requests.iter().map(|row| row.split_whitespace().map(q).collect()).collect();
    let mut spec = spec(&[vec![Rational::from(1); matrix[0].len()]], &matrix);
    for (user, e) in spec.users.iter_mut().zip(entitlements.split_whitespace()) {
        user.weight = Some(q(e));
        user.tasks = Some(Rational::from(1));
    }
    build(spec)
}

pub fn set(problem: &Problem) -> NjcSet {
    enumerate(&Constraints::new(problem, Sharing::Rdm), &EnumerationLimits::default())
        .expect("within the limits")
}

/// Returns the totals of all users of every point, joined by blanks.
pub fn totals(points: &[Tasks]) -> Vec<String> {
    let text = |tasks: &Tasks| tasks.iter().map(|list| total(list).to_string()).collect::<Vec<_>>().join(" ");
    points.iter().map(text).collect()
}

/// Fails unless `tasks` satisfies the definition of NJC. The check uses only the problem.
pub fn assert_njc(problem: &Problem, sharing: Sharing, tasks: &Tasks) {
    if let Some(user) = complaint(problem, sharing, tasks) {
        panic!("user {user} complains about {tasks:?}");
    }
}

/// Returns the first user with a justified complaint about a feasible allocation.
pub fn complaint(problem: &Problem, sharing: Sharing, tasks: &Tasks) -> Option<usize> {
    assert_feasible(problem, sharing, tasks);
    let active: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
    let weights: Rational = active.iter().map(|&n| problem.users()[n].weight()).sum();
    let on = |n: usize, i: usize| {
        tasks[n].iter().find(|(class, _)| *class == i).map_or(Rational::new(), |(_, x)| x.clone())
    };
    let is_content = |n: usize| {
        let user = &problem.users()[n];
        if user.tasks().is_some_and(|limit| total(&tasks[n]) == *limit) {
            return true;
        }
        let entitlement = Rational::from(user.weight() / &weights);
        problem.servers().iter().enumerate().filter(|(i, _)| problem.can_run(n, *i)).any(|(i, server)| {
            if sharing == Sharing::Tdm || server.is_time_shared() {
                let part = |n: usize| on(n, i) / problem.unconstrained_gamma(n, i);
                let time: Rational =
                    active.iter().filter(|&&k| problem.can_run(k, i)).map(|&k| part(k)).sum();
                return time == 1 && part(n) >= entitlement;
            }
            (0..problem.n_resources()).any(|r| {
                let capacity = Rational::from(&server.capacity()[r] * server.count());
                let held = |n: usize| on(n, i) * &problem.demand(n, i)[r];
                let used: Rational = active.iter().map(|&n| held(n)).sum();
                capacity > 0
                    && problem.demand(n, i)[r] > 0
                    && used == capacity
                    && held(n) >= Rational::from(&entitlement * &capacity)
            })
        })
    };
    active.iter().copied().find(|&n| !is_content(n))
}

/// Returns the best value over all vertices, for a linear goal.
pub fn best_vertex(constraints: &Constraints<'_>, set: &NjcSet, goal: Goal) -> Option<Rational> {
    set.extreme_points.iter().map(|tasks| goal.value(constraints, tasks)).max()
}
