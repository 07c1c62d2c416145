//! Tests of the rules of schedulers on cases that were computed by hand. The directory tests/queues has a
//! file and the calculation for each case.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evenhand_mechanisms::tree::{self, NodeKind, Reported, Settings, Standing, TREE};
use evenhand_mechanisms::{Flags, Outcome};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, number};
use evenhand_testkit::golden;
use serde_json::Value;

fn cases() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queues");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let of_file: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        cases.extend(of_file.into_iter().map(|case| (format!("{file}: {}", golden::id(&case)), case)));
    }
    assert!(cases.len() >= 110, "{} cases", cases.len());
    cases
}

fn problem(case: &Value) -> Problem {
    let text = case["problem"].to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn flags(case: &Value) -> Flags {
    let mut flags = Flags::new(Arithmetic::Exact).with("rule", case["rule"].as_str().unwrap());
    for flag in case["flags"].as_array().into_iter().flatten() {
        let known = TREE.flags.iter().find(|known| flag.as_str() == Some(known.name)).expect("a flag");
        flags = flags.with(known.name, "");
    }
    flags
}

fn solve(case: &Value, problem: &Problem) -> Outcome {
    TREE.allocate_with(problem, &flags(case)).unwrap_or_else(|error| panic!("{error}: {case}"))
}

#[test]
fn presets_give_the_golden_tasks() {
    for (name, case) in cases() {
        let Some(expected) = case["expected"]["tasks"].as_object() else { continue };
        let problem = problem(&case);
        let totals = solve(&case, &problem).allocation.totals();
        assert_eq!(expected.len(), totals.len(), "{name}");
        for (user, tasks) in problem.users().iter().zip(totals) {
            assert_eq!(tasks, golden::exact(&expected[user.name()]), "{name}: {}", user.name());
        }
    }
}

#[test]
fn presets_give_the_golden_entitlements() {
    for (name, case) in cases() {
        let Some(expected) = case["expected"]["entitlements"].as_object() else { continue };
        let problem = problem(&case);
        let found = solve(&case, &problem).findings.entitlements.expect("entitlements");
        for (group, entitled) in problem.groups().list().iter().zip(&found.groups) {
            for (r, amount) in problem.resources().iter().zip(entitled) {
                assert_eq!(*amount, golden::exact(&expected[&group.name][r]), "{name}: {} {r}", group.name);
            }
        }
    }
}

/// Returns the standings of all nodes in the allocation that the case states, or in the computed allocation
/// if it states none.
fn standings(case: &Value) -> Vec<Standing> {
    let problem = problem(case);
    let allocation = match case["allocation"].as_object() {
        None => solve(case, &problem).allocation,
        Some(stated) => {
            let of_user = |user: &evenhand_problem::User| {
                stated.get(user.name()).map(|x| vec![(0, golden::exact(x))]).unwrap_or_default()
            };
            let tasks = problem.users().iter().map(of_user).collect();
            Allocation { tasks, arithmetic: Arithmetic::Exact, ..Allocation::default() }
        }
    };
    tree::levels(&problem, &allocation, &tree::settings(&flags(case)).unwrap()).unwrap()
}

#[test]
fn presets_give_the_golden_reported_values() {
    for (name, case) in cases() {
        let Some(expected) = case["expected"]["reported"].as_object() else { continue };
        let text = |of: Standing| match of.reported.expect("a number") {
            Reported::Infinite => (of.name, "infinite".to_owned()),
            Reported::Share(share) => (of.name, number::format(&share)),
        };
        let found: BTreeMap<String, String> = standings(&case).into_iter().map(text).collect();
        for (node, value) in expected {
            let value = value.as_str().unwrap();
            let value =
                number::parse(value).map_or_else(|_| value.to_owned(), |value| number::format(&value));
            assert_eq!(found[node], value, "{name}: {node}");
        }
    }
}

/// Checks the order in which the groups at the root are served. No two of these groups are equal.
#[test]
fn presets_give_the_golden_order_of_service() {
    let mut tried = 0;
    for (name, case) in cases() {
        let Some(expected) = case["expected"]["order"].as_array() else { continue };
        let roots = standings(&case).into_iter().filter(|of| of.depth == 0 && of.kind == NodeKind::Group);
        let ranks = roots.map(|of| (of.next.expect("it wants more").rank, of.name));
        let found: BTreeMap<usize, String> = ranks.collect();
        assert!(found.values().eq(expected.iter().map(|group| group.as_str().unwrap())), "{name}: {found:?}");
        tried += 1;
    }
    assert!(tried >= 2);
}

/// Checks that the queues of one priority together get all of a resource, or all that they request. With
/// `volcano-capacity`, queues are entitled only to the amounts that they deserve, and Volcano keeps
/// guarantees for their queues.
#[test]
fn entitlements_exhaust_requested_resources() {
    for (name, case) in cases() {
        let leaves_some =
            ["kai-sole-queue", "volcano-capacity"].map(|rule| case["rule"] == rule).contains(&true);
        if case["expected"]["entitlements"].is_null() || leaves_some {
            continue;
        }
        let problem = problem(&case);
        if case["rule"] == "volcano" && problem.groups().list().iter().any(|group| group.guarantee.is_some())
        {
            continue;
        }
        let found = solve(&case, &problem).findings.entitlements.unwrap();
        let groups = problem.groups().list();
        for (r, capacity) in problem.total_capacity().iter().enumerate() {
            let roots = (0..groups.len()).filter(|v| groups[*v].parent.is_none());
            let sum: Rational = roots.clone().map(|v| &found.groups[v][r]).sum();
            let has_weight = roots.clone().all(|v| groups[v].weight > 0);
            let is_asked_for =
                problem.users().iter().all(|user| user.tasks().is_none_or(|tasks| *tasks >= 8));
            if has_weight && is_asked_for {
                assert!(sum >= *capacity, "{name}: {sum} of {capacity}");
            }
        }
    }
}

#[test]
fn refuses_contradictory_settings() {
    let (_, case) = cases().into_iter().find(|(name, _)| name.starts_with("volcano")).unwrap();
    let problem = problem(&case);
    let refuse = |settings: Settings| tree::allocate(&problem, &settings).unwrap_err().to_string();
    let rule = |name: &str| Some(name.parse().unwrap());
    let whole = Settings { whole: true, ..Settings::default() };
    assert!(refuse(whole).contains("only `--rule kai`"));
    assert!(refuse(Settings { rule: rule("volcano"), ..whole }).contains("volcano does not round"));
    let not_first = Settings { rule: rule("kai"), no_nominal_first: true, ..Settings::default() };
    assert!(refuse(not_first).contains("guarantees first"));
}
