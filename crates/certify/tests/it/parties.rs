//! Tests of the group forms of sharing incentive and envy-freeness: the tasks that each user of a group could have with
//! the group's own part of the cluster, and with the usage of other groups.

use crate::common;

use common::judged;
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Party};
use evenhand_mechanisms::registry;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const AXIOMS: [Axiom; 2] = [Axiom::GroupSharingIncentive, Axiom::GroupEnvyFree];
const SHAPES: [Shape; 2] =
    [Shape { groups: 6, users: 9, classes: 1 }, Shape { groups: 4, users: 7, classes: 3 }];

fn problem_of(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap()
}

/// Returns the filling by `tree` with some tasks removed.
fn less_than_filled(problem: &Problem, rng: &mut Pcg64) -> Allocation {
    let mut allocation =
        registry::find("tree").unwrap().allocate(problem, Arithmetic::Exact).unwrap().allocation;
    allocation.mechanism = None;
    for x in allocation.tasks.iter_mut().flatten() {
        x.1 *= Rational::from((rng.random_range(1..=4), 4));
    }
    allocation
}

/// Returns a problem with one pool of 12 CPUs and 12 GPUs.
fn pool(groups: &Value, users: &Value) -> Problem {
    problem_of(&json!({
        "kind": "allocation-problem", "resources": ["cpu", "gpu"], "groups": groups, "users": users,
        "servers": [{"name": "pool", "capacity": {"cpu": 12, "gpu": 12}}],
    }))
}

fn of_pool(problem: &Problem, tasks: &[i32], axiom: Axiom) -> (Claim, String) {
    let tasks = tasks.iter().map(|x| vec![(0, Rational::from(*x))]).collect();
    let allocation =
        Allocation { tasks, sharing: Sharing::Rdm, arithmetic: Arithmetic::Exact, ..Allocation::default() };
    judged(problem, &allocation, axiom, &Rational::new())
}

/// If each group has one user, the group forms equal the axioms of users.
#[test]
fn a_group_of_one_user_equals_the_user() {
    let mut rng = Pcg64::seed_from_u64(21);
    let mut found = [0; 4];
    for shape in SHAPES {
        for _ in 0..80 {
            let mut document = trees::json(&mut rng, shape);
            document.as_object_mut().unwrap().remove("share");
            let mut groups = Vec::new();
            for (n, user) in document["users"].as_array_mut().unwrap().iter_mut().enumerate() {
                user.as_object_mut().unwrap().remove("group");
                let weight = user.get("weight").cloned().unwrap_or(json!(1));
                groups.push(json!({"name": format!("group {n}"), "weight": weight}));
            }
            document["groups"] = json!([]);
            let alone = problem_of(&document);
            document["groups"] = json!(groups);
            for (n, user) in document["users"].as_array_mut().unwrap().iter_mut().enumerate() {
                user["group"] = json!(format!("group {n}"));
                user["weight"] = json!(rng.random_range(1..=5));
            }
            // A user in no group still counts as a party.
            let weight = document["groups"][0]["weight"].clone();
            let first = document["users"][0].as_object_mut().unwrap();
            first.remove("group");
            first.insert("weight".to_owned(), weight);
            let grouped = problem_of(&document);
            let allocation = less_than_filled(&alone, &mut rng);
            for (k, axiom) in [Axiom::SharingIncentive, Axiom::EnvyFree].into_iter().enumerate() {
                let (user, _) = judged(&alone, &allocation, axiom, &Rational::new());
                let (group, text) = judged(&grouped, &allocation, AXIOMS[k], &Rational::new());
                assert_eq!((group.holds, group.margin), (user.holds, user.margin), "{text}");
                found[2 * k + usize::from(group.holds == Some(true))] += 1;
            }
        }
    }
    assert!(found.iter().all(|count| *count > 5), "{found:?}");
}

