//! Worst-load certificates and sweeps from the solvers: the checker accepts them, also read back from
//! the file, and the numbers are those of independent implementations.
#![allow(missing_docs)]

use std::time::Instant;

use evenhand_exact::ratio::worst_load::{Certificate, check};
use evenhand_mechanisms::ratio::worst_load;
use evenhand_problem::format::Source;
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};

/// Types of the paper's section 7.1 with rewards vCPU + GB/8 on servers of 80 vCPU and 640 GB.
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

fn certify(problem: &Reservation) -> Certificate {
    let start = Instant::now();
    let certificate =
        worst_load(problem, &mut |_, _| {}).unwrap_or_else(|error| panic!("{error}: {problem:?}"));
    let built = start.elapsed();
    let start = Instant::now();
    assert!(check(&certificate).valid);
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
    assert_eq!(Certificate::parse(&Source { name: "certificate", text: &text }).unwrap(), certificate);
    println!("read in {:?}", start.elapsed());
    certificate
}

#[test]
fn sizes_of_the_paper() {
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
#[ignore = "for its time"]
fn eight() {
    certify(&machines(&[(8, 64), (2, 2), (4, 16), (8, 128), (32, 256), (64, 64), (32, 128), (64, 512)]));
}

#[test]
#[ignore = "for its time"]
fn eight_others() {
    certify(&machines(&[(2, 8), (4, 16), (8, 32), (2, 16), (4, 32), (2, 4), (4, 8), (8, 16)]));
}
