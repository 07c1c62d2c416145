//! Tests of the limits by which groups stop a user, as `explain` names them, in cases worked out by hand.

use evenhand_certify::explain::{Explanation, ExplanationVerdict, explain};
use evenhand_mechanisms::tree::StopKind;
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use serde_json::{Value, json};

/// Returns the explanation for a cluster with two classes of ten GPUs each. `x` is in `inner`, which is in `outer`,
/// and `y` is in no group.
fn explained(groups: &Value, allocation: &Value, user: usize) -> Explanation {
    let problem = json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "old", "capacity": {"gpu": 10}}, {"name": "new", "capacity": {"gpu": 10}}],
        "groups": groups, "share": {"zero-weight": "never"},
        "users": [{"name": "x", "group": "inner", "demand": {"gpu": 2}}, {"name": "y", "demand": {"gpu": 1}}]});
    let text = problem.to_string();
    let problem = Source { name: "p", text: &text }.problem().unwrap();
    let mut allocation = allocation.clone();
    allocation["kind"] = json!("allocation");
    allocation["arithmetic"] = json!("exact");
    let text = allocation.to_string();
    let allocation = Source { name: "a", text: &text }.allocation(&problem).unwrap().allocation;
    explain(&problem, &allocation, user).unwrap()
}

fn limit(group: &str, most: u32) -> StopKind {
    StopKind::Limit { group: group.to_owned(), resource: 0, most: Rational::from(most) }
}

#[test]
fn limits_of_all_ancestor_groups_stop_a_user() {
    let groups = json!([{"name": "outer", "limit": {"gpu": 6}}, {"name": "inner", "parent": "outer"}]);
    let tasks = json!({"tasks": {"x": {"old": 3}}});
    let x = explained(&groups, &tasks, 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Stopped, vec![limit("outer", 6)]));
    let y = explained(&groups, &tasks, 1);
    assert_eq!((y.verdict, y.stops), (ExplanationVerdict::Room, vec![]));
    // Below the limit, no group stops `x`. If the classes are also full, both reasons are given.
    let x = explained(&groups, &json!({"tasks": {"x": {"old": 2}}}), 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Room, vec![]));
    let x = explained(&groups, &json!({"tasks": {"x": {"old": 3}, "y": {"old": 4, "new": 10}}}), 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Blocked, vec![limit("outer", 6)]));
}

#[test]
fn a_limit_that_leaves_no_whole_task_stops_a_user() {
    let groups = json!([{"name": "outer", "limit": {"gpu": 7}}, {"name": "inner", "parent": "outer"}]);
    let placed =
        json!({"tasks": {"x": {"old": 3}}, "placements": [{"server": "old", "index": 0, "tasks": {"x": 3}}]});
    let x = explained(&groups, &placed, 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Stopped, vec![limit("outer", 7)]));
    let x = explained(&groups, &json!({"tasks": {"x": {"old": 3}}}), 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Room, vec![]));
}

#[test]
fn capacity_kept_back_and_zero_weights_stop_a_user() {
    let groups = json!([{"name": "outer", "guarantee": {"gpu": 12}, "lend": {"gpu": 0}},
                        {"name": "inner", "parent": "outer", "weight": 0}]);
    let tasks = json!({"tasks": {"y": {"old": 8}}});
    let y = explained(&groups, &tasks, 1);
    assert_eq!((y.verdict, y.stops), (ExplanationVerdict::Stopped, vec![StopKind::KeptBack { resource: 0 }]));
    let x = explained(&groups, &tasks, 0);
    let weight = StopKind::Weight { group: "inner".to_owned() };
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Stopped, vec![weight]));
}

#[test]
fn class_limits_stop_a_user_if_all_its_classes_are_closed() {
    let groups = json!([{"name": "outer", "on": {"new": {"limit": {"gpu": 4}}}}, {"name": "inner", "parent": "outer"}]);
    // Old servers have free capacity.
    let x = explained(&groups, &json!({"tasks": {"x": {"new": 2}}}), 0);
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Room, vec![]));
    let x = explained(&groups, &json!({"tasks": {"x": {"new": 2}, "y": {"old": 10}}}), 0);
    let on_new = StopKind::ClassLimit {
        group: "outer".to_owned(),
        servers: vec![1],
        resource: 0,
        most: Rational::from(4),
    };
    assert_eq!((x.verdict, x.stops), (ExplanationVerdict::Stopped, vec![on_new]));
}
