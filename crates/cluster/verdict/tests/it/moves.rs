//! Tests of moves: small clusters with known results, and properties of the moves on random clusters.

use std::collections::BTreeSet;

use crate::common::{cluster, judged, random, refused, snapshot};

use evenhand_cluster::certificate::of_moves;
use evenhand_cluster::moves::{Limits, Moves};
use evenhand_cluster::script::{named, script};
use evenhand_cluster::{ClusterError, Verdict, gang};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Constraint, Preemption, Snapshot, System, Victims};
use serde_json::json;

fn verdict_and_moves(of: &Snapshot, limits: &Limits) -> (Verdict, Moves) {
    let found = judged(of);
    let moves = Moves::new(&found, limits).unwrap();
    assert_eq!(refused(&of_moves(&found, &moves, &[]).unwrap()), None);
    (found, moves)
}

fn cluster_with_pinned_tasks(pinned: u32) -> Snapshot {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4, "pinned": pinned},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3}]);
    cluster(4, &json!([{"name": "a"}, {"name": "b"}]), &users, &[json!({"a/1": 3, "b/1": 1})])
}

#[test]
fn one_move_makes_two_queues_equal() {
    let of = cluster_with_pinned_tasks(0);
    let (_, moves) = verdict_and_moves(&of, &Limits::default());
    assert_eq!((moves.list.len(), moves.stopped(), moves.are_fewest()), (1, 1, true));
    let after = Snapshot { allocation: moves.after.clone(), ..of };
    assert!(judged(&after).is_fair());
}

#[test]
fn pinned_tasks_are_never_stopped() {
    let (_, moves) = verdict_and_moves(&cluster_with_pinned_tasks(3), &Limits::default());
    assert!(moves.list.is_empty());
    assert_eq!(moves.below, [vec![1], vec![1]]);
    let pinned = Limits { pinned: BTreeSet::from([0]), ..Limits::default() };
    assert!(verdict_and_moves(&cluster_with_pinned_tasks(0), &pinned).1.list.is_empty());
    // Tasks that are not pinned may stop.
    assert_eq!(verdict_and_moves(&cluster_with_pinned_tasks(2), &Limits::default()).1.list.len(), 1);
}

#[test]
fn limits_bound_the_number_of_moves() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 8},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 8}]);
    let of = cluster(8, &json!([{"name": "a"}, {"name": "b"}]), &users, &[json!({"a/1": 8})]);
    let (_, moves) = verdict_and_moves(&of, &Limits { most: Some(3), ..Limits::default() });
    assert_eq!((moves.list.len(), moves.is_cut, moves.least.to_string()), (3, true, "4".to_owned()));
    let (_, moves) = verdict_and_moves(&of, &Limits::default());
    assert!(moves.are_fewest() && !moves.is_cut);
}

#[test]
fn gangs_start_and_stop_whole() {
    // A gang of two tasks of `b` starts after a gang of `a` on two servers has stopped.
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 8, "gang": 2},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 4, "gang": 2}]);
    let servers = [json!({"a/1": 1}), json!({"a/1": 1}), json!({"a/1": 1}), json!({"a/1": 1})];
    let of = cluster(1, &json!([{"name": "a"}, {"name": "b"}]), &users, &servers);
    let (_, moves) = verdict_and_moves(&of, &Limits::default());
    assert_eq!((moves.list.len(), moves.stopped(), moves.are_fewest()), (1, 2, true));
    assert_eq!(moves.list[0].start[&1].len(), 2);
}

#[test]
fn a_large_task_replaces_small_tasks() {
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 16},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 4}, "tasks": 2}]);
    let servers = [json!({"a/1": 4}), json!({"a/1": 4})];
    let of = cluster(4, &json!([{"name": "a"}, {"name": "b"}]), &users, &servers);
    let (_, moves) = verdict_and_moves(&of, &Limits::default());
    assert_eq!((moves.list.len(), moves.stopped(), moves.are_fewest()), (1, 4, true));
}

