//! Tests of whole tasks on single servers, and of envy up to one task.

use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::{Axiom, Claim, Evidence, Instance, InstanceError};
use evenhand_problem::{Allocation, Placement, Problem, Rational, Sharing};
use evenhand_testkit::agreement::assert_shown;
use evenhand_testkit::examples::{allocation, kesidis, placed, problem};
use evenhand_testkit::plain::Plain;
use evenhand_testkit::q;
use evenhand_testkit::random::filled::random;
use proptest::prelude::*;

fn claim(axiom: Axiom, problem: &Problem, allocation: &Allocation, tolerance: &str) -> Claim {
    let instance = Instance::new(problem, allocation).unwrap();
    let claim = Claim::derive(axiom, &instance, &q(tolerance)).unwrap();
    assert_shown(problem, allocation, &claim, &q(tolerance));
    claim
}

#[test]
fn single_servers_have_limits() {
    let three = kesidis();
    let judge = |single: &[(&str, u64, &str, &str)]| {
        let found = claim(Axiom::IntegerFeasible, &three, &placed(&three, single), "0");
        let Evidence::SingleLimit { limit, slack } = found.evidence else { panic!("{:?}", found.evidence) };
        (found.holds, found.margin.unwrap().to_string(), limit, slack.to_string())
    };
    let row = |row: usize, index: u64| SingleLimit::Row { row, index };
    // Memory is full with 20 * 5 = 100, and cpu with 6 * 5 = 30.
    let good = [("a", 0, "19", "2"), ("b", 0, "0", "20"), ("b", 1, "6", "0")];
    assert_eq!(judge(&good), (Some(true), "0".to_owned(), row(3, 0), "0".to_owned()));
    // The class has free capacity for the task, but the server does not: 7 * 5 > 30.
    let over = [("b", 0, "1", "0"), ("b", 1, "7", "0")];
    assert_eq!(judge(&over), (Some(false), "-1/6".to_owned(), row(2, 1), "-5".to_owned()));
    let class = claim(Axiom::Feasible, &three, &placed(&three, &over), "0");
    assert_eq!((class.holds, class.margin), (Some(false), Some(q("-1/6"))));
    let entry = |user: usize, server: usize, index: u64| SingleLimit::Entry { user, server, index };
    let halves = [("b", 0, "1/2", "0"), ("b", 2, "5/4", "0")];
    assert_eq!(judge(&halves), (Some(false), "-1".to_owned(), entry(0, 1, 0), "-1/2".to_owned()));
    let negative = [("b", 2, "-1", "0")];
    assert_eq!(judge(&negative), (Some(false), "-1/38".to_owned(), entry(0, 1, 2), "-1".to_owned()));
    let too_many = [("b", 0, "0", "20"), ("b", 1, "0", "20"), ("b", 2, "0", "20"), ("a", 0, "0", "1")];
    assert_eq!(judge(&too_many).1, "-1/60");
    assert_eq!(judge(&too_many).2, SingleLimit::Tasks(1));
}

