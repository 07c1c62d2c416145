//! Tests of the number of tasks that users lack of stated guarantees, and of the bound of the root. There are examples
//! worked out by hand for each rule of docs/axioms.md, and properties of random trees.

use crate::common;

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Evidence, Lacks};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Promises, Rational};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::plain::Plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Returns a problem with one class of 10 GPUs and 100 CPUs, these groups, and users `(name, group, demand)` with
/// unlimited tasks.
fn pool(groups: &Value, users: &[(&str, &str, Value)]) -> Value {
    let user = |(name, group, demand): &(&str, &str, Value)| {
        let mut user = json!({"name": name, "demand": demand});
        if !group.is_empty() {
            user["group"] = json!(group);
        }
        user
    };
    let users: Vec<Value> = users.iter().map(user).collect();
    json!({"kind": "allocation-problem", "resources": ["gpu", "cpu"],
        "servers": [{"name": "pool", "capacity": {"gpu": 10, "cpu": 100}}], "groups": groups, "users": users})
}

fn problem(document: &Value) -> Problem {
    Source { name: "promised", text: &document.to_string() }.problem().unwrap()
}

/// Returns the lack of the first user when user `n` runs `tasks[n]` tasks on the first class. All judges agree on the
/// margins.
fn lack(document: &Value, tasks: &[u32]) -> Rational {
    let problem = problem(document);
    let tasks = tasks.iter().map(|x| if *x == 0 { vec![] } else { vec![(0, Rational::from(*x))] });
    lack_of(&problem, &Allocation { tasks: tasks.collect(), ..Allocation::default() })
}

fn lack_of(problem: &Problem, allocation: &Allocation) -> Rational {
    let exact = Rational::new();
    common::judged(problem, allocation, Axiom::Guarantees, &exact);
    Lacks::new(problem, &allocation.totals(), &allocation.tasks).of(0)
}

fn gpu(amount: u32) -> Value {
    json!({"gpu": amount})
}

/// Returns a problem in which two queues each have a guarantee of 5 GPUs. The tests let `b` use up to 10.
fn two_queues(parent: &Value) -> Value {
    let groups = json!([parent, {"name": "a", "parent": "org", "guarantee": gpu(5)},
        {"name": "b", "parent": "org", "guarantee": gpu(5)}]);
    pool(&groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1))])
}

#[test]
fn a_common_parent_hides_no_lack() {
    let flat = json!([{"name": "a", "guarantee": gpu(5)}, {"name": "b", "guarantee": gpu(5)}]);
    assert_eq!(lack(&pool(&flat, &[("x", "a", gpu(1)), ("y", "b", gpu(1))]), &[0, 10]), 5);
    for parent in [
        json!({"name": "org"}),
        json!({"name": "org", "limit": gpu(10)}),
        json!({"name": "org", "guarantee": gpu(10)}),
        json!({"name": "org", "guarantee": gpu(10), "limit": gpu(10), "lend": gpu(0)}),
        json!({"name": "org", "weight": 0}),
    ] {
        let document = two_queues(&parent);
        assert_eq!(lack(&document, &[0, 10]), 5, "{parent}");
        assert_eq!(lack(&document, &[2, 8]), 3, "{parent}");
        assert_eq!(lack(&document, &[5, 5]), 0, "{parent}");
    }
    // A parent whose guarantee is less than those of its queues, or whose limit is lower, cannot give more.
    assert_eq!(lack(&two_queues(&json!({"name": "org", "guarantee": gpu(3)})), &[0, 10]), 0);
    assert_eq!(lack(&two_queues(&json!({"name": "org", "guarantee": gpu(3)})), &[0, 2]), 1);
    assert_eq!(lack(&two_queues(&json!({"name": "org", "limit": gpu(8)})), &[0, 8]), 3);
    // A parent without a guarantee, or with a guarantee of another resource only, entitles to nothing.
    assert_eq!(lack(&two_queues(&json!({"name": "org", "guarantee": {}})), &[0, 10]), 0);
    assert_eq!(lack(&two_queues(&json!({"name": "org", "guarantee": {"cpu": 9}})), &[0, 10]), 0);
}

