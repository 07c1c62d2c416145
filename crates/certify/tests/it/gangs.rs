//! Tests of work conservation with placements: a gang counts as pending only if all its tasks fit at the same time.

use crate::common;

use evenhand_exact::{Axiom, Claim, Evidence, Room, Stop};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_by_all, agreed_text};
use evenhand_testkit::damage::damage;
use evenhand_testkit::random::gangs;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn judged(problem: &Problem, allocation: &Allocation) -> (Claim, String) {
    common::judged(problem, allocation, Axiom::WorkConserving, &Rational::new())
}

fn read(problem: &str) -> Problem {
    Source { name: "problem", text: problem }.problem().unwrap()
}

/// Returns the claim about an allocation with these placements.
fn claim_on_placements(problem: &Problem, placements: &str) -> (Claim, String) {
    let text = format!(r#"{{"kind": "allocation", "arithmetic": "exact", "placements": {placements}}}"#);
    let allocation = Source { name: "x", text: &text }.allocation(problem).unwrap().allocation;
    judged(problem, &allocation)
}

/// Judges an allocation on two servers of the class `old` and one of `new`, each with 4 GPUs. A task of user `x` in
/// group `a` demands 2 GPUs. `group` and `x` are further fields of the group and the user. User `y` runs all its
/// tasks of 1 GPU, `y[k]` of them on server `k`.
fn judge(group: &str, x: &str, y: [u32; 3]) -> (Claim, String) {
    let problem = read(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{{"name": "old", "count": 2, "capacity": {{"gpu": 4}}}},
                        {{"name": "new", "capacity": {{"gpu": 4}}}}],
            "groups": [{{"name": "a"{group}}}],
            "users": [{{"name": "x", "group": "a", "demand": {{"gpu": 2}}{x}}},
                      {{"name": "y", "demand": {{"gpu": 1}}, "tasks": {}}}]}}"#,
        y.iter().sum::<u32>()
    ));
    let on = |(tasks, (server, index)): (u32, (&str, u32))| {
        format!(r#"{{"server": "{server}", "index": {index}, "tasks": {{"y": {tasks}}}}}"#)
    };
    let servers = [("old", 0), ("old", 1), ("new", 0)];
    claim_on_placements(
        &problem,
        &format!("[{}]", y.into_iter().zip(servers).map(on).collect::<Vec<_>>().join(", ")),
    )
}

#[track_caller]
fn assert_holds(claim: &Claim, holds: bool) {
    let margin = if holds { Rational::new() } else { Rational::from(-1) };
    assert_eq!((claim.holds, claim.margin.clone()), (Some(holds), Some(margin)), "{:?}", claim.evidence);
}