/// The largest gain that an allocation reaches equals the bound that prices prove.
#[test]
fn the_largest_gain_equals_the_bound_of_prices() {
    let mut rng = Pcg64::seed_from_u64(22);
    let mut violated = [0; 2];
    let mut kept = [0; 2];
    for shape in SHAPES {
        for at in 0..160 {
            let of = if at % 3 < 2 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            let allocation = less_than_filled(&problem, &mut rng);
            for (k, axiom) in AXIOMS.into_iter().enumerate() {
                let (claim, text) = judged(&problem, &allocation, axiom, &Rational::new());
                if claim.holds == Some(true) {
                    kept[k] += 1;
                    continue;
                }
                violated[k] += 1;
                assert!(matches!(claim.evidence, Evidence::PartyGains { .. }), "{text}");
                let most = Rational::from((999_999, 1_000_000));
                if claim.margin.as_ref().is_some_and(|margin| *margin >= Rational::from(-&most)) {
                    let (within, _) = judged(&problem, &allocation, axiom, &most);
                    assert_eq!((within.holds, within.margin), (Some(true), claim.margin), "{text}");
                }
            }
        }
    }
    assert!(violated.iter().chain(&kept).all(|count| *count > 20), "{violated:?} {kept:?}");
}

/// Two users of one group. A user with all its tasks needs no more, and a gain must be a gain of all users of the
/// group.
#[test]
fn a_group_is_valued_by_its_own_users() {
    let groups = json!([{"name": "a"}, {"name": "b"}]);
    let users = json!([
        {"name": "cpus", "group": "a", "demand": {"cpu": 1}},
        {"name": "gpus", "group": "a", "demand": {"gpu": 1}, "tasks": 2},
        {"name": "both", "group": "b", "demand": {"cpu": 1, "gpu": 1}},
    ]);
    let problem = pool(&groups, &users);
    // With its own part, `a` could have 6 and 2 tasks, and has 3 and 2. `cpus` lacks 3 of the 12 tasks that it would
    // have alone.
    let (claim, text) = of_pool(&problem, &[3, 2, 9], AXIOMS[0]);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 4)))));
    assert!(matches!(claim.evidence, Evidence::PartyGains { party: Party::Group(0), envied: None, .. }));
    for (from, to) in [
        (r#""of":{"group":"a"}"#, r#""of":{"group":"b"}"#),
        (r#""of":{"group":"a"}"#, r#""of":{"user":"cpus"}"#),
        (r#""margin":"-1/4""#, r#""margin":"-1/3""#),
        (r#""cpus":{"pool":"6"}"#, r#""cpus":{"pool":"7"}"#),
        (r#""cpus":{"pool":"6"}"#, r#""cpus":{"pool":"3"}"#),
        (r#""gpus":{"pool":"2"}"#, r#""gpus":{"pool":"3"}"#),
        (r#""gpus":{"pool":"2"}"#, r#""both":{"pool":"2"}"#),
    ] {
        let at = text.rfind("\"evidence\"").or(text.rfind("\"claims\"")).unwrap();
        let damaged = text[..at].to_owned() + &text[at..].replace(from, to);
        let damaged = if damaged == text { text.replace(from, to) } else { damaged };
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        assert!(matches!(agreed_text(&damaged), Finding::Refused(_)), "{damaged}");
    }
    // With the usage of `b`, `a` could have 9 and 2 tasks.
    let (claim, _) = of_pool(&problem, &[3, 2, 9], AXIOMS[1]);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 2)))));
    // With half of everything, no group has a complaint. `b` could use other halves, but they are also worth 6 tasks to
    // it.
    for axiom in AXIOMS {
        let (claim, _) = of_pool(&problem, &[6, 2, 6], axiom);
        assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    }
    // `gpus` has more than the own part of `a` would give it, so `a` would not prefer its own part.
    let users = json!([
        {"name": "cpus", "group": "a", "demand": {"cpu": 1}},
        {"name": "gpus", "group": "a", "demand": {"gpu": 1}},
        {"name": "both", "group": "b", "demand": {"cpu": 1, "gpu": 1}, "tasks": 4},
    ]);
    let (claim, _) = of_pool(&pool(&groups, &users), &[0, 8, 4], AXIOMS[0]);
    // The smallest gain decides, and `gpus` would lose 2 of 12.
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
    let (claim, _) = of_pool(&pool(&groups, &json!(users.as_array().unwrap()[..2])), &[0, 8], AXIOMS[0]);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 3)))));
}

