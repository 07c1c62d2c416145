//! Compares the rises of the users of given allocations with the dense reference. The reference bisects the levels of
//! the other users by feasibility, and then solves one programme between two of these levels.

use crate::common;

use common::{assert_feasible, exact, fixed_runner, runner};
use evenhand_exact::{LimitRows, Prices, Share, ShareCoefficients};
use evenhand_levels::level::Rises;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::problems::{Numbers, SMALL, Shape, random};
use evenhand_testkit::random::static_shares::{repaired, teams};
use evenhand_testkit::reference::{Programme, Solved};
use proptest::prelude::*;

type Tasks = Vec<Vec<(usize, Rational)>>;

/// Returns the level `U_n / w_n` of user `n`.
fn level(problem: &Problem, share: &ShareCoefficients, n: usize, tasks: &[(usize, Rational)]) -> Rational {
    let sum: Rational = tasks.iter().map(|(i, x)| Rational::from(share.of(n, *i) * x)).sum();
    sum / problem.users()[n].weight()
}

fn levels(problem: &Problem, share: &ShareCoefficients, tasks: &Tasks) -> Vec<Rational> {
    tasks.iter().enumerate().map(|(n, list)| level(problem, share, n, list)).collect()
}

/// Computes the largest level of user `n` from the definition.
fn reference(
    problem: &Problem,
    sharing: Sharing,
    share: &ShareCoefficients,
    levels: &[Rational],
    n: usize,
) -> Rational {
    let programme = Programme::new(problem, sharing);
    let worth = |k: usize, i: usize| Rational::from(share.of(k, i) / problem.users()[k].weight());
    // Computes the largest `L` if the users in `above` must have the level `L`, and all other users their present
    // level.
    let most = |above: &dyn Fn(usize) -> bool, at_most: Option<&Rational>| {
        let row = |m: usize, last: u8| -> Vec<Rational> {
            let entry = |&(k, i): &(usize, usize)| if k == m { -worth(k, i) } else { Rational::new() };
            programme.placements.iter().map(entry).chain([Rational::from(last)]).collect()
        };
        let mut rows: Vec<_> = (0..levels.len())
            .map(|m| {
                if m == n || above(m) {
                    (row(m, 1), Rational::new())
                } else {
                    (row(m, 0), Rational::from(-&levels[m]))
                }
            })
            .collect();
        if let Some(cap) = at_most {
            let zeros = programme.placements.iter().map(|_| Rational::new());
            rows.push((zeros.chain([Rational::from(1)]).collect(), cap.clone()));
        }
        match programme.maximise(|_, _| Rational::new(), Rational::from(1), rows) {
            Solved::Optimal { value, .. } => Some(value),
            Solved::Infeasible => None,
            Solved::Unbounded => panic!("a level has no bound"),
        }
    };
    let mut reached = levels[n].clone();
    let mut breaks: Vec<Rational> = levels.iter().filter(|l| **l > reached).cloned().collect();
    breaks.sort();
    breaks.dedup();
    for next in breaks {
        let above = |m: usize| levels[m] > reached;
        let best = most(&above, Some(&next)).expect("the allocation is feasible");
        if best < next {
            return best;
        }
        reached = next;
    }
    most(&|m| levels[m] > reached, None).expect("the allocation is feasible")
}

/// Fails unless the prices are valid for every user.
fn assert_valid(problem: &Problem, sharing: Sharing, share: &ShareCoefficients, prices: &Prices) {
    let constraints = Constraints::new(problem, sharing);
    let lists = [&prices.user_weights, &prices.rows, &prices.users];
    assert!(lists.iter().all(|list| list.iter().all(|p| *p >= 0)));
    for (n, user) in problem.users().iter().enumerate() {
        assert!(user.tasks().is_some() || prices.users[n].is_zero());
        for i in (0..problem.n_servers()).filter(|&i| problem.can_run(n, i)) {
            let usage = constraints.usage(n, i).expect("it can run there");
            let rows = constraints.class_rows(i).zip(usage.iter());
            let price: Rational = rows.map(|(row, d)| Rational::from(d * &prices.rows[row])).sum();
            let worth = Rational::from(share.of(n, i) / user.weight()) * &prices.user_weights[n];
            assert!(worth <= price + &prices.users[n], "user {n} on class {i}");
        }
    }
}

