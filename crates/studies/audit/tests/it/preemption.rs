//! Searches all small cases of Kueue's preemption by shares for cases that repeat in a cycle.

use evenhand_audit::preemption::{Bounds, Case, Found, Step, document, search};

fn search_result(shape: [u64; 3], most: [u64; 3]) -> Found {
    let ([queues, resources, workloads], [amount, lendable, weight]) = (shape, most);
    search(Bounds { queues, resources, workloads, amount, lendable, weight }, 1_000_000, 0).unwrap()
}

#[test]
fn the_example_preempts_in_a_cycle() {
    // In the case of examples/schedulers/kueue.json, queue a has workloads of 2 and 1 units. Queue b has
    // twice the weight of a, and a workload of 3 units.
    let jobs = vec![(0, vec![1]), (0, vec![2]), (1, vec![3])];
    let case = Case { lendable: vec![3], weights: vec![1, 2], jobs };
    // The workload of b stops for the workload of 1 unit. The workload of 2 units then fits as well. Both of
    // them stop for the workload of b.
    let steps = [(0, vec![2], vec![0]), (1, vec![], vec![0, 1]), (2, vec![0, 1], vec![2])];
    let expected = steps.map(|(start, stops, running)| Step { start, stops, running });
    let mut round = case.round().unwrap();
    let first = round.iter().position(|step| *step == expected[0]).unwrap_or_else(|| panic!("{round:?}"));
    round.rotate_left(first);
    assert_eq!(round, expected);
}

#[test]
fn finds_the_smallest_cycle_of_preemptions() {
    let mut searched = 0;
    let mut round = |shape, most| {
        let found = search_result(shape, most);
        assert!(found.is_all);
        println!("{shape:?} {most:?}: {} of {}", found.round(), found.cases());
        searched += found.cases();
        found.smallest
    };
    // Two workloads never repeat in a cycle. Three workloads do with unequal weights and 3 units, but not
    // with fewer units.
    for (shape, most) in
        [([2, 1, 2], [4, 8, 4]), ([2, 2, 2], [2, 3, 2]), ([2, 3, 2], [1, 2, 2]), ([2, 1, 3], [2, 2, 2])]
    {
        assert_eq!(round(shape, most), None);
    }
    let smallest = round([2, 1, 3], [3, 3, 2]).unwrap();
    assert_eq!((smallest.lendable, smallest.weights), (vec![3], vec![1, 2]));
    // With equal weights, three workloads never repeat in a cycle. Four workloads do with 6 units, but not
    // with fewer units.
    for (shape, most) in [
        ([2, 1, 3], [4, 8, 1]),
        ([3, 1, 3], [3, 6, 1]),
        ([2, 2, 3], [2, 3, 1]),
        ([3, 2, 3], [1, 2, 1]),
        ([2, 3, 3], [1, 2, 1]),
        ([2, 1, 4], [4, 5, 1]),
    ] {
        assert_eq!(round(shape, most), None);
    }
    let smallest = round([2, 1, 4], [4, 6, 1]).unwrap();
    assert_eq!((smallest.lendable, smallest.jobs.len()), (vec![6], 4));
    // With equal weights and single units, four workloads with three resources repeat in a cycle.
    assert!(round([2, 3, 4], [1, 1, 1]).is_some());
    println!("{searched} cases");
}

#[test]
fn a_seed_determines_the_search() {
    let bounds = Bounds { queues: 3, resources: 2, workloads: 4, amount: 3, lendable: 6, weight: 2 };
    let search = |seed| search(bounds, 2_000, seed).unwrap();
    let found = search(7);
    assert!(!found.is_all && found.cases() <= 2_000 && found.cases() > 1_000);
    assert_eq!(found, search(7));
    assert_ne!(document(bounds, 7, &found), document(bounds, 8, &search(8)));
    let error = evenhand_audit::preemption::search(Bounds { queues: 1, ..bounds }, 10, 0).unwrap_err();
    assert_eq!(error.to_string(), "queues: expected a number from 2 to 4, found 1");
}
