//! Tests of the axioms of PS-DSF and of whole tasks on the golden cases. Every solution of the independent
//! implementation is certified for both ways of sharing a server, and no modified solution is certified.

use evenhand::certify::Request;
use evenhand::exact::Axiom;
use evenhand::problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand::{Certificate, certify};
use evenhand_testkit::agreement::agreed;
use evenhand_testkit::golden::{cases, exacts, id, matrix};
use serde_json::Value;

/// Returns a problem with classes by total capacity or by the rates of users. The users have demands, weights
/// and placement constraints.
fn problem(inputs: &Value) -> Problem {
    let by_rate = inputs["gamma"].is_array();
    let demands = matrix(&inputs[if by_rate { "gamma" } else { "D" }]);
    let first = ["C", "class_capacity"].into_iter().find(|name| inputs[*name].is_array());
    let capacities = first.map(|name| matrix(&inputs[name])).unwrap_or(vec![Vec::new(); demands[0].len()]);
    let weights = if inputs["phi"].is_array() { exacts(&inputs["phi"]) } else { Vec::new() };
    let (r, s) = (|r: usize| format!("r{r}"), |i: usize| format!("s{i}"));
    let named = |values: &[Rational]| values.iter().cloned().enumerate().map(|(at, v)| (r(at), v)).collect();
    let servers = capacities.iter().enumerate();
    let servers =
        servers.map(|(i, capacity)| ServerSpec { name: s(i), count: None, capacity: named(capacity) });
    let users = demands.iter().enumerate().map(|(n, demand)| {
        let eligible = inputs["eligible"][n].as_array();
        let allowed = |on: &Vec<Value>| (0..on.len()).filter(|&i| on[i] == 1).map(s).collect();
        let rates = demand.iter().enumerate().filter(|(_, rate)| by_rate && !rate.is_zero());
        let rates: Vec<(String, Rational)> = rates.map(|(i, rate)| (s(i), rate.clone())).collect();
        let on_rates = by_rate.then(|| rates.iter().map(|(name, _)| name.clone()).collect());
        UserSpec {
            name: format!("u{n}"),
            weight: weights.get(n).cloned(),
            demand: if by_rate { Vec::new() } else { named(demand) },
            servers: eligible.map(allowed).or(on_rates),
            gamma: rates,
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let resources = (0..capacities[0].len().max(1)).map(r).collect();
    Problem::new(ProblemSpec { name: String::new(), resources, servers: servers.collect(), users })
        .expect("a problem")
}

fn certificate(problem: &Problem, x: &[Vec<Rational>], sharing: Sharing) -> Certificate {
    let tasks = x.iter().map(|on| on.iter().cloned().enumerate().filter(|(_, x)| !x.is_zero()).collect());
    let allocation = Allocation { tasks: tasks.collect(), sharing, ..Allocation::default() };
    let requests = [Axiom::PsDsf, Axiom::Feasible].map(Request::of);
    let examination = certify(problem, &allocation, &requests, &Rational::new()).expect("an examination");
    assert_eq!(examination.undecided, []);
    assert!(agreed(&examination.certificate).valid);
    examination.certificate
}

#[test]
fn every_solution_is_certified() {
    let cases = cases("psdsf.");
    let solutions = [
        ("psdsf_rdm", Sharing::Rdm),
        ("psdsf_tdm", Sharing::Tdm),
        ("psdsf", Sharing::Rdm),
        ("rdm", Sharing::Rdm),
        ("tdm", Sharing::Tdm),
        ("x", Sharing::Tdm),
        ("solution_1", Sharing::Rdm),
        ("solution_2", Sharing::Rdm),
        ("sweep_from_zero", Sharing::Rdm),
        ("alg1", Sharing::Rdm),
        ("exact_limit", Sharing::Rdm),
    ];
    let mut certified = 0;
    for case in cases.iter().filter(|case| case["inputs"].is_object()) {
        for (name, sharing) in solutions {
            let expected = &case["expected"][name];
            if !expected[0].is_array() {
                continue;
            }
            let problem = problem(&case["inputs"]);
            let mut x = matrix(expected);
            let found = certificate(&problem, &x, sharing);
            let margins: Vec<_> = found.claims.iter().map(|claim| claim.margin.clone()).collect();
            let holds: Vec<_> = found.claims.iter().map(|claim| claim.holds).collect();
            assert_eq!(holds, [Some(true); 2], "{}: {name}: {margins:?}", id(case));
            certified += 1;
            // A user that gets a thousandth less on a class has no binding bottleneck on this class any more.
            let (n, i) = (0..x.len())
                .flat_map(|n| (0..x[n].len()).map(move |i| (n, i)))
                .find(|&(n, i)| !x[n][i].is_zero())
                .expect("somebody has something");
            x[n][i] *= Rational::from((999, 1000));
            let changed = certificate(&problem, &x, sharing);
            assert_eq!(changed.claims[0].holds, Some(false), "{}: {name}", id(case));
        }
    }
    assert!(certified >= 25, "{certified}");
}

/// Kesidis' tables: the integer filling is feasible, and no user envies another by more than one task.
#[test]
fn whole_tasks_are_certified() {
    let cases = cases("fill.joint.");
    let mut certified = 0;
    for case in cases.iter().filter(|case| case["expected"]["x"].is_array()) {
        let problem = problem(&case["inputs"]);
        let x = matrix(&case["expected"]["x"]);
        let requests = [Axiom::IntegerFeasible, Axiom::Ef1].map(Request::of);
        let judge = |x: &[Vec<Rational>]| {
            let tasks = x.iter().map(|on| on.iter().cloned().enumerate().collect());
            let allocation = Allocation { tasks: tasks.collect(), ..Allocation::default() };
            let found = certify(&problem, &allocation, &requests, &Rational::new()).expect("an examination");
            assert!(agreed(&found.certificate).valid);
            found.certificate.claims.iter().map(|claim| claim.holds).collect::<Vec<_>>()
        };
        assert_eq!(judge(&x), [Some(true); 2], "{}", id(case));
        let mut over = x.clone();
        over[0][0] += 1;
        assert_eq!(judge(&over)[0], Some(false), "{}: the first server is full", id(case));
        certified += 1;
    }
    assert!(certified >= 4, "{certified}");
}
