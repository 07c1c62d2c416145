//! Tests of No Justified Complaints on random pools and clusters, compared with the definition.

use crate::common;

use common::njc::{assert_njc, best_vertex, set};
use common::{fixed_runner, runner};
use evenhand_levels::LevelsError;
use evenhand_levels::njc::{
    EnumerationLimits, Face, Goal, NjcSet, SelectSettings, Tasks, Witness, best_above, enumerate, member,
    select,
};
use evenhand_lp::mip::MipStatus;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::problems::{Shape, random};
use proptest::prelude::*;

const POOL: Shape = Shape {
    users: (1, 5),
    classes: (1, 1),
    resources: (1, 4),
    finite: (0.5, 1),
    placement: 0.0,
    demand_on: 0.0,
    gamma: 0.0,
    zero: 0.25,
    numbers: evenhand_testkit::random::problems::Numbers::Small,
};

pub const CLUSTER: Shape = Shape {
    users: (1, 3),
    classes: (1, 3),
    resources: (1, 2),
    placement: 0.3,
    demand_on: 0.1,
    gamma: 0.1,
    ..POOL
};

fn sharing() -> impl Strategy<Value = Sharing> {
    prop_oneof![3 => Just(Sharing::Rdm), 1 => Just(Sharing::Tdm)]
}

/// Returns the weighted mean of allocations, with these positive weights.
fn mean(problem: &Problem, points: &[Tasks], weights: &[u32]) -> Tasks {
    let sum: u32 = (0..points.len()).map(|k| weights[k % weights.len()]).sum();
    let of = |n: usize, i: usize| -> Rational {
        let part = |(k, point): (usize, &Tasks)| {
            let on = point[n].iter().find(|(class, _)| *class == i)?;
            Some(Rational::from(&on.1 * weights[k % weights.len()]) / sum)
        };
        points.iter().enumerate().filter_map(part).sum()
    };
    let list = |n: usize| (0..problem.n_servers()).map(|i| (i, of(n, i))).filter(|(_, x)| *x > 0).collect();
    (0..problem.n_users()).map(list).collect()
}

fn check_set(problem: &Problem, sharing: Sharing, weights: &[u32]) -> NjcSet {
    let constraints = Constraints::new(problem, sharing);
    let set = enumerate(&constraints, &EnumerationLimits::default()).expect("within the limits");
    assert!(!set.polytopes.is_empty(), "there always is an NJC allocation");
    let contains = |face: &Face, tasks: &Tasks| face.contains(&constraints, tasks).expect("a face that fits");
    for polytope in &set.polytopes {
        assert!(polytope.vertices.len() > polytope.dimension);
        for vertex in &polytope.vertices {
            assert_njc(problem, sharing, vertex);
            assert!(contains(&polytope.face, vertex));
        }
        let middle = mean(problem, &polytope.vertices, weights);
        assert_njc(problem, sharing, &middle);
        assert!(contains(&polytope.face, &middle));
        let point = member(&constraints, &polytope.face, None).expect("an answer").expect("a point");
        assert!(polytope.vertices.contains(&point), "{point:?} is no vertex of {polytope:?}");
        for goal in [Goal::MaxTasks, Goal::MaxUtilisation] {
            let best = member(&constraints, &polytope.face, Some(goal)).expect("an answer").expect("a point");
            let value = |tasks: &Tasks| goal.value(&constraints, tasks);
            assert_eq!(Some(value(&best)), polytope.vertices.iter().map(value).max());
        }
    }
    set
}

