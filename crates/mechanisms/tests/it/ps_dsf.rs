//! Tests of PS-DSF on random problems: Theorem 1 holds exactly for every answer.

use evenhand_levels::njc::Goal;
use evenhand_mechanisms::ps_dsf::{Settings, allocate, residual_of};
use evenhand_mechanisms::{Mechanism, MechanismError, Status, registry};
use evenhand_problem::format::Source;
use evenhand_problem::number::to_f64;
use evenhand_problem::{
    Allocation, Arithmetic, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};
use evenhand_testkit::golden::{case, exact as number, matrix};
use evenhand_testkit::plain::ps_dsf::theorem_1;
use evenhand_testkit::random::ps_dsf::{SMALL, Shape, problem, spec};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

fn exactly() -> Settings {
    Settings::new(Arithmetic::Exact)
}

fn mechanism() -> &'static Mechanism {
    registry::find("ps-dsf").expect("registered")
}

fn exact(problem: &Problem) -> Result<Allocation, String> {
    let outcome = mechanism().allocate(problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    theorem_1(problem, &outcome.allocation)?;
    Ok(outcome.allocation)
}

fn check_all(seeds: std::ops::Range<u64>, shape: Shape) {
    let mut failures = Vec::new();
    // The environment variable multiplies the number of seeds, for a longer test.
    let more = std::env::var("EVENHAND_MORE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let seeds = seeds.start..seeds.start + more * (seeds.end - seeds.start);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), shape));
        if let Err(why) = exact(&problem) {
            failures.push(format!("seed {seed}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
}

#[test]
fn solves_mixed_problems() {
    check_all(0..500, SMALL);
}

#[test]
fn solves_problems_with_ties() {
    check_all(0..500, Shape { largest: 2, ..SMALL });
}

#[test]
fn solves_problems_with_unlimited_tasks() {
    check_all(0..300, Shape { zero: 0.0, finite: 0.0, largest: 50, ..SMALL });
}

#[test]
fn solves_problems_with_finite_tasks() {
    check_all(0..300, Shape { finite: 0.9, largest: 3, ..SMALL });
}

/// Returns the problem of a golden case. `phi` and `eligible` may be absent.
fn golden_problem(inputs: &Value) -> Problem {
    let (capacities, demands) = (matrix(&inputs["C"]), matrix(&inputs["D"]));
    let resources: Vec<String> = (0..capacities[0].len()).map(|r| format!("r{r}")).collect();
    let named = |values: &[Rational]| resources.iter().cloned().zip(values.iter().cloned()).collect();
    let servers = (capacities.iter().enumerate())
        .map(|(i, c)| ServerSpec { name: format!("s{i}"), count: None, capacity: named(c) })
        .collect();
    let weight = |n: usize| (!inputs["phi"].is_null()).then(|| number(&inputs["phi"][n]));
    let may_use = |n: usize, i: usize| inputs["eligible"].is_null() || inputs["eligible"][n][i] == 1;
    let user = |(n, d): (usize, &Vec<Rational>)| UserSpec {
        name: format!("u{n}"),
        weight: weight(n),
        demand: named(d),
        servers: Some((0..capacities.len()).filter(|i| may_use(n, *i)).map(|i| format!("s{i}")).collect()),
        ..UserSpec::default()
    };
    let users = demands.iter().enumerate().map(user).collect();
    problem(ProblemSpec { resources, servers, users, ..ProblemSpec::default() })
}

#[test]
fn golden_cases_are_answered() {
    let ids = (0..10).map(|k| format!("psdsf.random.{k}"));
    let ids = ids.chain(["fig1", "fig2", "nonunique.2x2x2"].map(|id| format!("psdsf.{id}")));
    for id in ids {
        let case = case(&id);
        let problem = golden_problem(&case["inputs"]);
        let found = exact(&problem).unwrap_or_else(|why| panic!("{id}: {why}"));
        // The answer may differ from the answer of the case. `exact` checks it by the theorem.
        assert_eq!(found.tasks.len(), problem.n_users(), "{id}");
    }
}

/// Checks that the order of servers, users and resources in a file does not change the answer.
#[test]
fn the_order_in_the_file_does_not_change_the_answer() {
    for seed in 0..200 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let stated = spec(&mut random, SMALL);
        let before = exact(&problem(stated.clone())).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let mut permuted = stated.clone();
        permuted.users.shuffle(&mut random);
        permuted.servers.shuffle(&mut random);
        permuted.resources.shuffle(&mut random);
        let permuted = problem(permuted);
        let after = exact(&permuted).unwrap_or_else(|why| panic!("seed {seed}, permuted: {why}"));
        for (n, user) in stated.users.iter().enumerate() {
            let there = permuted.user_named(&user.name).expect("the same users");
            assert_eq!(before.total(n), after.total(there), "seed {seed}, {}", user.name);
        }
    }
}

/// Checks that no answer that was found serves more tasks than the returned answer, and that no answer found
/// dominates it.
#[test]
fn no_computed_answer_dominates_the_returned_answer() {
    let mut many = 0;
    for seed in 0..200 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL));
        let outcome = mechanism().allocate(&problem, Arithmetic::Exact).expect("an answer");
        let search = outcome.findings.search.expect("a search");
        let served: Rational = outcome.allocation.totals().iter().sum();
        assert_eq!(search.tried[search.returned].tasks.as_ref(), Some(&served), "seed {seed}");
        assert!(search.tried.iter().flat_map(|tried| &tried.tasks).all(|tasks| *tasks <= served));
        assert_eq!(search.more_tasks, None);
        many += usize::from(search.answers > 1);
        let select = Settings { select: Some(Goal::MaxUtilisation), ..exactly() };
        let selected = allocate(&problem, &select).expect("an answer");
        theorem_1(&problem, &selected.allocation).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let value = |allocation: &Allocation| {
            Goal::MaxUtilisation.value(&Constraints::new(&problem, Sharing::Rdm), &allocation.tasks)
        };
        assert!(value(&selected.allocation) >= value(&outcome.allocation), "seed {seed}");
    }
    eprintln!("{many} of 200 have several answers");
    assert!(many > 5, "{many}");
}

#[test]
fn an_order_names_the_only_start() {
    let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(3), SMALL));
    let order = Some(vec![problem.servers()[0].name().to_owned()]);
    let outcome = allocate(&problem, &Settings { order, ..exactly() }).expect("an answer");
    assert_eq!(outcome.findings.search.expect("a search").tried.len(), 1);
    let select = Settings { select: Some(Goal::MaxMinShare), ..exactly() };
    assert!(matches!(allocate(&problem, &select), Err(MechanismError::BadOption { .. })));
}

