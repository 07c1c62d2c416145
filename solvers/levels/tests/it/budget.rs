//! Tests that work and memory are charged to the budget before they are spent.

use std::time::{Duration, Instant};

use crate::common::factor;

use evenhand_budget::{Exceeded, Kind, Limits, spent, within};
use evenhand_exact::Share;
use evenhand_levels::level::{Settings, Within, lexicographic, lexicographic_within};
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Integer, Problem, Rational, Sharing};
use evenhand_testkit::random::clusters::Cluster;
use evenhand_testkit::random::static_shares::Noise;

fn problem(seed: u64) -> Problem {
    let mut noise = Noise::new(seed);
    Cluster { users: 40, classes: 8, ..Cluster::any(&mut noise) }.problem(&mut noise)
}

/// Computes levels and a weighted sum within `work` steps of the budget. Returns the steps that were charged.
fn solve(problem: &Problem, work: Option<u64>) -> Result<u64, Exceeded> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    within(&Limits { work, ..Limits::default() }, || {
        if let Ok(coefficients) = Share::Dominant.coefficients(problem) {
            lexicographic(&constraints, &coefficients, &Settings::default()).unwrap();
        }
        let worth = vec![Rational::from(1); problem.n_users()];
        maximise_sum(&constraints, SumGoal::of(&worth)).unwrap();
        spent()
    })
}

#[test]
fn the_charged_work_suffices_and_less_does_not() {
    for seed in 0..u64::from(4 * factor()) {
        let problem = problem(seed);
        let cost = solve(&problem, None).unwrap();
        assert_eq!(solve(&problem, Some(cost)), Ok(cost), "seed {seed}");
        for part in [1, 10, 100] {
            let limit = (cost - 1) / part;
            let ended = solve(&problem, Some(limit)).unwrap_err();
            assert_eq!(ended.kind, Kind::Work { limit }, "seed {seed}");
        }
    }
}

/// Pivots fill the equations of these users with numbers of hundreds of digits. The limit of work ends the computation
/// without a clock.
#[test]
fn equations_in_long_numbers_are_charged() {
    let text = include_str!("../../../../crates/evenhand/tests/bombs/asset-slow.json");
    let problem = Source { name: "-", text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let coefficients = Share::Asset.coefficients(&problem).unwrap();
    let limit = 400_000_000;
    let limits = Limits { work: Some(limit), ..Limits::default() };
    let settings = Settings::default();
    let ended = within(&limits, || lexicographic(&constraints, &coefficients, &settings).map(|_| ()));
    assert_eq!(ended.unwrap_err().kind, Kind::Work { limit });
}

/// Weights without common factors: the level has the digits of all weights, and so has the number of tasks of every
/// user. The solver detects this while the level grows. If there is a deadline, it computes bounds instead.
#[test]
fn levels_too_long_for_the_memory_are_refused_or_bounded() {
    let users: Vec<String> = (0..300_u32)
        .map(|n| {
            let power = Integer::from(Integer::u_pow_u(2, 300 + n));
            let (weight, memory) =
                (format!("{}/{}", Integer::from(&power * (n % 7 + 1)), power - 1u32), 1 + n * 37 % 101);
            format!(r#"{{"name": "u{n}", "weight": "{weight}", "demand": {{"cpu": 1, "memory": {memory}}}}}"#)
        })
        .collect();
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": [
            {{"name": "a", "capacity": {{"cpu": 10, "memory": 300}}}},
            {{"name": "b", "capacity": {{"cpu": 20, "memory": 200}}}}], "users": [{}]}}"#,
        users.join(",")
    );
    let problem = Source { name: "-", text: &text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let coefficients = Share::Dominant.coefficients(&problem).unwrap();
    let limits = Limits { memory: Some(1 << 20), ..Limits::default() };
    let ended =
        within(&limits, || lexicographic(&constraints, &coefficients, &Settings::default()).map(|_| ()));
    let ended = ended.unwrap_err();
    assert!(matches!(ended.kind, Kind::Memory { .. }) && ended.what == "an exact level", "{ended}");
    let settings = Settings { until: Some(Instant::now() + Duration::from_secs(600)), ..Settings::default() };
    let found = within(&limits, || lexicographic_within(&constraints, &coefficients, &settings)).unwrap();
    let Within::Between(found) = found else { panic!("an exact level was found") };
    assert!(found.width() < Rational::from((1, 1_000_000_000)), "{}", found.width());
    // Without a limit of memory, the level is computed.
    let found = lexicographic_within(&constraints, &coefficients, &settings);
    assert!(matches!(found, Within::Exact(_)));
}
