//! PS-DSF on random problems: Theorem 1 holds exactly, every time.

mod golden;
mod ps_dsf_check;

use evenhand_mechanisms::ps_dsf::float;
use evenhand_mechanisms::{Mechanism, Options, Status, registry};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use golden::{case, exact as number, matrix};
use ps_dsf_check::{SMALL, Shape, problem, spec, theorem_1};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

fn mechanism() -> &'static dyn Mechanism {
    registry::find("ps-dsf").expect("registered")
}

fn exact(problem: &Problem) -> Result<Allocation, String> {
    let outcome = mechanism().allocate(problem, &Options::exact()).map_err(|error| error.to_string())?;
    theorem_1(problem, &outcome.allocation)?;
    Ok(outcome.allocation)
}

fn all(seeds: std::ops::Range<u64>, shape: Shape) {
    let mut failures = Vec::new();
    // For a longer look: so many times more seeds.
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
fn mixed() {
    all(0..2000, SMALL);
}

#[test]
fn ties() {
    all(0..2000, Shape { largest: 2, ..SMALL });
}

#[test]
fn unlimited_tasks_and_positive_demands() {
    all(0..1000, Shape { zero: 0.0, finite: 0.0, largest: 50, ..SMALL });
}

#[test]
fn many_finite_tasks() {
    all(0..1000, Shape { finite: 0.9, largest: 3, ..SMALL });
}

/// The problem of a golden case; `phi` and `eligible` may be absent.
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
fn golden_limits_of_the_sweep() {
    let mut same = 0;
    let ids = (0..10).map(|k| format!("psdsf.random.{k}"));
    let ids = ids.chain(["fig1", "fig2", "nonunique.2x2x2"].map(|id| format!("psdsf.{id}")));
    for id in ids {
        let Some(case) = case(&id) else { return };
        let problem = golden_problem(&case["inputs"]);
        let found = exact(&problem).unwrap_or_else(|why| panic!("{id}: {why}"));
        let expected = ["rdm", "psdsf_rdm", "sweep_from_zero"].map(|key| &case["expected"][key]);
        let expected = expected.into_iter().find(|value| !value.is_null()).expect("an answer");
        // Placements with the same totals differ: the cases give a vertex, the sweep tends to any.
        let totals: Vec<Rational> = matrix(expected).iter().map(|row| row.iter().sum()).collect();
        // Where there is a continuum of solutions the cases may give another one; that the answer is
        // the limit of long plain sweeps is what is promised.
        same += usize::from(found.totals() == totals);
        assert!(distance_to_plain_sweeps(&problem, &found) < 1e-9, "{id}");
    }
    eprintln!("{same} of 13 golden cases give these totals");
    assert!(same >= 11, "{same}");
}

/// Largest difference from the limit of plain sweeps, as a part of the user's total.
fn distance_to_plain_sweeps(problem: &Problem, found: &Allocation) -> f64 {
    let settings =
        float::Settings { plain: true, sweeps: 50_000, tolerance: 1e-13, ..float::Settings::default() };
    let swept = float::solve(&float::constraints(problem), &settings);
    if swept.status != Status::Solved {
        return f64::INFINITY;
    }
    let totals = found.totals();
    let pairs = swept.tasks.iter().zip(&totals).filter(|(_, exact)| **exact > 0);
    let off =
        pairs.map(|(list, exact)| (list.iter().map(|(_, x)| x).sum::<f64>() / to_f64(exact) - 1.0).abs());
    off.fold(0.0, f64::max)
}

#[test]
fn answers_are_the_limits_of_long_plain_sweeps() {
    let (mut differ, mut slow) = (Vec::new(), 0);
    for seed in 0..1000 {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL));
        let found = exact(&problem).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let distance = distance_to_plain_sweeps(&problem, &found);
        if distance.is_infinite() {
            slow += 1;
        } else if distance > 1e-6 {
            differ.push((seed, distance));
        }
    }
    eprintln!(
        "of 1000, {} differ from plain sweeps: {differ:?}; {slow} plain sweeps did not end",
        differ.len()
    );
    assert!(differ.len() <= 2 && slow <= 2, "{differ:?} {slow}");
}