/// Checks a problem of forty users on forty classes of 1 to 10^6 servers.
#[test]
fn a_dense_problem_is_solved_exactly() {
    let text = include_str!("../fixtures/ps-dsf-40x40.json");
    let problem = Source { name: "ps-dsf-40x40.json", text }.problem().expect("a problem");
    exact(&problem).expect("an exact answer");
}

/// Checks that the answer in doubles is solved, and satisfies Theorem 1 within 1e-10.
fn doubles_are_near_theorem_1(problem: &Problem, seed: u64) {
    let outcome = mechanism().allocate(problem, Arithmetic::Float).expect("an answer");
    assert_eq!(outcome.findings.status, Some(Status::Solved), "seed {seed}");
    let tasks: Vec<Vec<(usize, f64)>> = (outcome.allocation.tasks.iter())
        .map(|list| list.iter().map(|(i, x)| (*i, to_f64(x))).collect())
        .collect();
    let residual = residual_of(&Constraints::new(problem, Sharing::Rdm), &tasks);
    assert!(residual <= 1e-10, "seed {seed}: {residual}");
}

#[test]
fn doubles_are_near_the_theorem() {
    for seed in 0..300 {
        doubles_are_near_theorem_1(&problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL)), seed);
    }
}

#[test]
fn lists_all_solutions_of_small_problems() {
    let faces = Settings { faces: true, ..exactly() };
    let all = |problem: &Problem| allocate(problem, &faces).map(|found| found.findings.faces.unwrap());
    let found = case("psdsf.nonunique.2x2x2");
    let set = all(&golden_problem(&found["inputs"])).expect("small");
    let total =
        |point: &Vec<Vec<(usize, Rational)>>, n: usize| -> Rational { point[n].iter().map(|(_, x)| x).sum() };
    let ends = |n: usize| {
        let totals = || set.extreme_points.iter().map(|point| total(point, n));
        [totals().min().unwrap(), totals().max().unwrap()]
    };
    let rational = |p: i32, q: i32| Rational::from((p, q));
    assert_eq!(ends(0), [rational(19, 9), rational(8, 3)]);
    assert_eq!(ends(1), [rational(19, 6), rational(4, 1)]);
    for id in ["fig1", "fig2"] {
        let case = case(&format!("psdsf.{id}"));
        let set = all(&golden_problem(&case["inputs"])).expect("small");
        let expected = matrix(&case["expected"]["psdsf_rdm"]);
        let totals: Vec<Rational> = expected.iter().map(|row| row.iter().sum()).collect();
        for point in &set.extreme_points {
            assert_eq!((0..totals.len()).map(|n| total(point, n)).collect::<Vec<_>>(), totals, "{id}");
        }
    }
    // Every vertex is PS-DSF. If the set is a single point, the sweep returns it.
    let (mut unique, mut too_large) = (0, 0);
    for seed in 0..200 {
        let shape = Shape { users: 3, classes: 2, resources: 2, ..SMALL };
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), shape));
        let Ok(set) = all(&problem) else {
            too_large += 1;
            continue;
        };
        let found = exact(&problem).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert!(!set.extreme_points.is_empty(), "seed {seed}");
        for point in &set.extreme_points {
            let allocation = Allocation { tasks: point.clone(), ..found.clone() };
            theorem_1(&problem, &allocation).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
        if let [point] = set.extreme_points.as_slice() {
            unique += 1;
            assert_eq!(*point, found.tasks, "seed {seed}");
        }
    }
    eprintln!("{unique} of 200 have one solution, {too_large} are too large");
    assert!(unique >= 50 && too_large <= 20, "{unique} {too_large}");
}

