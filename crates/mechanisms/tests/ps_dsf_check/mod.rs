//! Theorems 1 and 2 of PS-DSF, straight from the definitions, in rationals; and random problems.
#![allow(dead_code)]

use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// Capacity of every resource of class `i`; one unit of time where it is shared by time.
fn capacity(problem: &Problem, i: usize, tdm: bool) -> Vec<Rational> {
    let class = &problem.servers()[i];
    if tdm || class.is_time_shared() {
        return vec![Rational::from(1)];
    }
    class.capacity().iter().map(|c| Rational::from(c * class.count())).collect()
}

/// What a task of `n` uses on class `i`.
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

/// Theorem 1 on every class and for every user that lacks tasks.
pub fn theorem_1(problem: &Problem, allocation: &Allocation) -> Result<(), String> {
    bottlenecks(problem, allocation, false)
}

/// Theorem 2: the same with one resource, time, on every class.
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

/// What a random problem may contain.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub users: usize,
    pub classes: usize,
    pub resources: usize,
    /// Probabilities.
    pub zero: f64,
    pub barred: f64,
    pub finite: f64,
    pub gamma: f64,
    pub on: f64,
    /// Largest number; small ones make ties.
    pub largest: u32,
}

pub const SMALL: Shape = Shape {
    users: 12,
    classes: 8,
    resources: 4,
    zero: 0.25,
    barred: 0.3,
    finite: 0.3,
    gamma: 0.05,
    on: 0.05,
    largest: 9,
};

/// A random statement of a problem with at least 2 users.
pub fn spec(random: &mut Pcg64Mcg, shape: Shape) -> ProblemSpec {
    let n_users = random.random_range(2..=shape.users.max(2));
    let n_classes = random.random_range(1..=shape.classes);
    let n_resources = random.random_range(1..=shape.resources);
    let resources: Vec<String> = (0..n_resources).map(|r| format!("r{r}")).collect();
    let names: Vec<String> = (0..n_classes).map(|i| format!("s{i}")).collect();
    let amount = |random: &mut Pcg64Mcg, zero: f64| {
        if random.random_bool(zero) { 0 } else { random.random_range(1..=shape.largest) }
    };
    let vector = |random: &mut Pcg64Mcg, zero: f64| -> Vec<(String, Rational)> {
        resources.iter().map(|r| (r.clone(), Rational::from(amount(random, zero)))).collect()
    };
    let demand = |random: &mut Pcg64Mcg| {
        let mut demand = vector(random, shape.zero);
        if demand.iter().all(|(_, d)| *d == 0) {
            let r = random.random_range(0..n_resources);
            demand[r].1 = Rational::from(1);
        }
        demand
    };
    let timed: Vec<bool> = names.iter().map(|_| random.random_bool(shape.gamma)).collect();
    let servers = names.iter().map(|name| ServerSpec {
        name: name.clone(),
        count: Some(Rational::from(random.random_range(1..=3))),
        capacity: vector(random, shape.zero / 3.0),
    });
    let servers = servers.collect();
    let users = (0..n_users).map(|n| {
        let allowed: Vec<String> =
            names.iter().filter(|_| !random.random_bool(shape.barred)).cloned().collect();
        let on = |random: &mut Pcg64Mcg, name: &String| {
            random.random_bool(shape.on).then(|| (name.clone(), demand(random)))
        };
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(random.random_range(1..=3))),
            tasks: random.random_bool(shape.finite).then(|| Rational::from((random.random_range(0..=20), 4))),
            demand: demand(random),
            servers: (!allowed.is_empty()).then_some(allowed),
            demand_on: names.iter().filter_map(|name| on(random, name)).collect(),
            gamma: (names.iter().zip(&timed))
                .filter(|(_, timed)| **timed)
                .map(|(name, _)| (name.clone(), Rational::from(random.random_range(1..=shape.largest))))
                .collect(),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    ProblemSpec { resources, servers, users, ..ProblemSpec::default() }
}

pub fn problem(spec: ProblemSpec) -> Problem {
    Problem::new(spec).expect("a valid problem")
}
