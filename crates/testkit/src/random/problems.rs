//! Problems for tests: problems from matrices, and random problems with ties and zeros.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use proptest::prelude::*;

pub fn resource_name(r: usize) -> String {
    format!("r{r}")
}

pub fn class_name(i: usize) -> String {
    format!("s{i}")
}

/// Returns the specification with these capacities (class x resource) and demands (user x resource).
pub fn spec(capacities: &[Vec<Rational>], demands: &[Vec<Rational>]) -> ProblemSpec {
    let named = |values: &Vec<Rational>| {
        values.iter().enumerate().map(|(r, v)| (resource_name(r), v.clone())).collect::<Vec<_>>()
    };
    let n_resources = capacities.iter().chain(demands).map(Vec::len).max().unwrap_or(0);
    ProblemSpec {
        name: String::new(),
        resources: (0..n_resources).map(resource_name).collect(),
        servers: capacities
            .iter()
            .enumerate()
            .map(|(i, c)| ServerSpec { name: class_name(i), count: None, capacity: named(c) })
            .collect(),
        users: demands
            .iter()
            .enumerate()
            .map(|(n, d)| UserSpec { name: format!("u{n}"), demand: named(d), ..UserSpec::default() })
            .collect(),
    }
}

/// Returns a [`spec`] from texts: `spec_of(&["2 12", "12 2"], &["1/5 1", "1 1/5"])`.
pub fn spec_of(capacities: &[&str], demands: &[&str]) -> ProblemSpec {
    let matrix = |rows: &[&str]| {
        rows.iter().map(|row| row.split_whitespace().map(crate::q).collect()).collect::<Vec<Vec<_>>>()
    };
    spec(&matrix(capacities), &matrix(demands))
}

pub fn build(spec: ProblemSpec) -> Problem {
    Problem::new(spec).unwrap_or_else(|error| panic!("{error}"))
}

/// The kind of numbers in a random problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers {
    /// Small numbers, with ties.
    Small,
    /// Demands, capacities and weights that differ by factors of up to 1e9.
    FarApart,
    /// Small numbers that are off by a fraction of up to 1e-12: ties that doubles cannot distinguish.
    NearTies,
}

/// The contents of a random problem.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub users: (usize, usize),
    pub classes: (usize, usize),
    pub resources: (usize, usize),
    /// The probability that a user has finite tasks, and a divisor of their number.
    pub finite: (f64, u32),
    pub placement: f64,
    pub demand_on: f64,
    pub gamma: f64,
    pub zero: f64,
    pub numbers: Numbers,
}

pub const SMALL: Shape = Shape {
    users: (1, 6),
    classes: (1, 4),
    resources: (1, 3),
    finite: (0.4, 1),
    placement: 0.3,
    demand_on: 0.08,
    gamma: 0.08,
    zero: 0.25,
    numbers: Numbers::Small,
};

/// Returns random numbers with small numerators and denominators, modified as `kind` says.
pub fn number(kind: Numbers) -> BoxedStrategy<Rational> {
    let small = (1u32..8, prop_oneof![4 => Just(1u32), 1 => Just(2), 1 => Just(5), 1 => Just(7)])
        .prop_map(Rational::from);
    match kind {
        Numbers::Small => small.boxed(),
        Numbers::FarApart => (small, -5i32..=4).prop_map(|(q, e)| q * power_of_ten(e)).boxed(),
        Numbers::NearTies => (small, -1i32..=1).prop_map(|(q, k)| q * nearly_one(k)).boxed(),
    }
}

fn power_of_ten(exponent: i32) -> Rational {
    let power = Rational::from(10u64.pow(exponent.unsigned_abs()));
    if exponent < 0 { power.recip() } else { power }
}

fn nearly_one(k: i32) -> Rational {
    Rational::from((1_000_000_000_000i64 + i64::from(k), 1_000_000_000_000i64))
}

