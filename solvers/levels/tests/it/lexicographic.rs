//! Compares the rounds with an independent reference: plain rounds on a dense simplex method, in rationals. In the
//! reference, every user has its own row, and a programme for each user decides whether the user is blocked.

use crate::common;

use std::cell::RefCell;
use std::collections::BTreeMap;

use common::{assert_feasible, assert_proven, exact, fixed_runner, runner, totals};
use evenhand_exact::{Share, ShareCoefficients};
use evenhand_levels::LevelsError;
use evenhand_levels::level::{LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand_testkit::random::problems::{Numbers, SMALL, Shape, build, random, random_spec, spec_of};
use evenhand_testkit::random::static_shares::Noise;
use evenhand_testkit::{q, qs, reference, total};
use proptest::prelude::*;

const SHARES: [Share; 6] = [
    Share::Dominant,
    Share::TaskShare,
    Share::Asset,
    Share::Generic,
    Share::Containerized,
    Share::Resource(0),
];

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![3 => Just(SHARES[0]), 2 => Just(SHARES[1]), 1 => Just(SHARES[2]), 4 => Just(SHARES[3]),
        1 => Just(SHARES[4]), 1 => Just(SHARES[5])]
}

fn sharing() -> impl Strategy<Value = Sharing> {
    prop_oneof![4 => Just(Sharing::Rdm), 1 => Just(Sharing::Tdm)]
}

/// Returns `U_n / w_n` of an allocation.
fn level(problem: &Problem, share: &ShareCoefficients, n: usize, tasks: &[(usize, Rational)]) -> Rational {
    let value: Rational = tasks.iter().map(|(i, x)| Rational::from(x * share.of(n, *i))).sum();
    value / problem.users()[n].weight()
}

/// Compares an exact optimum with the reference: every `U_n`, every `x_n` that the levels determine, and the levels of
/// the duals.
fn assert_same(
    problem: &Problem,
    sharing: Sharing,
    share: &ShareCoefficients,
    optimum: &LexicographicOptimum<Rational>,
) -> Vec<Rational> {
    let expected = reference::lexicographic(problem, sharing, share);
    assert_feasible(problem, sharing, &optimum.tasks);
    for (n, tasks) in optimum.tasks.iter().enumerate() {
        assert_eq!(level(problem, share, n, tasks), expected[n], "share of user {n}");
        if let Some(u) = share.uniform(n).filter(|u| !u.is_zero()) {
            assert_eq!(
                total(tasks),
                Rational::from(&expected[n] * problem.users()[n].weight()) / u,
                "user {n}"
            );
        }
    }
    assert!(optimum.duals.windows(2).all(|pair| pair[0].level <= pair[1].level), "levels ascend");
    for dual in &optimum.duals {
        let blocked =
            (0..problem.n_users()).filter(|&n| dual.prices.weight(n) > 0 && expected[n] == dual.level);
        assert!(blocked.count() > 0, "nobody is at the level {}", dual.level);
        assert!((0..problem.n_users()).all(|n| dual.prices.weight(n).is_zero() || expected[n] <= dual.level));
    }
    expected
}

fn assert_near(problem: &Problem, sharing: Sharing, share: &ShareCoefficients, expected: &[Rational]) {
    let constraints = Constraints::new(problem, sharing);
    let float =
        lexicographic_float(&constraints, share, &Settings::default()).expect("an optimum in doubles");
    for (n, tasks) in float.tasks.iter().enumerate() {
        let weight = problem.users()[n].weight().to_f64();
        let found: f64 = tasks.iter().map(|(i, x)| x * share.of(n, *i).to_f64()).sum::<f64>() / weight;
        let expected = expected[n].to_f64();
        // Convert the difference of levels to a difference of tasks, if a level determines the number of tasks.
        let least = (0..problem.n_servers()).map(|i| share.of(n, i).to_f64()).filter(|u| *u > 0.0);
        let unit = weight / least.fold(f64::INFINITY, f64::min);
        let off = (found - expected).abs() * if unit.is_finite() { unit } else { 1.0 };
        let scale = (expected * unit).max(1.0);
        assert!(off <= 1e-7 * scale, "user {n}: {found} for {expected} in doubles");
        assert!(tasks.iter().all(|(i, x)| *x > 0.0 && problem.can_run(n, *i)), "user {n}: {tasks:?}");
    }
}

/// Counts of the outcomes of a series of comparisons.
#[derive(Debug, Default)]
struct Seen {
    solved: usize,
    not_applicable: usize,
    pivots: usize,
    errors: BTreeMap<String, usize>,
}

