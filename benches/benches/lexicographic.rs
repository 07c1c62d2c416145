//! Benchmark of the weighted lexicographic DRFH allocation of the Google table with finite tasks.

use divan::Bencher;
use evenhand_benches::instances::{Tasks, google};
use evenhand_benches::proof::{drfh_exact, drfh_float, drfh_proven, shares_exact, shares_float};

const USERS: [usize; 3] = [100, 300, 900];

fn main() {
    divan::main();
}

#[divan::bench(args = USERS)]
fn float(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    let expected = shares_exact(&problem, &drfh_exact(&problem).unwrap().tasks).unwrap();
    bencher.bench(|| {
        let shares = shares_float(&problem, &drfh_float(&problem).unwrap().tasks).unwrap();
        assert!((shares / expected - 1.0).abs() < 1e-9);
    });
}

#[divan::bench(args = USERS)]
fn exact(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    let expected = drfh_exact(&problem).unwrap().tasks;
    bencher.bench(|| assert!(drfh_exact(&problem).unwrap().tasks == expected));
}

#[divan::bench(args = USERS)]
fn exact_and_certificate(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    bencher.bench(|| assert_eq!(drfh_proven(&problem).unwrap().claims.len(), 3));
}
