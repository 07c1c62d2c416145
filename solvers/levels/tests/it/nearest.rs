//! Tests of placements of given totals that are nearest to other placements.

use evenhand_levels::nearest::nearest;
use evenhand_levels::placement::Placed;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::random::problems::random;
use proptest::prelude::*;

use crate::common::runner;
use crate::njc_random::CLUSTER;

fn total(tasks: &[(usize, Rational)]) -> Rational {
    tasks.iter().map(|(_, x)| x).sum()
}

/// Returns a feasible allocation. Each user in turn gets a fraction of the tasks that fit on each class. `order` shifts
/// the order of the classes.
fn filled(problem: &Problem, constraints: &Constraints<'_>, order: usize) -> Placed {
    let mut left: Vec<Rational> = constraints.rows().iter().map(|row| row.capacity.clone()).collect();
    let mut placed = vec![Vec::new(); problem.n_users()];
    for (n, placed) in placed.iter_mut().enumerate() {
        let mut wanted = problem.users()[n].tasks().cloned();
        let mut classes: Vec<usize> = problem.classes_of(n).collect();
        let by = if classes.is_empty() { 0 } else { (order + n) % classes.len() };
        classes.rotate_left(by);
        for i in classes {
            let Some(usage) = constraints.usage(n, i) else { continue };
            let start = constraints.class_rows(i).start;
            let room = usage.entries().map(|(at, each)| Rational::from(&left[start + at] / each)).min();
            let Some(room) = room else { continue };
            let x = (room / 2u32).min(wanted.clone().unwrap_or_else(|| Rational::from(1_000)));
            for (at, each) in usage.entries() {
                left[start + at] -= Rational::from(&x * each);
            }
            wanted = wanted.map(|wanted| wanted - &x);
            if !x.is_zero() {
                placed.push((i, x));
            }
        }
        placed.sort_by_key(|(i, _)| *i);
    }
    placed
}

fn distance(one: &Placed, other: &Placed, classes: usize) -> Rational {
    let on = |tasks: &[(usize, Rational)], i: usize| -> Rational {
        tasks.iter().find(|(class, _)| *class == i).map(|(_, x)| x.clone()).unwrap_or_default()
    };
    let differ =
        |(a, b): (&Vec<_>, &Vec<_>)| -> Rational { (0..classes).map(|i| (on(a, i) - on(b, i)).abs()).sum() };
    one.iter().zip(other).map(differ).sum()
}

/// The totals stay the same, the result is feasible, and no known placement of these totals is nearer.
#[test]
fn no_known_placement_is_nearer() {
    let moved = std::cell::Cell::new(0);
    let outcome = runner(900, file!()).run(&(random(CLUSTER), 0..3_usize), |(problem, order)| {
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let (from, goal) = (filled(&problem, &constraints, 0), filled(&problem, &constraints, order));
        let units = vec![Rational::from(1); problem.n_users()];
        let found = nearest(&constraints, &from, &goal, &units).expect("HiGHS works");
        for (n, tasks) in found.iter().enumerate() {
            prop_assert_eq!(total(tasks), total(&from[n]));
            prop_assert!(tasks.iter().all(|(i, x)| *x > 0 && problem.classes_of(n).any(|of| of == *i)));
        }
        for (row, of) in constraints.rows().iter().enumerate() {
            let mut used = Rational::new();
            for (n, tasks) in found.iter().enumerate() {
                for (i, x) in tasks.iter().filter(|(i, _)| constraints.class_rows(*i).contains(&row)) {
                    let at = row - constraints.class_rows(*i).start;
                    let usage = constraints.usage(n, *i).expect("it runs there");
                    let each = usage.entries().find(|(position, _)| *position == at);
                    used += each.map(|(_, each)| Rational::from(x * each)).unwrap_or_default();
                }
            }
            prop_assert!(used <= of.capacity);
        }
        let classes = problem.n_servers();
        prop_assert!(distance(&found, &goal, classes) <= distance(&from, &goal, classes));
        moved.set(moved.get() + usize::from(found != from));
        // A goal with the same totals is its own nearest placement.
        let same = goal.iter().zip(&from).all(|(goal, from)| total(goal) == total(from));
        prop_assert!(!same || distance(&found, &goal, classes).is_zero());
        prop_assert_eq!(nearest(&constraints, &goal, &goal, &units).expect("HiGHS works"), goal);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    // About one placement in eighteen moves.
    assert!(moved.get() > 10, "only {} placements moved", moved.get());
}