#[test]
fn moves_need_servers_and_whole_tasks() {
    let text = r#"{"kind": "snapshot", "problem": {"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "s", "capacity": {"gpu": 2}}], "users": [{"name": "u", "demand": {"gpu": 1}, "tasks": 3}]},
        "allocation": {"kind": "allocation", "ALLOCATION}}"#;
    let of = |allocation: &str| {
        let of = snapshot(&text.replace("\"ALLOCATION", allocation));
        let found = judged(&of);
        Moves::new(&found, &Limits::default()).unwrap_err()
    };
    assert_eq!(of(r#""tasks": {"u": {"s": 1}}"#), ClusterError::NoPlacements);
    let error = of(r#""placements": [{"server": "s", "index": 0, "tasks": {"u": "1/2"}}]"#);
    assert!(matches!(error, ClusterError::NotWhole { .. }), "{error}");
}

#[test]
fn random_moves_are_replayed_and_put_no_other_queue_below_its_share() {
    let (mut moving, mut fewest, mut left) = (0, 0, 0);
    for seed in 0..300 {
        let (problem, allocation) = random(seed);
        let of = Snapshot::new(problem, allocation);
        let (found, moves) = verdict_and_moves(&of, &Limits::default());
        assert!(moves.least <= moves.list.len() || !moves.below[1].is_empty(), "seed {seed}");
        // No further queue gets below its fair share.
        assert!(moves.below[1].iter().all(|v| moves.below[0].contains(v)), "seed {seed}");
        let after = Snapshot { allocation: moves.after.clone(), ..of };
        let after = judged(&after);
        let below: Vec<usize> = (0..after.queues.len()).filter(|v| after.queues[*v].by.is_some()).collect();
        assert_eq!(below, moves.below[1], "seed {seed}");
        // No further limit is exceeded, pinned tasks stay, and gangs start and stop as a whole.
        assert!(after.is_within_limits() || !found.is_within_limits(), "seed {seed}");
        let (before, totals) = (found.allocation.totals(), after.allocation.totals());
        for n in 0..totals.len() {
            let member = found.problem.groups().member(n);
            let pinned = member.pinned.clone().unwrap_or_default();
            assert!(totals[n] >= pinned.min(before[n].clone()), "seed {seed}");
            let change = Rational::from(&totals[n] - &before[n]) / gang(&found.problem, n);
            assert!(change.is_integer(), "seed {seed}");
        }
        moving += usize::from(!moves.list.is_empty());
        fewest += usize::from(!moves.list.is_empty() && moves.are_fewest());
        left += usize::from(!moves.below[1].is_empty());
    }
    println!(
        "{moving} clusters with moves, {fewest} proven the fewest, {left} with a queue below its fair share after them"
    );
    assert!(moving > 30 && fewest > 15, "{moving} {fewest} {left}");
}

#[test]
fn scripts_name_tasks_and_run_no_other_commands() {
    let text = r#"{"kind": "snapshot", "system": "SYSTEM", "problem": {"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "s", "capacity": {"gpu": 4}}], "groups": [{"name": "a"}, {"name": "b"}],
        "users": [{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4},
                  {"name": "b\n1", "group": "b", "demand": {"gpu": 1}, "tasks": 2}]},
        "allocation": {"kind": "allocation", "placements": [{"server": "s", "index": 0, "tasks": {"a/1": 4}}]},
        "waiting": [{"user": "b\n1", "tasks": 2, "names": ["b-1", "b-2"]}],
        "running": [{"user": "a/1", "server": "s", "index": 0, "names": ["ns/x; rm -rf ~", "ns/it's", "-f", "ns/a-\n4"]}]}"#;
    let of = |system: &str| snapshot(&text.replace("SYSTEM", system));
    let lines = |system: &str| {
        let of = of(system);
        let (found, moves) = verdict_and_moves(&of, &Limits::default());
        let (steps, after) = named(&of, &found.rules, &moves);
        assert_eq!(after.waiting.iter().map(|of| of.tasks).sum::<u64>(), 2);
        assert!(judged(&after).is_fair());
        script(&of, &steps)
    };
    let kubernetes = lines("kubernetes");
    // A name with a line break is not safe in a command.
    assert!(kubernetes.contains("# stop ns/a-\\u{a}4 of a/1, s (no command: "), "{kubernetes}");
    assert!(kubernetes.contains("kubectl delete pod -- -f\n"), "{kubernetes}");
    assert!(kubernetes.contains("# start b-1 of b\\u{a}1, s\n"), "{kubernetes}");
    let commands = kubernetes.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert!(commands.skip(1).all(|line| line.starts_with("kubectl delete pod")), "{kubernetes}");
    assert!(lines("slurm").contains("scancel -- -f\n"));
    assert!(lines("mesos").contains("(no command: none is known for this system)\n"));
}

/// Returns a snapshot of Kueue with two workloads of two pods each. One workload has to stop.
fn owned(owners: &str) -> Snapshot {
    let text = r#"{"kind": "snapshot", "system": "kueue", "problem": {"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 2}}], "groups": [{"name": "a"}, {"name": "b"}],
        "users": [{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 4, "gang": 2},
                  {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 2, "gang": 2}]},
        "allocation": {"kind": "allocation", "placements": [{"server": "s", "index": 0, "tasks": {"a/1": 2}},
                                                            {"server": "s", "index": 1, "tasks": {"a/1": 2}}]},
        "waiting": [{"user": "b/1", "tasks": 2, "names": ["b-1", "b-2"]}],
        "running": [{"user": "a/1", "server": "s", "index": 0, "names": ["ns/x-1", "ns/y-1"], OWNERS},
                    {"user": "a/1", "server": "s", "index": 1, "names": ["ns/x-2", "ns/y-2"], OWNERS}]}"#;
    snapshot(&text.replace("OWNERS", owners))
}

