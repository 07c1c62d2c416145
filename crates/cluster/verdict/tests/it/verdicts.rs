//! Tests of verdicts on small clusters, compared with results that were computed by hand.

use crate::common::{amounts, cluster, judged, random, refused, snapshot};

use evenhand_cluster::certificate::of_verdict;
use evenhand_cluster::{End, Lent, Verdict};
use evenhand_exact::Axiom;
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use serde_json::json;

fn two_queues() -> serde_json::Value {
    json!([{"name": "a"}, {"name": "b"}])
}

#[test]
fn a_queue_with_three_of_four_gpus_is_over_its_fair_share() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]);
    let found = judged(&cluster(4, &two_queues(), &users, &[json!({"a/1": 3, "b/1": 1})]));
    let [a, b] = &found.queues[..] else { panic!("{} queues", found.queues.len()) };
    assert_eq!(
        (amounts(&b.usage), amounts(&b.fair_share)),
        (vec!["0".into(), "1".into()], vec!["0".into(), "2".into()])
    );
    assert_eq!(amounts(&b.lacking), ["0", "1"]);
    assert_eq!(amounts(&a.over), ["0", "1"]);
    assert_eq!((a.by, b.by), (None, Some(1)));
    assert_eq!(b.ends, [End::Resource(1)]);
    assert_eq!(b.holders, [(1, vec![(0, Rational::from(1))])]);
    assert!(!found.is_fair() && found.is_work_conserving());
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}

#[test]
fn lacking_half_a_task_is_not_lacking_a_whole_task() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]);
    let found = judged(&cluster(3, &two_queues(), &users, &[json!({"a/1": 2, "b/1": 1})]));
    assert_eq!(amounts(&found.queues[1].lacking), ["0", "1/2"]);
    assert_eq!(found.queues[1].by, None);
    assert!(found.is_fair());
}

#[test]
fn a_queue_without_waiting_tasks_lacks_nothing() {
    // Queue `b` has only one task, so its fair share is 1 GPU, and `a` gets the other 3 GPUs.
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 9},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 1}]);
    let found = judged(&cluster(4, &two_queues(), &users, &[json!({"a/1": 3, "b/1": 1})]));
    assert!(found.is_fair());
    assert_eq!(amounts(&found.queues[0].fair_share), ["0", "3"]);
}

#[test]
fn an_idle_cluster_with_pending_pods_is_not_work_conserving() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 2},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 0}]);
    let found = judged(&cluster(4, &two_queues(), &users, &[json!({"a/1": 1}), json!({})]));
    let fits = &found.starts.as_ref().unwrap().could;
    assert_eq!((fits.len(), fits[0].user, fits[0].assignment.parts[0].1[0].index), (1, 0, 0));
    assert!(!found.is_work_conserving() && !found.is_fair());
    assert_eq!(found.claim(Axiom::WorkConserving).unwrap().holds, Some(false));
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}

#[test]
fn a_fragmented_cluster_is_work_conserving_and_names_the_short_resource() {
    // Each of three servers has 4 GPUs and runs a task of 3 GPUs. So 3 GPUs are free in total, but only one
    // on each server.
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 3}, "tasks": 9},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 0}]);
    let servers = [json!({"a/1": 1}), json!({"a/1": 1}), json!({"a/1": 1})];
    let found = judged(&cluster(4, &two_queues(), &users, &servers));
    assert!(found.is_work_conserving());
    assert_eq!(found.claim(Axiom::WorkConserving).unwrap().holds, Some(true));
    assert_eq!(amounts(&found.queues[0].lacking), ["0", "3"]);
    // The fair share is divisible. The queue is below it by a whole task, although the task fits on no server.
    assert_eq!(found.queues[0].by, Some(0));
    assert!(!found.is_fair());
}

