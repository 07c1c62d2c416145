//! Tests with sizes of real clusters and larger sizes: running time, and memory that stays proportional to the input.

use std::time::Instant;

use evenhand_exact::axiom::max_min;
use evenhand_exact::axiom::{envy_free, feasible, ps_dsf, sharing_incentive};
use evenhand_exact::{
    Axiom, Budget, Claim, Evidence, Instance, InstanceError, Level, PriceVector, Prices, Share, TooLarge,
};
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use evenhand_testkit::agreement::assert_shown;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns users that demand hundredths of a server, and classes that all have enough of every resource.
fn cluster(n: usize, k: usize, m: usize, placement: bool, overrides: bool) -> Problem {
    let mut rng = Pcg64::seed_from_u64(7);
    let name = |r: usize| format!("r{r}");
    let servers = (0..k).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(1 + i)),
        capacity: (0..m).map(|r| (name(r), Rational::from((rng.random_range(20..=100), 100)))).collect(),
    });
    let servers: Vec<_> = servers.collect();
    let users = (0..n).map(|n| UserSpec {
        name: format!("u{n}"),
        weight: Some(Rational::from(rng.random_range(1..4))),
        demand: (0..m).map(|r| (name(r), Rational::from((rng.random_range(1..50), 1000)))).collect(),
        servers: (placement && n % 3 == 0)
            .then(|| (0..k).filter(|i| i % 5 != n % 5).map(|i| format!("s{i}")).collect()),
        demand_on: if overrides && n % 10 == 0 {
            vec![("s0".to_owned(), (0..m).map(|r| (name(r), Rational::from((1, 7)))).collect())]
        } else {
            Vec::new()
        },
        ..UserSpec::default()
    });
    let users = users.collect();
    Problem::new(ProblemSpec { name: String::new(), resources: (0..m).map(name).collect(), servers, users })
        .unwrap()
}

/// Returns equal weighted dominant shares of `level / N`, on one class for each user, with numbers of `bits` bits.
fn equal_shares(problem: &Problem, bits: u32) -> Allocation {
    let share = Share::Dominant.coefficients(problem).unwrap();
    let denominator = (Rational::from(1) << bits) + Rational::from(1);
    let level = ((Rational::from(1) << bits) - Rational::from(11))
        / denominator
        / Rational::from(4 * problem.n_users());
    let k = problem.n_servers();
    let tasks = (0..problem.n_users()).map(|n| {
        let first = problem.users()[n].servers().map_or(n % k, |servers| servers[n % servers.len()]);
        vec![(first, Rational::from(&level * problem.users()[n].weight()) / share.of(n, first))]
    });
    Allocation { tasks: tasks.collect(), ..Allocation::default() }
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    println!("{what:<60} {:>10.3?}", start.elapsed());
    result
}

fn examine(what: &str, n: usize, k: usize, m: usize, bits: u32, placement: bool, overrides: bool) {
    println!("{what}: {n} users, {k} classes, {m} resources, {bits} bits");
    let problem = cluster(n, k, m, placement, overrides);
    let allocation = equal_shares(&problem, bits);
    let instance = timed("  instance", || Instance::new(&problem, &allocation).unwrap());
    assert!(timed("  envy", || envy_free::tightest(&instance).unwrap()).is_some());
    timed("  feasible", || feasible::tightest(&instance));
    // Every user is compared with every row. In the largest cases this comparison would take longer than all other work
    // together.
    if n * k * m <= 200_000 {
        let found = timed("  ps-dsf", || ps_dsf::examine(&instance).unwrap().unwrap());
        assert_eq!(ps_dsf::margin(&instance, found.user, found.server), Ok(Some(found.margin)));
    }
    timed("  sharing incentive", || sharing_incentive::tightest(&instance).unwrap());
    let share = timed("  dominant share", || Share::Dominant.coefficients(&problem).unwrap());
    timed("  task share", || Share::TaskShare.coefficients(&problem).unwrap());
    // The prices are high enough to prove a bound for any allocation, because the check is timed, not the solver.
    let mut prices = Prices::zero(&instance);
    let odd = (Rational::from(1) << bits) - Rational::from(1);
    prices
        .user_weights
        .iter_mut()
        .enumerate()
        .for_each(|(n, l)| *l = Rational::from(n + 1) + Rational::from((1, odd.numer())));
    prices.rows.iter_mut().for_each(|p| *p = Rational::from(100_000_000) + Rational::from((1, odd.numer())));
    let evidence = Evidence::Prices(prices.clone());
    let lax = Rational::from(1) << (2 * bits + 100);
    timed("  pareto prices", || {
        Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, &instance, &lax).unwrap()
    });
    let covers = max_min::uncovered(&instance, &share).unwrap();
    let levels = Evidence::Levels(vec![Level { covers, prices: PriceVector::of(&prices) }]);
    timed("  max-min, one level", || {
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), levels, &instance, &lax).unwrap()
    });
}