/// Without placements, the tasks on a class are the tasks on its only server.
#[test]
fn without_placements_the_only_server_has_all_tasks() {
    let three = kesidis();
    let on_a = claim(Axiom::IntegerFeasible, &three, &allocation(&three, r#"{"1": {"a": 20}}"#), "0");
    assert_eq!((on_a.holds, on_a.margin), (Some(true), Some(q("0"))));
    let on_b = claim(Axiom::IntegerFeasible, &three, &allocation(&three, r#"{"1": {"b": 18}}"#), "0");
    assert_eq!((on_b.holds, on_b.margin), (None, None));
    assert!(on_b.why.unwrap().contains("not placed on its 3 servers"));
    // A fraction of a task is not whole, whatever the tolerance.
    let near = allocation(&three, r#"{"1": {"a": 19.999999999}}"#);
    let found = claim(Axiom::IntegerFeasible, &three, &near, "1e-6");
    assert_eq!((found.holds, found.margin), (Some(false), Some(q("-1"))));
    let nothing = claim(Axiom::IntegerFeasible, &three, &allocation(&three, "{}"), "0");
    assert_eq!((nothing.holds, nothing.margin), (Some(true), Some(q("1"))), "60 tasks of 60");
}

/// A server has its fraction of the time of its class.
#[test]
fn servers_share_the_time_of_their_class() {
    let three = kesidis();
    let judge = |single: &[(&str, u64, &str, &str)]| {
        let mut x = placed(&three, single);
        x.sharing = Sharing::Tdm;
        claim(Axiom::IntegerFeasible, &three, &x, "0").margin.unwrap().to_string()
    };
    // Alone, 6 tasks of user 1 or 20 tasks of user 2 fill a server of b.
    assert_eq!(judge(&[("b", 0, "3", "10")]), "0");
    assert_eq!(judge(&[("b", 0, "3", "11")]), "-1/20");
    assert_eq!(judge(&[("b", 0, "0", "19")]), "1/20");
}

#[test]
fn ef1_is_judged_on_whole_tasks() {
    let two = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "count": 2, "capacity": {"cpu": 9}}, {"name": "b", "capacity": {"cpu": 9}}],
        "users": [{"name": "u", "demand": {"cpu": 1}}, {"name": "v", "demand": {"cpu": 2}, "weight": 2},
                  {"name": "w", "demand": {"cpu": 3}, "demand_on": {"b": {"cpu": 1}}, "tasks": 4}]}"#,
    );
    let judge = |tasks: &str| claim(Axiom::Ef1, &two, &allocation(&two, tasks), "0");
    // The 3 tasks of v are worth 6/2 to u, and 4/2 without one of them. User u has 2 tasks.
    let found = judge(r#"{"u": {"a": 2}, "v": {"a": 3}, "w": {"b": 2}}"#);
    assert_eq!((found.holds, found.margin), (Some(true), Some(q("0"))));
    let pair = Evidence::EnvyUpToOne { user: 0, envied: 1, removed: Some(0), gain: None };
    assert_eq!(found.evidence, pair);
    let found = judge(r#"{"u": {"a": 1}, "v": {"a": 3}, "w": {"b": 2}}"#);
    assert_eq!((found.holds, found.margin), (Some(false), Some(q("-1/27"))));
    // A task of w on a is worth 3 to u, and a task of w on b is worth 1. So a task on a is removed.
    let found = judge(r#"{"u": {"a": 1}, "w": {"a": 1, "b": 2}}"#);
    let pair = Evidence::EnvyUpToOne { user: 1, envied: 2, removed: Some(0), gain: Some(q("2")) };
    assert_eq!((found.margin, found.evidence), (Some(q("-4/27")), pair));
    // No user has a task that could be removed.
    let found = judge("{}");
    let pair = Evidence::EnvyUpToOne { user: 0, envied: 1, removed: None, gain: None };
    assert_eq!((found.holds, found.margin, found.evidence), (Some(true), Some(q("0")), pair));
    let halves = judge(r#"{"u": {"a": "1/2"}}"#);
    assert_eq!(halves.holds, None);
    assert!(halves.why.unwrap().contains("user `u` on `a` are not whole"));
}

/// Placements that are passed to the library are checked like the placements of a file.
#[test]
fn placements_are_the_tasks() {
    let three = kesidis();
    let good = placed(&three, &[("b", 0, "1", "2"), ("b", 2, "3", "4")]);
    assert!(Instance::new(&three, &good).is_ok());
    let damaged = |damage: &dyn Fn(&mut Vec<Placement>)| {
        let mut bad = good.clone();
        damage(bad.placements.as_mut().unwrap());
        assert_eq!(Instance::new(&three, &bad).err(), Some(InstanceError::BadPlacements));
    };
    damaged(&|p| p[0].index = 2);
    damaged(&|p| p[0].index = 3);
    damaged(&|p| p[0].server = 2);
    damaged(&|p| p[0].server = 0);
    damaged(&|p| p[0].tasks.reverse());
    damaged(&|p| p[0].tasks[0].0 = 9);
    damaged(&|p| p[0].tasks[1].1 += 1);
    damaged(&|p| drop(p.pop()));
}

/// Returns random tasks, most of them whole, distributed over the servers of the classes.
fn whole(seed: u64) -> (Problem, Allocation) {
    let (problem, mut allocation) = random(seed);
    let mut bits = seed;
    let mut draw = |below: u64| {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (bits >> 33) % below
    };
    let unplaced = draw(4) == 0;
    let odd = draw(3) == 0;
    let mut placements: Vec<Placement> = Vec::new();
    for (i, server) in problem.servers().iter().enumerate() {
        for index in 0..server.count() {
            placements.push(Placement { server: i, index, tasks: Vec::new() });
        }
    }
    for (n, tasks) in allocation.tasks.iter_mut().enumerate() {
        tasks.clear();
        for (i, server) in problem.servers().iter().enumerate() {
            let mut sum = Rational::new();
            for index in 0..server.count() {
                let mut x = Rational::from(draw(3));
                if odd && draw(6) == 0 {
                    x -= Rational::from((draw(7), 4));
                }
                sum += &x;
                let single = placements.iter_mut().find(|p| (p.server, p.index) == (i, index)).unwrap();
                single.tasks.push((n, x));
            }
            tasks.push((i, sum));
        }
    }
    allocation.placements = (!unplaced).then_some(placements);
    (problem, allocation)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn margins_agree_with_the_definitions(seed in any::<u64>()) {
        let (problem, allocation) = whole(seed);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let plain = Plain::new(&problem, &allocation);
        let found = claim(Axiom::IntegerFeasible, &problem, &allocation, "0");
        match plain.single_limits(true) {
            None => prop_assert_eq!(found.holds, None),
            Some(limits) => {
                let least = limits.into_iter().map(|(_, _, margin)| margin).min();
                prop_assert_eq!(found.holds, Some(least.as_ref().is_none_or(|margin| *margin >= 0)));
                prop_assert_eq!(found.margin, least);
            }
        }
        let found = claim(Axiom::Ef1, &problem, &allocation, "0");
        if found.holds.is_none() {
            prop_assert!(!plain.is_whole());
            return Ok(());
        }
        let users = 0..problem.n_users();
        let least = users.clone().flat_map(|n| {
            let plain = &plain;
            (0..problem.n_users()).filter_map(move |m| plain.envy_up_to_one(n, m))
        });
        prop_assert_eq!(&found.margin, &least.min());
        // A user without envy also has no envy after the loss of a task.
        let free = Claim::derive(Axiom::EnvyFree, &instance, &q("0")).unwrap();
        prop_assert!(free.margin <= found.margin);
    }
}
