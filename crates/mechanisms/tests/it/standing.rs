//! Tests of the standings of groups in given allocations, and of their explanations, on cases computed by
//! hand.

use evenhand_mechanisms::tree::{NodeKind, Settings, StopKind, Why, levels, why};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational};
use serde_json::{Value, json};

fn read(problem: &Value, tasks: &Value) -> (Problem, Allocation) {
    let text = problem.to_string();
    let problem = Source { name: "p", text: &text }.problem().unwrap();
    let text = json!({"kind": "allocation", "arithmetic": "exact", "tasks": tasks}).to_string();
    let allocation = Source { name: "a", text: &text }.allocation(&problem).unwrap().allocation;
    (problem, allocation)
}

fn of_group(problem: &Value, tasks: &Value, group: usize) -> Why {
    let (problem, allocation) = read(problem, tasks);
    why(&problem, &allocation, group, &Settings::default()).unwrap()
}

fn two_groups(a: &Value, b: &Value) -> Value {
    let group = |name: &str, fields: &Value| {
        let mut group = fields.clone();
        group["name"] = json!(name);
        group
    };
    json!({"kind": "allocation-problem", "resources": ["gpu"],
           "servers": [{"name": "node", "capacity": {"gpu": 10}}],
           "groups": [group("A", a), group("B", b)],
           "users": [{"name": "a", "group": "A", "demand": {"gpu": 2}},
                     {"name": "b", "group": "B", "demand": {"gpu": 1}}]})
}

#[test]
fn a_limit_stops_a_group_and_one_more_unit_starts_a_task() {
    let problem = two_groups(&json!({"guarantee": {"gpu": 6}}), &json!({"limit": {"gpu": 3}}));
    let found = of_group(&problem, &json!({"a": {"node": 1}, "b": {"node": 3}}), 1);
    assert_eq!(found.amounts[0].may_borrow, 0);
    assert_eq!(found.amounts[0].lenders, [("A".to_owned(), Rational::from(4))]);
    let stop = &found.users[0].stops[0];
    assert_eq!(stop.kind, StopKind::Limit { group: "B".to_owned(), resource: 0, most: Rational::from(3) });
    // Only 5 of 10 units are used, so nothing else stops the user.
    assert_eq!((found.users[0].stops.len(), stop.brings.clone()), (1, Rational::from(1)));
}

#[test]
fn lists_the_users_of_exhausted_resources() {
    let problem = two_groups(&json!({}), &json!({}));
    let found = of_group(&problem, &json!({"a": {"node": 3}, "b": {"node": 4}}), 0);
    let stop = &found.users[0].stops[0];
    let holders = vec![("A".to_owned(), Rational::from(6)), ("B".to_owned(), Rational::from(4))];
    assert_eq!(stop.kind, StopKind::Full { server: 0, resource: 0, holders });
    assert_eq!(stop.brings, Rational::from((1, 2)));
}

#[test]
fn capacity_kept_back_stops_other_groups() {
    let problem = two_groups(&json!({"guarantee": {"gpu": 4}, "lend": {"gpu": 0}}), &json!({}));
    let tasks = json!({"b": {"node": 6}});
    let found = of_group(&problem, &tasks, 1);
    let stop = &found.users[0].stops[0];
    assert_eq!((&stop.kind, stop.brings.clone()), (&StopKind::KeptBack { resource: 0 }, Rational::from(1)));
    assert!(found.amounts[0].lenders.is_empty() && found.amounts[0].may_borrow == 0);
    // The owner can use this amount: 4 of its own guarantee. There is nothing to borrow.
    let found = of_group(&problem, &tasks, 0);
    assert_eq!((found.amounts[0].own.clone(), found.amounts[0].may_borrow.clone()), (4.into(), 0.into()));
    assert_eq!((found.users[0].room.clone(), found.users[0].stops.len()), (Rational::from(2), 0));
}

#[test]
fn a_weight_of_0_can_stop_a_group() {
    let mut problem = two_groups(&json!({"weight": 0, "guarantee": {"gpu": 2}}), &json!({}));
    problem["share"] = json!({"zero-weight": "never"});
    let found = of_group(&problem, &json!({"a": {"node": 1}}), 0);
    assert_eq!(found.users[0].stops[0].kind, StopKind::Weight { group: "A".to_owned() });
}

/// Checks that below the guarantee of a group, only users that demand the promised resource grow. The other
/// users are served later.
#[test]
fn users_waiting_for_a_guarantee_start_last() {
    let problem = json!({"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "node", "capacity": {"cpu": 10, "gpu": 10}}],
        "groups": [{"name": "A", "guarantee": {"gpu": 4}}],
        "users": [{"name": "c", "group": "A", "demand": {"cpu": 1}}, {"name": "g", "group": "A", "demand": {"gpu": 1}}]});
    let (problem, allocation) = read(&problem, &json!({"g": {"node": 3}}));
    let order = |settings: &Settings| -> Vec<String> {
        levels(&problem, &allocation, settings).unwrap().into_iter().map(|of| of.name).collect()
    };
    assert_eq!(order(&Settings::default()), ["", "A", "g", "c"]);
    assert_eq!(order(&Settings { no_nominal_first: true, ..Settings::default() }), ["", "A", "c", "g"]);
}

/// Checks that a full cluster and a limit that is reached do not hide the order of service. The entries say
/// that they are stopped.
#[test]
fn stopped_users_stay_in_the_order_of_service() {
    let problem = two_groups(&json!({}), &json!({"limit": {"gpu": 2}}));
    let (problem, allocation) = read(&problem, &json!({"a": {"node": 3}, "b": {"node": 2}}));
    let standings = levels(&problem, &allocation, &Settings::default()).unwrap();
    let found: Vec<(&str, usize, bool)> = standings
        .iter()
        .filter(|of| of.kind != NodeKind::User)
        .map(|of| (of.name.as_str(), of.next.as_ref().unwrap().rank, of.next.as_ref().unwrap().is_stopped))
        .collect();
    assert_eq!(found, [("", 1, false), ("B", 1, true), ("A", 2, false)]);
    assert_eq!(standings[0].level, Rational::from((8, 10)));
}
