//! Theorems 1 and 2 of PS-DSF, written from the definitions, in rationals.

use evenhand_problem::{Allocation, Problem, Rational};

/// Returns the capacity of every resource of class `i`, or one unit of time if the class is shared by time.
fn capacity(problem: &Problem, i: usize, tdm: bool) -> Vec<Rational> {
    let class = &problem.servers()[i];
    if tdm || class.is_time_shared() {
        return vec![Rational::from(1)];
    }
    class.capacity().iter().map(|c| Rational::from(c * class.count())).collect()
}

/// Returns the usage of a task of `n` on class `i`.
fn usage(problem: &Problem, n: usize, i: usize, tdm: bool) -> Vec<Rational> {
    if tdm || problem.servers()[i].is_time_shared() {
        vec![problem.gamma(n, i).recip()]
    } else {
        problem.demand(n, i).to_vec()
    }
}

fn feasible(problem: &Problem, allocation: &Allocation, tdm: bool) -> Result<(), String> {
    for (n, user) in problem.users().iter().enumerate() {
        if user.tasks().is_some_and(|limit| allocation.total(n) > *limit) {
            return Err(format!("user {n} has too much"));
        }
        for (i, x) in &allocation.tasks[n] {
            if *x < 0 || (*x > 0 && problem.gamma(n, *i) == 0) {
                return Err(format!("user {n} on class {i}: {x}"));
            }
        }
    }
    for i in 0..problem.n_servers() {
        for (r, c) in capacity(problem, i, tdm).iter().enumerate() {
            let used: Rational = (0..problem.n_users())
                .filter(|n| problem.gamma(*n, i) > 0)
                .map(|n| allocation.on(n, i) * &usage(problem, n, i, tdm)[r])
                .sum();
            if used > *c {
                return Err(format!("resource {r} of class {i} is overfilled"));
            }
        }
    }
    Ok(())
}

/// Checks Theorem 1 on every class, for every user that lacks tasks.
pub fn theorem_1(problem: &Problem, allocation: &Allocation) -> Result<(), String> {
    bottlenecks(problem, allocation, false)
}

/// Checks Theorem 2, which is Theorem 1 with time as the only resource of every class.
pub fn theorem_2(problem: &Problem, allocation: &Allocation) -> Result<(), String> {
    bottlenecks(problem, allocation, true)
}

fn bottlenecks(problem: &Problem, allocation: &Allocation, tdm: bool) -> Result<(), String> {
    feasible(problem, allocation, tdm)?;
    let users = 0..problem.n_users();
    for i in 0..problem.n_servers() {
        let here: Vec<usize> = users.clone().filter(|n| problem.gamma(*n, i) > 0).collect();
        let level = |n: usize| allocation.total(n) / problem.gamma(n, i) / problem.users()[n].weight();
        let levels: Vec<Rational> = here.iter().map(|n| level(*n)).collect();
        let demands: Vec<Vec<Rational>> = here.iter().map(|n| usage(problem, *n, i, tdm)).collect();
        let tasks: Vec<Rational> = here.iter().map(|n| allocation.on(*n, i)).collect();
        let capacity = capacity(problem, i, tdm);
        let is_full = |r: usize| {
            let used: Rational = tasks.iter().zip(&demands).map(|(x, d)| Rational::from(x * &d[r])).sum();
            used == capacity[r]
        };
        let full: Vec<usize> = (0..capacity.len()).filter(|r| is_full(*r)).collect();
        for (k, n) in here.iter().enumerate() {
            if problem.users()[*n].tasks() == Some(&allocation.total(*n)) {
                continue;
            }
            let is_bottleneck = |r: &&usize| {
                let holds = |m: usize| tasks[m] > 0 && demands[m][**r] > 0;
                demands[k][**r] > 0 && (0..here.len()).all(|m| !holds(m) || levels[m] <= levels[k])
            };
            if !full.iter().any(|r| is_bottleneck(&r)) {
                return Err(format!("user {n} has no bottleneck on class {i}"));
            }
        }
    }
    Ok(())
}
