//! Benchmarks of reading problem and allocation files.

use divan::{Bencher, counter::BytesCount};
use evenhand_benches::instances::{Tasks, general, google};
use evenhand_benches::proof::{allocation, drfh_exact};
use evenhand_problem::format::{AllocationDocument, Source, problem_to_json};

fn main() {
    divan::main();
}

/// Measures reading a problem with these numbers of users, classes and resources.
#[divan::bench(args = [(1000, 10, 2), (10_000, 10, 2), (10_000, 1000, 8)])]
fn problem(bencher: Bencher, (users, classes, resources): (usize, usize, usize)) {
    let problem = general(classes, resources, users, 1, Tasks::Finite).unwrap();
    let text = problem_to_json(&problem);
    let source = Source { name: "problem", text: &text };
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| assert_eq!(source.problem().unwrap().n_users(), users));
}

/// Measures reading an exact allocation, which contains long numbers.
#[divan::bench(args = [300, 900])]
fn exact_allocation(bencher: Bencher, users: usize) {
    let problem = google(users, 1, Tasks::Finite).unwrap();
    let allocation = allocation(drfh_exact(&problem).unwrap());
    let text = AllocationDocument::new(&problem, &allocation).to_json().unwrap();
    let source = Source { name: "allocation", text: &text };
    assert_eq!(source.allocation(&problem).unwrap().allocation, allocation);
    bencher.counter(BytesCount::of_str(&text)).bench(|| source.allocation(&problem).unwrap());
}
