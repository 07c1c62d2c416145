//! Benchmark of exact envy-freeness of the exact DRFH allocation, which has many ties.

use divan::Bencher;
use evenhand_benches::instances::{Tasks, google};
use evenhand_benches::proof::{allocation, drfh_exact};
use evenhand_exact::{Instance, axiom::envy_free};

fn main() {
    divan::main();
}

#[divan::bench(args = [100, 300, 900])]
fn fast(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    bencher.bench(|| {
        let instance = Instance::new(&problem, &allocation).unwrap();
        assert!(envy_free::tightest(&instance).unwrap().unwrap().margin.is_zero());
    });
}