fn check(problem: &Problem, sharing: Sharing, share: &ShareCoefficients, tasks: &Tasks) {
    let constraints = Constraints::new(problem, sharing);
    let levels = levels(problem, share, tasks);
    let limits = LimitRows::default();
    let mut rises = Rises::new(&constraints, share, &limits, tasks);
    for n in 0..problem.n_users() {
        let Some(rise) = rises.greatest(n).expect("a rise") else { continue };
        assert_eq!(rise.level, reference(problem, sharing, share, &levels, n), "user {n}");
        assert_feasible(problem, sharing, &rise.tasks);
        for (m, list) in rise.tasks.iter().enumerate().filter(|(m, _)| rises.level(*m).is_some()) {
            let floor = if m == n { &rise.level } else { (&levels[m]).min(&rise.level) };
            assert!(level(problem, share, m, list) >= *floor, "user {m} is below its floor");
        }
        assert_valid(problem, sharing, share, &rise.prices);
        assert_eq!(rises.bound(&rise.prices, n).as_ref(), Some(&rise.level));
        if let Ok(Some(bound)) = rises.nearly(n) {
            assert_valid(problem, sharing, share, &bound.prices);
            assert!(bound.level >= rise.level);
        }
    }
}

/// Generates a problem, numbers for an allocation, and the kind of its distance from the optimum of a share.
fn cases(shape: Shape) -> impl Strategy<Value = (Problem, Vec<u32>, u32)> {
    (random(shape), prop::collection::vec(0u32..1000, 24), 0u32..4)
}

fn check_case((problem, noise, kind): &(Problem, Vec<u32>, u32), share: Share, sharing: Sharing) {
    let Ok(coefficients) = share.coefficients(problem) else { return };
    let noise = |n: usize, i: usize| Rational::from(noise[(n * 4 + i) % noise.len()]);
    let tasks = if *kind == 0 {
        repaired(problem, sharing, |n, i| noise(n, i) / 100u32 - 2u32)
    } else {
        // Start from the optimum, and change it by a thousandth, by 1e-9, or not at all.
        let off = [0, 0, 1, 1_000_000_000][*kind as usize];
        let part = |n, i| Rational::from(1) - noise(n, i) / 1_000_000u32 / off;
        let optimum = exact(problem, sharing, &coefficients).expect("an optimum");
        let placed =
            |n: usize, i: usize| optimum.tasks[n].iter().find(|(k, _)| *k == i).map(|(_, x)| x.clone());
        repaired(problem, sharing, |n, i| {
            let x = placed(n, i).unwrap_or_default();
            if off == 0 { x } else { x * part(n, i) }
        })
    };
    check(problem, sharing, &coefficients, &tasks);
}

#[test]
fn rises_of_small_random_allocations_are_exact() {
    let strategy = (cases(SMALL), 0usize..4, any::<bool>());
    runner(250, file!())
        .run(&strategy, |(case, share, timed)| {
            let share = [Share::Dominant, Share::TaskShare, Share::Generic, Share::Asset][share];
            check_case(&case, share, if timed { Sharing::Tdm } else { Sharing::Rdm });
            Ok(())
        })
        .unwrap();
}

#[test]
fn rises_are_exact_for_numbers_far_apart_and_near_ties() {
    for numbers in [Numbers::FarApart, Numbers::NearTies] {
        fixed_runner(80)
            .run(&cases(Shape { numbers, ..SMALL }), |case| {
                check_case(&case, Share::Dominant, Sharing::Rdm);
                Ok(())
            })
            .unwrap();
    }
}

/// Forty teams with a tenth of a static partition each, in doubles. Every rise is computed, and the bounds proven from
/// doubles are close to the rise.
#[test]
fn bounds_on_rises_of_teams_are_close() {
    for seed in 1..4 {
        let (problem, tasks) = teams(seed, 1e-9);
        let share = Share::Dominant.coefficients(&problem).unwrap();
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let limits = LimitRows::default();
        let mut rises = Rises::new(&constraints, &share, &limits, &tasks);
        for n in 0..problem.n_users() {
            let rise = rises.greatest(n).unwrap().unwrap();
            assert_eq!(rises.bound(&rise.prices, n).as_ref(), Some(&rise.level));
            assert_valid(&problem, Sharing::Rdm, &share, &rise.prices);
            assert_feasible(&problem, Sharing::Rdm, &rise.tasks);
            let bound = rises.nearly(n).unwrap().unwrap();
            let above: Rational = Rational::from(&bound.level / &rise.level) - 1u32;
            assert!((0.0..1e-9).contains(&above.to_f64()), "user {n}: {above}");
        }
    }
}

#[test]
fn an_infeasible_allocation_is_an_error() {
    let (problem, mut tasks) = teams(1, 0.0);
    tasks[0][0].1 *= 1_000_000u32;
    let share = Share::Dominant.coefficients(&problem).unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let limits = LimitRows::default();
    let error = Rises::new(&constraints, &share, &limits, &tasks).greatest(0).unwrap_err();
    assert_eq!(error, evenhand_levels::LevelsError::Lp(evenhand_lp::LpError::ExactlyInfeasible));
}