/// Returns the totals, or `None` if more than one answer was found. Which of several answers serves most
/// tasks depends on the size of tasks.
fn totals(spec: ProblemSpec) -> Option<Vec<f64>> {
    let problem = problem(spec);
    let outcome = mechanism().allocate(&problem, Arithmetic::Exact).unwrap_or_else(|why| panic!("{why}"));
    let one = outcome.findings.search.is_none_or(|search| search.answers == 1);
    one.then(|| outcome.allocation.totals().iter().map(to_f64).collect())
}

/// Checks that changes of units and names do not change the answer. If the solutions are a continuum, the
/// returned answer depends on the rounding of sweeps, so answers are only compared approximately.
#[test]
fn units_and_names_do_not_change_the_answer() {
    let near = |what: &str, seed: u64, a: &[f64], b: &[f64]| {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-6 * a.abs().max(1e-9), "{what}, seed {seed}: {a} {b}");
        }
    };
    for seed in 0..100 {
        let spec = spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL);
        let Some(before) = totals(spec.clone()) else { continue };
        let scale = |list: &mut Vec<(String, Rational)>, factor: u32, only: Option<&str>| {
            for (name, value) in list {
                if only.is_none_or(|only| only == name) {
                    *value *= factor;
                }
            }
        };
        // If the demands of a user are three times as large, it has a third of its tasks.
        let mut larger = spec.clone();
        let user = &mut larger.users[0];
        scale(&mut user.demand, 3, None);
        user.demand_on.iter_mut().for_each(|(_, demand)| scale(demand, 3, None));
        user.gamma.iter_mut().for_each(|(_, gamma)| *gamma /= 3);
        user.tasks.iter_mut().for_each(|tasks| *tasks /= 3);
        if let Some(mut after) = totals(larger) {
            after[0] *= 3.0;
            near("demands of a user", seed, &before, &after);
        }
        // One resource is stated in another unit, and all weights are multiplied by a factor.
        let mut unit = spec.clone();
        unit.servers.iter_mut().for_each(|server| scale(&mut server.capacity, 7, Some("r0")));
        for user in &mut unit.users {
            scale(&mut user.demand, 7, Some("r0"));
            user.demand_on.iter_mut().for_each(|(_, demand)| scale(demand, 7, Some("r0")));
            user.weight.iter_mut().for_each(|weight| *weight *= 5);
        }
        if let Some(after) = totals(unit) {
            near("unit and weights", seed, &before, &after);
        }
        let mut turned = spec.clone();
        turned.users.reverse();
        if let Some(mut after) = totals(turned) {
            after.reverse();
            near("order of users", seed, &before, &after);
        }
    }
}

/// Checks a problem on which sweeps alone cycle. A path leads to an answer.
#[test]
fn a_path_solves_a_problem_on_which_sweeps_cycle() {
    let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(19_764), SMALL));
    exact(&problem).expect("an exact answer all the same");
}

/// Checks that for larger problems in doubles, Theorem 1 holds within the tolerance.
#[test]
fn paths_solve_larger_problems() {
    for seed in 0..5 {
        let shape = Shape { users: 100, classes: 12, zero: 0.0, largest: 1000, ..SMALL };
        doubles_are_near_theorem_1(&problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), shape)), seed);
    }
}