/// `a` has a guarantee of 8 and `b` of 5. Together they exceed the limit, so the two guarantees cannot both be met.
#[test]
fn guarantees_beyond_the_limit_are_no_lack() {
    let groups = json!([{"name": "org", "limit": gpu(10)}, {"name": "a", "parent": "org", "guarantee": gpu(8)},
        {"name": "b", "parent": "org", "guarantee": gpu(5)}]);
    let document = pool(&groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1))]);
    assert_eq!(lack(&document, &[0, 10]), 5);
    assert_eq!(lack(&document, &[5, 5]), 0);
    assert_eq!(lack(&document, &[5, 2]), 3);
}

#[test]
fn a_guarantee_belongs_to_the_whole_group() {
    // `z` uses the guarantee of `a`, in `a` itself or in a subgroup.
    for z in ["a", "below"] {
        let groups = json!([{"name": "org", "limit": gpu(10)}, {"name": "a", "parent": "org", "guarantee": gpu(5)},
            {"name": "below", "parent": "a"}, {"name": "b", "parent": "org", "guarantee": gpu(5)}]);
        let document = pool(&groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1)), ("z", z, gpu(1))]);
        assert_eq!(lack(&document, &[0, 5, 5]), 0, "{z}");
        assert_eq!(lack(&document, &[0, 7, 3]), 2, "{z}");
    }
    // A limit below the group with the guarantee counts all usage.
    let groups =
        json!([{"name": "a", "guarantee": gpu(8)}, {"name": "below", "parent": "a", "limit": gpu(3)}]);
    let document = pool(&groups, &[("x", "below", gpu(1)), ("z", "below", gpu(1))]);
    assert_eq!(lack(&document, &[0, 2]), 1);
    assert_eq!(lack(&document, &[0, 3]), 0);
    // The parent's guarantee of 10 is not for `other`, which has no guarantee, as long as `a` lacks tasks of its
    // guarantee.
    let groups = json!([{"name": "org", "guarantee": gpu(10)}, {"name": "a", "parent": "org", "guarantee": gpu(5)},
        {"name": "other", "parent": "org"}]);
    let document = pool(&groups, &[("x", "a", gpu(1)), ("y", "other", gpu(1)), ("z", "org", gpu(1))]);
    assert_eq!(lack(&document, &[0, 10, 0]), 5);
    assert_eq!(lack(&document, &[0, 0, 10]), 5);
    assert_eq!(lack(&document, &[5, 5, 0]), 0);
    // A group that states no guarantee still shares the guarantee of its parent.
    let document = pool(&groups, &[("y", "other", gpu(1)), ("x", "a", gpu(1))]);
    assert_eq!(lack(&document, &[0, 10]), 0);
    assert_eq!(lack(&document, &[0, 6]), 4);
}

/// On other branches of the tree, a group that states nothing counts like the groups below it.
#[test]
fn grouping_other_queues_changes_no_lack() {
    let groups = json!([{"name": "org", "limit": gpu(10)}, {"name": "a", "parent": "org", "guarantee": gpu(2)},
        {"name": "b", "parent": "org"}, {"name": "c", "parent": "b", "guarantee": gpu(4)},
        {"name": "d", "parent": "b", "guarantee": gpu(4)}]);
    let mut document = pool(&groups, &[("x", "a", gpu(1)), ("y", "c", gpu(1)), ("z", "b", gpu(1))]);
    assert_eq!(lack(&document, &[0, 10, 0]), 2);
    assert_eq!(lack(&document, &[0, 4, 6]), 2);
    // If `b` states the sum as its guarantee, the guarantee applies to whichever of its users uses it.
    document["groups"][2]["guarantee"] = gpu(8);
    assert_eq!(lack(&document, &[0, 10, 0]), 2);
    document["groups"][1]["guarantee"] = gpu(4);
    assert_eq!(lack(&document, &[0, 10, 0]), 2);
    document["groups"][2].as_object_mut().unwrap().remove("guarantee");
    assert_eq!(lack(&document, &[0, 10, 0]), 4);
}

