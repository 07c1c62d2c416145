//! Tests of the explanations why a start could not start, and which changes would let it start: small
//! clusters with results computed by hand, and random clusters compared with the plain loops of the test kit.

use crate::common::{cluster, snapshot};

use std::collections::BTreeMap;

use evenhand_cluster::why_not::{Explanation, Obstacle, Raise, State, Subject};
use evenhand_cluster::{FewestStops, Lifted, Stops, TaskRules};
use evenhand_problem::Rational;
use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::snapshot::{Snapshot, Victims};
use evenhand_testkit::plain::starts::{Running, Task, Without};
use evenhand_testkit::random::snapshots;
use serde_json::{Value, json};

fn explained(of: &Snapshot, user: usize) -> Explanation {
    let rules = TaskRules::new(of);
    let subject =
        Subject { snapshot: of, problem: &of.problem, allocation: &of.allocation, rules: &rules, due: None };
    Explanation::new(subject, user)
}

fn user(of: &Snapshot, name: &str) -> usize {
    of.problem.user_named(name).unwrap()
}

fn obstacles(explanation: &Explanation) -> Vec<(Obstacle, Option<bool>)> {
    explanation.reasons.iter().map(|reason| (reason.obstacle, reason.is_enough)).collect()
}

/// Returns the number of stopped tasks of each user, and whether the stops are proven to be the fewest.
fn stopped(of: &Snapshot, explanation: &Explanation) -> (BTreeMap<String, u64>, bool) {
    let Some(FewestStops::Found { stops, least }) = &explanation.stop else {
        panic!("no stops: {:?}", explanation.stop)
    };
    let count = |tasks: &BTreeMap<_, u64>| tasks.values().sum();
    let by_user =
        stops.tasks.iter().map(|(n, tasks)| (of.problem.users()[*n].name().to_owned(), count(tasks)));
    (by_user.collect(), stops.count() == *least)
}

#[test]
fn explains_a_lack_of_capacity_on_single_servers() {
    let users = json!([
        {"name": "small", "group": "a", "demand": {"gpu": 1}, "tasks": 9},
        {"name": "large", "group": "b", "demand": {"cpu": 4, "gpu": 4}, "tasks": 1},
    ]);
    let servers = [json!({"small": 2}), json!({"small": 3}), json!({"small": 2})];
    let of = cluster(4, &json!([{"name": "a"}, {"name": "b"}]), &users, &servers);
    let found = explained(&of, user(&of, "large"));
    assert_eq!((&found.state, found.has_room_when_empty), (&State::No, Some(true)));
    assert_eq!(obstacles(&found), [(Obstacle::Free(1), Some(true))]);
    let free = found.free.iter().find(|free| free.resource == 1).unwrap();
    assert_eq!((&free.total, &free.task, free.servers), (&Rational::from(5), &Rational::from(4), 0));
    assert_eq!(free.most.as_ref().unwrap().0, 2);
    assert_eq!(stopped(&of, &found), (BTreeMap::from([("small".to_owned(), 2)]), true));
    assert_eq!((found.add.len(), found.add[0].count, found.add[0].is_fewest), (1, 1, true));
    assert!(found.raise.is_empty());
}

#[test]
fn a_limit_is_raised_to_the_least_value_that_suffices() {
    let groups = json!([{"name": "org", "limit": {"gpu": 9}}, {"name": "a", "parent": "org", "limit": {"gpu": 6}},
                        {"name": "b", "parent": "org"}]);
    let users = json!([
        {"name": "a/1", "group": "a", "demand": {"gpu": 2}, "tasks": 4},
        {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 2},
    ]);
    let of = cluster(8, &groups, &users, &[json!({"a/1": 3, "b/1": 2}), json!({})]);
    let found = explained(&of, user(&of, "a/1"));
    assert_eq!(
        obstacles(&found),
        [(Obstacle::Limit(1, 1), Some(false)), (Obstacle::Limit(0, 1), Some(false))]
    );
    let to: Vec<(Obstacle, &Rational)> = found.raise[0].iter().map(|of| (of.obstacle, &of.to)).collect();
    assert_eq!(
        to,
        [(Obstacle::Limit(1, 1), &Rational::from(8)), (Obstacle::Limit(0, 1), &Rational::from(10))]
    );
    // Tasks of the user itself are not stopped for its start, and stops of `b` do not help under the limit of
    // `a`.
    assert_eq!((found.stop, found.add), (Some(FewestStops::Impossible), Vec::new()));
}

