//! Tests of margins and evidence as defined in docs/axioms.md (theory, section 7), in cases that a program could easily
//! get wrong.

use evenhand_exact::{Axiom, Claim, Evidence, Instance, Prices};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Allocation, Placement, Problem, Rational};
use evenhand_testkit::agreement::{agreed_claim, assert_shown};
use evenhand_testkit::examples::{self, allocation, placed, problem};
use evenhand_testkit::q;

fn claim(axiom: Axiom, problem: &Problem, allocation: &Allocation) -> Claim {
    let instance = Instance::new(problem, allocation).unwrap();
    let claim = Claim::derive(axiom, &instance, &q("0")).unwrap();
    assert_shown(problem, allocation, &claim, &q("0"));
    claim
}

/// Inactive users take part in no axiom: the only active user is compared with no other user.
#[test]
fn inactive_users_are_not_compared() {
    let alone = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 8}}],
        "users": [{"name": "idle", "demand": {"cpu": 1}, "tasks": 0}, {"name": "u", "demand": {"cpu": 1}},
                  {"name": "nobody", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    let x = allocation(&alone, r#"{"u": {"a": 3}}"#);
    for axiom in [Axiom::EnvyFree, Axiom::Ef1] {
        let found = claim(axiom, &alone, &x);
        assert_eq!((found.holds, found.margin, found.evidence), (Some(true), None, Evidence::None));
    }
}

/// A user that has more than its entitlement of a full row has a margin of exactly 0.
#[test]
fn a_full_row_answers_a_complaint_with_a_margin_of_zero() {
    let two = examples::figure_1();
    let found = claim(Axiom::Njc, &two, &examples::figure_1_fair(&two));
    assert_eq!((found.holds, found.margin), (Some(true), Some(q("0"))));
}

/// The entries of a user without tasks become 0 before the loads of single servers are computed.
#[test]
fn users_without_tasks_do_not_load_a_server() {
    let one = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 2}}],
        "users": [{"name": "1", "demand": {"cpu": 1}}, {"name": "2", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    let x = placed(&one, &[("a", 0, "1", "9")]);
    let instance = Instance::new(&one, &x).unwrap();
    let found = Claim::derive(Axiom::IntegerFeasible, &instance, &q("0")).unwrap();
    assert_eq!((found.holds, found.margin), (Some(false), Some(q("-9"))));
    let x = placed(&one, &[("a", 0, "2", "1/4")]);
    let instance = Instance::new(&one, &x).unwrap();
    let found = Claim::derive(Axiom::IntegerFeasible, &instance, &q("0")).unwrap();
    assert_eq!(found.margin, Some(q("-1/4")), "the load is 2 of 2, not 9/4");
}

/// Evidence that follows from the allocation alone is written for people. The claim is judged by its margin, whatever
/// this evidence says.
#[test]
fn unneeded_evidence_is_not_read() {
    let two = examples::figure_1();
    let x = examples::figure_1_fair(&two);
    for axiom in
        [Axiom::Feasible, Axiom::WorkConserving, Axiom::EnvyFree, Axiom::SharingIncentive, Axiom::Njc]
    {
        let good = claim(axiom, &two, &x);
        for evidence in [Evidence::None, Evidence::Envy { user: 1, envied: 1, gain: Some(q("7")) }] {
            let other = Claim { evidence, ..good.clone() };
            assert!(agreed_claim(&two, &x, &other, &q("0")).valid, "{axiom:?}");
        }
        let margin = good.margin.clone().map(|margin| margin - q("1/1000"));
        let worse = Claim { margin, ..good };
        assert!(!agreed_claim(&two, &x, &worse, &q("1/2")).valid, "{axiom:?}");
    }
}

/// The tasks on each single server count, not only the tasks on its class.
#[test]
fn feasible_is_about_every_single_server() {
    let two = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 10}}], "users": [{"name": "a", "demand": {"cpu": 1}}]}"#,
    );
    let on = |tasks: &[(u64, &str)]| {
        let tasks =
            tasks.iter().map(|(index, x)| Placement { server: 0, index: *index, tasks: vec![(0, q(x))] });
        let placements: Vec<Placement> = tasks.collect();
        let all = placements.iter().map(|on| on.tasks[0].1.clone()).sum();
        Allocation { placements: Some(placements), ..tasks_of(&two, all) }
    };
    for (tasks, margin) in [
        (&[(0, "20")][..], "-1"),
        (&[(0, "1000"), (1, "-990")], "-99"),
        (&[(0, "10"), (1, "10")], "0"),
        (&[(0, "11")], "-1/10"),
    ] {
        let x = on(tasks);
        let instance = Instance::new(&two, &x).unwrap();
        for tolerance in ["0", "1/2"] {
            let found = Claim::derive(Axiom::Feasible, &instance, &q(tolerance)).unwrap();
            assert_eq!(
                (found.holds, found.margin.clone()),
                (Some(margin == "0"), Some(q(margin))),
                "{tasks:?}"
            );
            assert_shown(&two, &x, &found, &q(tolerance));
            let flipped = Claim { holds: found.holds.map(|holds| !holds), ..found };
            assert!(!agreed_claim(&two, &x, &flipped, &q(tolerance)).valid);
        }
    }
}

