//! The golden cases: inputs and answers of an independent implementation in exact arithmetic.

use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, number};
use serde_json::{Value, json};

/// Returns all cases whose id starts with `prefix`. There is at least one such case.
pub fn cases(prefix: &str) -> Vec<Value> {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../golden/cases.json")).expect("a list");
    let cases: Vec<Value> = cases.into_iter().filter(|case| id(case).starts_with(prefix)).collect();
    assert!(!cases.is_empty(), "no golden case is a {prefix}");
    cases
}

/// Returns the cases of hierarchical filling: problems with the tasks of every user.
pub fn trees() -> Vec<Value> {
    serde_json::from_str(include_str!("../golden/tree.json")).expect("a list")
}

/// Returns the case with this id.
pub fn case(id_of_it: &str) -> Value {
    let found = cases(id_of_it).into_iter().find(|case| id(case) == id_of_it);
    found.unwrap_or_else(|| panic!("{id_of_it} is not among the golden cases"))
}

pub fn id(case: &Value) -> &str {
    case["id"].as_str().expect("an id")
}

/// Returns the exact value of a string or a JSON number, as the decimal that is written.
pub fn exact(value: &Value) -> Rational {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    number::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub fn exacts(value: &Value) -> Vec<Rational> {
    value.as_array().expect("a list").iter().map(exact).collect()
}

pub fn matrix(value: &Value) -> Vec<Vec<Rational>> {
    value.as_array().expect("a matrix").iter().map(exacts).collect()
}

pub fn floats(value: &Value) -> Vec<f64> {
    exacts(value).iter().map(number::to_f64).collect()
}

/// Returns a problem with these capacities by class, and these demands, weights and tasks by user.
pub fn problem(
    capacities: &[Vec<Rational>],
    demands: &[Vec<Rational>],
    weights: &[Rational],
    tasks: Option<u32>,
) -> Problem {
    let resources: Vec<String> = (0..capacities[0].len()).map(|r| format!("r{r}")).collect();
    let named = |values: &[Rational]| resources.iter().cloned().zip(values.iter().cloned()).collect();
    let server = |(i, capacity): (usize, &Vec<Rational>)| ServerSpec {
        name: format!("s{i}"),
        count: None,
        capacity: named(capacity),
    };
    let user = |(n, (demand, weight)): (usize, (&Vec<Rational>, &Rational))| UserSpec {
        name: format!("u{n}"),
        weight: Some(weight.clone()),
        tasks: tasks.map(Rational::from),
        demand: named(demand),
        ..UserSpec::default()
    };
    let servers = capacities.iter().enumerate().map(server).collect();
    let users = demands.iter().zip(weights).enumerate().map(user).collect();
    Problem::new(ProblemSpec { servers, users, resources, ..ProblemSpec::default() }).expect("a problem")
}

/// Returns a pool of capacity 1 for each resource, with one task for each user. `requests` are the demands and
/// `entitlements` the weights.
pub fn pool(requests: &[Vec<Rational>], entitlements: &[Rational]) -> Problem {
    problem(&[vec![Rational::from(1); requests[0].len()]], requests, entitlements, Some(1))
}

/// Returns the pool of a golden case.
pub fn pool_of(case: &Value) -> Problem {
    pool(&matrix(&case["inputs"]["r"]), &exacts(&case["inputs"]["e"]))
}

/// Returns the allocation that grants every user the fraction `x` of its request.
pub fn granted(x: &[Rational]) -> Allocation {
    let tasks = x.iter().map(|x| if x.is_zero() { Vec::new() } else { vec![(0, x.clone())] });
    Allocation { tasks: tasks.collect(), ..Allocation::default() }
}

pub fn assert_near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{what}: {found:?} is not {expected:?}");
    }
}

fn written(capacity: &str, servers: &str, jobs: &[(Vec<Rational>, Rational, Rational)]) -> String {
    let n = jobs[0].0.len();
    let resources: Vec<String> = (0..n).map(|r| format!("r{r}")).collect();
    let capacity: Value = serde_json::from_str(capacity).unwrap();
    let capacity = capacity.as_array().unwrap();
    let text = |x: &Rational| json!(number::format(x));
    let named = |values: Vec<Value>| -> Value {
        resources.iter().cloned().zip(values).collect::<serde_json::Map<_, _>>().into()
    };
    let jobs: Vec<Value> = jobs
        .iter()
        .enumerate()
        .map(|(j, (demand, reward, load))| {
            json!({"name": format!("j{j}"), "demand": named(demand.iter().map(text).collect()),
                   "reward": text(reward), "load": text(load)})
        })
        .collect();
    let mut pool = json!({"name": "pool", "capacity": named(capacity.clone())});
    if !servers.is_empty() {
        pool["count"] = json!(servers);
    }
    json!({"kind": "reservation-problem", "resources": resources, "servers": [pool], "jobs": jobs})
        .to_string()
}

/// Returns the reservation problem of a golden case. `servers` is its number of servers. `loads` replace the
/// loads of the case, if they are given.
pub fn reservation(case: &Value, servers: &str, loads: Option<&[Rational]>) -> String {
    let items = matrix(&case["inputs"]["items"]);
    let loads = loads.map_or_else(|| exacts(&case["inputs"]["rho"]), <[Rational]>::to_vec);
    let rewards = match case["inputs"].get("u") {
        Some(u) => exacts(u),
        None => items.iter().map(|item| &item[0] + Rational::from(&item[1] / 8u32)).collect(),
    };
    let jobs = items.into_iter().zip(rewards).zip(loads).map(|((demand, u), rho)| (demand, u, rho));
    written(&case["inputs"]["cap"].to_string(), servers, &jobs.collect::<Vec<_>>())
}
