//! Tests of worst-load certificates and sweeps from the solvers. The checker accepts them, also after they are read
//! back from the file. The numbers are those of independent implementations.

use evenhand_testkit::agreement::agreed;
use evenhand_testkit::build::{ratio as build, worst_load as worst};
use evenhand_testkit::random::reservations;
use std::time::Instant;

use evenhand_certify::ratio::{RatioError, multiples, sweep, worst_load};
use evenhand_exact::ratio::PricingProof;
use evenhand_exact::ratio::worst_load::{PrefixClaim, WorstLoadCertificate};
use evenhand_packing::PackingError;
use evenhand_problem::format::Source;
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Returns types of the paper's section 7.1, with rewards vCPU + GB/8, on servers of 80 vCPU and 640 GB.
fn machines(sizes: &[(u32, u32)]) -> Reservation {
    let resources = ["cpu".to_owned(), "memory".to_owned()];
    let named = |cpu: u32, memory: u32| resources.iter().cloned().zip([cpu.into(), memory.into()]).collect();
    let jobs = sizes.iter().enumerate().map(|(j, &(cpu, memory))| JobSpec {
        name: format!("t{j}"),
        demand: named(cpu, memory),
        reward: Some(Rational::from((8 * cpu + memory, 8))),
        load: None,
    });
    let pool = PoolSpec { name: "pool".to_owned(), count: None, capacity: named(80, 640) };
    let (resources, jobs) = (resources.to_vec(), jobs.collect());
    Reservation::new(ReservationSpec { resources, pools: vec![pool], jobs, ..Default::default() }).unwrap()
}

fn certify(problem: &Reservation) -> WorstLoadCertificate {
    let start = Instant::now();
    let certificate =
        worst_load(problem, &mut |_, _| {}).unwrap_or_else(|error| panic!("{error}: {problem:?}"));
    let built = start.elapsed();
    let start = Instant::now();
    assert!(agreed(&certificate).valid);
    let checked = start.elapsed();
    let text = certificate.to_json();
    println!(
        "{} types: {} claims, {} firsts, {} bytes, built in {built:?}, checked in {checked:?}, {:?}",
        problem.n_types(),
        certificate.claims.len(),
        certificate.firsts.len(),
        text.len(),
        certificate.ratio_lower
    );
    let start = Instant::now();
    assert_eq!(
        WorstLoadCertificate::parse(&Source { name: "certificate", text: &text }).unwrap(),
        certificate
    );
    println!("read in {:?}", start.elapsed());
    certificate
}

#[test]
fn sizes_of_the_paper_have_the_published_ratios() {
    for (sizes, expected) in [
        (&[(1, 1), (4, 16), (2, 32), (32, 256)][..], (449, 515)),
        // The order of the types decides ties.
        (&[(4, 16), (1, 1), (2, 32), (32, 256)], (11047, 12679)),
        (&[(8, 64), (2, 2), (8, 32), (32, 256), (64, 64), (32, 128)], (21, 25)),
        (&[(4, 32), (2, 2), (4, 16), (32, 512), (64, 64), (32, 128)], (21, 25)),
        (&[(8, 128), (8, 8), (4, 16), (64, 512), (64, 64), (32, 128)], (19, 25)),
    ] {
        let certificate = certify(&machines(sizes));
        assert_eq!(certificate.ratio_lower, Some(Rational::from(expected)));
        assert_eq!(certificate.ratio_upper, certificate.ratio_lower);
    }
}

#[test]
fn eight_types_are_certified_exactly() {
    let sizes = [(8, 64), (2, 2), (4, 16), (8, 128), (32, 256), (64, 64), (32, 128), (64, 512)];
    let certificate = certify(&machines(&sizes));
    assert_eq!(certificate.ratio_lower, Some(Rational::from((19, 25))));
    assert_eq!(certificate.ratio_upper, certificate.ratio_lower);
}

