//! Intervals of levels hold what the exact method finds, and are narrow where blocks close.

use crate::common;

use std::time::Instant;

use common::{assert_feasible, exact, factor};
use evenhand_exact::Share;
use evenhand_lp::LpError;
use evenhand_lp::level::{LevelIntervals, Settings, lexicographic, lexicographic_intervals};
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::clusters::Cluster;
use evenhand_testkit::random::static_shares::Noise;

/// The intervals of a problem, each held against the exact level.
fn intervals(problem: &Problem, share: Share) -> Option<LevelIntervals> {
    let coefficients = share.coefficients(problem).ok()?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let found = lexicographic_intervals(&constraints, &coefficients, &Settings::default()).ok()?;
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

#[test]
fn exact_levels_lie_in_their_intervals() {
    let (mut found, mut narrow, mut closed, mut closed_narrow) = (0, 0, 0, 0);
    for seed in 0..u64::from(80 * factor()) {
        let mut noise = Noise::new(seed);
        let cluster = Cluster::any(&mut noise);
        let problem = cluster.problem(&mut noise);
        let share = if seed % 2 == 0 { Share::Dominant } else { Share::TaskShare };
        let checked = std::panic::catch_unwind(|| intervals(&problem, share));
        assert!(checked.is_ok(), "seed {seed}: {cluster:?}");
        let Some(levels) = checked.unwrap_or_default() else { continue };
        let is_narrow = levels.width() <= Rational::from((1, 1_000_000_000));
        found += 1;
        narrow += usize::from(is_narrow);
        if cluster.zero == 0 {
            closed += 1;
            closed_narrow += usize::from(is_narrow);
        }
    }
    assert!(found * 10 >= 9 * 80, "{found} answers");
    assert!(
        closed_narrow * 10 >= closed * 9,
        "{closed_narrow} of {closed} narrow, {narrow} of {found} in all"
    );
}

#[test]
fn without_time_there_is_no_exact_answer_but_an_interval() {
    let mut noise = Noise::new(3);
    let problem = Cluster::any(&mut noise).problem(&mut noise);
    let coefficients = Share::Dominant.coefficients(&problem).expect("it applies");
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let settings = Settings { until: Some(Instant::now()), ..Settings::default() };
    let late = lexicographic(&constraints, &coefficients, &settings);
    assert_eq!(late.expect_err("the time is up"), LpError::OutOfTime);
    assert!(lexicographic_intervals(&constraints, &coefficients, &settings).is_ok());
}
