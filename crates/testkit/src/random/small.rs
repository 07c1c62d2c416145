//! Small random problems with many ties.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use proptest::prelude::*;

/// The contents of a random problem.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub users: usize,
    pub classes: usize,
    pub resources: usize,
    pub finite_tasks: bool,
    pub placement: bool,
    pub demand_on: bool,
    pub gamma: bool,
    pub criterion: bool,
}

pub const SMALL: Shape = Shape {
    users: 6,
    classes: 4,
    resources: 3,
    finite_tasks: true,
    placement: true,
    demand_on: true,
    gamma: true,
    criterion: true,
};

fn resource_name(r: usize) -> String {
    format!("r{r}")
}

fn class_name(i: usize) -> String {
    format!("s{i}")
}

/// Returns random small numbers. A third of them are 0.
fn quantity() -> impl Strategy<Value = Rational> {
    prop_oneof![
        1 => Just(Rational::new()),
        2 => (1u32..8, prop_oneof![Just(1u32), Just(2), Just(5)]).prop_map(Rational::from),
    ]
}

fn vector(resources: usize) -> impl Strategy<Value = Vec<(String, Rational)>> {
    prop::collection::vec(quantity(), resources)
        .prop_map(|values| values.into_iter().enumerate().map(|(r, v)| (resource_name(r), v)).collect())
}

/// Returns a random demand with at least one positive amount.
fn demand(resources: usize) -> impl Strategy<Value = Vec<(String, Rational)>> {
    (vector(resources), 0..resources).prop_map(|(mut values, r)| {
        if values.iter().all(|(_, v)| v.is_zero()) {
            values[r].1 = Rational::from(1);
        }
        values
    })
}

fn user(n: usize, classes: usize, shape: Shape) -> impl Strategy<Value = UserSpec> {
    let rarely = |allowed: bool, odds: f64| prop::bool::weighted(if allowed { odds } else { 0.0 });
    let per_class =
        move |odds: f64, allowed: bool| prop::collection::vec((rarely(allowed, odds), 1u32..6), classes);
    (
        (1u32..4, rarely(shape.finite_tasks, 0.5), (0u32..12, 1u32..4)),
        demand(shape.resources),
        (rarely(shape.placement, 0.4), prop::collection::vec(prop::bool::weighted(0.6), classes), 0..classes),
        prop::collection::vec((rarely(shape.demand_on, 0.1), demand(shape.resources)), classes),
        (rarely(shape.gamma, 0.1), per_class(0.3, true)),
        prop::collection::vec(1u32..5, classes),
    )
        .prop_map(
            move |((weight, finite, tasks), demand, (placed, allowed, one), on, (gammas, gamma), u)| {
                let named = |list: Vec<(usize, u32)>| {
                    list.into_iter().map(|(i, v)| (class_name(i), Rational::from(v))).collect::<Vec<_>>()
                };
                UserSpec {
                    name: format!("u{n}"),
                    weight: Some(Rational::from(weight)),
                    tasks: finite.then(|| Rational::from(tasks)),
                    demand,
                    servers: placed
                        .then(|| (0..classes).filter(|&i| allowed[i] || i == one).map(class_name).collect()),
                    demand_on: on
                        .into_iter()
                        .enumerate()
                        .filter(|(_, (given, _))| *given)
                        .map(|(i, (_, demand))| (class_name(i), demand))
                        .collect(),
                    gamma: if gammas {
                        named(
                            gamma
                                .iter()
                                .enumerate()
                                .filter(|(_, (g, _))| *g)
                                .map(|(i, (_, v))| (i, *v))
                                .collect(),
                        )
                    } else {
                        Vec::new()
                    },
                    criterion: if shape.criterion {
                        named(u.into_iter().enumerate().collect())
                    } else {
                        Vec::new()
                    },
                    rates: None,
                    at_most: None,
                }
            },
        )
}

/// Returns a random problem.
pub fn problem(shape: Shape) -> impl Strategy<Value = Problem> {
    (1..=shape.users, 1..=shape.classes, 1..=shape.resources)
        .prop_flat_map(move |(users, classes, resources)| {
            let shape = Shape { users, classes, resources, ..shape };
            let servers = prop::collection::vec((1u32..4, vector(resources)), classes);
            let users: Vec<_> = (0..users).map(|n| user(n, classes, shape)).collect();
            (Just(resources), servers, users)
        })
        .prop_map(|(resources, servers, users)| {
            Problem::new(ProblemSpec {
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
            .expect("the generator makes valid problems")
        })
}
