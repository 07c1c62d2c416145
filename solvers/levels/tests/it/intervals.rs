//! Intervals of levels contain the results of the exact method. They always exist, and they are
//! narrow.

use crate::common;

use std::time::{Duration, Instant};

use common::{assert_feasible, exact, factor};
use evenhand_exact::Share;
use evenhand_levels::LevelsError;
use evenhand_levels::level::{LevelIntervals, Settings, Within, lexicographic, lexicographic_within};
use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::static_shares::Noise;

/// Returns settings whose deadline has passed, with parts of up to `small` placements counted as
/// small.
fn late(small: usize) -> Settings {
    Settings { until: Some(Instant::now()), small, ..Settings::default() }
}

/// Computes the intervals of a problem, and compares each with the exact level. Returns `None` if
/// the share does not apply, or all levels were found in time.
fn intervals(problem: &Problem, share: Share, settings: Settings) -> Option<LevelIntervals> {
    let coefficients = share.coefficients(problem).ok()?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let Within::Between(found) = lexicographic_within(&constraints, &coefficients, &settings) else {
        return None;
    };
    assert_feasible(problem, Sharing::Rdm, &found.tasks);
    let optimum = exact(problem, Sharing::Rdm, &coefficients).expect("an exact optimum");
    for (n, (low, high)) in found.levels.iter().enumerate() {
        let level = |tasks: &[(usize, Rational)]| -> Rational {
            let sum: Rational = tasks.iter().map(|(i, x)| Rational::from(coefficients.of(n, *i) * x)).sum();
            sum / problem.users()[n].weight()
        };
        let exact = level(&optimum.tasks[n]);
        assert!(*low <= exact && exact <= *high, "user {n}: {low} {exact} {high}");
    }
    Some(found)
}

fn share(seed: u64) -> Share {
    if seed.is_multiple_of(2) { Share::Dominant } else { Share::TaskShare }
}

fn is_narrow(found: &LevelIntervals) -> bool {
    found.width() <= Rational::from((1, 1_000_000_000))
}

#[test]
fn exact_levels_lie_in_their_intervals() {
    for seed in 0..u64::from(80 * factor()) {
        let mut noise = Noise::new(seed);
        let cluster = Cluster::any(&mut noise);
        let problem = cluster.problem(&mut noise);
        let found = intervals(&problem, share(seed), late(Settings::default().small));
        assert!(found.as_ref().is_none_or(is_narrow), "seed {seed}: {cluster:?}");
    }
}

/// Levels in doubles, as in large problems, whose exact rounds do not continue.
#[test]
fn levels_in_doubles_lie_in_their_intervals() {
    let (mut found, mut closed, mut closed_narrow) = (0, 0, 0);
    for seed in 0..u64::from(80 * factor()) {
        let mut noise = Noise::new(seed);
        let cluster = Cluster::any(&mut noise);
        let problem = cluster.problem(&mut noise);
        let Some(levels) = intervals(&problem, share(seed), late(0)) else { continue };
        found += 1;
        if cluster.zero == 0 {
            closed += 1;
            closed_narrow += usize::from(is_narrow(&levels));
        }
    }
    assert!(found >= 70 && closed_narrow * 10 >= closed * 9, "{closed_narrow} of {closed}, {found} in all");
}

/// A deadline between rounds: the results of finished rounds stay.
#[test]
fn finished_rounds_keep_their_levels() {
    let mut kept = 0;
    for seed in 0..u64::from(30 * factor()) {
        let mut noise = Noise::new(900 + seed);
        let cluster = Cluster { users: 60, classes: 12, zero: 50, ..Cluster::any(&mut noise) };
        let problem = cluster.problem(&mut noise);
        let width = |micros: u64| {
            let until = Some(Instant::now() + Duration::from_micros(micros));
            let settings = Settings { until, small: 0, ..Settings::default() };
            intervals(&problem, share(seed), settings).map(|found| {
                let known =
                    found.levels.iter().filter(|(low, high)| Rational::from(high - low) < 1e-20).count();
                (known, problem.n_users())
            })
        };
        kept +=
            [500, 2_000, 8_000].iter().filter_map(|micros| width(*micros)).filter(|(k, _)| *k > 0).count();
    }
    assert!(kept > 0);
}