fn weight(kind: Numbers) -> BoxedStrategy<Rational> {
    let small = (1u32..4).prop_map(Rational::from);
    match kind {
        Numbers::Small => small.boxed(),
        Numbers::FarApart => (small, 0i32..=9).prop_map(|(q, e)| q * power_of_ten(e)).boxed(),
        Numbers::NearTies => (small, -1i32..=1).prop_map(|(q, k)| q * nearly_one(k)).boxed(),
    }
}

/// Returns a random amount for each resource. Some amounts are 0. With `some`, at least one amount is not 0.
fn vector(resources: usize, shape: Shape, some: bool) -> impl Strategy<Value = Vec<(String, Rational)>> {
    let entry = (prop::bool::weighted(shape.zero), number(shape.numbers));
    (prop::collection::vec(entry, resources), 0..resources).prop_map(move |(entries, kept)| {
        let keep = some && entries.iter().all(|(zero, _)| *zero);
        let value = |r: usize, zero: bool, v: Rational| {
            if zero && !(keep && r == kept) { Rational::new() } else { v }
        };
        let values = entries.into_iter().enumerate();
        values.map(|(r, (zero, v))| (resource_name(r), value(r, zero, v))).collect()
    })
}

fn user(n: usize, classes: usize, resources: usize, shape: Shape) -> impl Strategy<Value = UserSpec> {
    let numbers = shape.numbers;
    let rarely = prop::bool::weighted;
    let gammas = prop::collection::vec((rarely(0.4), number(numbers)), classes);
    (
        (weight(numbers), rarely(shape.finite.0), 0u32..12, 1u32..4),
        vector(resources, shape, true),
        (rarely(shape.placement), prop::collection::vec(rarely(0.6), classes), 0..classes),
        prop::collection::vec((rarely(shape.demand_on), vector(resources, shape, true)), classes),
        (rarely(shape.gamma), gammas),
        prop::collection::vec(number(numbers), classes),
    )
        .prop_map(
            move |((weight, finite, tasks, over), demand, (placed, allowed, one), on, (timed, gamma), u)| {
                let named = |list: Vec<(usize, Rational)>| {
                    list.into_iter().map(|(i, v)| (class_name(i), v)).collect::<Vec<_>>()
                };
                let chosen = |list: Vec<(bool, Rational)>| {
                    list.into_iter().enumerate().filter(|(_, (c, _))| *c).map(|(i, (_, v))| (i, v)).collect()
                };
                let on = on.into_iter().enumerate().filter(|(_, (chosen, _))| *chosen);
                UserSpec {
                    name: format!("u{n}"),
                    weight: Some(weight),
                    tasks: finite.then(|| Rational::from((tasks, over * shape.finite.1))),
                    demand,
                    servers: placed
                        .then(|| (0..classes).filter(|&i| allowed[i] || i == one).map(class_name).collect()),
                    demand_on: on.map(|(i, (_, demand))| (class_name(i), demand)).collect(),
                    gamma: if timed { named(chosen(gamma)) } else { Vec::new() },
                    criterion: named(u.into_iter().enumerate().collect()),
                    rates: None,
                    at_most: None,
                }
            },
        )
}

/// Returns a random specification of a valid problem.
pub fn random_spec(shape: Shape) -> impl Strategy<Value = ProblemSpec> {
    let range = |(least, most): (usize, usize)| least..=most;
    (range(shape.users), range(shape.classes), range(shape.resources))
        .prop_flat_map(move |(users, classes, resources)| {
            let servers = prop::collection::vec((1u32..4, vector(resources, shape, false)), classes);
            let users: Vec<_> = (0..users).map(|n| user(n, classes, resources, shape)).collect();
            (Just(resources), servers, users)
        })
        .prop_map(|(resources, servers, users)| ProblemSpec {
            name: String::new(),
            resources: (0..resources).map(resource_name).collect(),
            servers: servers
                .into_iter()
                .enumerate()
                .map(|(i, (count, capacity))| ServerSpec {
                    name: class_name(i),
                    count: Some(Rational::from(count)),
                    capacity,
                })
                .collect(),
            users,
        })
}

/// Returns a random problem.
pub fn random(shape: Shape) -> impl Strategy<Value = Problem> {
    random_spec(shape).prop_map(build)
}
