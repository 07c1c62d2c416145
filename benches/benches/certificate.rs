//! Benchmarks of writing, reading and checking the certificate of all usual axioms.

use divan::Bencher;
use evenhand_benches::instances::{Tasks, google, half, own_classes, own_resources};
use evenhand_benches::proof::{allocation, drfh_exact, drfh_proven};
use evenhand_certify::{certify, default_requests};
use evenhand_exact::{Certificate, Instance, check, check_text};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

const USERS: [usize; 3] = [100, 300, 900];

fn main() {
    divan::main();
}

fn solved(users: usize) -> (Problem, Allocation) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    (problem, allocation)
}

fn certified(problem: &Problem, allocation: &Allocation) -> Certificate {
    let examination =
        certify(problem, allocation, &default_requests(problem, allocation), &Rational::new()).unwrap();
    assert!(examination.undecided.is_empty());
    examination.certificate
}

/// Measures certifying from the allocation alone, which solves again to compute the evidence.
#[divan::bench(args = USERS)]
fn certify_from_allocation(bencher: Bencher, users: usize) {
    let (problem, allocation) = solved(users);
    bencher.bench(|| certified(&problem, &allocation));
}

#[divan::bench(args = USERS)]
fn write(bencher: Bencher, users: usize) {
    let (problem, allocation) = solved(users);
    let certificate = certified(&problem, &allocation);
    bencher.bench(|| certificate.to_json());
}

#[divan::bench(args = USERS)]
fn read(bencher: Bencher, users: usize) {
    let (problem, allocation) = solved(users);
    let certificate = certified(&problem, &allocation);
    let text = certificate.to_json();
    let source = Source { name: "certificate", text: &text };
    assert!(Certificate::parse(&source).unwrap() == certificate);
    bencher.bench(|| Certificate::parse(&source).unwrap());
}

#[divan::bench(args = USERS)]
fn verify(bencher: Bencher, users: usize) {
    let (problem, allocation) = solved(users);
    let certificate = certified(&problem, &allocation);
    bencher.bench(|| assert!(check(&certificate).valid));
}

/// Measures certifying many users. Each user may run on half of ten classes.
#[divan::bench(args = [1_000, 10_000], sample_count = 5)]
fn certify_half(bencher: Bencher, users: usize) {
    let problem = half(10, 3, users, 1).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    bencher.bench(|| certified(&problem, &allocation).to_json());
}

/// Measures `check` on such a certificate, including reading the certificate.
#[divan::bench(args = [1_000, 10_000], sample_count = 5)]
fn check_half(bencher: Bencher, users: usize) {
    let problem = half(10, 3, users, 1).unwrap();
    let text = certified(&problem, &allocation(drfh_exact(&problem).unwrap())).to_json();
    bencher.bench(|| assert!(check_text(&text, Some(Sharing::Rdm)).valid));
}

/// Measures certifying users that share no server. There are as many proofs of levels as users, and each
/// proof is about one user.
#[divan::bench(args = [1_000, 3_000], sample_count = 5)]
fn certify_own_classes(bencher: Bencher, users: usize) {
    let problem = own_classes(users).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    bencher.bench(|| certified(&problem, &allocation).to_json());
}

/// Measures certifying the same number of users on one class, where each user has its own resource.
#[divan::bench(args = [1_000, 3_000], sample_count = 5)]
fn certify_own_resources(bencher: Bencher, users: usize) {
    let problem = own_resources(users).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    bencher.bench(|| certified(&problem, &allocation).to_json());
}

/// Measures the claims of [`drfh_proven`] one by one, and the preparation that all of them need.
#[divan::bench(args = ["integers", "feasible", "max-min", "pareto-optimal"])]
fn part_of_300(bencher: Bencher, part: &str) {
    let problem = google(300, 1, Tasks::Unlimited).unwrap();
    let certificate = drfh_proven(&problem).unwrap();
    match certificate.claims.iter().find(|claim| claim.axiom.name() == part) {
        None => bencher.bench(|| Instance::new(&problem, &certificate.allocation).unwrap()),
        Some(claim) => {
            let alone = Certificate { claims: vec![claim.clone()], ..certificate.clone() };
            bencher.bench(|| assert!(check(&alone).valid));
        }
    }
}
