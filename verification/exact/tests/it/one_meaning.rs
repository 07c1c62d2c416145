//! Tests that no certificate can contain both that an axiom holds and that it is violated. Both kinds of evidence were
//! once accepted for these cases.

use evenhand_exact::{Axiom, Claim, Evidence, Instance, Prices, Share};
use evenhand_problem::Problem;
use evenhand_testkit::examples::{allocation, problem, tasks};
use evenhand_testkit::q;

fn one_server(users: &str) -> Problem {
    problem(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{{"name": "a", "capacity": {{"cpu": 2}}}}], "users": {users}}}"#
    ))
}

/// A thousandth of a large task can be exchanged for one small task. This exchange does not make the allocation
/// dominated.
#[test]
fn a_tolerated_loss_does_not_prove_domination() {
    let problem =
        one_server(r#"[{"name": "big", "demand": {"cpu": 1}}, {"name": "small", "demand": {"cpu": 0.001}}]"#);
    let allocation = allocation(&problem, r#"{"big": {"a": 1}, "small": {"a": 1000}}"#);
    let instance = Instance::new(&problem, &allocation).unwrap();
    let tolerance = q("0.001");
    let claim = |evidence| Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, &instance, &tolerance);
    let prices =
        Prices { user_weights: vec![q("1"), q("0.001")], rows: vec![q("1")], users: vec![q("0"), q("0")] };
    assert_eq!(claim(Evidence::Prices(prices)).unwrap().holds, Some(true));
    let other = tasks(&[&[(0, "0.999")], &[(0, "1001")]]);
    assert!(claim(Evidence::Dominating(other.clone())).is_err());
    let rise = Evidence::Rise { resource: None, user: 1, allocation: other };
    let share = Some(Share::Dominant);
    assert!(Claim::with_evidence(Axiom::MaxMin, share, rise, &instance, &tolerance).is_err());
}

/// An allocation in which another user, whose share is equal up to rounding, falls below the user is no evidence of a
/// rise.
#[test]
fn a_rise_must_not_lower_users_of_equal_share() {
    let problem = one_server(r#"[{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]"#);
    let allocation = allocation(&problem, r#"{"a": {"a": 0.999999}, "b": {"a": 1.000001}}"#);
    let instance = Instance::new(&problem, &allocation).unwrap();
    let claim = |on: [&str; 2], tolerance: &str| {
        let allocation = tasks(&[&[(0, on[0])], &[(0, on[1])]]);
        let rise = Evidence::Rise { resource: None, user: 0, allocation };
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), rise, &instance, &q(tolerance))
    };
    assert!(claim(["2", "0"], "0.00001").is_err(), "b falls below a");
    assert!(claim(["1", "1"], "0.00001").is_err(), "the gain is within the tolerance");
    assert_eq!(claim(["1", "1"], "0.0000001").unwrap().holds, Some(false));
}

/// Both resources are a bottleneck of every user on every class. The axiom is about both, and is violated for one of
/// them.
#[test]
fn bottleneck_axioms_judge_every_tied_resource() {
    let problem = problem(
        r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "A", "capacity": {"r1": 2, "r2": 1}}, {"name": "B", "capacity": {"r1": 1, "r2": 2}}],
        "users": [{"name": "n", "demand": {"r1": 2, "r2": 1}, "demand_on": {"B": {"r1": 1, "r2": 2}}},
                  {"name": "m", "demand": {"r1": 2, "r2": 1}, "servers": ["A"]}]}"#,
    );
    assert_eq!(Axiom::BottleneckFair.bottlenecks(&problem), Ok(vec![0, 1]));
    let allocation = allocation(&problem, r#"{"n": {"B": 1}, "m": {"A": 1}}"#);
    let instance = Instance::new(&problem, &allocation).unwrap();
    for resource in [0, 1] {
        let allocation = tasks(&[&[(0, "1/4"), (1, "1")], &[(0, "3/4")]]);
        let evidence = Evidence::Rise { resource: Some(resource), user: 0, allocation };
        let claim = Claim::with_evidence(Axiom::BottleneckFair, None, evidence, &instance, &q("0"));
        assert_eq!(claim.is_ok(), resource == 0, "resource {resource}: {claim:?}");
    }
}
