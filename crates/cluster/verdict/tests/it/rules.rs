//! Tests that fair shares by the rules of schedulers agree with the mechanism `tree`, and that the kernel
//! computes the same shares.

use crate::common::{random, refused, snapshot};

use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::reported::rule_of;
use evenhand_cluster::{Due, Queues, TaskRules, Verdict, by_rule};
use evenhand_mechanisms::tree::{self, Rule, Settings};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

#[test]
fn fair_shares_by_a_rule_agree_with_the_mechanism() {
    let rules: Vec<Rule> = Rule::NAMES.iter().map(|(name, _)| name.parse().unwrap()).collect();
    let mut differ = 0;
    for seed in 0..60 {
        let (problem, allocation) = random(seed);
        for rule in rules.iter().copied().filter(|rule| rule.per_resource().is_none()) {
            let settings = Settings { rule: Some(rule), ..Settings::default() };
            let expected = tree::allocate(&problem, &settings).unwrap().allocation.totals();
            let changed = by_rule(&problem, Some(rule)).unwrap();
            differ += usize::from(changed.is_some());
            let changed = changed.unwrap_or_else(|| problem.clone());
            let rules = TaskRules::new(&Snapshot::new(changed.clone(), allocation.clone()));
            let queues = Queues::new(&changed, &rules);
            let due = Due::new(&queues, Some(rule)).unwrap();
            assert_eq!(due.tasks.as_ref().unwrap().totals(), expected, "{rule}, seed {seed}");
            let is_known = rule.share_alone(problem.groups().share()).is_some();
            assert_eq!(due.certificate().is_some(), is_known, "{rule}");
        }
    }
    assert!(differ > 60, "{differ}");
}

/// The kernel fills each resource separately, while the library computes entitlements from rising levels.
/// Both must agree on random trees with priorities, weights of 0, limits, and guarantees that do not always
/// fit into the capacity.
#[test]
fn the_kernel_recomputes_fair_shares_by_resource() {
    let (mut certified, mut uncertified) = (0, 0);
    for seed in 0..160 {
        let (problem, allocation) = random(seed);
        if problem.groups().limit_classes() {
            continue;
        }
        for rule in [Rule::Kai, Rule::Volcano, Rule::VolcanoCapacity] {
            let of = Snapshot::new(problem.clone(), allocation.clone());
            let found = Verdict::new(&of, Some(rule), &Rational::new()).unwrap();
            if found.due.uncertified().is_some() {
                assert_eq!(rule, Rule::Kai, "seed {seed}");
                uncertified += 1;
                continue;
            }
            certified += 1;
            let text = of_verdict(&found, &[]).unwrap();
            assert_eq!(refused(&text), None, "{rule}, seed {seed}");
            let document: Value = serde_json::from_str(&text).unwrap();
            let other = if rule == Rule::Kai { "yunikorn" } else { "kai-sole-queue" };
            let damages = [
                json!({"rule": other}),
                json!({"rule": rule.name(), "more": 1}),
                json!({"rule": 1}),
                json!({}),
            ];
            for damage in damages {
                let mut damaged = document.clone();
                damaged["due"] = damage;
                assert!(refused(&damaged.to_string()).is_some(), "{rule}, seed {seed}");
            }
            for v in 0..found.queues.len() {
                let mut damaged = document.clone();
                for r in problem.resources() {
                    let Some(due) = document["queues"][v]["due"][r].as_str() else { continue };
                    let more = due.parse::<Rational>().unwrap() + Rational::from((1, 7));
                    damaged["queues"][v]["due"][r] = json!(more.to_string());
                    assert!(refused(&damaged.to_string()).is_some(), "{rule}, seed {seed}");
                }
            }
        }
    }
    assert!(certified > 200 && uncertified > 5, "{certified} {uncertified}");
}