#[test]
fn capacity_kept_back_counts_towards_the_limit() {
    // `b` keeps 3 of its 4 back, and no other group can have these 3.
    let groups = json!([{"name": "org", "limit": gpu(10)}, {"name": "a", "parent": "org", "guarantee": gpu(9)},
        {"name": "b", "parent": "org", "guarantee": gpu(4), "lend": gpu(1)}, {"name": "c", "parent": "org"}]);
    let document = pool(&groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1)), ("z", "c", gpu(1))]);
    assert_eq!(lack(&document, &[0, 0, 7]), 7);
    assert_eq!(lack(&document, &[0, 1, 6]), 7);
    assert_eq!(lack(&document, &[0, 4, 3]), 6);
    // 4 are kept back for `below`. The tasks of `x` use these 4 first, while `c` uses all other capacity.
    let groups = json!([{"name": "org", "limit": gpu(8)}, {"name": "mid", "parent": "org", "guarantee": gpu(6), "lend": gpu(2)},
        {"name": "a", "parent": "mid", "guarantee": gpu(5)}, {"name": "c", "parent": "org", "guarantee": gpu(4)}]);
    let document = pool(&groups, &[("x", "a", gpu(1)), ("z", "c", gpu(1))]);
    assert_eq!(lack(&document, &[0, 4]), 4);
    assert_eq!(lack(&document, &[3, 4]), 1);
    assert_eq!(lack(&document, &[0, 0]), 5);
}

/// A group of weight 0 gets no more than its guarantee, stated or derived.
#[test]
fn a_group_of_weight_0_gets_only_its_guarantee() {
    let mut groups = json!([{"name": "org", "guarantee": gpu(9)}, {"name": "shut", "parent": "org", "weight": 0},
        {"name": "a", "parent": "shut"}, {"name": "b", "parent": "shut", "guarantee": gpu(4)}]);
    let lack = |groups: &Value, never: bool, tasks: &[u32]| {
        let mut document = pool(groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1))]);
        if never {
            document["share"] = json!({"zero-weight": "never"});
        }
        lack(&document, tasks)
    };
    // The users of the group share the derived guarantee of 4.
    assert_eq!(lack(&groups, true, &[0, 1]), 3);
    assert_eq!(lack(&groups, false, &[0, 1]), 8);
    groups[3]["guarantee"] = json!({"cpu": 4});
    assert_eq!(lack(&groups, true, &[0, 1]), 0);
    groups[3].as_object_mut().unwrap().remove("guarantee");
    assert_eq!(lack(&groups, true, &[0, 1]), 0);
    assert_eq!(lack(&groups, false, &[0, 1]), 8);
}

#[test]
fn a_lack_considers_several_resources() {
    let both = json!({"gpu": 1, "cpu": 10});
    let groups = json!([{"name": "org", "limit": {"gpu": 10, "cpu": 80}},
        {"name": "a", "parent": "org", "guarantee": {"gpu": 5, "cpu": 40}},
        {"name": "b", "parent": "org", "guarantee": {"gpu": 2}}]);
    let document = pool(&groups, &[("x", "a", both), ("y", "b", json!({"gpu": 1, "cpu": 8}))]);
    // The guarantee of CPUs is used up before the guarantee of GPUs. `b` has no guarantee of CPUs, so `x` is entitled
    // to its CPUs.
    assert_eq!(lack(&document, &[0, 10]), 4);
    assert_eq!(lack(&document, &[3, 6]), 1);
    assert_eq!(lack(&document, &[4, 6]), 0);
    // A resource that the guarantee does not name restricts only through limits.
    let groups = json!([{"name": "org", "limit": {"cpu": 30}}, {"name": "a", "parent": "org", "guarantee": gpu(5)},
        {"name": "b", "parent": "org", "guarantee": {"cpu": 20}}]);
    let document = pool(&groups, &[("x", "a", json!({"gpu": 1, "cpu": 5})), ("y", "b", json!({"cpu": 1}))]);
    assert_eq!(lack(&document, &[0, 30]), 2);
}

