//! Whole tasks over time: worked examples, published servers, and a second implementation that lists all packings.

use evenhand_exact::{Share, axiom};
use evenhand_mechanisms::{Flags, MechanismError, packings, registry};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::plain;
use evenhand_testkit::random;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

fn allocation(problem: &Problem, share: &str) -> Allocation {
    let flags = Flags::new(Arithmetic::Exact).with("share", share);
    let found = registry::find("packings").unwrap().allocate_with(problem, &flags);
    found.unwrap_or_else(|error| panic!("{error}\n{}", problem_to_json(problem))).allocation
}

/// Checks Kesidis (19), (20): the answer is 42 tasks, which the paper's best scheduler of whole tasks
/// reaches. Divisible tasks give 130/3.
#[test]
fn packings_reach_42_tasks_of_kesidis() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "1", "capacity": {"cpu": 100, "memory": 30}},
                    {"name": "2", "capacity": {"cpu": 30, "memory": 100}}],
        "users": [{"name": "a", "demand": {"cpu": 5, "memory": 1}},
                  {"name": "b", "demand": {"cpu": 1, "memory": 5}}]}));
    assert_eq!(allocation(&problem, "drfh").totals(), [21, 21]);
    let divided = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(divided.allocation.totals(), [Rational::from((65, 3)), Rational::from((65, 3))]);
}

/// Checks that users take turns if one server fits one task of either user. Each user has half a task on
/// average.
#[test]
fn packings_let_users_take_turns() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "s", "capacity": {"cpu": 3}}],
        "users": [{"name": "a", "demand": {"cpu": 2}}, {"name": "b", "demand": {"cpu": 2}, "weight": 3},
                  {"name": "too large", "demand": {"cpu": 4}}]}));
    let found = registry::find("packings").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(found.allocation.totals(), [Rational::from((1, 4)), Rational::from((3, 4)), Rational::new()]);
    let schedule = found.findings.schedule.unwrap();
    let parts: Vec<(Rational, Vec<(usize, u64)>)> =
        schedule.into_iter().map(|packing| (packing.part, packing.tasks)).collect();
    assert_eq!(parts, [(Rational::from((1, 4)), vec![(0, 1)]), (Rational::from((3, 4)), vec![(1, 1)])]);
}

/// The classes of Table I of the DRFH paper: the number of servers, and their capacities.
const CLASSES: [(&str, &str); 10] = [
    ("0.5", "0.5"),
    ("0.5", "0.25"),
    ("0.5", "0.75"),
    ("1", "1"),
    ("0.25", "0.25"),
    ("0.5", "0.12"),
    ("0.5", "0.03"),
    ("0.5", "0.97"),
    ("1", "0.5"),
    ("0.5", "0.06"),
];

/// Twenty draws of 100 servers from Table I whose capacities equal the capacities of Figure 4 up to 1 %.
const DRAWS: [[u32; 10]; 20] = [
    [59, 20, 13, 7, 1, 0, 0, 0, 0, 0],
    [58, 20, 14, 7, 1, 0, 0, 0, 0, 0],
    [53, 22, 16, 7, 1, 1, 0, 0, 0, 0],
    [64, 17, 11, 6, 1, 1, 0, 0, 0, 0],
    [58, 19, 13, 7, 2, 1, 0, 0, 0, 0],
    [62, 19, 12, 6, 1, 0, 0, 0, 0, 0],
    [57, 18, 16, 6, 3, 0, 0, 0, 0, 0],
    [57, 21, 16, 6, 0, 0, 0, 0, 0, 0],
    [48, 26, 19, 6, 0, 1, 0, 0, 0, 0],
    [59, 21, 15, 5, 0, 0, 0, 0, 0, 0],
    [50, 25, 16, 7, 1, 0, 0, 1, 0, 0],
    [64, 17, 10, 7, 1, 1, 0, 0, 0, 0],
    [59, 21, 12, 7, 1, 0, 0, 0, 0, 0],
    [58, 22, 11, 7, 1, 0, 0, 1, 0, 0],
    [59, 19, 14, 6, 2, 0, 0, 0, 0, 0],
    [58, 19, 15, 6, 0, 1, 0, 0, 0, 1],
    [55, 20, 13, 8, 4, 0, 0, 0, 0, 0],
    [59, 22, 12, 6, 0, 0, 0, 1, 0, 0],
    [53, 22, 19, 5, 1, 0, 0, 0, 0, 0],
    [60, 19, 13, 6, 2, 0, 0, 0, 0, 0],
];

