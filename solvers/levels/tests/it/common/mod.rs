//! Code that the integration tests share.
#![allow(dead_code, unused_imports)]

pub mod njc;

use evenhand_exact::axiom::max_min::uncovered;
use evenhand_exact::{
    Axiom, Claim, Evidence, Instance, Level, PriceVector, Prices, Share, ShareCoefficients,
};
use evenhand_levels::level::{LexicographicOptimum, Settings, lexicographic};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};
use evenhand_testkit::total;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::{FileFailurePersistence, RngSeed, TestRunner};

/// Returns a test runner. The environment variable `EVENHAND_TEST_FACTOR` multiplies the number of cases, for a long
/// search.
pub fn runner(cases: u32, file: &'static str) -> TestRunner {
    TestRunner::new(ProptestConfig {
        source_file: Some(file),
        ..ProptestConfig::with_cases(cases * factor())
    })
}

/// Returns a [`runner`] with the same cases every time, for data on which rounding errors matter. Another version of
/// HiGHS may fail on other cases, but the same version may not. With a factor above 1, the cases differ from run to
/// run.
pub fn fixed_runner(cases: u32) -> TestRunner {
    let rng_seed = if factor() == 1 { RngSeed::Fixed(2) } else { RngSeed::Random };
    TestRunner::new(ProptestConfig {
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..ProptestConfig::with_cases(cases * factor())
    })
}

pub fn factor() -> u32 {
    std::env::var("EVENHAND_TEST_FACTOR").ok().and_then(|f| f.parse().ok()).unwrap_or(1)
}

pub fn exact(
    problem: &Problem,
    sharing: Sharing,
    coefficients: &ShareCoefficients,
) -> Result<LexicographicOptimum<Rational>, evenhand_levels::LevelsError> {
    lexicographic(&Constraints::new(problem, sharing), coefficients, &Settings::default())
}

/// Returns the total number of tasks of each user in the exact optimum of a share. The optimum must exist.
pub fn totals(problem: &Problem, share: Share) -> Vec<Rational> {
    let coefficients = share.coefficients(problem).expect("the share applies");
    let optimum = exact(problem, Sharing::Rdm, &coefficients).expect("an exact optimum");
    optimum.tasks.iter().map(total).collect()
}

pub fn allocation(tasks: &[Vec<(usize, Rational)>], sharing: Sharing) -> Allocation {
    Allocation { sharing, arithmetic: Arithmetic::Exact, tasks: tasks.to_vec(), ..Allocation::default() }
}

/// Fails unless `tasks` is feasible in exact arithmetic, ascending by class and without zeros. The check uses only the
/// problem.
pub fn assert_feasible(problem: &Problem, sharing: Sharing, tasks: &[Vec<(usize, Rational)>]) {
    assert_eq!(tasks.len(), problem.n_users());
    for (n, list) in tasks.iter().enumerate() {
        assert!(list.windows(2).all(|pair| pair[0].0 < pair[1].0), "user {n} is not ascending by class");
        assert!(list.iter().all(|(_, x)| *x > 0), "user {n} has an entry that is not positive");
        assert!(list.iter().all(|(i, _)| problem.can_run(n, *i)), "user {n} runs where it cannot");
        if let Some(limit) = problem.users()[n].tasks() {
            assert!(total(list) <= *limit, "user {n} has more tasks than there are");
        }
    }
    for (i, server) in problem.servers().iter().enumerate() {
        let here = || {
            let on = move |(n, list): (usize, &Vec<(usize, Rational)>)| {
                list.iter().find(|(class, _)| *class == i).map(|(_, x)| (n, x.clone()))
            };
            tasks.iter().enumerate().filter_map(on)
        };
        if sharing == Sharing::Tdm || server.is_time_shared() {
            let time: Rational = here().map(|(n, x)| x / problem.unconstrained_gamma(n, i)).sum();
            assert!(time <= 1, "class {i} is used for {time} of its time");
            continue;
        }
        for r in 0..problem.n_resources() {
            let used: Rational = here().map(|(n, x)| x * &problem.demand(n, i)[r]).sum();
            let there_is = Rational::from(&server.capacity()[r] * server.count());
            assert!(used <= there_is, "class {i}, resource {r}: {used} of {there_is}");
        }
    }
}

/// Returns the levels of an optimum as evidence. Each level covers the users that it blocks.
pub fn levels(
    instance: &Instance<'_>,
    share: &ShareCoefficients,
    optimum: &LexicographicOptimum<Rational>,
) -> Vec<Level> {
    let problem = instance.problem();
    let level_of = |n: usize| -> Rational {
        let sum: Rational = optimum.tasks[n].iter().map(|(i, x)| Rational::from(share.of(n, *i) * x)).sum();
        sum / problem.users()[n].weight()
    };
    let mut covered = vec![true; problem.n_users()];
    uncovered(instance, share).expect("short numbers").into_iter().for_each(|n| covered[n] = false);
    let mut level = |dual: &evenhand_levels::level::LevelDual| {
        let of_level = dual.prices.user_weights.iter().map(|(n, _)| *n);
        let blocked = |n: &usize| level_of(*n) == dual.level && !std::mem::replace(&mut covered[*n], true);
        Level { covers: of_level.filter(blocked).collect(), prices: dual.prices.clone() }
    };
    optimum.duals.iter().map(&mut level).collect()
}

/// Fails unless `evenhand-exact` accepts the duals of `optimum` as proof, with tolerance and margin 0.
pub fn assert_proven(
    problem: &Problem,
    sharing: Sharing,
    share: Share,
    optimum: &LexicographicOptimum<Rational>,
) {
    let allocation = allocation(&optimum.tasks, sharing);
    let instance = Instance::new(problem, &allocation).expect("an instance");
    let zero = Rational::new();
    let feasible = Claim::derive(Axiom::Feasible, &instance, &zero).expect("feasibility");
    assert_eq!(feasible.holds, Some(true));
    let coefficients = share.coefficients(problem).expect("the share applies");
    let evidence = Evidence::Levels(levels(&instance, &coefficients, optimum));
    let claim = Claim::with_evidence(Axiom::MaxMin, Some(share), evidence, &instance, &zero)
        .unwrap_or_else(|refusal| panic!("{share:?} {sharing:?}: {refusal}"));
    assert_eq!(claim.holds, Some(true));
    assert!(claim.margin.as_ref().is_none_or(Rational::is_zero), "margin {:?}", claim.margin);
}
