//! Progressive filling against the definition, for every rule, on random problems full of ties.

mod common;
#[path = "filling/naive.rs"]
mod naive;

use common::{SMALL, Shape, problem};
use evenhand_mechanisms::MechanismError;
use evenhand_mechanisms::filling::{Rule, Score, ServerRule, Ties, fill};
use evenhand_problem::{Allocation, Problem, Rational};
use proptest::prelude::*;

fn rules() -> impl Iterator<Item = Rule> {
    use Score::{Drf, PsDsf, ResidualPsDsf, Tsf};
    use ServerRule::{BestFit, FirstFit, Iid, Joint, Rrr};
    let servers =
        [(Iid, false), (Rrr, false), (FirstFit, false), (BestFit, false), (BestFit, true), (Joint, false)];
    let scores = [Drf, Tsf, PsDsf, ResidualPsDsf];
    scores.into_iter().flat_map(move |score| {
        servers.into_iter().flat_map(move |(server, filter)| {
            [Ties::Low, Ties::High, Ties::Random].map(|ties| Rule { score, server, ties, filter })
        })
    })
}

/// By user, by single server: tasks.
fn placed(problem: &Problem, allocation: &Allocation) -> Vec<Vec<Rational>> {
    let mut first = vec![0];
    for class in problem.servers() {
        first.push(first[first.len() - 1] + class.count() as usize);
    }
    let mut tasks = vec![vec![Rational::new(); first[first.len() - 1]]; problem.n_users()];
    for placement in allocation.placements.as_ref().expect("placements") {
        assert!(!placement.tasks.is_empty(), "a placement without tasks");
        for (n, x) in &placement.tasks {
            assert!(*x > 0);
            tasks[*n][first[placement.server] + placement.index as usize] += x;
        }
    }
    tasks
}

fn compare(problem: &Problem, step: &Rational, seed: u64) {
    for rule in rules() {
        let allocation = match fill(problem, rule, step, seed) {
            Ok(allocation) => allocation,
            Err(MechanismError::NotApplicable { .. }) => continue,
            Err(error) => panic!("{rule}: {error}"),
        };
        let expected = naive::fill(problem, rule, step, seed);
        let in_tasks = |row: &Vec<u64>| row.iter().map(|steps| Rational::from(step * steps)).collect();
        let expected: Vec<Vec<Rational>> = expected.iter().map(in_tasks).collect();
        assert_eq!(placed(problem, &allocation), expected, "{rule}");
        let sums: Vec<Rational> = expected.iter().map(|row| row.iter().sum()).collect();
        assert_eq!(allocation.totals(), sums, "{rule}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn every_rule_is_its_definition(problem in problem(SMALL), seed in 0_u64..1000) {
        compare(&problem, &Rational::from(1), seed);
    }

    #[test]
    fn on_a_plain_cluster(
        problem in problem(Shape { demand_on: false, gamma: false, placement: false, ..SMALL }),
        seed in 0_u64..1000,
    ) {
        compare(&problem, &Rational::from(1), seed);
    }

    #[test]
    fn by_steps(problem in problem(Shape { users: 4, classes: 3, ..SMALL }), p in 1_u32..4, q in 2_u32..4) {
        compare(&problem, &Rational::from((p, q)), 1);
    }
}