/// The parent has a limit on the new servers, and `b` uses all of it.
#[test]
fn limits_on_classes_count_promised_use() {
    let document = |on: Value, promised: u32| {
        json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "new", "capacity": gpu(10)}, {"name": "old", "capacity": gpu(10)}],
            "groups": [{"name": "org", "on": on}, {"name": "a", "parent": "org", "guarantee": gpu(promised)},
                       {"name": "b", "parent": "org", "guarantee": gpu(5)}, {"name": "c", "parent": "org"}],
            "users": [{"name": "x", "group": "a", "demand": gpu(1)}, {"name": "y", "group": "b", "demand": gpu(1)},
                      {"name": "z", "group": "c", "demand": gpu(1)}]})
    };
    let lack = |document: &Value, tasks: [[u32; 2]; 3]| {
        let of = |tasks: [u32; 2]| {
            let on = tasks.into_iter().enumerate().filter(|(_, x)| *x > 0);
            on.map(|(i, x)| (i, Rational::from(x))).collect()
        };
        let tasks = tasks.into_iter().map(of).collect();
        lack_of(&problem(document), &Allocation { tasks, ..Allocation::default() })
    };
    let both = json!({"new": {"limit": gpu(6)}, "old": {"limit": gpu(4)}});
    // `b` has a guarantee of half of what it uses on each class, so 3 and 2 are left.
    assert_eq!(lack(&document(both.clone(), 8), [[0, 0], [6, 4], [0, 0]]), 5);
    assert_eq!(lack(&document(both.clone(), 4), [[0, 0], [6, 4], [0, 0]]), 4);
    // `c` has no guarantee.
    assert_eq!(lack(&document(both.clone(), 8), [[0, 0], [3, 2], [3, 2]]), 5);
    assert_eq!(lack(&document(both, 8), [[1, 1], [3, 2], [2, 1]]), 3);
    // One limit on both classes leaves as much as a limit on all servers. Old servers have no separate limit.
    let joint = json!({"new,old": {"limit": gpu(10)}});
    assert_eq!(lack(&document(joint, 8), [[0, 0], [6, 4], [0, 0]]), 5);
    let new = json!({"new": {"limit": gpu(6)}});
    assert_eq!(lack(&document(new, 8), [[0, 0], [6, 4], [0, 0]]), 8);
}

/// Returns a random tree with deeply nested groups that often state guarantees.
fn deep(rng: &mut Pcg64) -> Value {
    let shape = Shape { groups: 8, users: 8, classes: 3 };
    let mut document = trees::json(rng, shape);
    let resources = document["resources"].as_array().unwrap().clone();
    let groups = document["groups"].as_array_mut().unwrap();
    for (v, group) in groups.iter_mut().enumerate() {
        if v > 0 && rng.random_bool(0.7) {
            group["parent"] = json!(format!("group {}", rng.random_range(0..v)));
        }
        if group.get("guarantee").is_none() && rng.random_bool(0.4) {
            group["guarantee"] = json!({});
        }
        if let Some(guarantee) = group.get("guarantee").cloned() {
            let mut guarantee = guarantee;
            for r in &resources {
                let r = r.as_str().unwrap();
                let most = group["limit"].get(r).and_then(Value::as_u64).unwrap_or(12);
                if guarantee.get(r).is_none() && rng.random_bool(0.7) {
                    guarantee[r] = json!(rng.random_range(0..=most.min(12)));
                }
            }
            group["guarantee"] = guarantee;
        }
    }
    if rng.random_bool(0.5) {
        trees::limit_classes(rng, &mut document);
    }
    if rng.random_bool(0.3) {
        trees::demands_by_class(rng, &mut document);
    }
    document
}