#[test]
fn tasks_of_a_gang_can_run_on_several_servers() {
    let pair = r#", "gang": 2"#;
    // One task fits on the second server of `old`, and one on `new`.
    let (claim, text) = judge("", pair, [4, 2, 2]);
    assert_holds(&claim, false);
    let room = Room { user: 0, server: 0, index: Some(1), by_class: vec![(0, 1), (1, 1)] };
    assert_eq!(claim.evidence, Evidence::Room(room));
    assert!(text.contains(r#""index":1,"gang":{"old":1,"new":1}"#), "{text}");
    // Both tasks fit on an empty server.
    assert_holds(&judge("", pair, [4, 0, 4]).0, false);
    // Only one task fits in total.
    let (claim, text) = judge("", pair, [4, 2, 3]);
    assert_holds(&claim, true);
    assert_eq!(claim.evidence, Evidence::Short(vec![(0, [0, 1].into())]));
    assert_holds(&judge("", "", [4, 2, 3]).0, false);
    // The judges compute the margin again, and the numbers that it follows from.
    for (from, to, is_read) in [
        (r#""margin":"0""#, r#""margin":"-1""#, true),
        (r#""gang":"2""#, r#""gang":"1""#, true),
        (r#"{"old":"gpu","new":"gpu"}"#, r#"{"old":"gpu"}"#, false),
    ] {
        let damaged = text.replace(from, to);
        assert_ne!(damaged, text, "{from} is not there\n{text}");
        let found = agreed_text(&damaged);
        assert_eq!(matches!(found, Finding::Refused(_)), is_read, "{from}: {found:?}");
    }
}

#[test]
fn an_incomplete_gang_is_not_pending() {
    let judge = |gang: &str, tasks: u32, run: u32| {
        let problem = read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{{"name": "pool", "count": 3, "capacity": {{"gpu": 4}}}}],
                "users": [{{"name": "x", "demand": {{"gpu": 2}}{gang}, "tasks": {tasks}}}]}}"#
        ));
        claim_on_placements(
            &problem,
            &format!(r#"[{{"server": "pool", "index": 0, "tasks": {{"x": {run}}}}}]"#),
        )
        .0
    };
    let pair = r#", "gang": 2"#;
    for (gang, tasks, run, holds) in
        [(pair, 3, 2, true), ("", 3, 2, false), (pair, 4, 2, false), (pair, 2, 1, true), ("", 2, 1, false)]
    {
        let claim = judge(gang, tasks, run);
        assert_holds(&claim, holds);
        assert!(!holds || claim.evidence == Evidence::Short(Vec::new()), "{:?}", claim.evidence);
    }
}

#[test]
fn a_limit_on_classes_counts_the_gang_once() {
    let judge = |limits: &str, y| judge(&format!(r#", "on": [{limits}]"#), r#", "gang": 2"#, y);
    let both = |limit: u32| format!(r#"{{"servers": ["old", "new"], "limit": {{"gpu": {limit}}}}}"#);
    // One task fits on each class, but the limit allows only one on both together.
    let (claim, _) = judge(&both(3), [4, 2, 2]);
    assert_holds(&claim, true);
    let Evidence::ShortOrStopped { stopped, .. } = &claim.evidence else { panic!("{:?}", claim.evidence) };
    let [(0, Stop::Classes { short, limits })] = &stopped[..] else { panic!("{stopped:?}") };
    assert_eq!((short.len(), limits.len()), (0, 2));
    assert_holds(&judge(&both(4), [4, 2, 2]).0, false);
    // The limit on each class allows one task on the class. Together the classes allow the gang.
    let each = r#"{"servers": ["old"], "limit": {"gpu": 2}}, {"servers": ["new"], "limit": {"gpu": 3}}"#;
    let (claim, _) = judge(each, [4, 0, 0]);
    assert_holds(&claim, false);
    let room = Room { user: 0, server: 0, index: Some(1), by_class: vec![(0, 1), (1, 1)] };
    assert_eq!(claim.evidence, Evidence::Room(room));
    // The evidence names the first class that has free capacity for the whole gang, although the limit allows a task on
    // an earlier class.
    let (claim, _) = judge(r#"{"servers": ["old"], "limit": {"gpu": 2}}"#, [0, 0, 0]);
    let room = Room { user: 0, server: 1, index: Some(0), by_class: vec![(1, 2)] };
    assert_eq!(claim.evidence, Evidence::Room(room));
}

#[test]
fn only_limits_for_whole_gangs_matter() {
    for (limit, gang, holds) in [(3, 1, false), (3, 2, true), (4, 2, false), (6, 4, true), (8, 4, false)] {
        let limit = format!(r#", "limit": {{"gpu": {limit}}}"#);
        let (claim, _) = judge(&limit, &format!(r#", "gang": {gang}"#), [0, 1, 1]);
        assert_holds(&claim, holds);
        if holds {
            let stopped = vec![(0, Stop::Limit { group: 0, resource: 0 })];
            assert_eq!(claim.evidence, Evidence::ShortOrStopped { short: Vec::new(), stopped });
        }
    }
    // Capacity that another group keeps back also stops a gang.
    let kept = |lend: u32| {
        read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{{"name": "pool", "count": 3, "capacity": {{"gpu": 4}}}}],
                "groups": [{{"name": "a"}}, {{"name": "b", "guarantee": {{"gpu": 8}}, "lend": {{"gpu": {lend}}}}}],
                "users": [{{"name": "x", "group": "a", "gang": 3, "demand": {{"gpu": 2}}}}]}}"#
        ))
    };
    assert_holds(&claim_on_placements(&kept(1), "[]").0, true);
    assert_holds(&claim_on_placements(&kept(2), "[]").0, false);
}

/// The search over classes must backtrack: the first class uses too much of the second limit.
#[test]
fn the_search_over_classes_backtracks() {
    let problem = |gang: u32| {
        read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["gpu", "net"],
                "servers": [{{"name": "a", "count": 5, "capacity": {{"gpu": 9, "net": 9}}}},
                            {{"name": "b", "count": 5, "capacity": {{"gpu": 9, "net": 9}}}},
                            {{"name": "c", "count": 5, "capacity": {{"gpu": 9, "net": 9}}}}],
                "groups": [{{"name": "g", "on": [{{"servers": ["a", "b", "c"], "limit": {{"gpu": 12, "net": 12}}}}]}}],
                "users": [{{"name": "x", "group": "g", "gang": {gang}, "demand": {{"gpu": 1, "net": 1}},
                            "demand_on": {{"a": {{"gpu": 1, "net": 4}}, "b": {{"gpu": 4, "net": 1}}, "c": {{"gpu": 3, "net": 3}}}}}}]}}"#
        ))
    };
    // 2 tasks on `a` and 2 on `b` use 10 of both limits. No other distribution of four tasks fits, and no five tasks
    // fit.
    let (claim, _) = claim_on_placements(&problem(4), "[]");
    assert_holds(&claim, false);
    let Evidence::Room(room) = claim.evidence else { panic!() };
    let all: u64 = room.by_class.iter().map(|(_, tasks)| tasks).sum();
    assert_eq!(all, 4);
    assert_holds(&claim_on_placements(&problem(5), "[]").0, true);
}