#[test]
fn a_gang_could_start_only_as_a_whole() {
    let users = |gang: u32| {
        json!([{"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 3, "gang": gang},
                                   {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}])
    };
    let servers = [json!({"b/1": 2}), json!({"b/1": 1}), json!({})];
    let fits = |gang| judged(&cluster(2, &two_queues(), &users(gang), &servers)).starts.unwrap().could;
    assert_eq!(fits(1).len(), 1);
    let found = judged(&cluster(2, &two_queues(), &users(2), &servers));
    assert!(found.starts.as_ref().unwrap().could.is_empty() && found.is_work_conserving());
    // One task fits, but no whole gang fits, so the axiom holds as well.
    assert_eq!(found.claim(Axiom::WorkConserving).unwrap().holds, Some(true));
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}

#[test]
fn reports_guarantees_that_are_missed_but_can_be_met() {
    let groups = json!([{"name": "a"}, {"name": "b", "guarantee": {"gpu": 3}}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 9},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 9}]);
    let found = judged(&cluster(4, &groups, &users, &[json!({"a/1": 3, "b/1": 1})]));
    assert_eq!((found.unmet.len(), found.unmet[0].user), (1, 1));
    assert_eq!(found.unmet[0].tasks, 2);
    assert_eq!(found.guarantees_can_be_met(), Some(true));
    // Guarantees that exceed the capacity cannot all be met, so a verdict does not blame the scheduler for them.
    let groups = json!([{"name": "a", "guarantee": {"gpu": 4}}, {"name": "b", "guarantee": {"gpu": 4}}]);
    let found = judged(&cluster(4, &groups, &users, &[json!({"a/1": 2, "b/1": 2})]));
    assert_eq!(found.guarantees_can_be_met(), Some(false));
    assert!(found.unmet.is_empty() && found.is_fair());
}

#[test]
fn lent_guarantees_are_named() {
    let groups = json!([{"name": "a"}, {"name": "b"}, {"name": "c", "guarantee": {"gpu": 2}}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 9},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 9},
                       {"name": "c/1", "group": "c", "demand": {"gpu": 1}, "tasks": 0}]);
    let found = judged(&cluster(6, &groups, &users, &[json!({"a/1": 5, "b/1": 1})]));
    assert_eq!(amounts(&found.queues[1].lacking), ["0", "2"]);
    let lent = Lent { resource: 1, by: vec![(2, Rational::from(2))], used: Rational::from(2) };
    assert_eq!(found.queues[1].lenders, [lent]);
}

#[test]
fn tolerance_is_a_fraction_of_the_fair_share() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 9},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 9}]);
    let of = cluster(8, &two_queues(), &users, &[json!({"a/1": 5, "b/1": 3})]);
    let by = |tolerance: (u32, u32)| {
        let found = Verdict::new(&of, None, &Rational::from(tolerance)).unwrap();
        assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
        found.queues[1].by
    };
    assert_eq!((by((0, 1)), by((1, 5)), by((1, 4)), by((1, 3))), (Some(1), Some(1), None, None));
}

#[test]
fn users_outside_all_groups_are_queues() {
    let users = json!([{"name": "a", "demand": {"gpu": 1}, "tasks": 4}, {"name": "b", "demand": {"gpu": 1}, "tasks": 4}]);
    let found = judged(&cluster(4, &json!([]), &users, &[json!({"a": 3, "b": 1})]));
    assert_eq!(found.below_fair_share().map(|row| row.queue.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}

#[test]
fn work_without_servers_is_judged_by_classes() {
    let text = r#"{"kind": "snapshot", "system": "kueue", "problem": {"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 2}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 2}}, {"name": "b", "guarantee": {"gpu": 2}}],
        "users": [{"name": "u", "group": "a", "demand": {"gpu": 1}, "tasks": 3},
                  {"name": "v", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]},
        "allocation": {"kind": "allocation", "tasks": {"u": {"s": 3}, "v": {"s": 1}}}}"#;
    let of = snapshot(text);
    let found = Verdict::new(&of, Some(Rule::Kueue), &Rational::new()).unwrap();
    assert!(found.starts.is_none() && found.is_work_conserving());
    assert_eq!(found.queues[1].by, Some(1));
    let text = of_verdict(&found, &[]).unwrap();
    // The certificate is about the problem with the share of the rule.
    assert!(text.contains(r#""share":{"of":"surplus","over":"lendable","families":true}"#), "{text}");
    assert_eq!(refused(&text), None);
}

#[test]
fn scheduler_rules_determine_fair_shares() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]);
    let of = cluster(4, &two_queues(), &users, &[json!({"a/1": 3, "b/1": 1})]);
    let judged = |rule| Verdict::new(&of, Some(rule), &Rational::new()).unwrap();
    for rule in [Rule::Kai, Rule::Volcano, Rule::YuniKorn, Rule::Armada, Rule::Mesos] {
        let found = judged(rule);
        assert_eq!(amounts(&found.queues[1].lacking), ["0", "1"], "{rule}");
        assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None, "{rule}");
    }
    let error = of_verdict(&judged(Rule::KaiSoleQueue), &[]).unwrap_err();
    assert!(error.is_of_input());
    assert_eq!(
        error.to_string(),
        "fair shares by the rule `kai-sole-queue` have no certificate: the only queue of a priority may get more than its \
         tasks demand"
    );
}