/// Returns random tasks of each user on the classes where it can run: many tasks or none.
fn random_tasks(rng: &mut Pcg64, problem: &Problem) -> Allocation {
    let of_user = |n: usize| {
        let mut tasks = Vec::new();
        for i in problem.classes_of(n) {
            if rng.random_bool(0.5) {
                tasks.push((i, Rational::from((rng.random_range(1..=12), 4))));
            }
        }
        tasks
    };
    Allocation { tasks: (0..problem.n_users()).map(of_user).collect(), ..Allocation::default() }
}

/// Returns the allocation after its repair, so that all judges see the same tasks.
fn feasible(problem: &Problem, allocation: Allocation) -> Allocation {
    let plain = Plain::new(problem, &allocation);
    Allocation { tasks: plain.tasks(), ..allocation }
}

#[test]
fn every_lack_agrees_with_the_plain_judge() {
    let mut rng = Pcg64::seed_from_u64(54);
    let (mut lacking, mut all) = (0, 0);
    for _ in 0..600 {
        let problem = problem(&deep(&mut rng));
        let allocation = random_tasks(&mut rng, &problem);
        let allocation = feasible(&problem, allocation);
        let lacks = Lacks::new(&problem, &allocation.totals(), &allocation.tasks);
        let plain = Plain::new(&problem, &allocation);
        for n in 0..problem.n_users() {
            assert_eq!(lacks.of(n), plain.lack_of_promises(n), "{n}");
            (lacking, all) = (lacking + u32::from(lacks.of(n) > 0), all + 1);
        }
        let requests = [Axiom::Guarantees, Axiom::Limits].map(Request::of);
        let text = certify(&problem, &allocation, &requests, &Rational::new()).unwrap().certificate.to_json();
        assert_eq!(agreed_text(&text), Finding::Accepted, "{text}");
    }
    assert!(lacking > 200 && all - lacking > 200, "{lacking} of {all}");
}

/// Moving some children of a group or of the root into a new group that states nothing changes no lack.
#[test]
fn a_group_that_states_nothing_changes_no_lack() {
    let mut rng = Pcg64::seed_from_u64(55);
    let mut lacking = 0;
    for _ in 0..400 {
        let document = deep(&mut rng);
        let mut other = document.clone();
        let groups = document["groups"].as_array().unwrap();
        let parent = match rng.random_range(0..=groups.len()) {
            0 => Value::Null,
            v => groups[v - 1]["name"].clone(),
        };
        let mut inserted = json!({"name": "inserted"});
        if !parent.is_null() {
            inserted["parent"] = parent.clone();
        }
        for (list, field) in [("groups", "parent"), ("users", "group")] {
            for of in other[list].as_array_mut().unwrap() {
                if of.get(field).cloned().unwrap_or_default() == parent && rng.random_bool(0.6) {
                    of[field] = json!("inserted");
                }
            }
        }
        other["groups"].as_array_mut().unwrap().push(inserted);
        let (problem, other) = (problem(&document), problem(&other));
        let allocation = random_tasks(&mut rng, &problem);
        let lacks = |problem: &Problem| {
            let lacks = Lacks::new(problem, &allocation.totals(), &allocation.tasks);
            (0..problem.n_users()).map(|n| lacks.of(n)).collect::<Vec<_>>()
        };
        assert_eq!(lacks(&problem), lacks(&other), "{document}");
        lacking += lacks(&problem).iter().filter(|lack| **lack > 0).count();
    }
    assert!(lacking > 100, "{lacking}");
}