/// Returns a certificate that states fair shares which differ from the shares of its rule.
fn forged(rule: &str, groups: &Value, users: &Value, queues: &Value) -> String {
    let gpu = |n: u64| json!({"gpu": n.to_string()});
    let problem = json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "s", "capacity": {"gpu": 10}}], "groups": groups, "users": users});
    let text = problem.to_string();
    let read = evenhand_problem::format::Source { name: "problem", text: &text }.problem().unwrap();
    let empty = evenhand_problem::Allocation::empty(read.n_users(), evenhand_problem::Sharing::Rdm);
    let allocation = evenhand_cluster::placed(&empty, Vec::new());
    let found =
        Verdict::new(&Snapshot::new(read.clone(), allocation.clone()), Some(Rule::Volcano), &Rational::new())
            .unwrap();
    let mut document: Value = serde_json::from_str(&of_verdict(&found, &[]).unwrap()).unwrap();
    document["due"] = json!({"rule": rule});
    for (row, due) in document["queues"].as_array_mut().unwrap().iter_mut().zip(queues.as_array().unwrap()) {
        row["due"] = due.as_u64().map_or_else(|| json!({}), gpu);
        row["short"] = row["due"].clone();
    }
    document.to_string()
}

#[test]
fn the_kernel_refuses_impossible_fair_shares() {
    let user = |name: &str, tasks: u32| json!({"name": format!("of {name}"), "group": name, "demand": {"gpu": 1}, "tasks": tasks});
    // KAI entitles both queues to 8 of 10 GPUs. This is impossible, so no certificate by this rule is
    // accepted.
    let groups = json!([{"name": "a", "guarantee": {"gpu": 8}}, {"name": "b", "guarantee": {"gpu": 8}}]);
    let users = json!([user("a", 9), user("b", 9)]);
    for queues in [json!([5, 5]), json!([8, 8]), json!([8, 2])] {
        let why = refused(&forged("kai", &groups, &users, &queues)).unwrap();
        assert!(
            why.contains(
                "the guarantees exceed the capacity, and the rule gives every queue its whole guarantee"
            ),
            "{why}"
        );
    }
    // A queue is entitled to 5 GPUs. Its only subqueue has the weight 0, and is entitled to none of these
    // GPUs.
    let groups = json!([{"name": "p"}, {"name": "c", "parent": "p", "weight": 0}, {"name": "o"}]);
    let users = json!([user("c", 9), user("o", 20)]);
    for queues in [json!([0, 0, 10]), json!([5, 0, 5]), json!([5, 5, 5])] {
        let why = refused(&forged("kai", &groups, &users, &queues)).unwrap();
        assert!(why.contains("the fair share of a queue is larger than the sum of its subqueues"), "{why}");
    }
}

#[test]
fn a_rule_is_required_by_name() {
    let report = |text: &str, rule: &str| {
        let file = evenhand_check::File { name: "certificate".to_owned(), text: text.to_owned() };
        let require = vec![format!("rule:{rule}")];
        evenhand_check::check(&file, &evenhand_check::Options { require, ..Default::default() })
    };
    let (problem, allocation) = (0..)
        .map(random)
        .find(|(problem, _)| !problem.groups().list().is_empty() && !problem.groups().limit_classes())
        .unwrap();
    let names = ["kai", "volcano", "volcano-capacity", "kueue", "yunikorn", "mesos"];
    let mut met = 0;
    for rule in names.map(|name| name.parse::<Rule>().unwrap()) {
        let found =
            Verdict::new(&Snapshot::new(problem.clone(), allocation.clone()), Some(rule), &Rational::new())
                .unwrap();
        let Ok(text) = of_verdict(&found, &[]) else { continue };
        met += 1;
        for other in names {
            let report = report(&text, other).unwrap();
            assert_eq!(
                report.reason.is_none(),
                other == rule.name(),
                "{rule} as {other}: {:?}",
                report.reason
            );
        }
        // The report always names the rule, required or not.
        let says =
            |claim: &String| claim.starts_with("fair shares: ") && claim.contains(&format!("`{rule}`"));
        assert!(report(&text, rule.name()).unwrap().claims.iter().any(says), "{rule}");
        let is_tree = rule.per_resource().is_none();
        assert_eq!(report(&text, "tree").unwrap().reason.is_none(), is_tree, "{rule}");
        assert!(report(&text, "fifo").unwrap_err().what.contains("expected a rule among"));
    }
    assert!(met >= 5, "{met}");
}