#[test]
fn a_google_cluster_is_examined_in_milliseconds() {
    examine("decimal", 900, 10, 2, 40, false, false);
    examine("exact", 900, 10, 2, 5_000, false, false);
    examine("openb", 1_000, 27, 4, 60, false, false);
    examine("placement", 900, 10, 3, 40, true, false);
    examine("demands by class", 900, 10, 2, 20, true, true);
    examine("demands by class, exact", 900, 10, 2, 5_000, true, true);
}

#[test]
fn ten_thousand_users_fit_in_memory() {
    examine("large", 10_000, 100, 4, 64, true, false);
}

/// Nearly all bundles are within another bundle, and hardly any user is compared with them. The search ends, and the
/// kernel checks its result.
#[test]
fn a_hundred_thousand_users_are_compared() {
    let problem = cluster(100_000, 10, 2, false, false);
    let allocation = equal_shares(&problem, 64);
    let instance = Instance::new(&problem, &allocation).unwrap();
    let exact = Rational::new();
    let claim = timed("100,000 users: envy", || Claim::derive(Axiom::EnvyFree, &instance, &exact).unwrap());
    timed("100,000 users: the kernel", || assert_shown(&problem, &allocation, &claim, &exact));
}

/// If each user has its own set of classes, no sorted list can be shared between users.
#[test]
fn users_with_different_classes_are_judged() {
    let all = cluster(2_000, 40, 4, false, false);
    let servers = all.servers().iter().map(|s| ServerSpec {
        name: s.name().to_owned(),
        count: Some(Rational::from(s.count())),
        capacity: all.resources().iter().cloned().zip(s.capacity().iter().cloned()).collect(),
    });
    let users = all.users().iter().enumerate().map(|(n, user)| UserSpec {
        name: user.name().to_owned(),
        demand: all.resources().iter().cloned().zip(user.base_demand().iter().cloned()).collect(),
        servers: Some(
            (0..40).filter(|i| i % 20 > 10 || n >> (i % 11) & 1 == 1).map(|i| format!("s{i}")).collect(),
        ),
        ..UserSpec::default()
    });
    let (resources, servers, users) = (all.resources().to_vec(), servers.collect(), users.collect());
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let allocation = equal_shares(&problem, 64);
    let instance = Instance::new(&problem, &allocation).unwrap();
    assert!(timed("own classes each: envy", || envy_free::tightest(&instance).unwrap()).is_some());
}

/// Numbers without common denominators are refused before the work is done.
#[test]
fn unrelated_denominators_are_refused() {
    let problem = cluster(3_000, 2, 1, false, false);
    let one = Rational::from(1);
    let tasks = (0..3_000u32).map(|n| {
        let denominator = (Rational::from(1) << 20_000) + Rational::from(2 * n + 1);
        vec![(0, one.clone() / denominator)]
    });
    let allocation = Allocation { tasks: tasks.collect(), ..Allocation::default() };
    let refusal = Instance::new(&problem, &allocation).unwrap_err();
    assert!(matches!(refusal, InstanceError::TooLarge(TooLarge::Memory { .. })), "{refusal}");
}

/// Long numbers that are rarely used cost little. So the answer is a verdict, not that the input is too large.
#[test]
fn the_budget_counts_only_executed_steps() {
    for overrides in [false, true] {
        let problem = cluster(300, 10, 2, true, overrides);
        let allocation = equal_shares(&problem, 5_000);
        let instance = Instance::within(&problem, &allocation, Budget::of(200_000_000)).unwrap();
        assert!(envy_free::tightest(&instance).unwrap().is_some());
    }
    // The search still ends, although equal bundles of long numbers have to be compared exactly.
    let problem = cluster(300, 10, 2, false, true);
    let allocation = equal_shares(&problem, 5_000);
    let instance = Instance::within(&problem, &allocation, Budget::of(1_000_000)).unwrap();
    assert!(matches!(envy_free::tightest(&instance), Err(TooLarge::Work { allowed: 1_000_000 })));
}