/// Returns a problem with one pool of GPUs. The guarantees of child groups fit into the guarantees of their parents,
/// and the guarantees at the root fit into the pool.
fn consistent(rng: &mut Pcg64) -> Value {
    let mut document = trees::json(rng, Shape { groups: 9, users: 9, classes: 1 });
    document["resources"] = json!(["gpu"]);
    let groups = document["groups"].as_array_mut().unwrap();
    let mut promised = vec![0; groups.len()];
    let mut all = 0;
    // Children have higher indices than their parents, so the loop visits children first.
    for v in (0..groups.len()).rev() {
        let group = groups[v].as_object_mut().unwrap();
        let guarantee = group.remove("guarantee").map(|_| promised[v].max(rng.random_range(0..=8)));
        promised[v] = guarantee.unwrap_or(promised[v]);
        if let Some(guarantee) = guarantee {
            group.insert("guarantee".to_owned(), gpu(guarantee));
        }
        if group.remove("limit").is_some() {
            group.insert("limit".to_owned(), gpu(promised[v] + rng.random_range(0..=3)));
        }
        group.remove("lend");
        match group.get("parent").and_then(Value::as_str) {
            Some(parent) => {
                promised[parent.strip_prefix("group ").unwrap().parse::<usize>().unwrap()] += promised[v];
            }
            None => all += promised[v],
        }
    }
    document["servers"] = json!([{"name": "class 0", "capacity": gpu(all + 1)}]);
    for user in document["users"].as_array_mut().unwrap() {
        user["demand"] = gpu(rng.random_range(1..=3));
        user.as_object_mut().unwrap().remove("servers");
    }
    document["share"].as_object_mut().unwrap().remove("multipliers");
    document
}

/// If all guarantees can be met together, a user can have the tasks that it lacks. Usage without a guarantee is removed
/// for this, and no other guarantee is missed.
#[test]
fn lacking_tasks_can_be_started() {
    let mut rng = Pcg64::seed_from_u64(56);
    let mut filled = 0;
    for _ in 0..600 {
        let document = consistent(&mut rng);
        let problem = problem(&document);
        let groups = problem.groups();
        let allocation = random_tasks(&mut rng, &problem);
        let allocation = feasible(&problem, allocation);
        let (plain, totals) = (Plain::new(&problem, &allocation), allocation.totals());
        let promises = Promises::new(groups);
        let used = |plain: &Plain<'_>, v: usize| plain.used(v, 0, (usize::MAX, &Rational::new()));
        let states = |v: &usize| groups.list()[*v].guarantee.is_some();
        for n in 0..problem.n_users() {
            let lack = Lacks::new(&problem, &totals, &[]).of(n);
            if lack.is_zero() {
                continue;
            }
            let path: Vec<usize> = groups.above(groups.member(n).group).collect();
            let lowest = *path.iter().find(|v| states(v)).unwrap();
            let keeps = |m: usize| {
                let above: Vec<usize> = groups.above(groups.member(m).group).collect();
                if above.contains(&lowest) {
                    return Rational::from(1);
                }
                let Some(top) = above.into_iter().rfind(|v| !path.contains(v) && states(v)) else {
                    return Rational::new();
                };
                let promised = promises.promised(top, 0).cloned().unwrap_or_default();
                let used = used(&plain, top);
                if promised < used { promised / used } else { Rational::from(1) }
            };
            let mut totals: Vec<Rational> = (0..totals.len()).map(|m| keeps(m) * &totals[m]).collect();
            totals[n] += &lack;
            let tasks: Vec<_> = totals.iter().map(|x| vec![(0, x.clone())]).collect();
            let after = Plain::of_tasks(&problem, allocation.sharing, &tasks);
            let all: Rational =
                totals.iter().zip(problem.users()).map(|(x, user)| x * user.base_demand()[0].clone()).sum();
            assert!(all <= problem.total_capacity()[0], "{all} {document}");
            for v in &path {
                let limit = groups.list()[*v].limit.iter().all(|(_, most)| used(&after, *v) <= *most);
                assert!(limit, "{v} {document}");
            }
            let apart = (0..groups.list().len()).filter(|v| {
                !path.contains(v)
                    && states(v)
                    && groups.list()[*v].parent.is_none_or(|above| path.contains(&above))
            });
            for v in apart {
                let promised = promises.promised(v, 0).cloned().unwrap_or_default();
                assert!(used(&after, v) >= used(&plain, v).min(promised), "{v} {document}");
            }
            assert!(Lacks::new(&problem, &totals, &[]).of(n).is_zero(), "{document}");
            filled += 1;
        }
    }
    assert!(filled > 200, "{filled}");
}