#[test]
fn computes_the_fewest_stops_under_a_limit() {
    let groups = json!([{"name": "org", "limit": {"gpu": 9}}, {"name": "a", "parent": "org"},
                        {"name": "b", "parent": "org"}]);
    let users = json!([
        {"name": "a/1", "group": "a", "demand": {"gpu": 4}, "tasks": 1},
        {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3},
        {"name": "b/2", "group": "b", "demand": {"gpu": 2}, "tasks": 3},
    ]);
    let of = cluster(8, &groups, &users, &[json!({"b/1": 3, "b/2": 2}), json!({"b/2": 1})]);
    let found = explained(&of, user(&of, "a/1"));
    assert_eq!(obstacles(&found), [(Obstacle::Limit(0, 1), Some(true))]);
    assert_eq!(stopped(&of, &found), (BTreeMap::from([("b/2".to_owned(), 2)]), true));
}

#[test]
fn each_constraint_on_servers_is_a_reason() {
    let document = |constraint: &Value, servers: &Value, closed: &Value| {
        let document = json!({
            "kind": "snapshot",
            "problem": {
                "kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 4}}, {"name": "t", "count": 1, "capacity": {"gpu": 8}}],
                "users": [
                    {"name": "u", "demand": {"gpu": 3}, "tasks": 2, "gang": 2, "servers": servers},
                    {"name": "v", "demand": {"gpu": 4}, "tasks": 1},
                ],
            },
            "allocation": {"kind": "allocation", "placements": [{"server": "s", "index": 0, "tasks": {"v": 1}}]},
            "constraints": [constraint], "closed": closed,
        });
        explained(&snapshot(&document.to_string()), 0)
    };
    let all = json!(["s", "t"]);
    let none = json!({"user": "u", "priority": 1});
    let is = |found: &Explanation, lifted: Lifted| {
        obstacles(found).contains(&(Obstacle::Servers(lifted), Some(true)))
    };
    assert_eq!(document(&none, &all, &json!([])).could_start(), Some(true));
    assert!(is(&document(&none, &json!(["s"]), &json!([])), Lifted::Classes));
    let closed = json!([{"server": "t", "reason": "cordoned"}]);
    assert!(is(&document(&none, &all, &closed), Lifted::Closed));
    let sets = json!({"user": "u", "class_sets": [["s"]]});
    assert!(is(&document(&sets, &all, &json!([])), Lifted::ClassSets));
    let distinct = json!({"user": "u", "distinct_servers": true});
    assert!(is(&document(&distinct, &json!(["t"]), &json!([])), Lifted::DistinctServers));
    // One of the two tasks fits on `s`.
    let found = document(&none, &json!(["s"]), &json!([]));
    assert_eq!(found.room, Some((1, true)));
    assert!(obstacles(&found).contains(&(Obstacle::Gang, Some(true))));
}

#[test]
fn explains_capacity_kept_back_weights_and_class_limits() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 4}, "lend": {"gpu": 0}}, {"name": "b"}]);
    let users = json!([{"name": "b/1", "group": "b", "demand": {"gpu": 5}, "tasks": 1}]);
    let of = cluster(8, &groups, &users, &[json!({})]);
    let found = explained(&of, 0);
    assert_eq!(obstacles(&found), [(Obstacle::KeptBack(1), Some(true))]);
    // One more server of 8 GPUs leaves 12 GPUs that are not kept back.
    assert_eq!((found.add[0].count, found.add[0].is_fewest), (1, true));
    assert_eq!((found.raise, found.stop), (Vec::new(), Some(FewestStops::Impossible)));

    let groups = json!([{"name": "b", "weight": 0}]);
    let mut document: Value =
        serde_json::from_str(&snapshot_to_json(&cluster(8, &groups, &users, &[json!({})]))).unwrap();
    document["problem"]["share"] = json!({"zero-weight": "never"});
    let found = explained(&snapshot(&document.to_string()), 0);
    assert_eq!(obstacles(&found), [(Obstacle::Weight(0), Some(true))]);

    let groups = json!([{"name": "b", "on": [{"servers": ["node"], "limit": {"gpu": 3}}]}]);
    let of = cluster(8, &groups, &users, &[json!({})]);
    let found = explained(&of, 0);
    assert!(matches!(obstacles(&found)[..], [(Obstacle::ClassLimit(_), Some(true))]), "{:?}", found.reasons);
    assert_eq!((&found.raise[0][0].to, found.raise[0][0].is_least), (&Rational::from(5), true));
}