fn fail(error: &LevelsError) -> TestCaseError {
    TestCaseError::fail(format!("{error:?}"))
}

fn compare(
    problem: &Problem,
    sharing: Sharing,
    share: Share,
    seen: &RefCell<Seen>,
    floats: bool,
) -> Result<(), LevelsError> {
    let mut seen = seen.borrow_mut();
    let Ok(share) = share.coefficients(problem) else {
        seen.not_applicable += 1;
        return Ok(());
    };
    match exact(problem, sharing, &share) {
        Ok(optimum) => {
            seen.solved += 1;
            seen.pivots += usize::from(optimum.pivots > 0);
            let expected = assert_same(problem, sharing, &share, &optimum);
            if floats {
                assert_near(problem, sharing, &share, &expected);
            }
        }
        Err(error) => {
            *seen.errors.entry(format!("{error:?}")).or_default() += 1;
            return Err(error);
        }
    }
    Ok(())
}

#[test]
fn small_problems_equal_the_reference() {
    let seen = RefCell::default();
    let mut runner = runner(3000, file!());
    let outcome = runner.run(&(random(SMALL), sharing(), share()), |(problem, sharing, share)| {
        compare(&problem, sharing, share, &seen, true).map_err(|error| fail(&error))
    });
    println!("{seen:?}");
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(seen.borrow().solved > 2000);
}