/// Four of ten GPUs are kept back, and other users use seven.
#[test]
fn the_capacity_bounds_the_root() {
    let groups = json!([{"name": "a", "guarantee": gpu(4), "lend": gpu(0)}, {"name": "b"}]);
    let document = pool(&groups, &[("x", "a", gpu(1)), ("y", "b", gpu(1)), ("z", "", gpu(1))]);
    let problem = problem(&document);
    let limits = |tasks: [u32; 3]| {
        let tasks = tasks.into_iter().map(|x| if x == 0 { vec![] } else { vec![(0, Rational::from(x))] });
        let allocation = Allocation { tasks: tasks.collect(), ..Allocation::default() };
        common::judged(&problem, &allocation, Axiom::Limits, &Rational::new())
    };
    let (claim, text) = limits([0, 3, 4]);
    assert_eq!((claim.holds, claim.margin), (Some(false), Some(Rational::from((-1, 10)))));
    let slack = Rational::from(-1);
    let evidence = Evidence::GroupLimit { group: None, resource: 0, on: vec![], slack, promised: None };
    assert_eq!(claim.evidence, evidence);
    assert!(text.contains(r#""evidence":{"resource":"gpu","slack":"-1"}"#), "{text}");
    // An earlier version of the rule had no bound here.
    let old = text.replace(r#""holds":false,"margin":"-1/10""#, r#""holds":true,"margin":null"#);
    assert!(text != old && matches!(agreed_text(&old), Finding::Refused(_)), "{old}");
    // Usage within the amount that is kept back changes no margin.
    assert_eq!(limits([4, 2, 4]).0.margin, Some(Rational::new()));
    assert_eq!(limits([0, 3, 2]).0.margin, Some(Rational::from((1, 10))));
}

/// More is kept back than the pool, or a parent, has. No task causes the violation.
#[test]
fn guarantees_alone_can_exceed_a_bound() {
    let of = |parent: Option<&Value>| {
        let mut groups = json!([{"name": "a", "guarantee": gpu(8), "lend": gpu(1)},
            {"name": "b", "guarantee": gpu(6), "lend": gpu(0)}]);
        if let Some(parent) = parent {
            groups[0]["parent"] = json!("org");
            groups[1]["parent"] = json!("org");
            groups.as_array_mut().unwrap().push(parent.clone());
        }
        let problem = problem(&pool(&groups, &[("x", "a", gpu(1))]));
        let allocation = Allocation { tasks: vec![vec![]], ..Allocation::default() };
        common::judged(&problem, &allocation, Axiom::Limits, &Rational::new())
    };
    let limit = |group, slack: i32, promised: u32| Evidence::GroupLimit {
        group,
        resource: 0,
        on: vec![],
        slack: Rational::from(slack),
        promised: Some(Rational::from(promised)),
    };
    let (claim, text) = of(None);
    assert_eq!((claim.holds, claim.evidence), (Some(false), limit(None, -3, 13)));
    assert!(text.contains(r#""evidence":{"resource":"gpu","slack":"-3","promised":"13"}"#), "{text}");
    let (claim, _) = of(Some(&json!({"name": "org", "limit": gpu(9)})));
    assert_eq!((claim.holds, claim.evidence), (Some(false), limit(Some(2), -4, 13)));
    // A parent lends its own amount. More than the remaining amount is kept back below the parent.
    let (claim, _) = of(Some(&json!({"name": "org"})));
    assert_eq!((claim.holds, claim.evidence), (Some(false), limit(None, -3, 13)));
}