#[test]
fn workloads_are_deactivated_and_gangs_stop_together() {
    let both = r#""owners": ["Workload ns/x", "Workload ns/y"], "gangs": ["Workload ns/x", "Workload ns/y"]"#;
    let of = owned(both);
    let (found, moves) = verdict_and_moves(&of, &Limits::default());
    let (steps, _) = named(&of, &found.rules, &moves);
    let names: Vec<&str> = steps[0].stop.iter().filter_map(|task| task.name.as_deref()).collect();
    assert_eq!(names, ["ns/y-1", "ns/y-2"]);
    let text = script(&of, &steps);
    let deactivate = "kubectl patch workloads.kueue.x-k8s.io --namespace=ns --type=merge \
                      --patch='{\"spec\":{\"active\":false}}' -- y\n";
    assert_eq!(text.matches(deactivate).count(), 1, "{text}");
    assert!(!text.contains("delete pod"), "{text}");
}

#[test]
fn commands_stop_only_tasks_of_the_move() {
    // One job owns all four pods, but the move stops only two of them.
    let of = owned(r#""owners": ["Job ns/x", "Job ns/x"]"#);
    let (found, moves) = verdict_and_moves(&of, &Limits::default());
    let text = script(&of, &named(&of, &found.rules, &moves).0);
    assert!(!text.contains("kubectl"), "{text}");
    assert!(
        text.contains("Job ns/x would start the task again, and the move does not stop all of its tasks"),
        "{text}"
    );
    // There is no command that stops an owner of another kind.
    let of = owned(r#""owners": ["ReplicaSet ns/x", "ReplicaSet ns/x"], "gangs": ["g", "h"]"#);
    let (found, moves) = verdict_and_moves(&of, &Limits::default());
    let text = script(&of, &named(&of, &found.rules, &moves).0);
    assert!(!text.contains("kubectl"), "{text}");
}

#[test]
fn unsafe_names_get_no_command() {
    for name in ["/x", "x/", "a/b/c", "a\u{200b}b", "a\u{7}", ""] {
        let of = cluster_with_pinned_tasks(0);
        let (found, moves) = verdict_and_moves(&of, &Limits::default());
        let (mut steps, _) = named(&of, &found.rules, &moves);
        let of = Snapshot { system: Some(System::Kubernetes), ..of };
        steps[0].stop[0].name = Some(name.to_owned());
        let text = script(&of, &steps);
        assert!(!text.contains("kubectl"), "{name:?}: {text}");
    }
}

#[test]
fn moves_stop_the_lowest_priority_first_and_respect_strict_priority() {
    let users = json!([{"name": "a/high", "group": "a", "demand": {"gpu": 1}, "tasks": 2},
                       {"name": "a/low", "group": "a", "demand": {"gpu": 1}, "tasks": 2},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 2}]);
    let groups = json!([{"name": "a"}, {"name": "b"}]);
    let mut of =
        cluster(2, &groups, &users, &[json!({"a/high": 1, "a/low": 1}), json!({"a/high": 1, "a/low": 1})]);
    let rule = |user, priority| Constraint { user, priority, ..Constraint::default() };
    of.constraints = vec![rule(0, 10), rule(1, -10)];
    let (_, moves) = verdict_and_moves(&of, &Limits::default());
    assert_eq!(moves.list.len(), 2);
    assert!(moves.list.iter().all(|step| step.stop.keys().eq([&1])), "{:?}", moves.list);
    // With strict priorities, no task stops for a task of a lower priority. Under the policy `LowerPriority`, no task
    // stops for a task of an equal priority either.
    of.constraints = vec![rule(0, 10), rule(1, 10)];
    let strict = Limits { strict_priority: true, ..Limits::default() };
    assert!(verdict_and_moves(&of, &strict).1.list.is_empty());
    of.constraints = Vec::new();
    assert_eq!(verdict_and_moves(&of, &strict).1.list.len(), 2);
    for across in [Victims::LowerPriority, Victims::Never] {
        of.preemption = vec![Preemption { group: 1, across }];
        assert!(verdict_and_moves(&of, &Limits::default()).1.list.is_empty());
    }
    // Protected tasks are not stopped.
    of.preemption = Vec::new();
    of.constraints =
        (0..2).map(|user| Constraint { user, protected: true, ..Constraint::default() }).collect();
    assert!(verdict_and_moves(&of, &Limits::default()).1.list.is_empty());
}
