//! Random problems for PS-DSF with small integers and ties. Some of them share servers by time.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// The contents of a random problem.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub users: usize,
    pub classes: usize,
    pub resources: usize,
    /// The probability that an amount is 0.
    pub zero: f64,
    pub barred: f64,
    pub finite: f64,
    pub gamma: f64,
    pub on: f64,
    /// The largest number. A small value leads to ties.
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

/// Returns a random specification of a problem with at least 2 users.
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
