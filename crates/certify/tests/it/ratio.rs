//! Tests of ratio certificates from the solvers. The checker accepts them when they are built and when they are read
//! back from the file. The numbers are those of the paper.

use evenhand_testkit::agreement::agreed;
use evenhand_testkit::random::reservations;
use std::time::Instant;

use evenhand_certify::{Checked, ratio, self_test};
use evenhand_exact::ratio::{FirstProof, PricingProof, RatioCertificate};
use evenhand_problem::format::Source;
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns a problem with pools `(count, capacity)` and types `(demand, reward, load)`. Returns `None` if the problem
/// is invalid.
fn problem(
    pools: Vec<(Option<u64>, Vec<Rational>)>,
    types: Vec<(Vec<Rational>, Rational, Rational)>,
) -> Option<Reservation> {
    let n = pools[0].1.len();
    let resources: Vec<String> = (0..n).map(|r| format!("r{r}")).collect();
    let named = |values: Vec<Rational>| resources.iter().cloned().zip(values).collect();
    let pools = pools.into_iter().enumerate().map(|(i, (count, capacity))| PoolSpec {
        name: format!("p{i}"),
        count: count.map(Rational::from),
        capacity: named(capacity),
    });
    let jobs = types.into_iter().enumerate().map(|(j, (demand, reward, load))| JobSpec {
        name: format!("t{j}"),
        demand: named(demand),
        reward: Some(reward),
        load: Some(load),
    });
    let (pools, jobs) = (pools.collect(), jobs.collect());
    let name = String::new();
    Reservation::new(ReservationSpec {
        name,
        resources: resources.clone(),
        pools,
        jobs,
        configurations: None,
    })
    .ok()
}

/// Returns the problem of Appendix C with `j` types.
fn appendix_c(j: u32) -> Reservation {
    let n = j - 1;
    let part = Rational::from((n - 1, n));
    let mut types = Vec::new();
    let mut power = Rational::from(1);
    for t in 0..n {
        let mut demand = vec![Rational::new(); j as usize];
        demand[t as usize] = Rational::from((1, n));
        demand[n as usize] = Rational::from((1, n));
        types.push((demand, Rational::from(&power / n), Rational::from(1)));
        power *= &part;
    }
    let mut demand = vec![part; n as usize];
    demand.push(Rational::new());
    types.push((demand, power, Rational::from(1)));
    problem(vec![(None, vec![Rational::from(1); j as usize])], types).unwrap()
}

/// Builds the certificate, which includes the kernel's check. Returns it with the size of its file.
fn certify(problem: &Reservation) -> (RatioCertificate, usize) {
    let certificate = ratio::certificate(problem).unwrap_or_else(|error| panic!("{error}: {problem:?}"));
    let text = certificate.to_json();
    let read = RatioCertificate::parse(&Source { name: "certificate", text: &text }).unwrap();
    assert_eq!(read, certificate);
    (certificate, text.len())
}

#[test]
fn appendix_c_is_certified_up_to_fifty_resources() {
    for j in [3, 4, 5, 6, 10, 20, 50] {
        let problem = appendix_c(j);
        let start = Instant::now();
        let (certificate, bytes) = certify(&problem);
        let built = start.elapsed();
        let start = Instant::now();
        assert!(agreed(&certificate).valid);
        println!("J = {j}: {built:?}, checked in {:?}, {bytes} bytes", start.elapsed());
        let n = j - 1;
        let power = (0..n).fold(Rational::from(1), |power, _| power * Rational::from((n - 1, n)));
        assert_eq!(certificate.ratio, Some(1 - power));
        assert_eq!(certificate.optimum.assignment.reward, certificate.optimum.bound);
    }
}

#[test]
fn random_problems_are_certified() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut built, mut trees, mut below) = (0, 0, 0);
    for _ in 0..300 {
        let n_resources = rng.random_range(1..4);
        let n_types = rng.random_range(1..7);
        let n_pools = rng.random_range(1..4);
        let counted = rng.random_bool(0.5);
        // A fine grid of demands has no small table, so the proofs are trees.
        let fine: i64 = if rng.random_bool(0.5) { 1 } else { 997 };
        let amount = |rng: &mut Pcg64, from: i64, to: i64| {
            Rational::from((rng.random_range(from * fine..to * fine), 2 * fine))
        };
        let pools = (0..n_pools).map(|_| {
            let capacity = (0..n_resources).map(|_| amount(&mut rng, 10, 30)).collect();
            (counted.then(|| rng.random_range(1..200)), capacity)
        });
        let pools = pools.collect();
        let ties = rng.random_bool(0.3);
        let types = (0..n_types).map(|_| {
            let demand: Vec<Rational> = (0..n_resources).map(|_| amount(&mut rng, 0, 12)).collect();
            let reward = match rng.random_range(0..8) {
                0 => Rational::new(),
                _ if ties => demand.iter().sum(),
                _ => Rational::from((rng.random_range(1..40), rng.random_range(1..4))),
            };
            let load = if rng.random_bool(0.1) {
                Rational::new()
            } else {
                Rational::from((rng.random_range(1..30), 7))
            };
            (demand, reward, load)
        });
        let types = types.collect();
        // A type may fit on no server, or demand nothing.
        let Some(problem) = problem(pools, types) else { continue };
        let (certificate, _) = certify(&problem);
        assert_eq!(certificate.integer.is_some(), counted);
        built += 1;
        trees +=
            usize::from(certificate.greedy.steps.iter().any(|s| matches!(s.first, FirstProof::Tree { .. })));
        below += usize::from(certificate.ratio.as_ref().is_some_and(|ratio| *ratio < 1));
        let optimum = &certificate.optimum;
        assert_eq!(optimum.assignment.reward, optimum.bound);
        assert!(certificate.greedy.reward <= optimum.bound);
        if let Some(ratio) = &certificate.ratio {
            assert!(*ratio >= Rational::from((1, 2)) || problem.n_pools() > 1);
        }
        if let Some(whole) = &certificate.integer {
            assert!(whole.greedy.reward <= whole.optimum.assignment.reward);
            assert!(whole.optimum.assignment.reward <= whole.optimum.bound);
        }
    }
    println!("{built} built, {trees} with trees for greedy, {below} below 1");
    assert!(built > 150 && trees > 40 && below > 40);
}

