//! Tests of limits on work, memory and time: a computation that exceeds a limit ends early, and every mechanism has
//! an answer when the time is up.

use evenhand_budget::{Kind, Limits, spent, within};
use evenhand_exact::axiom::feasible;
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::{Flags, Mechanism, Outcome, Status, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

/// Returns a problem of users that may run on all classes, in which all numbers are different.
fn problem(n_users: usize, n_classes: usize) -> Problem {
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    let amounts = |a: usize, b: usize| {
        vec![("cpu".to_owned(), Rational::from(a)), ("memory".to_owned(), Rational::from(b))]
    };
    let servers = (0..n_classes).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: amounts(4000 + 700 * i % 2300, 40 + 11 * i % 29),
    });
    let users = (0..n_users).map(|n| UserSpec {
        name: format!("u{n}"),
        weight: Some(Rational::from(1 + n % 3)),
        // The weights differ, because identical users would be merged.
        demand: amounts(100 + 100 * (n % 7) + n, 1 + 3 * n % 5),
        ..UserSpec::default()
    });
    let spec =
        ProblemSpec { name: String::new(), resources, servers: servers.collect(), users: users.collect() };
    Problem::new(spec).unwrap()
}

fn flags(mechanism: &Mechanism) -> Flags {
    let stated = [("alpha", "3"), ("slots", "7")].into_iter().filter(|(name, _)| mechanism.takes(name));
    stated.fold(Flags::new(Arithmetic::Exact), |flags, (name, value)| flags.with(name, value))
}

fn solve(mechanism: &Mechanism, problem: &Problem) -> Outcome {
    mechanism.allocate_with(problem, &flags(mechanism)).unwrap()
}

/// Returns the mechanisms that apply to a cluster without a stated criterion.
fn of_clusters() -> impl Iterator<Item = &'static Mechanism> {
    registry::ALL.iter().copied().filter(|mechanism| !["drf", "generic"].contains(&mechanism.info.id))
}

#[test]
fn little_work_ends_every_mechanism() {
    let problem = problem(40, 8);
    let limits = Limits { work: Some(500), ..Limits::default() };
    for mechanism in of_clusters() {
        let ended = within(&limits, || solve(mechanism, &problem)).map(|_| ()).unwrap_err();
        assert_eq!(ended.kind, Kind::Work { limit: 500 }, "{}", mechanism.info.id);
    }
}

#[test]
fn the_same_work_is_charged_every_time() {
    let problem = problem(9, 3);
    // About 40 tasks fit on a server of this problem, for which `packings` proves no prices (docs/packings.md).
    for mechanism in of_clusters().filter(|mechanism| mechanism.info.id != "packings") {
        let cost = || {
            let cost = within(&Limits::default(), || {
                solve(mechanism, &problem);
                spent()
            });
            cost.unwrap()
        };
        assert_eq!(cost(), cost(), "{}", mechanism.info.id);
    }
}

/// Checks that large tables are refused before they are created. The tables of 300 x 300 take more than a
/// megabyte, and the tables of all pairs some 30 megabytes.
#[test]
fn large_tables_are_refused_before_they_are_allocated() {
    let problem = problem(300, 300);
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    for id in ["ps-dsf", "drfh"] {
        let mechanism = registry::find(id).unwrap();
        let ended = within(&limits, || solve(mechanism, &problem)).map(|_| ()).unwrap_err();
        assert!(matches!(ended.kind, Kind::Memory { .. }), "{id}: {ended}");
    }
}

#[test]
fn every_mechanism_returns_a_feasible_allocation_at_the_time_limit() {
    let problem = problem(12, 4);
    // These take no time limit: they return the exact answer or no answer.
    let without_limit = ["packings", "oef"];
    for mechanism in of_clusters().filter(|mechanism| !without_limit.contains(&mechanism.info.id)) {
        let (id, flags) = (mechanism.info.id, flags(mechanism));
        let outcome = mechanism.allocate_with(&problem, &flags.clone().with("seconds", "0")).unwrap();
        let status = outcome.findings.status;
        assert!(matches!(status, Some(Status::Limit | Status::Interval)), "{id}: {status:?}");
        let instance = Instance::new(&problem, &outcome.allocation).unwrap();
        assert!(feasible::tightest(&instance).is_none_or(|(_, margin)| margin >= 0), "{id}");
        let is_of_whole_tasks = mechanism.is_of_whole_tasks();
        assert!(is_of_whole_tasks || outcome.allocation.totals().iter().any(|x| *x > 0), "{id}");
        let in_time = mechanism.allocate_with(&problem, &flags.clone().with("seconds", "1e6")).unwrap();
        assert_eq!(in_time, mechanism.allocate_with(&problem, &flags).unwrap(), "{id}");
    }
}

/// Checks that whole tasks that were placed before the time was up are returned.
#[test]
fn placed_tasks_survive_a_time_limit() {
    let mut spec = ProblemSpec {
        name: String::new(),
        resources: vec!["cpu".to_owned()],
        servers: vec![ServerSpec {
            name: "s".to_owned(),
            count: Some(Rational::from(1000)),
            capacity: vec![("cpu".to_owned(), Rational::from(100_000))],
        }],
        users: Vec::new(),
    };
    spec.users.push(UserSpec {
        name: "u".to_owned(),
        demand: vec![("cpu".to_owned(), Rational::from(1))],
        ..UserSpec::default()
    });
    let problem = Problem::new(spec).unwrap();
    let fill = registry::find("fill").unwrap();
    let flags = Flags::new(Arithmetic::Exact).with("seconds", "0.05");
    let outcome = fill.allocate_with(&problem, &flags).unwrap();
    let instance = Instance::new(&problem, &outcome.allocation).unwrap();
    let claim = Claim::derive(Axiom::IntegerFeasible, &instance, &Rational::new()).unwrap();
    assert_eq!(claim.holds, Some(true));
    let placed = outcome.allocation.total(0);
    assert_eq!(outcome.findings.status == Some(Status::Limit), placed < 100_000_000, "{placed}");
}
