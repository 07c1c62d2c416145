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

/// The types of section 7.1 with rewards vCPU + GB/8 on servers of 80 vCPU and 640 GB.
fn virtual_machines(sizes: &[(i64, i64)]) -> Reservation {
    let demands: Vec<[i64; 2]> = sizes.iter().map(|(cpu, memory)| [*cpu, *memory]).collect();
    let types: Vec<(&[i64], (i64, i64), (i64, i64))> =
        demands.iter().map(|d| (&d[..], (8 * d[0] + d[1], 8), (1, 1))).collect();
    small(&[80, 640], &types)
}

/// Golden cases vm.worst4.infimum and vm.table1.infimum.
#[test]
fn the_worst_loads_of_virtual_machines() {
    let quotient = |p: i64, q: i64| Rational::from((p, q));
    for (sizes, expected) in [
        (&[(1, 1), (4, 16), (2, 32), (32, 256)][..], quotient(449, 515)),
        (&[(8, 64), (2, 2), (8, 32), (32, 256), (64, 64), (32, 128)], quotient(21, 25)),
        (&[(4, 32), (2, 2), (4, 16), (32, 512), (64, 64), (32, 128)], quotient(21, 25)),
        (&[(8, 64), (4, 4), (2, 8), (32, 512), (64, 128), (64, 256)], quotient(21, 25)),
        (&[(8, 64), (8, 8), (4, 16), (32, 256), (32, 32), (64, 256)], quotient(21, 25)),
        (&[(8, 128), (8, 8), (4, 16), (64, 512), (64, 64), (32, 128)], quotient(19, 25)),
    ] {
        let problem = virtual_machines(sizes);
        let start = std::time::Instant::now();
        let mut best = MaxReward::new(&problem);
        let worst = evenhand_lp::reservation::worst_load::worst_load(&mut best, &mut |_, _| {}).unwrap().unwrap();
        println!("{sizes:?} {:?} {} claims {} loads {:?}", start.elapsed(), worst.ratio_lower, worst.claims.len(), worst.loads);
        assert_eq!(worst.ratio_lower, worst.ratio_upper);
        assert_eq!(worst.ratio_lower, expected);
    }
}
