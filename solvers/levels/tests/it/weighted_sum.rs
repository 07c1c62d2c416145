//! Compares the greatest weighted sum with the dense reference, and tests its decision about Pareto optimality with
//! floors.

use crate::common;

use common::{allocation, assert_feasible, exact, fixed_runner, runner};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Prices, Share};
use evenhand_levels::LevelsError;
use evenhand_levels::weighted_sum::{SumGoal, SumOptimum, maximise_sum, maximise_sum_float};
use evenhand_lp::LpError;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::problems::{Numbers, SMALL, Shape, build, random, spec_of};
use evenhand_testkit::random::static_shares::teams;
use evenhand_testkit::reference::{Programme, Solved};
use evenhand_testkit::{q, qs, total};
use proptest::prelude::*;

fn optimum(
    problem: &Problem,
    sharing: Sharing,
    worth: &[Rational],
    floors: Option<&[Rational]>,
) -> Result<SumOptimum, LevelsError> {
    maximise_sum(&Constraints::new(problem, sharing), SumGoal { floors, ..SumGoal::of(worth) })
}

fn value(worth: &[Rational], tasks: &[Vec<(usize, Rational)>]) -> Rational {
    tasks.iter().zip(worth).map(|(tasks, worth)| total(tasks) * worth).sum()
}

fn reference(problem: &Problem, sharing: Sharing, worth: &[Rational], floors: &[Rational]) -> Solved {
    let mut programme = Programme::new(problem, sharing);
    for (n, floor) in floors.iter().enumerate() {
        programme.push(|k, _| Rational::from(if k == n { -1 } else { 0 }), Rational::from(-floor));
    }
    programme.maximise(|n, _| worth[n].clone(), Rational::new(), Vec::new())
}

/// Fails unless `optimum` is feasible, reaches the floors, has the greatest value, and is proven by its own prices.
fn assert_best(
    problem: &Problem,
    sharing: Sharing,
    worth: &[Rational],
    floors: &[Rational],
    optimum: &SumOptimum,
) {
    assert_feasible(problem, sharing, &optimum.tasks);
    assert!(optimum.tasks.iter().zip(floors).all(|(tasks, floor)| total(tasks) >= *floor));
    let (best, _) = reference(problem, sharing, worth, floors).optimal();
    assert_eq!(value(worth, &optimum.tasks), best);
    let constraints = Constraints::new(problem, sharing);
    let prices = [&optimum.prices, &optimum.user_prices, &optimum.floor_prices];
    assert!(prices.iter().all(|list| list.iter().all(|p| *p >= 0)));
    let mut bound: Rational = constraints
        .rows()
        .iter()
        .zip(&optimum.prices)
        .map(|(row, p)| Rational::from(&row.capacity * p))
        .sum();
    for (n, user) in problem.users().iter().enumerate() {
        if let Some(tasks) = user.tasks() {
            bound += Rational::from(tasks * &optimum.user_prices[n]);
        }
        bound -= Rational::from(&floors[n] * &optimum.floor_prices[n]);
    }
    assert_eq!(bound, best, "the prices prove the value");
}

/// Returns the verdict of `evenhand-exact` on the Pareto optimality of `tasks`, whose totals were
/// the floors of the optimum.
fn judge(
    problem: &Problem,
    sharing: Sharing,
    worth: &[Rational],
    tasks: &[Vec<(usize, Rational)>],
    optimum: &SumOptimum,
) -> bool {
    let allocation = allocation(tasks, sharing);
    let instance = Instance::new(problem, &allocation).expect("an instance");
    let zero = Rational::new();
    let claim = |evidence| Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, &instance, &zero);
    let is_best = value(worth, &optimum.tasks) == value(worth, tasks);
    if is_best {
        let weight = |n: usize| match problem.is_active(n) {
            true => Rational::from(&worth[n] + &optimum.floor_prices[n]),
            false => Rational::new(),
        };
        // The scale makes every weight at least 1 over the tasks that the user could have alone.
        let active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
        let scale = active.map(|n| (weight(n) * alone(problem, n)).recip()).max().unwrap_or_default();
        let scaled = |list: &[Rational]| list.iter().map(|p| Rational::from(p * &scale)).collect();
        let weights: Vec<Rational> = (0..problem.n_users()).map(weight).collect();
        let prices = Prices {
            user_weights: scaled(&weights),
            rows: scaled(&optimum.prices),
            users: scaled(&optimum.user_prices),
        };
        let claim = claim(Evidence::Prices(prices)).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(claim.holds, Some(true));
        assert!(claim.margin.is_none_or(|margin| margin.is_zero()));
    } else {
        let claim = claim(Evidence::Dominating(optimum.tasks.clone())).unwrap_or_else(|r| panic!("{r}"));
        assert_eq!(claim.holds, Some(false));
    }
    is_best
}

