//! Tests of promises compared with the capacity: hand-made cases of public issues, and random cases compared
//! with a search over all sets of server classes.

use crate::common::{cluster, snapshot};

use evenhand_cluster::promises::{Claims, OfResource, Shortage};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Rounded, Snapshot};
use evenhand_testkit::plain::promises::Promised;
use evenhand_testkit::random::snapshots;
use serde_json::{Value, json};

fn gpu_claims(snapshot: &Snapshot, rule: Option<Rule>) -> OfResource {
    let claims = Claims::new(snapshot, rule).unwrap();
    let at = snapshot.problem.resources().iter().position(|name| name == "gpu").unwrap();
    claims.resources.into_iter().find(|of| of.resource == at).unwrap()
}

/// Returns for each claim the promised amount, the certain amount, and the amount by the rule.
fn numbers(of: &OfResource) -> Vec<[String; 3]> {
    let row = |claim: &evenhand_cluster::promises::Claim| {
        [&claim.amount, &claim.certain, &claim.by_rule].map(ToString::to_string)
    };
    of.claims.iter().map(row).collect()
}

fn users(names: &[(&str, u32)]) -> Value {
    names.iter().map(|(group, tasks)| json!({"name": format!("{group}/1"), "group": group, "demand": {"gpu": 1}, "tasks": tasks})).collect()
}

/// KAI, issue 1833: part of the cluster is gone, and the quotas exceed the remaining servers. The priority
/// decides first, then equal fractions of the quotas.
#[test]
fn kai_1833_priority_decides_quotas_after_an_incident() {
    let groups = json!([
        {"name": "serving", "guarantee": {"gpu": 6}, "priority": 200, "weight": 0},
        {"name": "train", "guarantee": {"gpu": 6}, "priority": 100, "weight": 3},
        {"name": "notebooks", "guarantee": {"gpu": 4}, "priority": 100, "weight": 1},
    ]);
    let users = users(&[("serving", 9), ("train", 9), ("notebooks", 9)]);
    let found = gpu_claims(&cluster(8, &groups, &users, &[json!({})]), Some(Rule::Kai));
    let expected = [["6", "0", "6"], ["6", "0", "6/5"], ["4", "0", "4/5"]];
    assert_eq!(numbers(&found), expected);
    assert_eq!((&found.promised, &found.together), (&Rational::from(16), &Rational::from(8)));
    let missing: Vec<Rational> = found.shortages.iter().map(Shortage::missing).collect();
    assert_eq!(missing, [8]);
    // With all servers the quotas fit, and no claim is in doubt.
    let whole = gpu_claims(&cluster(16, &groups, &users, &[json!({})]), Some(Rule::Kai));
    assert!(whole.shortages.is_empty() && whole.claims.iter().all(|claim| !claim.is_in_doubt()));
}

/// KAI, issue 2065: there are 12 GPUs, and two queues with a quota of 8 each. Queue A has the higher
/// priority. In the worst case each queue has only the GPUs that the other queue leaves.
#[test]
fn kai_2065_two_quotas_of_8_exceed_12_gpus() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 8}, "priority": 90},
                        {"name": "b", "guarantee": {"gpu": 8}, "priority": 80}]);
    let found =
        gpu_claims(&cluster(12, &groups, &users(&[("a", 12), ("b", 12)]), &[json!({})]), Some(Rule::Kai));
    assert_eq!(numbers(&found), [["8", "4", "8"], ["8", "4", "4"]]);
    // Volcano scales guarantees, and hierarchical filling serves equal fractions, whatever the priorities are.
    for rule in [Some(Rule::Volcano), None, Some(Rule::Kueue)] {
        let found = gpu_claims(&cluster(12, &groups, &users(&[("a", 12), ("b", 12)]), &[json!({})]), rule);
        assert_eq!(numbers(&found), [["8", "4", "6"], ["8", "4", "6"]], "{rule:?}");
    }
}

