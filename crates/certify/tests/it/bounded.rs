//! Tests of examinations within limits of time, work and memory.

use std::sync::Arc;
use std::time::Duration;

use evenhand_budget::{Limits, spent, within};
use evenhand_certify::{Request, Undecided, certify, certify_within, default_requests};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_testkit::agreement::{Finding, agreed_text};
use evenhand_testkit::examples;

/// Returns the allocation in which no user has any task.
fn idle(problem: &Problem) -> Allocation {
    Allocation { tasks: vec![Vec::new(); problem.n_users()], ..Allocation::default() }
}

#[test]
fn enough_time_does_not_change_claims() {
    for problem in [examples::figure_1(), examples::kesidis()] {
        let allocation = idle(&problem);
        let requests = default_requests(&problem, &allocation);
        let exact = Rational::new();
        let plain = certify(&problem, &allocation, &requests, &exact).unwrap();
        let hour = Duration::from_secs(3_600);
        let (problem, allocation) = (Arc::new(problem), Arc::new(allocation));
        let timed = certify_within(hour, &problem, &allocation, &requests, &exact).unwrap();
        assert_eq!(timed.certificate, plain.certificate);
        assert_eq!((timed.in_tasks, timed.undecided), (plain.in_tasks, plain.undecided));
        assert!(!timed.certificate.claims.is_empty());
    }
}

/// Axioms that were decided in time are claimed. All other axioms are listed as not checked.
#[test]
fn too_little_time_leaves_decided_axioms() {
    let problem = Arc::new(examples::kesidis());
    let allocation = Arc::new(idle(&problem));
    let requests = default_requests(&problem, &allocation);
    for time in [Duration::ZERO, Duration::from_micros(300), Duration::from_millis(5)] {
        let found = certify_within(time, &problem, &allocation, &requests, &Rational::new()).unwrap();
        let claims = &found.certificate.claims;
        for request in &requests {
            let is_claimed = claims.iter().any(|claim| claim.axiom == request.axiom);
            let is_late =
                found.undecided.contains(&(request.axiom, Undecided::Late { seconds: time.as_secs_f64() }));
            let name = request.axiom.name();
            let is_not_checked = found.certificate.not_checked.iter().any(|not| not == name);
            assert!(is_claimed != is_late && is_late == is_not_checked, "{name}: {found:?}");
        }
        if !claims.is_empty() {
            assert_eq!(agreed_text(&found.certificate.to_json()), Finding::Accepted);
        }
    }
}

/// Only one axiom needs the table of users and classes, and stays undecided.
#[test]
fn too_little_memory_leaves_one_axiom_undecided() {
    let servers: Vec<String> =
        (0..4).map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"cpu": 1}}}}"#)).collect();
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu"], "servers": [{}],
        "users": [{{"name": "a", "demand": {{"cpu": 1}}}}, {{"name": "b", "demand": {{"cpu": 2}}}}]}}"#,
        servers.join(", ")
    );
    let problem = Source { name: "p.json", text: &text }.problem().unwrap();
    let requests = [Axiom::WorkConserving, Axiom::Feasible].map(Request::of);
    let examine = || certify(&problem, &idle(&problem), &requests, &Rational::new()).unwrap();
    let memory = |bytes| Limits { memory: Some(bytes), ..Limits::default() };
    // The table has an entry of four bytes for each of two users on four classes.
    assert_eq!(within(&memory(32), examine).unwrap().undecided, []);
    let found = within(&memory(31), examine).unwrap();
    let [(Axiom::WorkConserving, why)] = &found.undecided[..] else { panic!("{:?}", found.undecided) };
    assert!(why.to_string().contains("--memory raises the limit"), "{why}");
    assert_eq!(found.certificate.claims[0].axiom, Axiom::Feasible);
    assert!(found.certificate.not_checked.iter().any(|not| not == "work-conserving"));
}

/// An axiom that needs more than its share leaves work for the other axioms, including later axioms.
#[test]
fn too_little_work_leaves_one_axiom_undecided() {
    let problem = examples::kesidis();
    let allocation = idle(&problem);
    let requests = [Axiom::EnvyFree, Axiom::MaxMin, Axiom::SharingIncentive].map(|axiom| Request {
        parameters: Parameters::from((axiom == Axiom::MaxMin).then_some(Share::Dominant)),
        axiom,
    });
    let examine = || certify(&problem, &allocation, &requests, &Rational::new()).unwrap();
    let costs = |requests: &[Request]| {
        let examine = || certify(&problem, &allocation, requests, &Rational::new()).map(|_| spent());
        within(&Limits::default(), examine).unwrap().unwrap()
    };
    let (cheap, all) = (costs(&[requests[0].clone(), requests[2].clone()]), costs(&requests));
    assert!(all > 4 * cheap, "{all} {cheap}");
    let work = |work| within(&Limits { work: Some(work), ..Limits::default() }, examine).unwrap();
    assert_eq!(work(2 * all).undecided, []);
    let found = work(all / 2);
    let [(Axiom::MaxMin, why)] = &found.undecided[..] else { panic!("{:?}", found.undecided) };
    assert!(why.to_string().contains("--work raises the limit"), "{why}");
    assert_eq!(found.certificate.claims.len(), 2);
}
