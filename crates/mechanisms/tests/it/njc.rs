//! Tests of exact answers to No Justified Complaints on thousands of random instances. The exact crate judges every
//! answer.

use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::njc::{Settings, allocate};
use evenhand_mechanisms::{MechanismError, registry};
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::random::pools::{Kind, cluster, pool};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// Solves the problem exactly and judges the answer.
fn answer(problem: &Problem) -> Result<(), String> {
    judge(problem, &Settings::new(Arithmetic::Exact))
}

fn judge(problem: &Problem, settings: &Settings) -> Result<(), String> {
    let outcome = allocate(problem, settings).map_err(|error| error.to_string())?;
    let instance = Instance::new(problem, &outcome.allocation).map_err(|error| error.to_string())?;
    for axiom in [Axiom::Feasible, Axiom::Njc] {
        let claim = Claim::derive(axiom, &instance, &Rational::new()).map_err(|error| error.to_string())?;
        if claim.holds != Some(true) {
            return Err(format!("{} does not hold", axiom.name()));
        }
    }
    Ok(())
}

fn check_all(name: &str, count: u64, problem: impl FnMut(&mut Pcg64Mcg) -> Problem) {
    check_each(name, count, problem, answer);
}

fn check_each(
    name: &str,
    count: u64,
    mut problem: impl FnMut(&mut Pcg64Mcg) -> Problem,
    test: impl Fn(&Problem) -> Result<(), String>,
) {
    let mut failures = Vec::new();
    for seed in 0..count {
        let problem = problem(&mut Pcg64Mcg::seed_from_u64(seed));
        if let Err(why) = test(&problem) {
            failures.push(format!("{name}, seed {seed}, {} users: {why}", problem.n_users()));
        }
    }
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
}

#[test]
fn solves_dense_pools() {
    check_all("dense", 400, |random| pool(random, Kind::Dense));
}

#[test]
fn solves_sparse_pools() {
    check_all("sparse", 400, |random| pool(random, Kind::Sparse));
}

#[test]
fn solves_pools_with_ties() {
    check_all("tied", 600, |random| pool(random, Kind::Tied));
}

#[test]
fn solves_pools_close_to_ties() {
    check_all("near ties", 400, |random| pool(random, Kind::NearlyTied));
}

#[test]
fn solves_badly_scaled_pools() {
    check_all("scaled by 1e9", 400, |random| pool(random, Kind::BadlyScaled));
}

/// Checks that the answers of the reduced problem are answers of the whole problem (NJC, section 5.1).
#[test]
fn answers_of_reduced_pools_are_answers_of_the_whole() {
    let reduced =
        |problem: &Problem| judge(problem, &Settings { reduce: true, ..Settings::new(Arithmetic::Exact) });
    for kind in [Kind::Sparse, Kind::Tied, Kind::BadlyScaled] {
        check_each("reduced", 300, |random| pool(random, kind), reduced);
    }
}

/// Checks that if the proportionally fair optimum is rational and proven, the answer is that optimum, and not
/// a decimal near it.
#[test]
fn a_rational_optimum_is_the_answer() {
    let proportional = registry::find("proportional").unwrap();
    let (mut rational, mut same) = (0, 0);
    for kind in [Kind::Dense, Kind::Sparse, Kind::Tied] {
        for seed in 0..60 {
            let problem = pool(&mut Pcg64Mcg::seed_from_u64(seed), kind);
            let optimum = proportional.allocate(&problem, Arithmetic::Exact).unwrap();
            if optimum.findings.gap.is_none_or(|gap| !gap.is_zero()) {
                continue;
            }
            let found = allocate(&problem, &Settings::new(Arithmetic::Exact)).unwrap().allocation;
            rational += 1;
            same += u32::from(found.totals() == optimum.allocation.totals());
        }
    }
    assert!(rational > 30 && same == rational, "{same} of {rational}");
}

/// Checks that other weights of the barrier lead to the same limit (theory, section 3, fact 4b).
#[test]
fn barrier_weights_do_not_change_the_limit() {
    for seed in 0..60 {
        let problem = pool(&mut Pcg64Mcg::seed_from_u64(seed), Kind::Dense);
        let name = |r: usize| problem.resources()[r].clone();
        let barrier =
            vec![(name(0), Rational::from(7)), (name(problem.n_resources() - 1), Rational::from((1, 3)))];
        let plain = Settings::new(Arithmetic::Float);
        let totals = |settings: &Settings| allocate(&problem, settings).unwrap().allocation.totals();
        let weighted = totals(&Settings { barrier: Some(barrier), ..plain.clone() });
        for (x, y) in weighted.iter().zip(totals(&plain)) {
            assert!(Rational::from(x - &y).abs() <= y * Rational::from((1, 1_000_000)), "seed {seed}");
        }
    }
}

#[test]
fn impossible_barrier_weights_are_refused() {
    let problem = pool(&mut Pcg64Mcg::seed_from_u64(1), Kind::Dense);
    let refused = |problem: &Problem, name: &str, weight: i32| {
        let barrier = Some(vec![(name.to_owned(), Rational::from(weight))]);
        let error = allocate(problem, &Settings { barrier, ..Settings::new(Arithmetic::Exact) }).unwrap_err();
        assert!(matches!(error, MechanismError::BadOption { option: "barrier", .. }), "{error}");
    };
    refused(&problem, &problem.resources()[0], 0);
    refused(&problem, "no such resource", 1);
    let mut problems = (0..).map(|seed| cluster(&mut Pcg64Mcg::seed_from_u64(seed), 12, 5, 3));
    let several = problems.find(|problem| problem.n_servers() > 1).unwrap();
    refused(&several, &several.resources()[0], 1);
}