/// Parts are divided level by level among the groups whose users can run. A weight of 0 means no part and no envy.
#[test]
fn shares_are_divided_level_by_level() {
    let groups = json!([{"name": "a", "weight": 2}, {"name": "b", "parent": "a", "weight": 3},
                        {"name": "idle", "weight": 7}, {"name": "c", "weight": 0}]);
    let users = json!([
        {"name": "in a", "group": "a", "demand": {"cpu": 1}},
        {"name": "in b", "group": "b", "demand": {"cpu": 1}},
        {"name": "none", "group": "idle", "demand": {"cpu": 1}, "tasks": 0},
        {"name": "in c", "group": "c", "demand": {"cpu": 1}},
        {"name": "alone", "demand": {"cpu": 1}},
    ]);
    let problem = pool(&groups, &users);
    // The own part of `a` is 8 of the 12, that of `b` is 6 of these 8, and that of `alone` is 4.
    for (tasks, margin) in
        [([2, 6, 0, 0, 4], (0, 1)), ([3, 5, 0, 0, 4], (-1, 12)), ([3, 6, 0, 0, 3], (-1, 12))]
    {
        let (claim, _) = of_pool(&problem, &tasks, AXIOMS[0]);
        assert_eq!(claim.margin, Some(Rational::from(margin)), "{tasks:?}");
    }
    // `alone` could have half of the 9 of `a` instead of its 3. The usage of `c` has no effect.
    let (claim, _) = of_pool(&problem, &[3, 6, 0, 0, 3], AXIOMS[1]);
    assert_eq!(claim.margin, Some(Rational::from((-3, 24))));
    let (claim, _) = of_pool(&problem, &[2, 0, 0, 9, 1], AXIOMS[1]);
    assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::new())));
}

#[test]
fn party_axioms_do_not_apply_without_groups_or_to_time_sharing() {
    let users = json!([{"name": "u", "demand": {"cpu": 1}}]);
    for axiom in AXIOMS {
        assert_eq!(of_pool(&pool(&json!([]), &users), &[3], axiom).0.holds, None);
        let problem = pool(&json!([{"name": "a"}]), &users);
        assert!(of_pool(&problem, &[3], axiom).0.holds.is_some());
        let allocation = Allocation { sharing: Sharing::Tdm, ..Allocation::default() };
        let allocation = Allocation { tasks: vec![Vec::new()], ..allocation };
        assert_eq!(judged(&problem, &allocation, axiom, &Rational::new()).0.holds, None);
    }
}

/// All three judges agree on modified certificates.
#[test]
fn judges_agree_on_damaged_certificates() {
    let mut rng = Pcg64::seed_from_u64(23);
    let (mut refused, mut read) = (0, 0);
    for shape in SHAPES {
        for at in 0..80 {
            let of = if at % 3 < 2 { trees::problem } else { trees::by_class };
            let problem = of(&mut rng, shape);
            let allocation = less_than_filled(&problem, &mut rng);
            // With a large tolerance most claims are proven by prices.
            let tolerance = [Rational::new(), Rational::from((99, 100))][rng.random_range(0..2)].clone();
            let (_, text) = judged(&problem, &allocation, AXIOMS[rng.random_range(0..2)], &tolerance);
            for _ in 0..15 {
                let mut document: Value = serde_json::from_str(&text).unwrap();
                damage(&mut document["claims"][0], &mut rng);
                let (finding, is_read) = agreed_by_all(&document.to_string());
                read += u32::from(is_read);
                refused += u32::from(matches!(finding, Finding::Refused(_)));
            }
        }
    }
    assert!(refused > 300 && read > 300, "{refused} {read}");
}

/// The verdict does not depend on the order of groups and users in the file.
#[test]
fn the_order_of_groups_and_users_does_not_matter() {
    let mut rng = Pcg64::seed_from_u64(24);
    for _ in 0..40 {
        let problem = trees::problem(&mut rng, SHAPES[1]);
        let allocation = less_than_filled(&problem, &mut rng);
        let mut document: Value = serde_json::from_str(&problem_to_json(&problem)).unwrap();
        for list in ["groups", "users", "servers"] {
            document[list].as_array_mut().unwrap().reverse();
        }
        let turned = problem_of(&document);
        let classes = problem.n_servers();
        let tasks = allocation
            .tasks
            .iter()
            .rev()
            .map(|on| on.iter().rev().map(|(i, x)| (classes - 1 - i, x.clone())).collect());
        let other = Allocation { tasks: tasks.collect(), ..allocation.clone() };
        for axiom in AXIOMS {
            let margin = |problem: &Problem, allocation: &Allocation| {
                judged(problem, allocation, axiom, &Rational::new()).0.margin
            };
            assert_eq!(margin(&problem, &allocation), margin(&turned, &other));
        }
        assert!(Instance::new(&turned, &other).is_ok());
    }
}