#[test]
fn enumerated_sets_of_random_problems_are_njc() {
    let strategy =
        (prop_oneof![2 => random(POOL), 1 => random(CLUSTER)], sharing(), prop::collection::vec(1u32..9, 5));
    let counts = std::cell::RefCell::new([0usize; 4]);
    let outcome = runner(400, file!()).run(&strategy, |(problem, sharing, weights)| {
        let set = check_set(&problem, sharing, &weights);
        let mut counts = counts.borrow_mut();
        let sum: usize = set.extreme_points.len();
        counts[0] += usize::from(sum == 1);
        counts[1] += usize::from(set.polytopes.len() > 1);
        counts[2] = counts[2].max(set.polytopes.len());
        counts[3] = counts[3].max(sum);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let [unique, several, polytopes, points] = *counts.borrow();
    println!(
        "{unique} unique, {several} of several polytopes; at most {polytopes} polytopes, {points} points"
    );
    assert!(unique > 20 && several > 20);
}

/// Every NJC allocation that `member` finds on a random face lies in an enumerated polytope.
#[test]
fn every_face_lies_in_an_enumerated_polytope() {
    let strategy = (
        prop_oneof![2 => random(POOL), 1 => random(CLUSTER)],
        sharing(),
        prop::collection::vec(0usize..64, 6),
    );
    let counts = std::cell::RefCell::new([0usize; 2]);
    let outcome = runner(400, file!()).run(&strategy, |(problem, sharing, picks)| {
        let constraints = Constraints::new(&problem, sharing);
        let set = enumerate(&constraints, &EnumerationLimits::default()).expect("within the limits");
        for shift in 0..8 {
            let face = random_face(&constraints, &picks, shift);
            let Ok(found) = member(&constraints, &face, Some(Goal::MaxTasks)) else {
                prop_assert!(matches!(member(&constraints, &face, None), Err(LevelsError::Face(_))));
                continue;
            };
            counts.borrow_mut()[usize::from(found.is_some())] += 1;
            if let Some(tasks) = found {
                assert_njc(&problem, sharing, &tasks);
                prop_assert!(set.polytopes.iter().any(|p| p.face.contains(&constraints, &tasks) == Ok(true)));
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let [empty, full] = *counts.borrow();
    println!("{empty} random faces without a point, {full} with one");
    assert!(empty > 100 && full > 100);
}

/// Returns a face with a witness for every user. Its bottlenecks are the rows of the witnesses.
fn random_face(constraints: &Constraints<'_>, picks: &[usize], shift: usize) -> Face {
    let problem = constraints.problem();
    let witness = |n: usize| {
        if !problem.is_active(n) {
            return None;
        }
        let pick = (picks[n % picks.len()] >> (shift % 4)) + shift;
        if pick.is_multiple_of(3) && problem.users()[n].tasks().is_some() {
            return Some(Witness::Satisfied);
        }
        Some(Witness::Row(pick % constraints.rows().len()))
    };
    let witnesses: Vec<Option<Witness>> = (0..problem.n_users()).map(witness).collect();
    let row = |w: &Option<Witness>| match w {
        Some(Witness::Row(row)) => Some(*row),
        _ => None,
    };
    Face { bottlenecks: witnesses.iter().filter_map(row).collect(), witnesses }
}

#[test]
fn selections_are_the_best_vertices() {
    let strategy = (prop_oneof![2 => random(POOL), 1 => random(CLUSTER)], sharing());
    let cuts = std::cell::Cell::new(0);
    let (asked, missed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let refuted = std::cell::Cell::new(0);
    let outcome = runner(300, file!()).run(&strategy, |(problem, sharing)| {
        let constraints = Constraints::new(&problem, sharing);
        let set = enumerate(&constraints, &EnumerationLimits::default()).expect("within the limits");
        for goal in [Goal::MaxTasks, Goal::MaxUtilisation, Goal::MaxMinShare] {
            let selection = select(&constraints, goal, &SelectSettings::default()).expect("a selection");
            assert_njc(&problem, sharing, &selection.tasks);
            prop_assert_eq!(&selection.value, &goal.value(&constraints, &selection.tasks));
            prop_assert_eq!(selection.status, MipStatus::Optimal);
            let value = selection.value.to_f64();
            match selection.bound {
                Some(bound) => prop_assert!(value <= bound + 1e-5 * value.max(1.0), "{} {}", value, bound),
                None => refuted.set(refuted.get() + 1),
            }
            cuts.set(cuts.get() + selection.cuts);
            let limits = EnumerationLimits::default();
            let above = |value: &Rational| best_above(&constraints, goal, value, &limits).expect("in time");
            let proven = above(&Rational::from(-1)).expect("something is worth more than -1");
            assert_njc(&problem, sharing, &proven.tasks);
            prop_assert_eq!(proven.face.contains(&constraints, &proven.tasks), Ok(true));
            prop_assert_eq!(above(&proven.value), None, "{:?}", goal);
            asked.set(asked.get() + 1);
            // HiGHS may return the second best allocation. Then the exact search computes the best.
            if proven.value != selection.value {
                prop_assert!(proven.value > selection.value, "{:?}", goal);
                missed.set(missed.get() + 1);
                continue;
            }
            prop_assert_eq!(above(&selection.value), None, "{:?}", goal);
            let best = best_vertex(&constraints, &set, goal).expect("a vertex");
            if goal == Goal::MaxMinShare {
                // The goal is not linear. The best point need not be a vertex, but no vertex may be better.
                prop_assert!(selection.value >= best, "{:?}: {} < {}", goal, selection.value, best);
            } else {
                prop_assert_eq!(&selection.value, &best, "{:?}", goal);
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    println!("{} faces were refuted", cuts.get());
    assert!(100 * missed.get() <= asked.get(), "HiGHS missed {} of {}", missed.get(), asked.get());
    let refuted = refuted.get();
    assert!(100 * refuted <= asked.get(), "HiGHS refuted itself in {refuted} of {}", asked.get());
}

/// HiGHS claims that 1/6 is the largest least share here, but the exact search computes a larger one.
#[test]
fn the_exact_search_improves_on_highs() {
    let text = r#"{"kind": "allocation-problem", "resources": ["r"],
        "servers": [{"name": "s0", "capacity": {"r": 5}}, {"name": "s1", "capacity": {"r": 3}}],
        "users": [{"name": "u0", "demand": {"r": 4}, "demand_on": {"s0": {"r": 1}}},
                  {"name": "u1", "weight": 2, "demand": {"r": 1}},
                  {"name": "u2", "weight": 3, "demand": {"r": 4}, "tasks": 1}]}"#;
    let problem = evenhand_problem::format::Source { name: "p", text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let goal = Goal::MaxMinShare;
    let selection = select(&constraints, goal, &SelectSettings::default()).unwrap();
    assert!(selection.value <= Rational::from((29, 144)));
    let limits = EnumerationLimits::default();
    let best = best_above(&constraints, goal, &Rational::from(-1), &limits).unwrap().unwrap();
    assert_eq!(best.value, Rational::from((29, 144)));
    assert_njc(&problem, Sharing::Rdm, &best.tasks);
}

/// HiGHS claims that no least share exceeds 7/39 here, while its own face has a point with the least share 11/39.
/// Therefore no bound is returned.
#[test]
fn a_refuted_bound_is_not_returned() {
    let text = r#"{"kind": "allocation-problem", "resources": ["r"],
        "servers": [{"name": "s0", "count": 2, "capacity": {"r": 7}}, {"name": "s1", "count": 2, "capacity": {"r": 6}}],
        "users": [{"name": "u0", "weight": 2, "demand": {"r": 7}, "demand_on": {"s0": {"r": 2}}},
                  {"name": "u1", "demand": {"r": 1}},
                  {"name": "u2", "weight": 3, "demand": {"r": 3.5}, "tasks": 4}]}"#;
    let problem = evenhand_problem::format::Source { name: "p", text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let selection = select(&constraints, Goal::MaxMinShare, &SelectSettings::default()).unwrap();
    let value = selection.value.to_f64();
    assert!(selection.bound.is_none_or(|bound| value <= bound + 1e-5), "{value} {:?}", selection.bound);
    assert_njc(&problem, Sharing::Rdm, &selection.tasks);
}

/// Ties that doubles cannot resolve: HiGHS may choose an empty face, or a slightly worse face.
///
/// The returned allocation is NJC nevertheless, and no allocation is better by more than the tolerance of HiGHS.
#[test]
fn selections_are_njc_even_if_doubles_mislead() {
    let numbers = evenhand_testkit::random::problems::Numbers::NearTies;
    let pools = random(Shape { numbers, ..POOL });
    let strategy = (prop_oneof![2 => pools, 1 => random(Shape { numbers, ..CLUSTER })], sharing());
    let counts = std::cell::RefCell::new([0usize; 2]);
    let outcome = fixed_runner(300).run(&strategy, |(problem, sharing)| {
        let constraints = Constraints::new(&problem, sharing);
        for goal in [Goal::MaxTasks, Goal::MaxUtilisation] {
            let selection = select(&constraints, goal, &SelectSettings::default()).expect("a selection");
            assert_njc(&problem, sharing, &selection.tasks);
            counts.borrow_mut()[0] += selection.cuts;
            let better = best_above(&constraints, goal, &selection.value, &EnumerationLimits::default())
                .expect("in time");
            if let Some(better) = better {
                counts.borrow_mut()[1] += 1;
                assert_njc(&problem, sharing, &better.tasks);
                prop_assert!(better.value > selection.value);
                prop_assert!(better.value < selection.value * Rational::from((1_000_000_001, 1_000_000_000)));
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    println!("faces refuted, selections improved: {:?}", counts.borrow());
}

/// Two users on one pool have exactly one NJC allocation (NJC paper, section 5).
#[test]
fn two_users_on_one_pool_have_a_unique_answer() {
    let shape = Shape { users: (2, 2), ..POOL };
    let outcome = runner(300, file!()).run(&random(shape), |problem| {
        prop_assert_eq!(set(&problem).extreme_points.len(), 1);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
