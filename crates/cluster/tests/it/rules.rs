//! The shares of rules are those by which the mechanism `tree` compares.

use crate::common::{random, refused};

use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::{Due, Queues, TaskRules, Verdict, by_rule};
use evenhand_mechanisms::tree::{self, Rule, Settings};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

#[test]
fn what_is_due_by_a_rule_is_what_the_mechanism_gives() {
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

/// The kernel fills every resource alone, and the entitlements come from levels that rise: of random trees with priorities,
/// weights of 0, limits, and guarantees that do not always fit.
#[test]
fn what_is_divided_resource_by_resource_is_recomputed() {
    let (mut certified, mut uncertified) = (0, 0);
    for seed in 0..160 {
        let (problem, allocation) = random(seed);
        if problem.groups().limit_classes() {
            continue;
        }
        for rule in [Rule::Kai, Rule::Volcano] {
            let found = Verdict::new(&Snapshot::new(problem.clone(), allocation.clone()), Some(rule), &Rational::new()).unwrap();
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
            for damage in [json!({"rule": other}), json!({"rule": rule.name(), "more": 1}), json!({})] {
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
    assert!(certified > 100 && uncertified > 5, "{certified} {uncertified}");
}

#[test]
fn guarantees_that_are_only_compared_with_come_not_first() {
    // YuniKorn: a has used half of its guarantee when b, which has none, has half the cluster.
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
