//! Problems other than the small ones: random problems, slightly changed problems, problems with groups, and problems
//! that are known to be difficult.

use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_problem::groups::{GroupSpec, MemberSpec};
use rand::Rng;
use rand_pcg::Pcg64;

use super::premises::Premises;
use crate::stated::Stated;
use crate::{Size, draw};

/// The size of the largest random problems of a matrix.
const SIZE: Size = Size { users: 3, classes: 3, resources: 3 };
/// The largest number that a change may produce.
const LARGEST: u32 = 9;

/// Problems that are known to be difficult:
///
/// - a problem found for Table I of PS-DSF (`evenhand reproduce`), on which a lie pays under PS-DSF with divided
///   resources;
/// - for `tree`: a guarantee above the limit of a parent group, a group that may get nothing, and a share that is not
///   the dominant share;
/// - a user that gains under proportional fairness by refusing one of two equal servers, because another user then
///   moves;
/// - a gang of several tasks on servers that have enough capacity for only one of them;
/// - three users whose proportional optimum is irrational (NJC, section 3);
/// - users with limited tasks: PS-DSF then leaves other users unequal.
const KNOWN: &[&str] = &[
    r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "s1", "capacity": {"r1": 7, "r2": 5}}, {"name": "s2", "capacity": {"r1": 3, "r2": 2}}],
        "users": [{"name": "u1", "demand": {"r1": 5, "r2": 1}}, {"name": "u2", "demand": {"r1": 4, "r2": 3}},
                  {"name": "u3", "demand": {"r1": 1, "r2": 5}}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1"], "servers": [{"name": "s1", "capacity": {"r1": 2}}],
        "groups": [{"name": "g1", "limit": {"r1": 1}},
                   {"name": "g2", "parent": "g1", "guarantee": {"r1": 2}, "lend": {"r1": 0}}],
        "users": [{"name": "u1", "demand": {"r1": 1}, "group": "g2"}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1"], "servers": [{"name": "s1", "capacity": {"r1": 1}}],
        "groups": [{"name": "g1", "weight": 0}], "share": {"zero-weight": "never"},
        "users": [{"name": "u1", "demand": {"r1": 1}, "group": "g1"}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "s1", "capacity": {"r1": 1, "r2": 1}}], "share": {"multipliers": {"r1": 2}},
        "users": [{"name": "u1", "demand": {"r1": 1}}, {"name": "u2", "demand": {"r1": 1, "r2": 2}}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "s1", "capacity": {"r1": 1, "r2": 1}}, {"name": "s2", "capacity": {"r1": 1, "r2": 1}}],
        "users": [{"name": "u1", "demand": {"r1": 1}}, {"name": "u2", "demand": {"r1": 1, "r2": 2}, "servers": ["s1"]},
                  {"name": "u3", "demand": {"r1": 2, "r2": 1}}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1"], "servers": [{"name": "s1", "capacity": {"r1": 1}}],
        "users": [{"name": "u1", "demand": {"r1": 1}, "gang": 2, "tasks": 2}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "s1", "capacity": {"r1": 8, "r2": 6}}],
        "users": [{"name": "u1", "demand": {"r1": 4, "r2": 4}, "tasks": 1, "weight": 4},
                  {"name": "u2", "demand": {"r1": 5, "r2": 3}, "tasks": 1, "weight": 3},
                  {"name": "u3", "demand": {"r1": 8, "r2": 2}, "tasks": 1}]}"#,
    r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "s1", "capacity": {"r2": 6}}, {"name": "s2", "capacity": {"r1": 12, "r2": 10}},
                    {"name": "s3", "capacity": {"r1": 10, "r2": 9}}],
        "users": [{"name": "u1", "weight": 3, "demand": {"r2": 5}, "tasks": "5/2"}, {"name": "u2", "demand": {"r1": 1, "r2": 2}},
                  {"name": "u3", "demand": {"r1": 1, "r2": 2}, "tasks": 1}, {"name": "u4", "demand": {"r2": 1}}]}"#,
];

/// The number of problems in `KNOWN`.
pub const N_KNOWN: u64 = KNOWN.len() as u64;

/// Returns the difficult problem with this number.
pub fn known(number: u64, premises: Premises) -> Option<Stated> {
    let text = KNOWN.get(usize::try_from(number).ok()?)?;
    let mut stated = Stated::from(&Source { name: "a known problem", text }.problem().ok()?);
    premises.impose(&mut stated);
    Some(stated)
}

/// Returns a random problem. It has a criterion exactly if the mechanism uses one.
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

/// Returns the problem after one or two random changes of numbers, limits or constraints.
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

/// Increases or decreases an amount by 1. The result is at least 0 and at most [`LARGEST`].
fn step(random: &mut Pcg64, amount: &mut Rational) {
    let next = amount.clone() + if random.random_bool(0.5) { 1_i32 } else { -1 };
    *amount = next.max(Rational::new()).min(Rational::from(LARGEST));
}

/// Returns a random problem whose users are in two groups with weights, guarantees and limits.
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
