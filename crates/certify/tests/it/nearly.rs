//! Tests that short prices from floating point prove answers in floating point, and that unfair allocations are still
//! refuted.

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Evidence, PriceVector};
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Problem, Rational};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// Returns a problem whose users have long demands on some of the classes. Some users have few tasks, so there are
/// several levels.
fn problem(seed: u64, users: usize, classes: usize) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let resources = ["cpu", "memory", "gpu"];
    let amounts = |rng: &mut Pcg64, most: f64| -> Map<String, Value> {
        resources.iter().map(|r| ((*r).to_owned(), json!(rng.random_range(most / 1e3..most)))).collect()
    };
    let servers: Vec<Value> = (0..classes)
        .map(|i| json!({"name": format!("s{i}"), "capacity": amounts(&mut rng, 200.0)}))
        .collect();
    let user = |n: usize| {
        let mut user = json!({"name": format!("u{n}"), "demand": amounts(&mut rng, 4.0), "weight": rng.random_range(1..6)});
        let on: Vec<String> =
            (0..classes).filter(|_| rng.random_bool(0.4)).map(|i| format!("s{i}")).collect();
        user["servers"] = json!(if on.is_empty() { vec!["s0".to_owned()] } else { on });
        if rng.random_bool(0.3) {
            user["tasks"] = json!(rng.random_range(1..9));
        }
        user
    };
    let users: Vec<Value> = (0..users).map(user).collect();
    let text =
        json!({"kind": "allocation-problem", "resources": resources, "servers": servers, "users": users});
    Source { name: "problem", text: &text.to_string() }.problem().unwrap()
}

/// Returns the largest number of bits of a price.
fn bits(prices: &PriceVector) -> u32 {
    let all = prices.user_weights.iter().chain(&prices.rows).chain(&prices.users);
    all.map(|(_, x)| x.numer().significant_bits().max(x.denom().significant_bits())).max().unwrap_or_default()
}

#[test]
fn short_prices_prove_levels_in_doubles() {
    let tolerance = Rational::from((1, 1_000_000_000));
    let mut levels_with_tasks = 0;
    for seed in 0..6 {
        let problem = problem(seed, 160, 18);
        let pairs: usize = (0..problem.n_users()).map(|n| problem.classes_of(n).count()).sum();
        assert!(pairs > 1_000, "fewer are asked for exactly: {pairs}");
        for id in ["drfh", "tsf", "asset"] {
            let outcome = registry::find(id).unwrap().allocate(&problem, Arithmetic::Float).unwrap();
            let requests = [Axiom::Feasible, Axiom::MaxMin, Axiom::ParetoOptimal].map(Request::of);
            let examination = certify(&problem, &outcome.allocation, &requests, &tolerance).unwrap();
            assert_eq!(examination.undecided, [], "{seed} {id}");
            assert_eq!(examination.unchecked, None, "{seed} {id}");
            for claim in &examination.certificate.claims {
                assert_eq!(claim.holds, Some(true), "{seed} {id} {:?} {:?}", claim.axiom, claim.margin);
            }
            let claim = &examination.certificate.claims[1];
            let Evidence::Levels(levels) = &claim.evidence else { panic!("{claim:?}") };
            assert!(levels.iter().all(|level| !level.covers.is_empty() && bits(&level.prices) < 2_000));
            levels_with_tasks += levels.iter().filter(|level| level.prices.rows.is_empty()).count();
        }
    }
    assert!(levels_with_tasks > 0, "nobody lacked a part of its last task");
}

/// One user has a thousandth less than the user could have.
#[test]
fn allocations_below_the_levels_are_refuted() {
    let tolerance = Rational::from((1, 1_000_000_000));
    let problem = problem(9, 160, 18);
    let mut allocation =
        registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Float).unwrap().allocation;
    let open = (0..problem.n_users()).filter(|n| problem.users()[*n].tasks().is_none());
    let largest = open.max_by_key(|n| allocation.tasks[*n].iter().map(|(_, x)| x).sum::<Rational>());
    for (_, tasks) in &mut allocation.tasks[largest.expect("somebody wants any number")] {
        *tasks *= Rational::from((999, 1_000));
    }
    let requests = [Axiom::MaxMin, Axiom::ParetoOptimal].map(Request::of);
    let examination = certify(&problem, &allocation, &requests, &tolerance).unwrap();
    assert_eq!(examination.undecided, []);
    for claim in &examination.certificate.claims {
        assert_eq!(claim.holds, Some(false), "{:?} {:?}", claim.axiom, claim.margin);
    }
}