#[test]
fn all_solutions_of_small_problems() {
    let faces = Options { faces: true, ..Options::exact() };
    let all =
        |problem: &Problem| mechanism().allocate(problem, &faces).map(|found| found.findings.faces.unwrap());
    if let Some(case) = case("psdsf.nonunique.2x2x2") {
        let problem = golden_problem(&case["inputs"]);
        let set = all(&problem).expect("small");
        let total = |point: &Vec<Vec<(usize, Rational)>>, n: usize| -> Rational {
            point[n].iter().map(|(_, x)| x).sum()
        };
        let ends = |n: usize| {
            let totals = || set.extreme_points.iter().map(|point| total(point, n));
            [totals().min().unwrap(), totals().max().unwrap()]
        };
        let rational = |p: i32, q: i32| Rational::from((p, q));
        assert_eq!(ends(0), [rational(19, 9), rational(8, 3)]);
        assert_eq!(ends(1), [rational(19, 6), rational(4, 1)]);
        for id in ["fig1", "fig2"] {
            let case = self::case(&format!("psdsf.{id}")).expect("a case");
            let set = all(&golden_problem(&case["inputs"])).expect("small");
            let expected = matrix(&case["expected"]["psdsf_rdm"]);
            let totals: Vec<Rational> = expected.iter().map(|row| row.iter().sum()).collect();
            for point in &set.extreme_points {
                assert_eq!((0..totals.len()).map(|n| total(point, n)).collect::<Vec<_>>(), totals, "{id}");
            }
        }
    }
    // Every vertex is PS-DSF; what the sweep returns is one of the set where that is one point.
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

fn totals(spec: ProblemSpec) -> Vec<f64> {
    let problem = problem(spec);
    let found = exact(&problem).unwrap_or_else(|why| panic!("{why}"));
    found.totals().iter().map(to_f64).collect()
}

/// What does not change the problem does not change the answer. Where the set of solutions is a
/// continuum its member is near the limit of floating-point sweeps, so that equal means near here.
#[test]
fn scales_and_names_change_nothing() {
    let near = |what: &str, seed: u64, a: &[f64], b: &[f64]| {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-6 * a.abs().max(1e-9), "{what}, seed {seed}: {a} {b}");
        }
    };
    for seed in 0..500 {
        let spec = spec(&mut Pcg64Mcg::seed_from_u64(seed), SMALL);
        let before = totals(spec.clone());
        let scale = |list: &mut Vec<(String, Rational)>, factor: u32, only: Option<&str>| {
            for (name, value) in list {
                if only.is_none_or(|only| only == name) {
                    *value *= factor;
                }
            }
        };
        // A user's tasks three times as large: a third of them.
        let mut larger = spec.clone();
        let user = &mut larger.users[0];
        scale(&mut user.demand, 3, None);
        user.demand_on.iter_mut().for_each(|(_, demand)| scale(demand, 3, None));
        user.gamma.iter_mut().for_each(|(_, gamma)| *gamma /= 3);
        user.tasks.iter_mut().for_each(|tasks| *tasks /= 3);
        let mut after = totals(larger);
        after[0] *= 3.0;
        near("demands of a user", seed, &before, &after);
        // A resource in another unit, and all weights.
        let mut unit = spec.clone();
        unit.servers.iter_mut().for_each(|server| scale(&mut server.capacity, 7, Some("r0")));
        for user in &mut unit.users {
            scale(&mut user.demand, 7, Some("r0"));
            user.demand_on.iter_mut().for_each(|(_, demand)| scale(demand, 7, Some("r0")));
            user.weight.iter_mut().for_each(|weight| *weight *= 5);
        }
        near("unit and weights", seed, &before, &totals(unit));
        let mut turned = spec.clone();
        turned.users.reverse();
        let mut after = totals(turned);
        after.reverse();
        near("order of users", seed, &before, &after);
    }
}

/// Plain sweeps go round in circles on this one; the answer comes from damped ones.
#[test]
fn a_cycle_of_the_sweep() {
    let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(19_764), SMALL));
    let plain = float::Settings { plain: true, ..float::Settings::default() };
    let swept = float::solve(&float::constraints(&problem), &plain);
    assert!(swept.status == Status::Limit && swept.residual > 1e-2, "{swept:?}");
    let found = float::solve(&float::constraints(&problem), &float::Settings::default());
    assert!(found.status == Status::Solved && found.way != float::Way::Sweeps);
    exact(&problem).expect("an exact answer all the same");
}

/// Larger ones are solved by exchanges, and Theorem 1 holds to the tolerance all the same.
#[test]
fn exchanges_solve_larger_problems() {
    let (mut exchanged, mut solved) = (0, 0);
    for seed in 0..20 {
        let shape = Shape { users: 200, classes: 20, zero: 0.0, largest: 1000, ..SMALL };
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), shape));
        let constraints = float::constraints(&problem);
        let settings = float::Settings { tolerance: 1e-10, ..float::Settings::default() };
        let found = float::solve(&constraints, &settings);
        let residual = float::residual(&constraints, &found.tasks);
        assert!((residual - found.residual).abs() <= 1e-12, "seed {seed}: {residual} {}", found.residual);
        assert_eq!(found.status == Status::Solved, residual <= 1e-10, "seed {seed}");
        solved += usize::from(found.status == Status::Solved);
        exchanged += usize::from(found.way == float::Way::Exchanges);
    }
    eprintln!("{exchanged} of 20 by exchanges, {solved} solved");
    assert!(exchanged >= 3 && solved == 20, "{exchanged} {solved}");
}
