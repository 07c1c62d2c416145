//! Draws random problems in small whole numbers, with frequent ties, zeros and constraints.

use evenhand_problem::{ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64;

use crate::Size;

/// The largest capacity of a server, in units.
const CAPACITY: u32 = 12;
/// The largest demand of a task, in units.
const DEMAND: u32 = 6;

/// Returns the problem with this number in the sequence of a seed. Resources are named `r1`, `r2` and so on, server
/// classes `s1`, `s2`, and users `u1`, `u2`.
pub fn draw(seed: u64, number: u64, size: Size) -> ProblemSpec {
    let random = &mut Pcg64::new(u128::from(seed), u128::from(number));
    let resources = names("r", random.random_range(1..=size.resources));
    // Many mechanisms and axioms are defined only for one class, or only without constraints.
    let classes = if random.random_ratio(1, 3) { 1 } else { random.random_range(1..=size.classes) };
    let is_constrained = random.random_bool(0.5);
    let is_limited = random.random_bool(0.5);
    let has_criterion = random.random_ratio(1, 4);
    let servers: Vec<ServerSpec> = names("s", classes)
        .into_iter()
        .map(|name| ServerSpec {
            name,
            count: random.random_ratio(1, 4).then(|| Rational::from(random.random_range(1..=3_u32))),
            capacity: amounts(random, &resources, CAPACITY),
        })
        .collect();
    let users = random.random_range(1..=size.users);
    let user = |name: String| {
        let mut demand = amounts(random, &resources, DEMAND);
        if demand.iter().all(|(_, d)| d.is_zero()) {
            demand[0].1 = Rational::from(1);
        }
        let list = servers.iter().filter(|_| random.random_bool(0.7)).map(|server| server.name.clone());
        let list: Vec<String> = list.collect();
        let criterion = servers.iter().map(|server| server.name.clone());
        let criterion: Vec<_> =
            criterion.map(|name| (name, Rational::from(random.random_range(1..=DEMAND)))).collect();
        UserSpec {
            name,
            weight: random.random_ratio(1, 3).then(|| Rational::from(random.random_range(1..=3_u32))),
            tasks: (is_limited && random.random_bool(0.5))
                .then(|| Rational::from((random.random_range(1..=CAPACITY), 2))),
            demand,
            servers: (is_constrained && !list.is_empty() && list.len() < servers.len()).then_some(list),
            criterion: if has_criterion { criterion } else { Vec::new() },
            ..UserSpec::default()
        }
    };
    let users = names("u", users).into_iter().map(user).collect();
    ProblemSpec { resources, servers, users, ..ProblemSpec::default() }
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{prefix}{number}")).collect()
}

/// Returns an amount of every resource. Amounts are whole numbers, and a quarter of them are 0.
fn amounts(random: &mut Pcg64, resources: &[String], most: u32) -> Vec<(String, Rational)> {
    let mut amount = || if random.random_ratio(1, 4) { 0 } else { random.random_range(1..=most) };
    resources.iter().map(|name| (name.clone(), Rational::from(amount()))).collect()
}
