//! Tests that no margin and no verdict depends on the order of resources, servers or users in a file.

use evenhand_testkit::random::{filled, optima};
use std::collections::BTreeSet;

use evenhand_exact::{Axiom, Claim, Instance, Share};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Problem, Rational};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::Value;

/// Returns the same problem and allocation in another order.
fn shuffled(problem: &Problem, allocation: &Allocation, rng: &mut Pcg64) -> (Problem, Allocation) {
    let mut document: Value = serde_json::from_str(&problem_to_json(problem)).unwrap();
    for list in ["resources", "servers", "users"] {
        document[list].as_array_mut().unwrap().shuffle(rng);
    }
    let text = document.to_string();
    let other = Source { name: "shuffled", text: &text }.problem().unwrap();
    let server = |i: usize| {
        other.servers().iter().position(|class| class.name() == problem.servers()[i].name()).unwrap()
    };
    let tasks = other.users().iter().map(|user| {
        let n = problem.users().iter().position(|other| other.name() == user.name()).unwrap();
        let mut on: Vec<_> = allocation.tasks[n].iter().map(|(i, x)| (server(*i), x.clone())).collect();
        on.sort_by_key(|(i, _)| *i);
        on
    });
    let tasks = tasks.collect();
    (other, Allocation { tasks, ..allocation.clone() })
}

/// Returns all statements, by name, about an allocation that need no evidence from a solver.
fn all_statements(problem: &Problem, allocation: &Allocation) -> Vec<String> {
    let instance = Instance::new(problem, allocation).unwrap();
    let mut said = vec![format!("repair {}", instance.repair())];
    let derived = Axiom::ALL.into_iter().filter(|axiom| !axiom.needs_evidence());
    for axiom in derived {
        let Claim { holds, margin, .. } =
            Claim::derive(axiom, &instance, &Rational::from((1, 1000))).unwrap();
        said.push(format!("{} {holds:?} {margin:?}", axiom.name()));
    }
    for axiom in [Axiom::BottleneckFair, Axiom::GlobalBottleneckFair, Axiom::SingleResourceFair] {
        let names = |all: Vec<usize>| {
            all.into_iter().map(|r| problem.resources()[r].clone()).collect::<BTreeSet<_>>()
        };
        said.push(format!("{} {:?}", axiom.name(), axiom.bottlenecks(problem).map(names).ok()));
    }
    for share in [Share::Dominant, Share::Containerized, Share::TaskShare, Share::Asset, Share::Generic] {
        said.push(format!("{} {}", share.name(problem), share.coefficients(problem).is_ok()));
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_do_not_depend_on_order(seed in any::<u64>(), is_near_an_optimum: bool) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (problem, allocation) = if is_near_an_optimum {
            let optimum = optima::optimum(&mut rng, false);
            let allocation = optima::disturbed(&optimum, &mut rng);
            (optimum.problem, allocation)
        } else {
            filled::random(seed)
        };
        let (other, same) = shuffled(&problem, &allocation, &mut rng);
        prop_assert_eq!(all_statements(&problem, &allocation), all_statements(&other, &same));
    }
}