#[test]
fn compared_guarantees_are_not_served_first() {
    // YuniKorn compares usage over the guarantee. Queue `b` has no guarantee, and is compared by its usage of
    // the whole cluster.
    let of = |guarantees: &str| {
        let text = json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "s", "capacity": {"gpu": 12}}],
            "groups": [{"name": "a", "guarantee": {"gpu": 6}}, {"name": "b"}],
            "users": [{"name": "u", "group": "a", "demand": {"gpu": 1}}, {"name": "v", "group": "b", "demand": {"gpu": 1}}],
            "share": {"over": "guarantee", "guarantees": guarantees}})
        .to_string();
        let problem = evenhand_problem::format::Source { name: "problem", text: &text }.problem().unwrap();
        tree::allocate(&problem, &Settings::default()).unwrap().allocation.totals()
    };
    assert_eq!(of("compared"), [4, 8]);
    assert_eq!(of("first"), [6, 6]);
}

#[test]
fn volcano_dumps_with_deserved_amounts_use_the_plugin_capacity() {
    let document = |reported: Value| {
        json!({"kind": "snapshot", "system": "volcano", "problem": {"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{"name": "n", "capacity": {"cpu": 10}}],
            "groups": [{"name": "test", "guarantee": {"cpu": 5}, "lend": {"cpu": 5}},
                       {"name": "test2", "guarantee": {"cpu": 5}, "lend": {"cpu": 5}},
                       {"name": "other"}],
            "users": [{"name": "t1", "group": "test", "demand": {"cpu": 1}, "tasks": 10},
                      {"name": "t4", "group": "test2", "demand": {"cpu": 1}, "tasks": 5, "gang": 5},
                      {"name": "o", "group": "other", "demand": {"cpu": 1}, "tasks": 9}]},
            "allocation": {"kind": "allocation", "placements": [{"server": "n", "index": 0, "tasks": {"t1": 10}}]},
            "reported": reported})
        .to_string()
    };
    let deserved =
        |value: u32| json!([{"group": "test", "what": "deserved", "resource": "cpu", "value": value}]);
    // Volcano, issue 3990: two queues deserve 5 of 10 cores each. One queue uses all 10 cores, and a gang of
    // 5 tasks of the other queue waits. A queue that deserves nothing is not below its fair share, although
    // its tasks wait.
    let of = snapshot(&document(deserved(5)));
    assert_eq!(rule_of(&of), Some(Rule::VolcanoCapacity));
    let found = Verdict::new(&of, rule_of(&of), &Rational::new()).unwrap();
    assert_eq!(found.queues.iter().map(|row| row.fair_share[0].clone()).collect::<Vec<_>>(), [5, 5, 0]);
    assert_eq!(found.below_fair_share().map(|row| row.queue.name.as_str()).collect::<Vec<_>>(), ["test2"]);
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
    // If no amount above 0 is deserved, the rule is that of the plugin `proportion`. This rule ignores
    // amounts that are only deserved, so each queue gets a third.
    for reported in [json!([]), deserved(0)] {
        let of = snapshot(&document(reported));
        assert_eq!(rule_of(&of), Some(Rule::Volcano));
        let found = Verdict::new(&of, rule_of(&of), &Rational::new()).unwrap();
        assert!(found.queues.iter().all(|row| row.fair_share[0] == Rational::from((10, 3))));
    }
}