/// A gang of 10^12 tasks on 10^12 servers is counted, not enumerated.
#[test]
fn large_gangs_are_counted() {
    let problem = |gang: u64, limit: &str| {
        read(&format!(
            r#"{{"kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{{"name": "pool", "count": 1000000000000, "capacity": {{"gpu": 3}}}}],
                "groups": [{{"name": "a", "on": {{"pool": {{"limit": {{"gpu": {limit}}}}}}}}}],
                "users": [{{"name": "x", "group": "a", "gang": {gang}, "demand": {{"gpu": 2}}}}]}}"#
        ))
    };
    let judge = |gang: u64, limit: &str| {
        let text = r#"{"kind": "allocation", "arithmetic": "exact", "placements": [{"server": "pool", "index": 7, "tasks": {"x": 1}}]}"#;
        let problem = problem(gang, limit);
        let allocation = Source { name: "x", text }.allocation(&problem).unwrap().allocation;
        let request = evenhand_certify::Request::of(Axiom::WorkConserving);
        let found = evenhand_certify::certify(&problem, &allocation, &[request], &Rational::new()).unwrap();
        let verdict = evenhand_exact::check_text(&found.certificate.to_json(), None);
        assert_eq!(verdict.reason, None);
        found.certificate.claims[0].holds.unwrap()
    };
    assert!(!judge(999_999_999_999, "1e15"));
    assert!(judge(1_000_000_000_000, "1e15"));
    assert!(judge(999_999_999_999, "1e12"));
}

/// The three judges agree on random gangs, and on damaged certificates of them.
#[test]
fn judges_agree_on_random_gangs() {
    let mut rng = Pcg64::seed_from_u64(31);
    // Counts of cases: by whether the axiom holds, gangs on several classes, users stopped by limits on classes, and
    // verdicts that differ from the verdicts for single tasks.
    let (mut holds, mut on_several, mut by_class, mut differs) = ([0; 2], 0, 0, 0);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..1200 {
        let (problem, allocation) = gangs::placed(&mut rng);
        let (claim, text) = judged(&problem, &allocation);
        holds[usize::from(claim.holds == Some(true))] += 1;
        match &claim.evidence {
            Evidence::Room(room) => {
                on_several += usize::from(room.by_class.len() > 1);
                let gang = problem.groups().member(room.user).gang;
                let tasks: u64 = room.by_class.iter().map(|(_, tasks)| tasks).sum();
                assert_eq!(gang.unwrap_or(0), tasks, "{text}");
            }
            Evidence::ShortOrStopped { stopped, .. } => {
                by_class += stopped.iter().filter(|(_, stop)| matches!(stop, Stop::Classes { .. })).count();
            }
            _ => {}
        }
        let mut single: serde_json::Value = serde_json::from_str(&problem_to_json(&problem)).unwrap();
        for user in single["users"].as_array_mut().unwrap() {
            user.as_object_mut().unwrap().remove("gang");
        }
        differs += usize::from(judged(&read(&single.to_string()), &allocation).0.holds != claim.holds);
        for _ in 0..4 {
            let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
            let part =
                if rng.random_bool(0.5) { &mut document["problem"] } else { &mut document["claims"][0] };
            damage(part, &mut rng);
            let (finding, _) = agreed_by_all(&document.to_string());
            refused += usize::from(matches!(finding, Finding::Refused(_)));
            accepted += usize::from(finding == Finding::Accepted);
        }
    }
    assert!(holds.iter().all(|count| *count > 200), "{holds:?}");
    assert!(on_several > 50 && by_class > 50 && differs > 100, "{on_several} {by_class} {differs}");
    assert!(refused > 300 && accepted > 300, "{refused} {accepted}");
}