#[test]
fn gangs_are_stopped_as_a_whole() {
    let users = json!([
        {"name": "pair", "group": "a", "demand": {"gpu": 2}, "tasks": 2, "gang": 2},
        {"name": "one", "group": "b", "demand": {"gpu": 3}, "tasks": 1},
    ]);
    let groups = json!([{"name": "a"}, {"name": "b"}]);
    let of = cluster(4, &groups, &users, &[json!({"pair": 1}), json!({"pair": 1})]);
    let found = explained(&of, user(&of, "one"));
    // One task of the pair would be enough, but the tasks of the pair stop together. A search over all sets
    // of one task proves the lower bound of 2 stops.
    assert_eq!(stopped(&of, &found), (BTreeMap::from([("pair".to_owned(), 2)]), true));
}

#[test]
fn protected_tasks_and_higher_priorities_are_never_stopped() {
    let of = |constraint: Value| {
        let users = json!([
            {"name": "v", "group": "a", "demand": {"gpu": 4}, "tasks": 1},
            {"name": "u", "group": "b", "demand": {"gpu": 4}, "tasks": 1},
        ]);
        let groups = json!([{"name": "a"}, {"name": "b"}]);
        let text = snapshot_to_json(&cluster(4, &groups, &users, &[json!({"v": 1})]));
        let mut document: Value = serde_json::from_str(&text).unwrap();
        document["constraints"] = json!([constraint]);
        let of = snapshot(&document.to_string());
        let stop = explained(&of, user(&of, "u")).stop;
        matches!(stop, Some(FewestStops::Found { .. }))
    };
    assert!(of(json!({"user": "v", "priority": -1})));
    assert!(!of(json!({"user": "v", "priority": 1})));
    assert!(!of(json!({"user": "v", "protected": true})));
}

#[test]
fn without_placements_only_limits_decide() {
    let document = |limit: u32| {
        let document = json!({
            "kind": "snapshot",
            "problem": {
                "kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 4}}],
                "groups": [{"name": "a", "limit": {"gpu": limit}}],
                "users": [{"name": "u", "group": "a", "demand": {"gpu": 3}, "tasks": 2}],
            },
            "allocation": {"kind": "allocation", "tasks": {"u": {"s": 1}}},
        });
        explained(&snapshot(&document.to_string()), 0)
    };
    assert_eq!(document(6).state, State::NoPlacements);
    let found = document(5);
    assert_eq!((&found.state, obstacles(&found)), (&State::No, vec![(Obstacle::Limit(0, 0), None)]));
}

fn condition(obstacle: Obstacle) -> Without {
    match obstacle {
        Obstacle::Limit(v, r) => Without::Limit(v, r),
        Obstacle::Weight(v) => Without::Weight(v),
        Obstacle::KeptBack(r) => Without::KeptBack(r),
        Obstacle::ClassLimit(at) => Without::OnClasses(at.group, at.on, at.at),
        Obstacle::Free(r) => Without::Free(r),
        Obstacle::Servers(Lifted::Classes) => Without::Classes,
        Obstacle::Servers(Lifted::Closed) => Without::Closed,
        Obstacle::Servers(Lifted::ClassSets) => Without::ClassSets,
        Obstacle::Servers(Lifted::DistinctServers) => Without::DistinctServers,
        Obstacle::Gang => Without::Gang,
    }
}

