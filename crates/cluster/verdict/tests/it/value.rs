//! Tests of resources counted by value: hand-made cases of public issues, and random cases compared with the
//! plain filling with a resource of value.

use crate::common::{judged, refused, snapshot};

use evenhand_cluster::Verdict;
use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::value::Values;
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_problem::snapshot::Snapshot;
use evenhand_testkit::plain::tree;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn snapshot_of(servers: &Value, groups: &Value, users: &Value, resources: &Value) -> Snapshot {
    let document = json!({
        "kind": "snapshot",
        "problem": {"kind": "allocation-problem", "resources": resources, "servers": servers, "groups": groups, "users": users},
        "allocation": {"kind": "allocation", "placements": []},
    });
    snapshot(&document.to_string())
}

fn values(texts: &[&str], of: &Snapshot) -> Result<Values, String> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    Values::read(&texts, &of.problem).map_err(|error| error.to_string())
}

fn shares(of: &Verdict) -> Vec<Vec<String>> {
    of.queues.iter().map(|row| row.fair_share.iter().map(ToString::to_string).collect()).collect()
}

/// Kueue, issue 8902 and KEP 9251: an A100 is worth eight T4. Queue x may use both types, and queue y only
/// A100.
#[test]
fn kueue_8902_an_a100_counts_as_eight_t4() {
    let servers =
        json!([{"name": "old", "capacity": {"t4/gpu": 8}}, {"name": "new", "capacity": {"a100/gpu": 4}}]);
    let groups = json!([{"name": "x"}, {"name": "y"}]);
    let users = json!([{"name": "x1", "group": "x", "demand": {"t4/gpu": 1}, "tasks": 90}, {"name": "x2", "group": "x", "demand": {"a100/gpu": 1}, "tasks": 90},
                       {"name": "y1", "group": "y", "demand": {"a100/gpu": 1}, "tasks": 90}]);
    let of = snapshot_of(&servers, &groups, &users, &json!(["t4/gpu", "a100/gpu"]));
    let by = values(&["a100=8", "t4/gpu=1"], &of).unwrap();
    let (by_value, rule) = by.apply_by_rule(&of, Some(Rule::Hdrf)).unwrap();
    assert_eq!(rule, None);
    let found = judged(&by_value);
    // Queue x has 8 T4 and 3/2 A100, and queue y has 5/2 A100. Both have a value of 20.
    assert_eq!(shares(&found), [["8", "12"], ["0", "20"]]);
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
    // Without values the flavours are not added, and queue y has half of the A100.
    assert_eq!(shares(&judged(&of))[1], ["0", "2"]);
}

/// Server classes have the same resource, as `import kubernetes` writes them. A task that may run on both
/// classes counts the least value.
#[test]
fn a_task_counts_at_the_least_value_of_its_classes() {
    let servers = json!([{"name": "t4", "count": 2, "capacity": {"gpu": 4, "cpu": 64}}, {"name": "a100", "capacity": {"gpu": 4, "cpu": 64}}]);
    let groups =
        json!([{"name": "x", "limit": {"gpu": 100}}, {"name": "y", "on": {"a100": {"limit": {"gpu": 3}}}}]);
    let users = json!([{"name": "x1", "group": "x", "demand": {"gpu": 1, "cpu": 1}, "tasks": 90, "servers": ["t4"]},
                       {"name": "y1", "group": "y", "demand": {"gpu": 1, "cpu": 1}, "tasks": 90, "servers": ["a100"]}]);
    let of = snapshot_of(&servers, &groups, &users, &json!(["gpu", "cpu"]));
    let by = values(&["a100=8"], &of).unwrap();
    assert!(by.mixed(&of.problem).is_empty());
    let after = by.apply(&of).unwrap();
    assert_eq!(after.problem.total_capacity()[0], 40);
    assert_eq!(after.problem.users()[1].base_demand()[0], 8);
    // The limit of 3 A100 is 24 in value.
    assert_eq!(shares(&judged(&after)), [["8", "8"], ["24", "3"]]);
    // A value of the resource on a class gives the same problem as a value of the class.
    assert_eq!(shares(&judged(&of)), [["8", "8"], ["3", "3"]]);
    let same = values(&["a100/gpu=8"], &of).unwrap().apply(&of).unwrap();
    assert_eq!(same.problem, after.problem);
}

#[test]
fn a_task_without_restrictions_counts_at_the_least_value() {
    let servers = json!([{"name": "t4", "capacity": {"gpu": 4}}, {"name": "a100", "capacity": {"gpu": 4}}]);
    let groups = json!([{"name": "x"}]);
    let users = json!([{"name": "any", "group": "x", "demand": {"gpu": 1}, "tasks": 90}]);
    let of = snapshot_of(&servers, &groups, &users, &json!(["gpu"]));
    let by = values(&["a100=8"], &of).unwrap();
    assert_eq!(by.mixed(&of.problem), [0]);
    let after = by.apply(&of).unwrap();
    let user = &after.problem.users()[0];
    assert_eq!((&user.base_demand()[0], &user.demand_on(1)[0]), (&Rational::from(1), &Rational::from(8)));
    // All eight GPUs can still be used.
    assert_eq!(shares(&judged(&after)), [["8"]]);
}