#[test]
fn kai_gives_full_guarantees_beyond_the_capacity() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 3}}, {"name": "b", "guarantee": {"gpu": 3}}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]);
    let of = cluster(4, &groups, &users, &[json!({"a/1": 3, "b/1": 1})]);
    let found = Verdict::new(&of, Some(Rule::Kai), &Rational::new()).unwrap();
    assert_eq!(amounts(&found.queues[0].fair_share), ["0", "3"]);
    assert_eq!(amounts(&found.queues[1].fair_share), ["0", "3"]);
    assert!(found.due.uncertified().is_some() && of_verdict(&found, &[]).is_err());
    // Volcano gives the same fraction of each guarantee.
    let found = Verdict::new(&of, Some(Rule::Volcano), &Rational::new()).unwrap();
    assert_eq!(amounts(&found.queues[0].fair_share), ["0", "2"]);
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}

#[test]
fn certificates_of_random_clusters_are_accepted() {
    let (mut short, mut fits, mut unmet) = (0, 0, 0);
    for seed in 0..300 {
        let (problem, allocation) = random(seed);
        let found = Verdict::new(&Snapshot::new(problem.clone(), allocation.clone()), None, &Rational::new())
            .unwrap();
        assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None, "seed {seed}");
        short += usize::from(found.below_fair_share().next().is_some());
        fits += usize::from(!found.is_work_conserving());
        unmet += usize::from(!found.unmet.is_empty());
        // Without gangs, the axiom holds exactly if no waiting task could start.
        let alone = (0..problem.n_users()).all(|n| evenhand_cluster::gang(&problem, n) == 1);
        let claim = found.claim(Axiom::WorkConserving).unwrap();
        if let Some(holds) = claim.holds.filter(|_| alone) {
            assert_eq!(holds, found.is_work_conserving(), "seed {seed}");
        }
    }
    assert!(short > 20 && fits > 20 && unmet > 5, "{short} {fits} {unmet}");
}

#[test]
fn capacity_kept_back_beyond_a_limit_starts_no_task() {
    // 19 GPUs are kept back for the queue, and the limit of its cohort is 1. The usage of the cohort includes the
    // kept-back capacity, so more tasks of the queue would not raise it. But the tasks alone exceed the limit.
    let groups = json!([{"name": "cohort", "limit": {"gpu": 1}},
                        {"name": "queue", "parent": "cohort", "guarantee": {"gpu": 20}, "lend": {"gpu": 1}}]);
    let users = json!([{"name": "queue/1", "group": "queue", "demand": {"gpu": 1}, "tasks": 20}]);
    let found = judged(&cluster(20, &groups, &users, &[json!({"queue/1": 17})]));
    assert!(found.starts.as_ref().unwrap().could.is_empty());
    assert_eq!(refused(&of_verdict(&found, &[]).unwrap()), None);
}