/// Kueue, issue 2665: the quota of a cluster queue exceeds the nodes of its flavour, although the cluster has enough GPUs.
#[test]
fn kueue_2665_the_quota_exceeds_the_nodes_of_a_flavour() {
    let document = json!({
        "kind": "snapshot", "system": "kueue",
        "problem": {
            "kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "a100", "count": 2, "capacity": {"gpu": 8}}, {"name": "t4", "count": 4, "capacity": {"gpu": 4}}],
            "groups": [{"name": "cohort"},
                {"name": "vision", "parent": "cohort", "guarantee": {"gpu": 24}, "limit": {"gpu": 24}},
                {"name": "speech", "parent": "cohort", "guarantee": {"gpu": 8}, "limit": {"gpu": 8}}],
            "users": [{"name": "v", "group": "vision", "demand": {"gpu": 1}, "tasks": 40, "servers": ["a100"]},
                      {"name": "s", "group": "speech", "demand": {"gpu": 1}, "tasks": 40}],
        },
        "allocation": {"kind": "allocation", "placements": []},
    });
    let found = gpu_claims(&snapshot(&document.to_string()), Some(Rule::Kueue));
    assert_eq!((&found.promised, &found.capacity), (&Rational::from(32), &Rational::from(32)));
    assert_eq!(numbers(&found), [["24", "16", "16"], ["8", "8", "8"]]);
    let [Shortage::Servers { claims, classes, claimed, capacity, .. }] = found.shortages.as_slice() else {
        panic!("{:?}", found.shortages)
    };
    assert_eq!((claims.as_slice(), classes.as_slice()), (&[0][..], &[0][..]));
    assert_eq!((claimed, capacity), (&Rational::from(24), &Rational::from(16)));
}

/// Each queue has a quota of 8 on two flavours. One flavour has no servers any more.
#[test]
fn a_flavour_without_servers_causes_a_shortage() {
    let document = |t4: u32| {
        json!({
            "kind": "snapshot",
            "problem": {
                "kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{"name": "a100", "capacity": {"gpu": 16}}, {"name": "t4", "capacity": {"gpu": t4}}],
                "groups": [{"name": "a", "guarantee": {"gpu": 16},
                    "on": {"a100": {"limit": {"gpu": 8}}, "t4": {"limit": {"gpu": 8}}}}],
                "users": [{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 40}],
            },
            "allocation": {"kind": "allocation", "placements": []},
        })
    };
    assert_eq!(numbers(&gpu_claims(&snapshot(&document(8).to_string()), None)), [["16", "16", "16"]]);
    let found = gpu_claims(&snapshot(&document(0).to_string()), None);
    assert_eq!(numbers(&found), [["16", "8", "8"]]);
    let missing: Vec<Rational> = found.shortages.iter().map(Shortage::missing).collect();
    assert_eq!(missing, [8]);
}

/// The promise of a subqueue is worth no more than the promise of the queue above it (KAI, issue 1934).
#[test]
fn a_parent_limits_the_guarantees_of_its_subqueues() {
    let groups = json!([
        {"name": "shared", "guarantee": {"gpu": 0}},
        {"name": "alice", "parent": "shared", "guarantee": {"gpu": 4}},
        {"name": "bob", "parent": "shared", "guarantee": {"gpu": 4}},
        {"name": "critical", "guarantee": {"gpu": 8}},
    ]);
    let users = users(&[("alice", 9), ("bob", 9), ("critical", 9)]);
    let found = gpu_claims(&cluster(16, &groups, &users, &[json!({})]), Some(Rule::Kai));
    assert_eq!(numbers(&found), [["4", "0", "4"], ["4", "0", "4"], ["8", "8", "8"]]);
    assert!(matches!(&found.shortages[..], [Shortage::Parent { group: 0, .. }]), "{:?}", found.shortages);
    // The limit of the parent is below the promises of its subqueues.
    let groups = json!([
        {"name": "shared", "limit": {"gpu": 6}},
        {"name": "alice", "parent": "shared", "guarantee": {"gpu": 4}},
        {"name": "bob", "parent": "shared", "guarantee": {"gpu": 4}},
        {"name": "critical", "guarantee": {"gpu": 8}},
    ]);
    let found = gpu_claims(&cluster(16, &groups, &users, &[json!({})]), None);
    assert_eq!(numbers(&found), [["4", "2", "3"], ["4", "2", "3"], ["8", "8", "8"]]);
    assert!(matches!(&found.shortages[..], [Shortage::Limit { group: 0, .. }]), "{:?}", found.shortages);
}

