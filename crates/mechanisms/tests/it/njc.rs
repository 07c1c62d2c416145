//! Exact answers to No Justified Complaints on thousands of random instances: the exact crate judges
//! every one.

use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::njc::{Settings, allocate};
use evenhand_mechanisms::{MechanismError, registry};
use evenhand_problem::{Arithmetic, Problem, Rational};
use evenhand_testkit::random::pools::{Kind, cluster, pool};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// Solves exactly and has the answer judged.
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

fn all(name: &str, count: u64, problem: impl FnMut(&mut Pcg64Mcg) -> Problem) {
    each(name, count, problem, answer);
}

fn each(
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
fn dense_pools() {
    all("dense", 400, |random| pool(random, Kind::Dense));
}

#[test]
fn sparse_pools() {
    all("sparse", 400, |random| pool(random, Kind::Sparse));
}

#[test]
fn pools_of_few_values_with_ties() {
    all("tied", 600, |random| pool(random, Kind::Tied));
}

#[test]
fn pools_close_to_ties() {
    all("near ties", 400, |random| pool(random, Kind::NearlyTied));
}

#[test]
fn pools_scaled_badly() {
    all("scaled by 1e9", 400, |random| pool(random, Kind::BadlyScaled));
}

/// NJC, section 5.1: the answers of the reduced problem are answers of the whole.
#[test]
fn reduced_pools() {
    let reduced =
        |problem: &Problem| judge(problem, &Settings { reduce: true, ..Settings::new(Arithmetic::Exact) });
    for kind in [Kind::Sparse, Kind::Tied, Kind::BadlyScaled] {
        each("reduced", 300, |random| pool(random, kind), reduced);
    }
}

/// Where the proportional optimum is rational and proven, it is the answer, not a decimal beside it.
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

/// Theory, section 3, fact 4b: other weights of the barrier, the same limit.
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
fn barrier_weights_that_cannot_be_are_refused() {
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
fn clusters() {
    all("clusters", 600, |random| cluster(random, 12, 5, 3));
}

#[test]
fn clusters_of_many_users() {
    all("large clusters", 20, |random| cluster(random, 100, 8, 3));
}