/// Returns `min(T_n, gamma_n)`: the tasks that user `n` would have with the whole cluster to itself.
fn alone(problem: &Problem, n: usize) -> Rational {
    let gamma = (0..problem.n_servers()).map(|i| problem.gamma(n, i)).sum::<Rational>();
    problem.users()[n].tasks().map_or(gamma.clone(), |tasks| gamma.min(tasks.clone()))
}

fn worths() -> impl Strategy<Value = Vec<Rational>> {
    prop::collection::vec((1u32..5, 1u32..3).prop_map(Rational::from), 6)
}

fn sharing() -> impl Strategy<Value = Sharing> {
    prop_oneof![3 => Just(Sharing::Rdm), 1 => Just(Sharing::Tdm)]
}

#[test]
fn the_greatest_sum_equals_the_reference() {
    let outcome =
        runner(1000, file!()).run(&(random(SMALL), sharing(), worths()), |(problem, sharing, worth)| {
            let worth = &worth[..problem.n_users()];
            let none = vec![Rational::new(); problem.n_users()];
            let best = optimum(&problem, sharing, worth, None).expect("an optimum");
            assert_best(&problem, sharing, worth, &none, &best);
            // Floors of 0 have no effect except that they keep every user apart.
            let apart = optimum(&problem, sharing, worth, Some(&none)).expect("an optimum");
            assert_best(&problem, sharing, worth, &none, &apart);
            prop_assert!(
                judge(&problem, sharing, worth, &best.tasks, &best),
                "the greatest sum is Pareto optimal"
            );
            let constraints = Constraints::new(&problem, sharing);
            let float = maximise_sum_float(&constraints, SumGoal::of(worth)).expect("an optimum");
            let sum: f64 = float
                .iter()
                .zip(worth)
                .map(|(l, v)| l.iter().map(|(_, x)| x).sum::<f64>() * v.to_f64())
                .sum();
            let truth = value(worth, &best.tasks).to_f64();
            prop_assert!((sum - truth).abs() <= 1e-7 * truth.max(1.0), "{} for {}", sum, truth);
            Ok(())
        });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Three kinds of floors: from a max-min allocation, which no allocation dominates; the same floors scaled down, which
/// are dominated if there are any tasks; and random floors, which may be too high.
#[test]
fn floors_decide_pareto_optimality() {
    let strategy = (random(SMALL), sharing(), worths(), prop::collection::vec(0u32..8, 6));
    let met = std::cell::Cell::new([0; 2]);
    let outcome = runner(600, file!()).run(&strategy, |(problem, sharing, worth, random)| {
        let worth = &worth[..problem.n_users()];
        let Ok(share) = Share::TaskShare.coefficients(&problem) else { return Ok(()) };
        let fair = exact(&problem, sharing, &share).expect("a fair allocation").tasks;
        let floors: Vec<Rational> = fair.iter().map(total).collect();
        let best = optimum(&problem, sharing, worth, Some(&floors)).expect("the floors can be met");
        assert_best(&problem, sharing, worth, &floors, &best);
        prop_assert!(judge(&problem, sharing, worth, &fair, &best), "max-min is Pareto optimal");

        let less: Vec<Vec<(usize, Rational)>> =
            fair.iter().map(|l| l.iter().map(|(i, x)| (*i, x * q("0.9"))).collect()).collect();
        let floors: Vec<Rational> = less.iter().map(total).collect();
        let best = optimum(&problem, sharing, worth, Some(&floors)).expect("the floors can be met");
        assert_best(&problem, sharing, worth, &floors, &best);
        prop_assert_eq!(judge(&problem, sharing, worth, &less, &best), less.iter().all(Vec::is_empty));

        let able =
            |n: usize| if problem.is_active(n) { Rational::from((random[n], 6)) } else { Rational::new() };
        let floors: Vec<Rational> = (0..problem.n_users()).map(able).collect();
        let [mut can, mut cannot] = met.get();
        match reference(&problem, sharing, worth, &floors) {
            Solved::Optimal { .. } => {
                let best = optimum(&problem, sharing, worth, Some(&floors)).expect("the floors can be met");
                assert_best(&problem, sharing, worth, &floors, &best);
                can += 1;
            }
            _ => {
                let found = optimum(&problem, sharing, worth, Some(&floors)).map(|o| o.tasks);
                prop_assert_eq!(found, Err(LevelsError::Lp(LpError::ExactlyInfeasible)));
                cannot += 1;
            }
        }
        met.set([can, cannot]);
        Ok(())
    });
    println!("random floors that can and cannot be met: {:?}", met.get());
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// An infeasibility below the precision of doubles is no error. The floors are exactly the tasks of an existing
/// allocation.
#[test]
fn floors_equal_to_an_existing_allocation_are_solved() {
    for numbers in [Numbers::NearTies, Numbers::FarApart] {
        let (solved, failed) = (std::cell::Cell::new(0), std::cell::RefCell::new(Vec::new()));
        let outcome = fixed_runner(300).run(&random(Shape { numbers, ..SMALL }), |problem| {
            let worth = vec![Rational::from(1); problem.n_users()];
            let Ok(share) = Share::TaskShare.coefficients(&problem) else { return Ok(()) };
            let Ok(fair) = exact(&problem, Sharing::Rdm, &share) else { return Ok(()) };
            let floors: Vec<Rational> = fair.tasks.iter().map(total).collect();
            match optimum(&problem, Sharing::Rdm, &worth, Some(&floors)) {
                Ok(best) => {
                    assert_best(&problem, Sharing::Rdm, &worth, &floors, &best);
                    prop_assert!(judge(&problem, Sharing::Rdm, &worth, &fair.tasks, &best));
                    solved.set(solved.get() + 1);
                }
                Err(error) => failed.borrow_mut().push(error),
            }
            Ok(())
        });
        println!("{numbers:?}: {} solved, errors {:?}", solved.get(), failed.borrow());
        outcome.unwrap_or_else(|error| panic!("{error}"));
        if numbers == Numbers::NearTies {
            assert_eq!(*failed.borrow(), []);
        }
        assert!(failed.borrow().len() * 10 <= solved.get(), "more than a few are given up");
    }
}

/// DRFH, Figures 1 and 2: DRF in each server gives each user 6 tasks, and DRFH gives each user 10.
#[test]
fn sums_agree_with_hand_calculation() {
    let problem = build(spec_of(&["2 12", "12 2"], &["1/5 1", "1 1/5"]));
    let ones = qs(&["1", "1"]);
    let of = |rows: [[&str; 2]; 2]| -> Vec<Vec<(usize, Rational)>> {
        rows.iter()
            .map(|row| row.iter().map(|x| q(x)).enumerate().filter(|(_, x)| !x.is_zero()).collect())
            .collect()
    };
    for (tasks, undominated) in [
        (of([["5", "1"], ["1", "5"]]), false),
        (of([["10", "0"], ["0", "10"]]), true),
        (of([["10", "0"], ["0", "9.999999999999"]]), false),
        (of([["0", "0"], ["0", "0"]]), false),
    ] {
        let floors: Vec<Rational> = tasks.iter().map(total).collect();
        let best = optimum(&problem, Sharing::Rdm, &ones, Some(&floors)).expect("the floors can be met");
        assert_best(&problem, Sharing::Rdm, &ones, &floors, &best);
        assert_eq!(judge(&problem, Sharing::Rdm, &ones, &tasks, &best), undominated, "{tasks:?}");
    }
    let greedy = optimum(&problem, Sharing::Rdm, &ones, None).expect("an optimum");
    assert_eq!(value(&ones, &greedy.tasks), 20);
    // The worth of the users' tasks decides which user gets them.
    let one_server = build(spec_of(&["1"], &["1", "1/2"]));
    let best =
        |worth: &[&str]| optimum(&one_server, Sharing::Rdm, &qs(worth), None).expect("an optimum").tasks;
    assert_eq!(best(&["3", "1"]), vec![vec![(0, q("1"))], vec![]]);
    assert_eq!(best(&["1", "1"]), vec![vec![], vec![(0, q("2"))]]);
}

/// Found at random: users with the same demand, but of different worth.
#[test]
fn users_of_different_worth_are_not_merged() {
    let problem = build(spec_of(&["1"], &["5", "5"]));
    let worth = qs(&["1", "3"]);
    let best = optimum(&problem, Sharing::Rdm, &worth, None).expect("an optimum");
    assert_best(&problem, Sharing::Rdm, &worth, &qs(&["0", "0"]), &best);
}

#[test]
fn unreachable_floors_are_infeasible() {
    let mut spec = spec_of(&["1 0"], &["1 0", "0 1", "1 0"]);
    spec.users[2].tasks = Some(Rational::new());
    let problem = build(spec);
    let ones = qs(&["1", "1", "1"]);
    let with = |floors: &[&str]| optimum(&problem, Sharing::Rdm, &ones, Some(&qs(floors))).map(|o| o.tasks);
    assert!(with(&["1", "0", "0"]).is_ok());
    assert_eq!(with(&["2", "0", "0"]), Err(LevelsError::Lp(LpError::ExactlyInfeasible)));
    // The floor is too high by less than the tolerance of HiGHS, but exact arithmetic detects it.
    assert_eq!(with(&["1.000000000000001", "0", "0"]), Err(LevelsError::Lp(LpError::ExactlyInfeasible)));
}

/// Users that cannot have any tasks have no columns in the programme. Their floors cannot be reached.
#[test]
fn floors_of_users_without_capacity_are_infeasible() {
    let mut spec = spec_of(&["1 0"], &["1 0", "0 1", "1 0"]);
    spec.users[2].tasks = Some(Rational::new());
    let problem = build(spec);
    let ones = qs(&["1", "1", "1"]);
    let with = |floors: &[&str]| optimum(&problem, Sharing::Rdm, &ones, Some(&qs(floors))).map(|o| o.tasks);
    assert!(with(&["0", "1", "0"]).is_err(), "user 1 fits nowhere");
    assert!(with(&["0", "0", "1"]).is_err(), "user 2 has no tasks");
    let nobody = build(spec_of(&["1 0"], &["0 1"]));
    assert!(optimum(&nobody, Sharing::Rdm, &qs(&["1"]), Some(&qs(&["1"]))).is_err(), "nobody fits anywhere");
}

/// Pareto optimality of allocations in doubles (docs/axioms.md): the floors leave almost no freedom.
///
/// The best sum is computed, with prices of the same value, both with and without the allocation as a start.
#[test]
fn floors_in_doubles_leave_an_exact_optimum() {
    for seed in 0..60 {
        let (problem, tasks) = teams(seed, [0.0, 1e-12, 1e-9, 1e-6, 1e-3][seed as usize % 5]);
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let worth: Vec<Rational> = (0..problem.n_users()).map(|n| alone(&problem, n).recip()).collect();
        let floors: Vec<Rational> = tasks.iter().map(total).collect();
        let goal = SumGoal { floors: Some(&floors), ..SumGoal::of(&worth) };
        let from_it = maximise_sum(&constraints, SumGoal { from: Some(&tasks), ..goal }).unwrap();
        let without = maximise_sum(&constraints, goal).unwrap();
        assert_eq!(value(&worth, &from_it.tasks), value(&worth, &without.tasks));
        for optimum in [from_it, without] {
            assert_feasible(&problem, Sharing::Rdm, &optimum.tasks);
            assert!(optimum.tasks.iter().zip(&floors).all(|(tasks, floor)| total(tasks) >= *floor));
            let rows = constraints
                .rows()
                .iter()
                .zip(&optimum.prices)
                .map(|(row, p)| Rational::from(&row.capacity * p));
            let limits = problem.users().iter().zip(&optimum.user_prices);
            let limits = limits.filter_map(|(user, q)| Some(Rational::from(user.tasks()? * q)));
            let held = floors.iter().zip(&optimum.floor_prices).map(|(floor, q)| Rational::from(floor * q));
            let bound = rows.sum::<Rational>() + limits.sum::<Rational>() - held.sum::<Rational>();
            assert_eq!(bound, value(&worth, &optimum.tasks));
        }
    }
}
