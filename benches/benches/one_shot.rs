//! Benchmark of DRFH of the Google table with unlimited tasks, which needs one linear programme and has one
//! level.

use divan::Bencher;
use evenhand_benches::instances::{Tasks, google};
use evenhand_benches::proof::{drfh_exact, drfh_float, drfh_proven};

const USERS: [usize; 3] = [100, 300, 900];

fn main() {
    divan::main();
}

#[divan::bench(args = USERS)]
fn float(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Unlimited).unwrap();
    bencher.bench(|| assert_eq!(drfh_float(&problem).unwrap().rounds, 1));
}

#[divan::bench(args = USERS)]
fn exact(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Unlimited).unwrap();
    bencher.bench(|| assert_eq!(drfh_exact(&problem).unwrap().duals.len(), 1));
}

#[divan::bench(args = USERS)]
fn exact_and_certificate(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Unlimited).unwrap();
    bencher.bench(|| assert_eq!(drfh_proven(&problem).unwrap().claims.len(), 3));
}
