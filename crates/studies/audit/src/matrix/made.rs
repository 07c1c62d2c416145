//! Problems that are not small: drawn afresh at random, changed a little, with groups, and a known one.

use evenhand_problem::groups::{GroupSpec, MemberSpec};
use evenhand_problem::{ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::Rng;
use rand_pcg::Pcg64;

use super::premises::Premises;
use crate::stated::Stated;
use crate::{Size, draw};

/// The largest problems of a matrix.
const SIZE: Size = Size { users: 3, classes: 3, resources: 3 };
/// Numbers beyond this are not made by changing others.
const LARGEST: u32 = 9;

/// Amounts of two resources, a row for every class or user.
type Rows = &'static [[u32; 2]];

/// Larger problems that are known to be bad for somebody: capacities and demands. On the first, found for Table I of PS-DSF
/// (`evenhand reproduce`), a lie pays under PS-DSF with divided resources.
const KNOWN: &[(Rows, Rows)] = &[(&[[7, 5], [3, 2]], &[[5, 1], [4, 3], [1, 5]])];

/// How many problems are known.
pub const N_KNOWN: u64 = KNOWN.len() as u64;

/// The known problem of this number.
pub fn known(number: u64, premises: Premises) -> Option<Stated> {
    let (capacities, demands) = KNOWN.get(usize::try_from(number).ok()?)?;
    let resources = ["r1".to_owned(), "r2".to_owned()];
    let amounts = |row: &[u32; 2]| resources.iter().cloned().zip(row.map(Rational::from)).collect::<Vec<_>>();
    let name = |prefix: &str, position: usize| format!("{prefix}{}", position + 1);
    let server = |(i, row)| ServerSpec { name: name("s", i), count: None, capacity: amounts(row) };
    let user = |(n, row)| UserSpec { name: name("u", n), demand: amounts(row), ..UserSpec::default() };
    let mut stated = Stated::from(ProblemSpec {
        resources: resources.to_vec(),
        servers: capacities.iter().enumerate().map(server).collect(),
        users: demands.iter().enumerate().map(user).collect(),
        ..ProblemSpec::default()
    });
    premises.impose(&mut stated);
    Some(stated)
}

/// A problem drawn afresh, with a criterion exactly where the mechanism takes one.
pub fn fresh(seed: u64, number: u64, with_criterion: bool, premises: Premises) -> Stated {
    let random = &mut Pcg64::new(u128::from(seed) | 1 << 64, u128::from(number));
    let mut stated = Stated::from(draw(seed, number, SIZE));
    let classes: Vec<String> = stated.spec.servers.iter().map(|server| server.name.clone()).collect();
    for user in &mut stated.spec.users {
        match with_criterion {
            false => user.criterion.clear(),
            true => {
                let rate = |class: &String| (class.clone(), Rational::from(random.random_range(1..=3_u32)));
                user.criterion = classes.iter().map(rate).collect();
            }
        }
    }
    premises.impose(&mut stated);
    stated
}

/// One or two numbers, limits or constraints different.
pub fn changed(random: &mut Pcg64, from: &Stated, premises: Premises) -> Stated {
    let mut stated = from.clone();
    for _ in 0..random.random_range(1..=2) {
        change(random, &mut stated);
    }
    premises.impose(&mut stated);
    stated
}

fn change(random: &mut Pcg64, stated: &mut Stated) {
    let spec = &mut stated.spec;
    let resource = random.random_range(0..spec.resources.len());
    let class = random.random_range(0..spec.servers.len());
    let classes: Vec<String> = spec.servers.iter().map(|server| server.name.clone()).collect();
    let n = random.random_range(0..spec.users.len().max(1));
    let Some(user) = spec.users.get_mut(n) else { return };
    match random.random_range(0..8) {
        0 | 1 => step(random, &mut spec.servers[class].capacity[resource].1),
        2..=4 => {
            step(random, &mut user.demand[resource].1);
            if user.demand.iter().all(|(_, d)| d.is_zero()) {
                user.demand[resource].1 = Rational::from(1);
            }
        }
        5 => user.weight = random.random_bool(0.5).then(|| Rational::from(random.random_range(1..=3_u32))),
        6 => {
            user.tasks = random.random_bool(0.5).then(|| Rational::from((random.random_range(1..=6_u32), 2)));
        }
        _ => {
            let stated = user.servers.clone().unwrap_or_else(|| classes.clone());
            let toggled =
                classes.iter().enumerate().filter(|(i, name)| stated.contains(name) != (*i == class));
            let toggled: Vec<String> = toggled.map(|(_, name)| name.clone()).collect();
            user.servers = (!toggled.is_empty() && toggled.len() < classes.len()).then_some(toggled);
        }
    }
}

/// One more or one less, from 0 to [`LARGEST`].
fn step(random: &mut Pcg64, amount: &mut Rational) {
    let next = amount.clone() + if random.random_bool(0.5) { 1_i32 } else { -1 };
    *amount = next.max(Rational::new()).min(Rational::from(LARGEST));
}

/// A fresh problem whose users stand in two groups, with weights, guarantees and limits.
pub fn grouped(seed: u64, number: u64, premises: Premises) -> Stated {
    let random = &mut Pcg64::new(u128::from(seed) | 1 << 65, u128::from(number));
    let mut stated = fresh(seed, number, false, premises);
    let resources = stated.spec.resources.clone();
    for v in 1..=2 {
        let mut amounts = |often: f64, most: u32| -> Vec<(String, Rational)> {
            let mut amount = |name: &String| {
                random
                    .random_bool(often)
                    .then(|| (name.clone(), Rational::from(random.random_range(0..=most))))
            };
            resources.iter().filter_map(&mut amount).collect()
        };
        let guarantee = amounts(0.5, 2);
        let mut limit = amounts(0.3, LARGEST);
        for (name, most) in &mut limit {
            let promised = guarantee.iter().find(|(of, _)| of == name);
            promised.iter().for_each(|(_, amount)| *most = most.clone().max(amount.clone()));
        }
        stated.groups.push(GroupSpec {
            name: format!("g{v}"),
            weight: random.random_bool(0.3).then(|| Rational::from(random.random_range(1..=3_u32))),
            guarantee: random.random_bool(0.4).then_some(guarantee),
            limit,
            ..GroupSpec::default()
        });
    }
    let member = |_: &_| MemberSpec {
        group: random.random_bool(0.8).then(|| format!("g{}", random.random_range(1..=2))),
        ..MemberSpec::default()
    };
    stated.members = stated.spec.users.iter().map(member).collect();
    stated
}