#[test]
fn errors_for_wrong_values_say_what_to_do() {
    let servers = json!([{"name": "t4", "capacity": {"gpu": 4, "cpu": 8}}, {"name": "a100", "capacity": {"gpu": 4, "cpu": 8}},
                         {"name": "plain", "capacity": {"cpu": 8, "memory": 8}}]);
    let groups = json!([{"name": "x", "guarantee": {"gpu": 4}}]);
    let users = json!([{"name": "any", "group": "x", "demand": {"gpu": 1}, "tasks": 9}]);
    let of = snapshot_of(&servers, &groups, &users, &json!(["gpu", "cpu", "memory"]));
    for (texts, expected) in [
        (&["a10=8"][..], "did you mean `a100`?"),
        (&["a100=0"], "0 is not above 0"),
        (&["a100"], "expected NAME=VALUE"),
        (&["a100=x"], "--value a100: "),
        (&["plain=2"], "write `plain/cpu` or `plain/memory`"),
        (&["gpu=2", "a100=8"], "has a value already"),
    ] {
        let error = values(texts, &of).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let by = values(&["a100=8"], &of).unwrap();
    let error = by.apply(&of).unwrap_err().to_string();
    assert!(
        error.contains("the guarantee of `x` on gpu is for server classes of different values"),
        "{error}"
    );
    let error = by.apply_by_rule(&of, Some(Rule::Kai)).unwrap_err().to_string();
    assert!(error.contains("divides every resource separately"), "{error}");
    assert!(values(&["gpu=3"], &of).unwrap().apply(&of).is_ok());
    assert!(Values::default().is_empty());
}

/// Values as units of one family must give the same tasks as the plain filling with an additional resource
/// that counts the value.
#[test]
fn random_flavours_agree_with_a_resource_that_counts_value() {
    for seed in 0..1000 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let names = ["t4/gpu", "a100/gpu", "h100/gpu"];
        let worth = [1_u32, 8, 3].map(|most| rng.random_range(1..=most));
        let amount = |rng: &mut Pcg64| -> Value {
            names
                .iter()
                .map(|name| ((*name).to_owned(), json!(rng.random_range(0..=9))))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let servers: Vec<Value> =
            (0..2).map(|i| json!({"name": format!("class {i}"), "capacity": amount(&mut rng)})).collect();
        let groups: Vec<Value> = (0..3)
            .map(|v| {
                let mut group = json!({"name": format!("group {v}"), "weight": rng.random_range(0..=2)});
                if v == 2 {
                    group["parent"] = json!("group 1");
                }
                if rng.random_bool(0.3) {
                    group["guarantee"] = json!({names[rng.random_range(0..3)]: rng.random_range(0..4)});
                }
                if rng.random_bool(0.3) {
                    group["limit"] = json!({names[rng.random_range(0..3)]: rng.random_range(4..9)});
                }
                group
            })
            .collect();
        let users: Vec<Value> = (0..4)
            .map(|n| {
                json!({"name": format!("user {n}"), "group": format!("group {}", rng.random_range(0..3)),
                    "demand": {names[rng.random_range(0..3)]: rng.random_range(1..=3)}, "tasks": rng.random_range(0..=9)})
            })
            .collect();
        let of = snapshot_of(&json!(servers), &json!(groups), &json!(users), &json!(names));
        let texts: Vec<String> =
            names.iter().zip(worth).map(|(name, worth)| format!("{name}={worth}")).collect();
        let by = Values::read(&texts, &of.problem).unwrap();
        let found = judged(&by.apply(&of).unwrap());
        // In the plain problem one additional resource counts the value, and every other share is at most the
        // share of the value.
        let total =
            |r: usize| -> u64 { servers.iter().map(|of| of["capacity"][names[r]].as_u64().unwrap()).sum() };
        let value = |of: &Value| -> u64 {
            (0..3).map(|r| of.get(names[r]).and_then(Value::as_u64).unwrap_or(0) * u64::from(worth[r])).sum()
        };
        let all: u64 = (0..3).map(|r| total(r) * u64::from(worth[r])).sum();
        let mut multipliers = serde_json::Map::new();
        for r in (0..3).filter(|r| total(*r) > 0) {
            let fraction = format!("{}/{all}", total(r) * u64::from(worth[r]));
            multipliers.insert(names[r].to_owned(), json!(fraction));
        }
        let with_value = |list: &[Value], field: &str| -> Vec<Value> {
            let add = |of: &Value| {
                let mut of = of.clone();
                of[field]["value"] = json!(value(&of[field]));
                of
            };
            list.iter().map(add).collect()
        };
        let document = json!({"kind": "allocation-problem", "resources": [names[0], names[1], names[2], "value"],
            "servers": with_value(&servers, "capacity"), "groups": groups, "users": with_value(&users, "demand"),
            "share": {"multipliers": multipliers}});
        let text = document.to_string();
        let tasks = tree::fill(&Source { name: "plain", text: &text }.problem().unwrap());
        assert_eq!(found.due.tasks.unwrap().totals(), tasks, "{seed}");
    }
}
