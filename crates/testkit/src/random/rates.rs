//! Small random problems of users with rates by class, with many ties.

use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64;

use super::problems::{build, class_name, resource_name};

/// The contents of a random problem.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub users: usize,
    pub classes: usize,
    pub resources: usize,
    /// True if users may limit their accelerators.
    pub at_most: bool,
    /// True if users may have finite tasks.
    pub finite: bool,
    /// True if some users may state no rates.
    pub plain: bool,
}

pub const SMALL: Shape =
    Shape { users: 5, classes: 3, resources: 2, at_most: true, finite: true, plain: true };

/// Returns a number above 0 with a small numerator and denominator.
fn number(rng: &mut Pcg64) -> Rational {
    Rational::from((rng.random_range(1..8), [1, 1, 1, 2, 3][rng.random_range(0..5)]))
}

/// Returns a random amount of every resource. At least one amount is above 0.
fn amounts(resources: usize, rng: &mut Pcg64) -> Vec<(String, Rational)> {
    let kept = rng.random_range(0..resources);
    let amount = |r: usize| {
        let zero = r != kept && rng.random_bool(0.3);
        (resource_name(r), if zero { Rational::new() } else { number(rng) })
    };
    (0..resources).map(amount).collect()
}

/// Returns random rates on the classes. Some rates are 0 or absent, but at least one is above 0.
fn rates(classes: usize, rng: &mut Pcg64) -> Vec<(String, Rational)> {
    let kept = rng.random_range(0..classes);
    let mut all = Vec::new();
    for i in 0..classes {
        match rng.random_range(0..6) {
            0 if i != kept => {}
            1 if i != kept => all.push((class_name(i), Rational::new())),
            _ => all.push((class_name(i), number(rng))),
        }
    }
    all
}

/// Returns a random problem. At least one user states rates.
pub fn problem(shape: Shape, rng: &mut Pcg64) -> Problem {
    let classes = rng.random_range(1..=shape.classes);
    let resources = rng.random_range(1..=shape.resources);
    let users = rng.random_range(1..=shape.users);
    let first = rng.random_range(0..users);
    let server = |i: usize, rng: &mut Pcg64| ServerSpec {
        name: class_name(i),
        count: Some(Rational::from(rng.random_range(1..4))),
        capacity: amounts(resources, rng),
    };
    let servers = (0..classes).map(|i| server(i, rng)).collect();
    let user = |n: usize, rng: &mut Pcg64| {
        let is_plain = shape.plain && n != first && rng.random_bool(0.2);
        let at_most = shape.at_most && !is_plain && rng.random_bool(0.7);
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(rng.random_range(1..4))),
            tasks: (shape.finite && rng.random_bool(0.25)).then(|| number(rng)),
            demand: amounts(resources, rng),
            rates: (!is_plain).then(|| rates(classes, rng)),
            at_most: at_most.then(|| number(rng)),
            ..UserSpec::default()
        }
    };
    let users = (0..users).map(|n| user(n, rng)).collect();
    let resources = (0..resources).map(resource_name).collect();
    build(ProblemSpec { name: String::new(), resources, servers, users })
}
