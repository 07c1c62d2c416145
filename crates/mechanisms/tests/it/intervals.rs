//! Tests of levels that are enclosed by proven bounds, through the flags of the mechanisms.

use evenhand_exact::Share;
use evenhand_mechanisms::{Flags, MechanismError, Status, registry};
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem, Rational};

const TEXT: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
    "servers": [{"name": "a", "count": 7, "capacity": {"cpu": 3, "memory": 5}},
                {"name": "b", "count": 2, "capacity": {"cpu": 11, "memory": 4}}],
    "users": [{"name": "x", "demand": {"cpu": "1/3", "memory": 1}},
              {"name": "y", "weight": 3, "demand": {"cpu": 1, "memory": "0.7"}},
              {"name": "z", "tasks": 2, "demand": {"cpu": 1, "memory": 1}},
              {"name": "w", "demand": {"cpu": 1, "memory": 1}, "servers": ["b"]}]}"#;

fn problem() -> Problem {
    Source { name: "p.json", text: TEXT }.problem().unwrap()
}

#[test]
fn levels_have_bounds_at_the_time_limit_and_are_exact_otherwise() {
    let problem = problem();
    let drfh = registry::find("drfh").unwrap();
    let exact = Flags::new(Arithmetic::Exact);
    let late = drfh.allocate_with(&problem, &exact.clone().with("seconds", "0")).unwrap();
    assert_eq!(late.findings.status, Some(Status::Interval));
    let intervals = late.findings.intervals.expect("intervals");
    assert!(intervals.width <= Rational::from((1, 1_000_000_000)), "{}", intervals.width);
    let optimum = drfh.allocate_with(&problem, &exact).unwrap();
    assert_eq!(optimum.findings.intervals, None);
    let coefficients = Share::Dominant.coefficients(&problem).unwrap();
    for (n, (low, high)) in intervals.levels.iter().enumerate() {
        let tasks: Rational = optimum.allocation.tasks[n].iter().map(|(_, x)| x).sum();
        let level = tasks * coefficients.of(n, 1) / problem.users()[n].weight();
        assert!(*low <= level && level <= *high, "user {n}: {low} {level} {high}");
    }
    let in_time =
        drfh.allocate_with(&problem, &Flags::new(Arithmetic::Exact).with("seconds", "1e6")).unwrap();
    assert_eq!(in_time.allocation, optimum.allocation);
}

#[test]
fn refuses_impossible_time_limits() {
    let tsf = registry::find("tsf").unwrap();
    for (arithmetic, text) in
        [(Arithmetic::Exact, "-1"), (Arithmetic::Float, "1"), (Arithmetic::Exact, "soon")]
    {
        let error = tsf.allocate_with(&problem(), &Flags::new(arithmetic).with("seconds", text)).unwrap_err();
        assert!(matches!(error, MechanismError::Unreadable { option: "seconds", .. }), "{error}");
    }
}