/// Odd sizes have no small tables, so the proofs are trees.
#[test]
fn odd_sizes_are_certified_by_trees() {
    let jobs = [(31, 17), (57, 102), (101, 390)].into_iter().enumerate();
    let jobs = jobs.map(|(j, (cpu, memory))| JobSpec {
        name: format!("t{j}"),
        demand: vec![
            ("cpu".to_owned(), Rational::from((cpu * 1_009 + 1, 1_009))),
            ("memory".to_owned(), Rational::from((memory * 1_013 + 5, 1_013))),
        ],
        reward: Some(Rational::from((8 * cpu + memory, 8))),
        load: None,
    });
    let capacity = vec![("cpu".to_owned(), Rational::from(320)), ("memory".to_owned(), Rational::from(1100))];
    let pools = vec![PoolSpec { name: "pool".to_owned(), count: None, capacity }];
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    let spec = ReservationSpec { resources, pools, jobs: jobs.collect(), ..Default::default() };
    let certificate = certify(&Reservation::new(spec).unwrap());
    let is_tree = |claim: &PrefixClaim| matches!(claim.pricing, PricingProof::Tree { .. });
    assert!(certificate.claims.iter().any(is_tree));
    assert_eq!(certificate.ratio_upper, certificate.ratio_lower);
}

/// Compares with every order of small instances, computed by a dense simplex method over all configurations.
#[test]
fn small_instances_agree_with_enumeration() {
    let mut rng = Pcg64::seed_from_u64(44);
    let (mut compared, mut below_one) = (0, 0);
    while compared < 120 {
        let problem = reservations::random(&mut rng);
        if problem.n_pools() > 1 {
            let refused = worst_load(&problem, &mut |_, _| {});
            assert!(matches!(refused, Err(RatioError::Packing(PackingError::SeveralPools))));
            continue;
        }
        let found = worst_load(&problem, &mut |_, _| {}).unwrap();
        let plain = worst::certificate(&problem, build::Method::Tables, false);
        assert_eq!(found.ratio_lower, plain.ratio_lower, "{problem:?}");
        assert_eq!(found.ratio_upper, plain.ratio_upper, "{problem:?}");
        below_one += usize::from(found.ratio_lower.is_some_and(|lower| lower < 1));
        compared += 1;
    }
    println!("{below_one} of {compared} below 1");
    assert!(below_one > 20);
}

/// Checks points between the critical loads, at them, and above them.
#[test]
fn sweeps_agree_between_and_at_critical_loads() {
    let mut rng = Pcg64::seed_from_u64(45);
    let (mut partly, mut never) = (0, 0);
    for _ in 0..300 {
        let problem = reservations::random(&mut rng);
        let tops = multiples(&Rational::new(), &Rational::from(9), 7);
        let found = sweep(&problem, &tops, &mut |_| {}).unwrap();
        assert_eq!(found.points.iter().map(|p| p.load.clone()).collect::<Vec<_>>(), tops);
        let Some(served) = &found.all_served else {
            assert!(problem.n_pools() > 1 || problem.loads().iter().all(Rational::is_zero));
            continue;
        };
        let mut at = vec![served.clone(), served * Rational::from((101, 100))];
        never += usize::from(found.all_best.is_none());
        at.extend(found.all_best.iter().cloned());
        at.push(at.iter().max().unwrap() * Rational::from(2));
        let there = sweep(&problem, &at, &mut |_| {}).unwrap().points;
        let all: Rational = problem.loads().iter().zip(problem.rewards()).map(|(y, u)| y * u).sum();
        assert_eq!(there[0].greedy, all * served);
        assert_eq!(there[0].optimum, there[0].greedy);
        if found.all_best.is_some() {
            // At this load every server earns as much as it can, and a larger load changes nothing.
            assert_eq!(there[2].greedy, there[2].optimum);
            assert_eq!((&there[2].greedy, &there[2].optimum), (&there[3].greedy, &there[3].optimum));
        }
        partly += usize::from(there[1].ratio.as_ref().is_some_and(|ratio| *ratio < 1));
    }
    println!("{partly} below 1 just above the first critical load, {never} without a second");
    assert!(partly > 5 && never > 3);
}

#[test]
fn sweeps_include_both_ends() {
    let at = |from: i32, to: i32, steps| multiples(&from.into(), &to.into(), steps);
    assert_eq!(at(1, 3, 3), [1, 2, 3]);
    assert_eq!(at(0, 1, 4)[1], Rational::from((1, 3)));
    assert_eq!(at(2, 2, 1), [2]);
    assert!(at(2, 3, 0).is_empty());
}