/// Returns the least dominant share, averaged over all draws, for the first users of Figure 4.
fn mean_ceiling(users: usize) -> f64 {
    let demands = [("0.2", "0.3"), ("0.5", "0.1"), ("0.1", "0.3")];
    let of_draw = |counts: &[u32; 10]| -> f64 {
        let classes = counts.iter().zip(CLASSES).enumerate().filter(|(_, (count, _))| **count > 0);
        let servers: Vec<Value> = classes
            .map(|(i, (count, (cpu, memory)))| {
                json!({"name": i.to_string(), "count": count, "capacity": {"cpu": cpu, "memory": memory}})
            })
            .collect();
        let users: Vec<Value> = demands[..users]
            .iter()
            .enumerate()
            .map(
                |(n, (cpu, memory))| json!({"name": n.to_string(), "demand": {"cpu": cpu, "memory": memory}}),
            )
            .collect();
        let problem = read(&json!({"kind": "allocation-problem", "resources": ["cpu", "memory"],
            "servers": servers, "users": users}));
        let totals = allocation(&problem, "drfh").totals();
        let u = Share::Dominant.coefficients(&problem).unwrap();
        let shares = totals.iter().enumerate().map(|(n, x)| Rational::from(x * u.uniform(n).unwrap()));
        shares.min().unwrap().to_f64()
    };
    DRAWS.iter().map(of_draw).sum::<f64>() / DRAWS.len() as f64
}

/// Checks the largest least share of whole tasks on servers like those of DRFH, Figure 4. The paper prints 62
/// %, 44 % and 26 % for its simulation of whole tasks with one, two and three users.
#[test]
fn least_shares_on_servers_of_drfh_figure_4() {
    for (users, expected) in [(1, 0.615), (2, 0.455), (3, 0.296)] {
        let mean = mean_ceiling(users);
        assert!((mean - expected).abs() < 5e-4, "{users} users: {mean}, not {expected}");
    }
}

/// Draws random problems until `count` of them were compared with a list of all packings.
#[test]
fn a_list_of_all_packings_gives_the_same_answer() {
    let mut compared = 0;
    for seed in 0.. {
        let problem = random::packings::problem(&mut Pcg64::seed_from_u64(seed));
        for (name, share) in [("drfh", Share::Dominant), ("tsf", Share::TaskShare)] {
            let Some(expected) = plain::packings::optimum(&problem, share, 60) else { continue };
            let found = allocation(&problem, name);
            assert_eq!(found.totals(), expected, "seed {seed}, {name}\n{}", problem_to_json(&problem));
            compared += 1;
        }
        if compared >= 2_000 {
            break;
        }
    }
}

#[test]
fn a_schedule_has_few_packings_and_all_tasks() {
    for seed in 0..200 {
        let problem = random::packings::problem(&mut Pcg64::seed_from_u64(seed));
        let Ok(found) = packings::optimum(&problem, Share::TaskShare) else { continue };
        assert!(found.schedule.len() <= problem.n_users() + problem.n_servers(), "seed {seed}");
        assert_eq!(axiom::packings::totals(&problem, &found.schedule), found.totals);
    }
}

#[test]
fn refuses_problems_outside_the_premises() {
    let of = |change: &dyn Fn(&mut Value)| {
        let mut document = json!({"kind": "allocation-problem", "resources": ["cpu", "gpu"],
            "servers": [{"name": "s", "capacity": {"cpu": 3, "gpu": 1}}],
            "users": [{"name": "a", "demand": {"cpu": 2}}]});
        change(&mut document);
        let problem = read(&document);
        registry::find("packings").unwrap().allocate(&problem, Arithmetic::Exact).unwrap_err()
    };
    let is_refused = |error: MechanismError| matches!(error, MechanismError::NotApplicable { .. });
    assert!(is_refused(of(&|document| document["users"][0]["gamma"] = json!({"s": 3}))));
    assert!(is_refused(of(&|document| document["groups"] = json!([{"name": "g"}]))));
    assert!(is_refused(of(&|document| {
        document["users"][0]["demand"] = json!({});
        document["users"][0]["demand_on"] = json!({"s": {"cpu": 1}});
    })));
    let too_many = of(&|document| document["servers"][0]["capacity"] = json!({"cpu": 1e13}));
    assert!(matches!(too_many, MechanismError::Limit { .. }), "{too_many}");
}