/// Returns a snapshot with other limits, and with more servers of a class.
fn changed(of: &Snapshot, raise: &[(Obstacle, Rational)], add: Option<(usize, u64)>) -> Snapshot {
    let mut document: Value = serde_json::from_str(&snapshot_to_json(of)).unwrap();
    let resource = |r: usize| of.problem.resources()[r].as_str();
    for (obstacle, to) in raise {
        match obstacle {
            Obstacle::Limit(v, r) => {
                document["problem"]["groups"][*v]["limit"][resource(*r)] = json!(to.to_string());
            }
            Obstacle::ClassLimit(at) => {
                let (r, _) = of.problem.groups().list()[at.group].on[at.on].limit[at.at];
                document["problem"]["groups"][at.group]["on"][at.on]["limit"][resource(r)] =
                    json!(to.to_string());
            }
            other => panic!("{other:?} is no limit"),
        }
    }
    if let Some((class, count)) = add {
        let all = of.problem.servers()[class].count() + count;
        document["problem"]["servers"][class]["count"] = json!(all.to_string());
    }
    let text = document.to_string();
    Source { name: "changed", text: &text }.snapshot().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn to(raise: &[Raise]) -> Vec<(Obstacle, Rational)> {
    raise.iter().map(|of| (of.obstacle, of.to.clone())).collect()
}

/// Returns `true` if a set of tasks may be stopped for user `n`. This is a second implementation, independent
/// of the program.
pub fn may_stop(of: &Snapshot, running: &Running<'_>, set: &[Task], n: usize) -> bool {
    let own = running.together(n);
    let priority = own.iter().map(|k| running.constraint(*k).priority).min().unwrap();
    let group = |n: usize| of.problem.groups().member(n).group;
    let across = group(n).and_then(|v| of.preemption.iter().find(|of| of.group == v)).map(|of| of.across);
    let count = |k: usize| set.iter().filter(|(m, ..)| *m == k).count() as u64;
    set.iter().all(|(m, ..)| {
        let users = running.together(*m);
        let highest = users.iter().map(|k| running.constraint(*k).priority).max().unwrap();
        let is_same = group(*m).is_some() && group(*m) == group(n);
        let by_policy = is_same
            || match across.unwrap_or_default() {
                Victims::Never => false,
                Victims::LowerPriority => highest < priority,
                Victims::Any => true,
            };
        let pinned = of.problem.groups().member(*m).pinned.clone().unwrap_or_default();
        let starts = count(*m) / running.gang(*m);
        !users.iter().any(|k| own.contains(k))
            && highest <= priority
            && by_policy
            && !users.iter().any(|k| running.constraint(*k).protected)
            && running.count(*m) - count(*m) >= pinned
            && users.iter().all(|k| count(*k) == starts * running.gang(*k))
    })
}

/// Returns the running tasks without the tasks of a set. Panics if one of the tasks of the set does not run.
pub fn after_stops<'s>(running: &Running<'s>, set: &[Task]) -> Running<'s> {
    let mut after = running.clone();
    for task in set {
        let at =
            after.tasks.iter().position(|of| of == task).unwrap_or_else(|| panic!("{task:?} does not run"));
        after.tasks.remove(at);
    }
    after
}

/// Calls a function with every set of a given number of running tasks, until it returns true. Sets that differ only by
/// identical tasks are tried once.
pub fn any_set(
    tasks: &[Task],
    size: usize,
    set: &mut Vec<Task>,
    is_it: &mut dyn FnMut(&[Task]) -> bool,
) -> bool {
    if set.len() == size {
        return is_it(set);
    }
    for at in 0..tasks.len() {
        if at > 0 && tasks[at] == tasks[at - 1] {
            continue;
        }
        set.push(tasks[at]);
        let found = any_set(&tasks[at + 1..], size, set, is_it);
        set.pop();
        if found {
            return true;
        }
    }
    false
}

pub fn tasks_of(stops: &Stops) -> Vec<Task> {
    let mut all = Vec::new();
    for (n, tasks) in &stops.tasks {
        for (place, count) in tasks {
            all.extend((0..*count).map(|_| (*n, place.class, place.index)));
        }
    }
    all
}

#[derive(Debug, Default)]
struct Seen {
    yes: u32,
    no: u32,
    open: u32,
    reasons: u32,
    enough: u32,
    raised: u32,
    added: u32,
    stops: u32,
    fewest: u32,
    impossible: u32,
}

/// The size of the largest sets of tasks that are tried.
const LARGEST_SET: u64 = 2;