#[test]
fn solves_clusters() {
    check_all("clusters", 600, |random| cluster(random, 12, 5, 3));
}

#[test]
fn solves_clusters_of_many_users() {
    check_all("large clusters", 20, |random| cluster(random, 100, 8, 3));
}

fn one_server(capacity: &str, users: &str) -> Problem {
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["r1", "r2"], "servers": [{{"name": "s", "capacity": {capacity}}}],
            "users": [{users}]}}"#
    );
    evenhand_problem::format::Source { name: "p.json", text: &text }.problem().unwrap()
}

fn without_entitlement(names: &[&str], arithmetic: Arithmetic) -> Settings {
    let no_entitlement = names.iter().map(|name| (*name).to_owned()).collect();
    Settings { no_entitlement, ..Settings::new(arithmetic) }
}

/// Checks NJC, Theorem 1 with `e = (1, 0)`: the second user gets nothing, although no other user demands its
/// resource.
#[test]
fn a_user_without_entitlement_gets_nothing_if_there_is_a_bottleneck() {
    let users =
        r#"{"name": "a", "tasks": 1, "demand": {"r1": 1}}, {"name": "b", "tasks": 1, "demand": {"r2": 1}}"#;
    let problem = one_server(r#"{"r1": 1, "r2": 1}"#, users);
    for arithmetic in [Arithmetic::Exact, Arithmetic::Float] {
        let outcome = allocate(&problem, &without_entitlement(&["b"], arithmetic)).unwrap();
        assert_eq!(outcome.allocation.totals(), [1, 0].map(Rational::from));
        assert_eq!(outcome.allocation.rule.as_deref(), Some("no-entitlement b"));
        assert_eq!(registry::axiom_of(&outcome.allocation), None);
        let instance = Instance::new(&problem, &outcome.allocation).unwrap();
        let optimal = Claim::derive(Axiom::WorkConserving, &instance, &Rational::new()).unwrap();
        assert_eq!(optimal.holds, Some(false));
    }
}

/// Checks that if there is no bottleneck, no user lacks tasks, as equation (2) requires.
#[test]
fn the_others_lack_no_tasks_if_there_is_no_bottleneck() {
    let users = r#"{"name": "a", "tasks": 3, "demand": {"r1": 1, "r2": 1}},
                   {"name": "b", "demand": {"r1": 1}}, {"name": "c", "weight": 3, "demand": {"r1": 1}}"#;
    let problem = one_server(r#"{"r1": 10, "r2": 9}"#, users);
    let outcome = allocate(&problem, &without_entitlement(&["b", "c"], Arithmetic::Exact)).unwrap();
    let expected = [(3, 1), (7, 4), (21, 4)].map(Rational::from);
    assert_eq!(outcome.allocation.totals(), expected);
}

#[test]
fn refuses_servers_on_which_no_user_is_entitled() {
    let users = r#"{"name": "a", "demand": {"r1": 1}}"#;
    let problem = one_server(r#"{"r1": 1}"#, users);
    for names in [["a"], ["b"]] {
        let error = allocate(&problem, &without_entitlement(&names, Arithmetic::Exact)).unwrap_err();
        assert!(matches!(error, MechanismError::BadOption { option: "no-entitlement", .. }), "{error}");
    }
    let mut clusters = (0..).map(|seed| cluster(&mut Pcg64Mcg::seed_from_u64(seed), 12, 5, 3));
    let cluster = clusters.find(|cluster| cluster.n_servers() > 1).unwrap();
    let name = cluster.users()[0].name();
    assert!(allocate(&cluster, &without_entitlement(&[name], Arithmetic::Exact)).is_err());
}

/// Checks that the answers with entitlements of 0 are the limits of the paper's trajectory, which another
/// crate follows.
#[test]
fn answers_with_zero_entitlements_are_limits_of_the_path() {
    use evenhand_ode::path::{PathSettings, follow};
    use evenhand_ode::pool::Pool;
    use rand::Rng;
    for seed in 0..30 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let requests: Vec<f64> = (0..8).map(|_| f64::from(random.random_range(2..=8_u32)) / 8.0).collect();
        let text: Vec<String> = requests
            .chunks(2)
            .enumerate()
            .map(|(n, r)| {
                format!(r#"{{"name": "u{n}", "tasks": 1, "demand": {{"r1": {}, "r2": {}}}}}"#, r[0], r[1])
            })
            .collect();
        let problem = one_server(r#"{"r1": 1, "r2": 1}"#, &text.join(","));
        let outcome = allocate(&problem, &without_entitlement(&["u1", "u3"], Arithmetic::Float)).unwrap();
        let pool = Pool::with_zero_entitlements(2, requests, vec![0.5, 0.0, 0.5, 0.0], vec![1.0; 4]).unwrap();
        let limit = follow(&pool, &PathSettings::default()).x;
        if outcome.allocation.total(1) > 0 {
            // The other users leave no bottleneck, a case that the path does not cover.
            assert!(limit[0] > 1.0 - 1e-6 && limit[2] > 1.0 - 1e-6, "seed {seed}: {limit:?}");
            continue;
        }
        for (n, limit) in limit.iter().enumerate() {
            let x = evenhand_problem::number::to_f64(&outcome.allocation.total(n));
            assert!((x - limit).abs() < 1e-6, "seed {seed}, user {n}: {x} {limit}");
        }
    }
}