/// Clusters without servers, with a resource that no server has, with weights of 0, queues without tasks, and
/// limits of 0.
#[test]
fn degenerate_clusters_have_claims() {
    let groups = json!([
        {"name": "a", "guarantee": {"gpu": 4}, "weight": 0}, {"name": "b", "guarantee": {"gpu": 0}, "limit": {"gpu": 0}},
        {"name": "c", "weight": 0, "parent": "a", "guarantee": {"gpu": 2}}, {"name": "empty", "guarantee": {"gpu": 3}, "priority": -5},
    ]);
    let users = json!([{"name": "x", "group": "c", "demand": {"cpu": 1}, "tasks": 0}, {"name": "y", "demand": {"gpu": 1}}]);
    for rule in Rule::NAMES.iter().map(|(name, _)| name.parse::<Rule>().ok()).chain([None]) {
        let none = gpu_claims(&cluster(0, &groups, &users, &[json!({})]), rule);
        assert!(
            none.claims.iter().all(|claim| claim.certain.is_zero() && claim.by_rule.is_zero()),
            "{rule:?} {none:?}"
        );
        let some = gpu_claims(&cluster(5, &groups, &users, &[json!({})]), rule);
        assert_eq!(some.promised, 7, "{rule:?}");
        let sum: Rational = some.claims.iter().map(|claim| &claim.by_rule).sum();
        assert!(sum <= 5, "{rule:?} {some:?}");
        let enough = gpu_claims(&cluster(7, &groups, &users, &[json!({})]), rule);
        assert!(enough.claims.iter().all(|claim| claim.certain == claim.amount), "{rule:?}");
    }
    let nothing = cluster(5, &json!([{"name": "a"}]), &json!([]), &[json!({})]);
    assert!(Claims::new(&nothing, None).unwrap().resources.is_empty());
}

/// The rounding of server classes does not put a promise in doubt.
#[test]
fn capacity_beyond_the_class_counts() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 17}}]);
    let mut snapshot = cluster(8, &groups, &users(&[("a", 20)]), &[json!({}), json!({})]);
    assert!(gpu_claims(&snapshot, None).claims[0].is_in_doubt());
    let one = Rational::from(1);
    snapshot.rounded =
        vec![Rounded { server: 0, resource: 1, most: one.clone(), in_all: one, by_server: Vec::new() }];
    assert!(!gpu_claims(&snapshot, None).claims[0].is_in_doubt());
}

/// Compares random snapshots with a search over all sets of server classes. The amounts by the rule must
/// exceed neither the promise nor the capacity. If the other claims are served first, in any order, a claim
/// must still get its certain amount.
#[test]
fn random_snapshots_agree_with_a_search_over_sets_of_classes() {
    let (mut doubts, mut shortages) = (0, 0);
    for seed in 0..1000 {
        let snapshot = snapshots::snapshot(seed);
        let found = Claims::new(&snapshot, None).unwrap_or_else(|error| panic!("{seed}: {error}"));
        for r in 0..snapshot.problem.n_resources() {
            let plain = Promised::new(&snapshot, r);
            let Some(of) = found.resources.iter().find(|of| of.resource == r) else {
                assert!(plain.claims.is_empty(), "{seed} {r}");
                continue;
            };
            let claims: Vec<(usize, Rational)> =
                of.claims.iter().map(|claim| (claim.group, claim.amount.clone())).collect();
            assert_eq!(claims, plain.claims, "{seed} {r}");
            assert_eq!(of.not_counted.is_empty(), plain.counts_all(), "{seed} {r}");
            let all: Vec<usize> = (0..claims.len()).collect();
            assert_eq!(of.together, plain.together(&all, false), "{seed} {r}");
            let covered = plain.together(&all, true);
            for (k, claim) in of.claims.iter().enumerate() {
                let others: Vec<usize> = all.iter().copied().filter(|other| *other != k).collect();
                let certain = Rational::from(&covered - &plain.together(&others, true));
                assert_eq!(claim.certain, certain, "{seed} {r} {k}");
                assert!(claim.by_rule <= claim.amount && claim.by_rule >= 0, "{seed} {r} {k} {of:?}");
                doubts += u32::from(claim.is_in_doubt());
            }
            let served: Rational = of.claims.iter().map(|claim| &claim.by_rule).sum();
            // Capacity that is kept back inside a group is filled even beyond the limit of the group
            // (docs/groups.md, section 9).
            let keeps = snapshot.problem.groups().list().iter().any(|group| !group.lend.is_empty());
            assert!(keeps || served <= of.together, "{seed} {r} {of:?}");
            assert_eq!(
                of.shortages.is_empty(),
                of.claims.iter().all(|claim| !claim.is_in_doubt()),
                "{seed} {r} {of:?}"
            );
            for shortage in &of.shortages {
                assert!(shortage.missing() > 0, "{seed} {r} {shortage:?}");
                shortages += 1;
            }
        }
    }
    assert!(doubts > 300 && shortages > 200, "{doubts} {shortages}");
}
