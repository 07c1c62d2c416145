//! Greedy and optimal reservation: published numbers, and other methods.

mod common;

use common::reservation::{adversarial, small, verify};
use evenhand_lp::reservation::{MaxReward, configuration_lp, greedy};
use evenhand_problem::{Rational, Reservation};
use rug::ops::Pow;

/// Greedy, the verified optimum.
#[track_caller]
fn both(problem: &Reservation) -> (Rational, Rational) {
    let mut best = MaxReward::new(problem);
    let greedy = greedy::fluid(&mut best, &problem.loads(), &problem.fractions()).unwrap();
    let optimum = configuration_lp::solve(&best, &problem.loads(), &problem.fractions()).unwrap();
    verify(problem, &problem.loads(), &problem.fractions(), &optimum);
    (greedy.reward, optimum.value)
}

/// Proposition 3.10, Appendix C.
#[test]
fn the_family_that_comes_close_to_one_minus_one_over_e() {
    for n_types in (3..=16).chain([24, 32, 50]) {
        let (greedy, optimum) = both(&adversarial(n_types));
        let n = n_types - 1;
        let power = Rational::from((n - 1, n)).pow(n);
        assert_eq!(greedy / optimum, Rational::from(1) - power, "J = {n_types}");
    }
}

/// Section 1.
#[test]
fn the_introduction() {
    let with = |loads: [(i64, i64); 3]| {
        small(
            &[10, 10],
            &[(&[6, 6], (4, 1), loads[0]), (&[7, 1], (3, 1), loads[1]), (&[1, 7], (3, 1), loads[2])],
        )
    };
    for (loads, reward) in [
        ([(1, 1), (1, 1), (1, 1)], (6, 1)),
        ([(1, 2), (1, 2), (1, 2)], (5, 1)),
        ([(1, 1), (1, 2), (1, 4)], (9, 2)),
        ([(1, 1), (0, 1), (3, 4)], (4, 1)),
        ([(3, 5), (3, 10), (4, 5)], (9, 2)),
    ] {
        assert_eq!(both(&with(loads)), (Rational::from(reward), Rational::from(reward)));
    }
}