/// Rewards are in proportion to the demands of a type, so many configurations are worth the same.
#[test]
fn problems_full_of_ties_are_certified() {
    for scale in [1u64, 1009] {
        let pool = vec![(Some(40), vec![Rational::from(80), Rational::from(640)])];
        let shapes = [(2u64, 32u64), (4, 4), (8, 32), (32, 256), (64, 128), (64, 512), (4, 16)];
        let types = shapes.map(|(cpu, memory)| {
            // In the second round the sizes are slightly odd, so that the grid is fine and the table large.
            let cpu = Rational::from(cpu) + Rational::from((u32::from(scale > 1), 1009));
            let memory = Rational::from(memory);
            let reward = &cpu + Rational::from(&memory / 8u32);
            (vec![cpu, memory], reward, Rational::from((1, 3)))
        });
        let problem = problem(pool, types.into()).unwrap();
        let start = Instant::now();
        let (certificate, bytes) = certify(&problem);
        let built = start.elapsed();
        let start = Instant::now();
        assert!(agreed(&certificate).valid);
        println!("{built:?}, checked in {:?}, {bytes} bytes, {:?}", start.elapsed(), certificate.claims());
    }
}

#[test]
fn twenty_types_are_certified() {
    let mut rng = Pcg64::seed_from_u64(20);
    for fine in [1, 31] {
        let types = (0..20).map(|_| {
            let cpu = Rational::from((rng.random_range(2 * fine..24 * fine), fine));
            let memory = Rational::from((rng.random_range(4 * fine..200 * fine), fine));
            let reward = &cpu + Rational::from(&memory / 8u32);
            (vec![cpu, memory], reward, Rational::from((rng.random_range(1..100), 50)))
        });
        let types = types.collect();
        let problem = problem(vec![(Some(1000), vec![80.into(), 640.into()])], types).unwrap();
        let start = Instant::now();
        let (certificate, bytes) = certify(&problem);
        let built = start.elapsed();
        let start = Instant::now();
        assert!(agreed(&certificate).valid);
        println!("{built:?}, checked in {:?}, {bytes} bytes, {:?}", start.elapsed(), certificate.claims());
    }
}

#[test]
fn stated_configurations_are_certified() {
    let mut rng = Pcg64::seed_from_u64(6);
    for case in 0..150 {
        let n_types = rng.random_range(1..6);
        let jobs: Vec<JobSpec> = (0..n_types)
            .map(|j| JobSpec {
                name: format!("t{j}"),
                reward: Some(Rational::from(rng.random_range(0..9))),
                load: Some(Rational::from((rng.random_range(0..9), 4))),
                ..JobSpec::default()
            })
            .collect();
        let mut list = vec![(0..n_types).map(|j| (format!("t{j}"), Rational::from(1))).collect::<Vec<_>>()];
        for _ in 0..rng.random_range(0..9) {
            let entry = (0..n_types).map(|j| (format!("t{j}"), Rational::from(rng.random_range(0..6))));
            list.push(entry.collect());
        }
        let pool = |i: usize| PoolSpec { name: format!("p{i}"), count: Some(7.into()), capacity: Vec::new() };
        let spec = ReservationSpec {
            jobs,
            pools: (0..case % 3).map(pool).collect(),
            configurations: Some(list),
            ..ReservationSpec::default()
        };
        let (certificate, _) = certify(&Reservation::new(spec).unwrap());
        assert!(certificate.optimum.pricing.iter().all(|proof| *proof == PricingProof::Listed));
    }
}

/// A certificate that the kernel rejects is not returned.
#[test]
fn a_false_certificate_fails_the_self_test() {
    let good = ratio::certificate(&reservations::appendix_c(3)).unwrap();
    assert_eq!(self_test(&good), Ok(None));
    let mut bad = good;
    bad.greedy.reward += 1;
    let refused = Checked::of(bad).unwrap_err().to_string();
    assert!(refused.starts_with("internal error: the kernel refuses"), "{refused}");
}