fn tasks_of(problem: &Problem, x: Rational) -> Allocation {
    let mut all = allocation(problem, "{}");
    all.tasks[0] = vec![(0, x)];
    all
}

/// Half a task is not a task, however many tasks there are and whatever the tolerance.
#[test]
fn half_tasks_are_never_tolerated() {
    let large = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 1000000}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]}"#,
    );
    let halves = allocation(&large, r#"{"a": {"s": "499999.5"}, "b": {"s": "500000.5"}}"#);
    let instance = Instance::new(&large, &halves).unwrap();
    for tolerance in ["0", "1e-6", "99/100"] {
        let found = Claim::derive(Axiom::IntegerFeasible, &instance, &q(tolerance)).unwrap();
        assert_eq!((found.holds, found.margin.clone()), (Some(false), Some(q("-1"))));
        assert_shown(&large, &halves, &found, &q(tolerance));
        for margin in ["-1", "-1/2000000", "0"] {
            let forged = Claim { holds: Some(true), margin: Some(q(margin)), ..found.clone() };
            assert!(!agreed_claim(&large, &halves, &forged, &q(tolerance)).valid, "{margin}");
        }
    }
}

/// One more whole task counts as a gain, however small a fraction it is of its user's solo tasks.
#[test]
fn a_whole_task_more_is_never_within_the_tolerance() {
    let large = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 10000000}}],
        "users": [{"name": "a", "demand": {"cpu": 1}}]}"#,
    );
    let x = Allocation {
        placements: Some(vec![Placement { server: 0, index: 0, tasks: vec![(0, q("9999999"))] }]),
        ..tasks_of(&large, q("9999999"))
    };
    let instance = Instance::new(&large, &x).unwrap();
    let better = vec![Placement { server: 0, index: 0, tasks: vec![(0, q("10000000"))] }];
    let axiom = Axiom::IntegerParetoOptimal;
    let evidence = Evidence::DominatingPlacements(better);
    let found = Claim::with_evidence(axiom, None, evidence, &instance, &q("1/2")).unwrap();
    assert_eq!((found.holds, found.margin.clone()), (Some(false), Some(q("-1"))));
    assert_shown(&large, &x, &found, &q("1/2"));
    let prices =
        Prices { user_weights: vec![q("1/10000000")], rows: vec![q("1/10000000")], users: vec![q("0")] };
    for margin in ["0", "-1/10000000", "-1"] {
        let forged = Claim {
            holds: Some(true),
            margin: Some(q(margin)),
            evidence: Evidence::Prices(prices.clone()),
            ..found.clone()
        };
        assert!(!agreed_claim(&large, &x, &forged, &q("1/2")).valid, "{margin}");
    }
    let work = Claim::derive(Axiom::WorkConserving, &instance, &q("1/2")).unwrap();
    assert_eq!((work.holds, work.margin.clone()), (Some(false), Some(q("-1"))));
    assert_shown(&large, &x, &work, &q("1/2"));
}

/// A demand on a class that repeats the base demand changes neither the problem nor its meaning.
#[test]
fn a_repeated_demand_changes_nothing() {
    let text = |more: &str| {
        format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{{"name": "s", "capacity": {{"cpu": 10}}}}],
            "groups": [{{"name": "g", "guarantee": {{"cpu": 8}}}}, {{"name": "h", "limit": {{"cpu": 9}}}}],
            "users": [{{"name": "a", "demand": {{"cpu": 1}}, "group": "g"}},
                      {{"name": "b", "demand": {{"cpu": 1}}, {more} "group": "h"}}]}}"#
        )
    };
    let (once, twice) = (problem(&text("")), problem(&text(r#""demand_on": {"s": {"cpu": "1.0"}},"#)));
    assert_eq!(problem_sha256(&once), problem_sha256(&twice));
    let x = allocation(&twice, r#"{"b": {"s": 9}}"#);
    for axiom in [Axiom::Guarantees, Axiom::WorkConserving] {
        let found = claim(axiom, &twice, &x);
        assert_eq!(found.holds, Some(false), "{axiom:?}");
    }
}
