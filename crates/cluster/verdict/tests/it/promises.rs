//! Tests of guarantees and kept-back capacity in verdicts: lacks in full cohorts, and guarantees that exceed
//! the capacity.

use crate::common::{cluster, judged, refused};

use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::{Unmet, Verdict};
use evenhand_exact::{Axiom, Evidence};
use evenhand_problem::Rational;
use serde_json::{Value, json};

fn margin(of: &Verdict, axiom: Axiom) -> Rational {
    of.claim(axiom).unwrap().margin.clone().unwrap()
}

/// The guarantee of queue `a` is 12 GPUs, and `a` uses none of them. Its task of 12 GPUs waits, and `b` uses
/// all 20 GPUs of the cohort.
#[test]
fn a_queue_of_a_full_cohort_lacks_a_whole_task() {
    for limit in [json!({}), json!({"gpu": 20}), json!({"gpu": 20, "cpu": 64})] {
        let groups = json!([{"name": "cohort", "limit": limit},
            {"name": "a", "parent": "cohort", "guarantee": {"gpu": 12}},
            {"name": "b", "parent": "cohort", "guarantee": {"gpu": 8}}]);
        let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 12}, "tasks": 1},
                           {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 30}]);
        let found = judged(&cluster(20, &groups, &users, &[json!({"b/1": 20})]));
        assert_eq!(found.unmet, [Unmet { user: 0, tasks: Rational::from(1) }], "{limit}");
        assert_eq!(margin(&found, Axiom::Guarantees), -1);
        assert!(!found.is_fair() && found.guarantees_can_be_met() == Some(true));
        assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
        let kept = judged(&cluster(20, &groups, &users, &[json!({"a/1": 1, "b/1": 8})]));
        assert!(kept.unmet.is_empty() && kept.claim(Axiom::Guarantees).unwrap().holds == Some(true));
    }
}

/// Four of ten GPUs are kept back for `a`, so the other groups may use six.
#[test]
fn use_of_capacity_kept_back_exceeds_a_limit() {
    let users = json!([{"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 10},
                       {"name": "c/1", "group": "c", "demand": {"gpu": 1}, "tasks": 10}]);
    let kept = json!({"name": "a", "guarantee": {"gpu": 4}, "lend": {"gpu": 0}});
    let of = |groups: &Value, tasks: Value| judged(&cluster(10, groups, &users, &[tasks]));
    let groups = json!([kept, {"name": "b"}, {"name": "c"}]);
    let within = of(&groups, json!({"b/1": 2, "c/1": 4}));
    assert!(within.is_within_limits() && margin(&within, Axiom::Limits).is_zero());
    let beyond = of(&groups, json!({"b/1": 3, "c/1": 4}));
    assert!(!beyond.is_within_limits() && !beyond.is_fair());
    assert_eq!(margin(&beyond, Axiom::Limits), Rational::from((-1, 10)));
    assert_eq!(refused(&of_verdict(&beyond, &[]).unwrap()), None);
    // The result is the same below a parent with a limit.
    let mut below = kept.clone();
    below["parent"] = json!("p");
    let groups =
        json!([{"name": "p", "limit": {"gpu": 6}}, below, {"name": "b", "parent": "p"}, {"name": "c"}]);
    assert!(of(&groups, json!({"b/1": 2, "c/1": 4})).is_within_limits());
    let beyond = of(&groups, json!({"b/1": 3, "c/1": 3}));
    assert!(!beyond.is_within_limits());
    assert_eq!(refused(&of_verdict(&beyond, &[]).unwrap()), None);
}

/// More capacity is kept back than the cluster has, although no task runs.
#[test]
fn guarantees_exceed_the_capacity() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 8}, "lend": {"gpu": 0}},
        {"name": "b", "guarantee": {"gpu": 6}, "lend": {"gpu": 0}}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 0}]);
    let found = judged(&cluster(10, &groups, &users, &[json!({})]));
    let limits = found.claim(Axiom::Limits).unwrap();
    let Evidence::GroupLimit { group: None, promised: Some(promised), .. } = limits.evidence.bare() else {
        panic!("{limits:?}")
    };
    assert_eq!((limits.holds, promised), (Some(false), &Rational::from(14)));
}