/// Users on few classes, with demands of 0: levels that stay frozen over many rounds.
#[test]
fn sparse_problems_have_narrow_intervals() {
    for (seed, zero) in (0..10).zip([0, 25, 50, 25, 50, 0, 25, 50, 25, 50]) {
        let mut noise = Noise::new(4_000 + seed);
        let eligibility = if seed % 3 == 2 { Eligibility::Everywhere } else { Eligibility::Few };
        let cluster = Cluster {
            users: 400,
            classes: 30,
            resources: 4,
            eligibility,
            zero,
            finite: if seed % 4 == 3 { 40 } else { 0 },
            most: 64,
            weights: 5,
        };
        let problem = cluster.problem(&mut noise);
        let found = intervals(&problem, Share::Dominant, late(Settings::default().small)).expect("intervals");
        assert!(is_narrow(&found), "seed {seed}: {cluster:?}");
    }
}

/// A problem in which rounding made an earlier frozen level infeasible in a later programme.
const FROZEN: &str = r#"{"kind": "allocation-problem", "resources": ["r0", "r1", "r2", "r3"], "servers": [
    {"name": "s0", "capacity": {"r1": 3, "r2": 22, "r3": 21}},
    {"name": "s1", "capacity": {"r2": "35/4"}},
    {"name": "s2", "capacity": {"r0": "43/4", "r1": "8/3", "r2": 15, "r3": "1/2"}},
    {"name": "s3", "capacity": {"r1": "17/2", "r2": "23/3", "r3": "45/4"}},
    {"name": "s4", "capacity": {"r0": 36, "r1": "15/2", "r3": 11}}], "users": [
    {"name": "a", "demand": {"r1": 31, "r2": "23/4"}},
    {"name": "b", "demand": {"r1": 4, "r2": "7/2"}},
    {"name": "c", "demand": {"r0": 2}},
    {"name": "d", "weight": "4/3", "demand": {"r2": "23/3", "r3": 3}},
    {"name": "e", "demand": {"r0": 18, "r2": 11, "r3": 23}},
    {"name": "f", "demand": {"r0": 25, "r2": "7/4"}},
    {"name": "g", "demand": {"r0": 28}},
    {"name": "h", "demand": {"r1": "13/4", "r2": 45}},
    {"name": "i", "demand": {"r2": 37}},
    {"name": "j", "weight": 4, "demand": {"r2": 26, "r3": "39/2"}},
    {"name": "k", "demand": {"r0": 21}},
    {"name": "l", "demand": {"r0": "9/2"}},
    {"name": "m", "demand": {"r0": "19/4", "r2": 2, "r3": 34}}]}"#;

#[test]
fn a_frozen_level_missed_by_rounding_is_no_error() {
    let problem = Source { name: "frozen.json", text: FROZEN }.problem().expect("a problem");
    let found = intervals(&problem, Share::Dominant, late(Settings::default().small)).expect("intervals");
    assert!(is_narrow(&found), "{}", found.width());
    // In doubles alone there is an answer too.
    assert!(intervals(&problem, Share::Dominant, late(0)).is_some());
}

#[test]
fn an_interval_replaces_the_exact_answer_at_the_time_limit() {
    let mut noise = Noise::new(3);
    let problem = Cluster::any(&mut noise).problem(&mut noise);
    let coefficients = Share::Dominant.coefficients(&problem).expect("it applies");
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let error = lexicographic(&constraints, &coefficients, &late(0)).expect_err("the time is up");
    assert_eq!(error, LevelsError::OutOfTime);
    assert!(matches!(lexicographic_within(&constraints, &coefficients, &late(0)), Within::Between(_)));
}