#[test]
fn plain_clusters_equal_the_reference() {
    let shape = Shape { demand_on: 0.0, gamma: 0.0, zero: 0.0, placement: 0.1, ..SMALL };
    let seen = RefCell::default();
    let outcome = runner(800, file!()).run(&random(shape), |problem| {
        compare(&problem, Sharing::Rdm, Share::Dominant, &seen, true).map_err(|error| fail(&error))
    });
    println!("{seen:?}");
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Runs a series in which the structured lift of a basis cannot work, or in which doubles help little. The answer must
/// equal the reference, or be a named error.
fn hard_series(cases: u32, shape: Shape, shares: impl Strategy<Value = Share>, may_fail: bool) -> Seen {
    let seen = RefCell::default();
    let strategy = (random(shape), sharing(), shares);
    let outcome = fixed_runner(cases).run(&strategy, |(problem, sharing, share)| {
        match compare(&problem, sharing, share, &seen, false) {
            Err(error) if !may_fail => Err(fail(&error)),
            _ => Ok(()),
        }
    });
    println!("{:?} {:?}: {seen:?}", shape.numbers, shape.finite);
    outcome.unwrap_or_else(|error| panic!("{error}"));
    seen.into_inner()
}

#[test]
fn problems_that_can_satisfy_all_users_equal_the_reference() {
    let seen = hard_series(500, Shape { finite: (1.0, 30), ..SMALL }, share(), false);
    assert!(seen.solved > 300);
}

#[test]
fn tasks_of_different_value_by_class_equal_the_reference() {
    let seen = hard_series(500, SMALL, Just(Share::Generic), false);
    assert!(seen.solved > 300);
}

#[test]
fn numbers_nine_orders_of_magnitude_apart_equal_the_reference() {
    let seen = hard_series(500, Shape { numbers: Numbers::FarApart, ..SMALL }, share(), true);
    assert!(seen.solved > 300, "{seen:?}");
    assert!(seen.errors.values().sum::<usize>() * 10 < seen.solved, "more than a few are given up: {seen:?}");
}

#[test]
fn ties_beyond_double_precision_equal_the_reference() {
    let seen = hard_series(600, Shape { numbers: Numbers::NearTies, ..SMALL }, share(), false);
    assert!(seen.solved > 300);
}

#[test]
fn users_satisfied_at_nearly_equal_levels_equal_the_reference() {
    let shape = Shape { numbers: Numbers::NearTies, finite: (0.9, 6), demand_on: 0.0, gamma: 0.0, ..SMALL };
    let seen = hard_series(400, shape, Just(Share::Dominant), false);
    assert!(seen.solved > 300);
}

/// Users with the same demand are solved as one user. A criterion that has no meaning for the share keeps them apart.
#[test]
fn merged_users_get_the_same_tasks_as_separate_users() {
    let strategy = (random_spec(Shape { users: (1, 3), ..SMALL }), 2usize..4, 0usize..3);
    let outcome = runner(500, file!()).run(&strategy, |(spec, copies, share)| {
        let share = [Share::Dominant, Share::TaskShare, Share::Asset][share];
        let originals = spec.users.len();
        let mut merged = spec.clone();
        merged.users = (0..copies * originals)
            .map(|k| {
                let mut user = spec.users[k % originals].clone();
                user.name = format!("u{k}");
                user
            })
            .collect();
        let mut apart = merged.clone();
        for (k, user) in apart.users.iter_mut().enumerate() {
            user.criterion = vec![(spec.servers[0].name.clone(), Rational::from(k + 1))];
        }
        let mut summed = spec.clone();
        for user in &mut summed.users {
            let times = |q: Rational| q * copies as u64;
            user.weight = Some(times(user.weight.clone().unwrap_or_else(|| Rational::from(1))));
            user.tasks = user.tasks.clone().map(times);
        }
        let (merged, apart, summed) = (build(merged), build(apart), build(summed));
        let Ok(coefficients) = share.coefficients(&merged) else { return Ok(()) };
        let tasks = exact(&merged, Sharing::Rdm, &coefficients).expect("an optimum").tasks;
        let together: Vec<Rational> = tasks.iter().map(total).collect();
        prop_assert_eq!(&together, &totals(&apart, share));
        for (n, sum) in totals(&summed, share).iter().enumerate() {
            for copy in 0..copies {
                let k = n + copy * originals;
                prop_assert_eq!(&Rational::from(&together[k] * copies as u64), sum);
                prop_assert_eq!(&tasks[k], &tasks[n]);
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn problems_without_active_users_have_no_rounds() {
    let nobody = build(spec_of(&["1 1"], &[]));
    assert!(totals(&nobody, Share::Dominant).is_empty());
    let mut idle = spec_of(&["1 0"], &["0 1", "1 0"]);
    idle.users[1].tasks = Some(Rational::new());
    let idle = build(idle);
    let none = ShareCoefficients::clone(&Share::TaskShare.coefficients(&idle).expect("applies"));
    let optimum = exact(&idle, Sharing::Rdm, &none).expect("an optimum");
    assert_eq!((optimum.tasks, optimum.rounds), (vec![vec![], vec![]], 0));
}

#[test]
fn placements_are_reproducible() {
    let strategy = (random(Shape { users: (4, 6), ..SMALL }), share());
    let outcome = runner(100, file!()).run(&strategy, |(problem, share)| {
        let Ok(share) = share.coefficients(&problem) else { return Ok(()) };
        let solve = || exact(&problem, Sharing::Rdm, &share).expect("an optimum").tasks;
        prop_assert_eq!(solve(), solve());
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_limit_of_steps_is_an_error() {
    let problem = build(spec_of(&["2 12", "12 2"], &["1/5 1", "1 1/5"]));
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    let settings = Settings { max_steps: 0, ..Settings::default() };
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    assert_eq!(
        lexicographic(&constraints, &share, &settings).map(|o| o.rounds),
        Err(LevelsError::NoProgress { round: 1 })
    );
    assert_eq!(
        lexicographic_float(&constraints, &share, &settings).map(|o| o.rounds),
        Err(LevelsError::NoProgress { round: 1 })
    );
}

fn agree(problem: &Problem, share: Share) {
    let coefficients = share.coefficients(problem).expect("applies");
    let optimum = exact(problem, Sharing::Rdm, &coefficients).unwrap_or_else(|error| panic!("{error}"));
    let expected = assert_same(problem, Sharing::Rdm, &coefficients, &optimum);
    assert_near(problem, Sharing::Rdm, &coefficients, &expected);
}

/// Found at random: the second user has all its tasks at a level 1e-12 above the level that it reaches.
///
/// In doubles the user counts as satisfied, but no exact programme can give it all its tasks.
#[test]
fn solves_a_user_that_is_satisfied_only_in_doubles() {
    let mut spec = spec_of(&["1 0 1", "1 999999999999/1000000000000 1"], &["1 0 1", "1 3 1"]);
    spec.users[1].weight = Some(q("3"));
    spec.users[1].tasks = Some(q("1/3"));
    agree(&build(spec), Share::Dominant);
}

/// Found at random: the same case on a time-shared class.
#[test]
fn solves_a_time_shared_user_that_is_satisfied_only_in_doubles() {
    let mut spec = spec_of(&["0 1", "3 0"], &["3000000000003/1000000000000 0", "0 1"]);
    spec.users[0].weight = Some(q("3"));
    spec.users[0].tasks = Some(q("1"));
    let problem = build(spec);
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    let optimum = exact(&problem, Sharing::Tdm, &share).unwrap_or_else(|error| panic!("{error}"));
    assert_same(&problem, Sharing::Tdm, &share, &optimum);
}

/// Found at random: HiGHS ended with status unknown.
#[test]
fn solves_a_demand_by_class_on_which_highs_gives_up() {
    let mut spec = spec_of(&["4 3", "1 1"], &["1 0", "1 4", "2 4"]);
    spec.servers[0].count = Some(q("3"));
    spec.servers[1].count = Some(q("2"));
    for (user, weight) in spec.users.iter_mut().zip(["3", "2", "3"]) {
        user.weight = Some(q(weight));
    }
    spec.users[1].demand_on = vec![("s0".to_owned(), vec![("r1".to_owned(), q("1"))])];
    agree(&build(spec), Share::Dominant);
}

/// Found at random: HiGHS ended with status unknown.
#[test]
fn solves_a_problem_on_which_highs_gives_up() {
    let mut spec = spec_of(&["7 5/7 7/5", "0 5/7 7/2"], &["1/7 3/5 5/2", "0 2 3/5", "0 1 0"]);
    spec.users[0].tasks = Some(q("5/2"));
    for user in &mut spec.users {
        user.weight = Some(q("3"));
    }
    for server in &mut spec.servers {
        server.count = Some(q("3"));
    }
    agree(&build(spec), Share::Dominant);
}

/// Tests the reference itself, on examples that can be solved by hand.
#[test]
fn the_reference_solves_textbook_examples() {
    let problem = build(spec_of(&["9 18"], &["1 4", "3 1"]));
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    // DRF (Ghodsi et al.), Figure 2: 3 and 2 tasks, dominant shares of 2/3.
    assert_eq!(reference::lexicographic(&problem, Sharing::Rdm, &share), qs(&["2/3", "2/3"]));
    let dense = |costs: &[&str], rows: &[(&[&str], &str)]| reference::Dense {
        costs: qs(costs),
        rows: rows.iter().map(|(a, b)| (qs(a), q(b))).collect(),
    };
    let wyndor = dense(&["3", "5"], &[(&["1", "0"], "4"), (&["0", "2"], "12"), (&["3", "2"], "18")]);
    assert_eq!(wyndor.solve(), reference::Solved::Optimal { value: q("36"), x: qs(&["2", "6"]) });
    assert_eq!(dense(&["1"], &[(&["1"], "-1")]).solve(), reference::Solved::Infeasible);
    assert_eq!(dense(&["1"], &[(&["-1"], "-1")]).solve(), reference::Solved::Unbounded);
}

/// Users on few classes. Some of them are blocked only by themselves, and others only seem to be.
#[test]
fn users_blocked_only_by_themselves_are_solved() {
    for seed in 0..400 {
        let mut noise = Noise::new(seed);
        let (n_classes, n_resources) = (3 + noise.below(7), 1 + noise.below(2));
        let mut amounts = |most: u32| -> Vec<(String, Rational)> {
            (0..n_resources).map(|r| (format!("r{r}"), Rational::from(1 + noise.below(most)))).collect()
        };
        let servers = (0..n_classes).map(|i| ServerSpec {
            name: format!("s{i}"),
            capacity: amounts(9),
            ..ServerSpec::default()
        });
        let servers: Vec<ServerSpec> = servers.collect();
        let demands: Vec<_> = (0..n_classes).map(|_| amounts(4)).collect();
        let users = demands.into_iter().enumerate().map(|(n, demand)| {
            let first = noise.below(n_classes);
            let classes = (0..=noise.below(2)).map(|k| format!("s{}", (first + k) % n_classes));
            UserSpec {
                name: format!("u{n}"),
                weight: Some(Rational::from(1 + noise.below(12))),
                tasks: (noise.below(4) == 0).then(|| Rational::from(1 + noise.below(6))),
                demand,
                servers: Some(classes.collect()),
                ..UserSpec::default()
            }
        });
        let users = users.collect();
        let resources = (0..n_resources).map(|r| format!("r{r}")).collect();
        let problem =
            Problem::new(ProblemSpec { name: "few classes".to_owned(), resources, servers, users }).unwrap();
        for share in [Share::Dominant, Share::Asset] {
            let coefficients = share.coefficients(&problem).unwrap();
            let optimum = exact(&problem, Sharing::Rdm, &coefficients).unwrap();
            assert_same(&problem, Sharing::Rdm, &coefficients, &optimum);
            assert_proven(&problem, Sharing::Rdm, share, &optimum);
        }
    }
}