#[test]
fn random_snapshots_agree_with_plain_loops() {
    let mut seen = Seen::default();
    let range = std::env::var("EVENHAND_SNAPSHOTS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse::<u64>().ok()?..to.parse().ok()?)
    });
    for seed in range.unwrap_or(0..1_000) {
        let of = snapshots::snapshot(seed);
        let running = Running::new(&of);
        for n in (0..of.problem.n_users()).filter(|n| running.together(*n)[0] == *n) {
            let found = explained(&of, n);
            if found.is_admitted {
                continue;
            }
            let could = running.could_start(n).is_some();
            match found.state.could_start() {
                Some(answer) => assert_eq!(answer, could, "seed {seed}, user {n}"),
                None => {
                    seen.open += 1;
                    continue;
                }
            }
            if could {
                seen.yes += 1;
                continue;
            }
            if found.state == State::NothingWaits {
                continue;
            }
            seen.no += 1;
            no(&of, &running, &found, &format!("seed {seed}, user {n}"), &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.yes > 200 && seen.no > 500 && seen.open * 100 < seen.no, "{seen:?}");
    assert!(seen.enough > 300 && seen.raised > 50 && seen.added > 100 && seen.stops > 100, "{seen:?}");
    assert!(seen.fewest * 10 > seen.stops * 9 && seen.impossible > 50, "{seen:?}");
}

/// Checks every statement of the explanation of a start that could not start.
fn no(of: &Snapshot, running: &Running<'_>, found: &Explanation, at: &str, seen: &mut Seen) {
    let n = found.user;
    assert!(!found.reasons.is_empty(), "{at}: no reason");
    for reason in &found.reasons {
        let mut lifted = running.clone();
        lifted.without = condition(reason.obstacle);
        let could = lifted.could_start(n).is_some();
        if let Some(is_enough) = reason.is_enough {
            assert_eq!(is_enough, could, "{at}: {reason:?}");
            seen.reasons += 1;
            seen.enough += u32::from(could);
        }
    }
    for list in &found.raise {
        let could =
            |list: &[(Obstacle, Rational)]| Running::new(&changed(of, list, None)).could_start(n).is_some();
        let list_to = to(list);
        assert!(could(&list_to), "{at}: {list:?}");
        for (k, raise) in list.iter().enumerate().filter(|(_, raise)| raise.is_least) {
            let mut less = list_to.clone();
            less[k].1 -= Rational::from((1, 1000));
            if less[k].1 >= raise.from {
                assert!(!could(&less), "{at}: less than {raise:?} suffices");
            }
        }
        seen.raised += 1;
    }
    for add in &found.add {
        let could = |count: u64| {
            Running::new(&changed(of, &to(&add.raise), Some((add.class, count)))).could_start(n).is_some()
        };
        assert!(could(add.count), "{at}: {add:?}");
        assert!(!add.is_fewest || !could(add.count - 1), "{at}: fewer than {add:?}");
        seen.added += 1;
    }
    // If the explanation names no number of servers of a class, one server of the class for each task of the
    // gang does not suffice either.
    let on_servers = found.reasons.iter().any(|of| matches!(of.obstacle, Obstacle::Free(_)));
    let is_alone =
        found.reasons.iter().all(|of| !matches!(of.obstacle, Obstacle::Weight(_) | Obstacle::KeptBack(_)));
    if on_servers && is_alone {
        let gang: u64 = found.start.iter().map(|(_, gang)| gang).sum();
        let limits = found.reasons.iter().filter(|of| matches!(of.obstacle, Obstacle::Limit(..)));
        let raise: Vec<(Obstacle, Rational)> =
            limits.map(|of| (of.obstacle, of.amounts.as_ref().unwrap().least.clone().unwrap())).collect();
        for class in (0..of.problem.n_servers()).filter(|i| found.add.iter().all(|add| add.class != *i)) {
            let more = changed(of, &raise, Some((class, gang)));
            assert!(Running::new(&more).could_start(n).is_none(), "{at}: servers of class {class} suffice");
        }
    }
    let mut tasks = running.tasks.clone();
    tasks.sort_unstable();
    let suffices =
        |set: &[Task]| may_stop(of, running, set, n) && after_stops(running, set).could_start(n).is_some();
    let smaller = |least: u64| {
        (1..least.min(LARGEST_SET + 1))
            .any(|size| any_set(&tasks, size as usize, &mut Vec::new(), &mut |set| suffices(set)))
    };
    match found.stop.as_ref().unwrap() {
        FewestStops::Found { stops, least } => {
            let set = tasks_of(stops);
            assert!(suffices(&set), "{at}: {set:?}");
            assert!(!smaller(*least), "{at}: fewer than {least} stops suffice");
            seen.stops += 1;
            seen.fewest += u32::from(stops.count() == *least);
        }
        FewestStops::Impossible => {
            assert!(!smaller(u64::MAX), "{at}: stops suffice");
            seen.impossible += 1;
        }
        FewestStops::NotKnown { least } => assert!(!smaller(*least), "{at}: fewer than {least} stops"),
    }
}
