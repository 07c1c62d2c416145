//! Work and memory are charged before they are spent.

use crate::common::factor;

use evenhand_budget::{Exceeded, Kind, Limits, spent, within};
use evenhand_exact::Share;
use evenhand_lp::level::{Settings, lexicographic};
use evenhand_lp::mip::{MipColumn, MipModel, MipSettings};
use evenhand_lp::weighted_sum::{SumGoal, maximise_sum};
use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::clusters::Cluster;
use evenhand_testkit::random::static_shares::Noise;

fn problem(seed: u64) -> Problem {
    let mut noise = Noise::new(seed);
    Cluster { users: 40, classes: 8, ..Cluster::any(&mut noise) }.problem(&mut noise)
}

/// Levels and a sum, with so many steps.
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
fn what_was_charged_is_enough_and_less_is_not() {
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

#[test]
fn a_programme_of_whole_numbers_is_charged_by_its_size() {
    let mut mip = MipModel::default();
    for _ in 0..100 {
        mip.add_column(MipColumn { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: true }).unwrap();
    }
    let limits = Limits { work: Some(1000), ..Limits::default() };
    assert!(within(&limits, || mip.solve(&MipSettings::default())).is_err());
}

/// Pivots fill the equations of these users with numbers of hundreds of digits: work ends them, and no clock.
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
