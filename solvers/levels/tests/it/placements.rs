//! Tests of placements of totals. Each is computed or refuted, in rationals.

use evenhand_exact::tree::{ClassLimit, ClassLimits};
use evenhand_levels::placement::{Place, Placements};
use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use serde_json::{Value, json};

/// Returns a problem with ten cpus on each of two classes. The first user runs only on the class with gpus.
fn problem() -> Problem {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 10, "gpu": 3}}, {"name": "b", "capacity": {"cpu": 10}}],
        "users": [{"name": "one", "demand": {"cpu": 1, "gpu": 1}}, {"name": "two", "demand": {"cpu": 2}}]}"#;
    Source { name: "problem", text }.problem().unwrap()
}

fn totals(one: (i32, i32), two: (i32, i32)) -> Vec<Rational> {
    vec![Rational::from(one), Rational::from(two)]
}

#[test]
fn feasible_totals_are_placed() {
    let problem = problem();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    for totals in [totals((0, 1), (10, 1)), totals((3, 1), (17, 2)), totals((1, 3), (1, 7))] {
        assert_eq!(placements.broken(&totals).unwrap(), None);
        let Place::Found(placed) = placements.place(&mut totals.clone()).unwrap() else {
            panic!("{totals:?}")
        };
        let mut cpu = vec![Rational::new(), Rational::new()];
        for ((tasks, total), demand) in placed.iter().zip(&totals).zip([1, 2]) {
            assert_eq!(tasks.iter().map(|(_, x)| x).sum::<Rational>(), *total);
            tasks.iter().for_each(|(i, x)| cpu[*i] += Rational::from(x * demand));
        }
        assert!(cpu.iter().all(|used| *used <= 10), "{cpu:?}");
        assert!(placed[0].iter().all(|(i, _)| *i == 0));
    }
}

#[test]
fn infeasible_totals_violate_a_valid_bound() {
    let problem = problem();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    for broken in [totals((4, 1), (0, 1)), totals((3, 1), (9, 1)), totals((1, 1), (10, 1))] {
        let bound = placements.broken(&broken).unwrap().expect("a bound");
        assert!(bound.left(&broken) < 0);
        for kept in [totals((3, 1), (17, 2)), totals((0, 1), (10, 1)), totals((2, 1), (9, 1))] {
            assert!(bound.left(&kept) >= 0, "{bound:?}");
        }
        assert!(matches!(placements.place(&mut broken.clone()).unwrap(), Place::Broken(_)));
    }
}

/// The exact programme refutes totals whose excess doubles cannot see.
#[test]
fn an_excess_below_double_precision_is_detected() {
    let problem = problem();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    let totals =
        vec![Rational::from(3), Rational::from((17, 2)) + Rational::from((1, 1_000_000_000_000_i64))];
    assert_eq!(placements.broken(&totals).unwrap(), None);
    let Place::Broken(bound) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("it has no place")
    };
    assert!(bound.left(&totals) < 0);
}

/// Both users together may use three cpus on `b`, and the second user may use none on `a`. Each limit is a row, which
/// has a price if the limit binds.
#[test]
fn class_limits_have_their_own_rows() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 10}}, {"name": "b", "capacity": {"cpu": 10}}],
        "users": [{"name": "one", "demand": {"cpu": 1}}, {"name": "two", "demand": {"cpu": 2}}]}"#;
    let problem = Source { name: "problem", text }.problem().unwrap();
    let limit = |servers: Vec<usize>, most: u32| ClassLimit {
        group: 0,
        servers,
        resource: 0,
        most: Rational::from(most),
    };
    let limits =
        ClassLimits { list: vec![limit(vec![1], 3), limit(vec![0], 0)], of_user: vec![vec![0], vec![0, 1]] };
    assert_eq!(limits.allowed(&problem, 0).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(limits.allowed(&problem, 1).collect::<Vec<_>>(), [1]);
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &limits).unwrap();
    for totals in [totals((13, 1), (0, 1)), totals((10, 1), (3, 2)), totals((11, 1), (1, 1))] {
        assert_eq!(placements.broken(&totals).unwrap(), None);
        let Place::Found(placed) = placements.place(&mut totals.clone()).unwrap() else {
            panic!("{totals:?}")
        };
        let on_b: Rational = placed
            .iter()
            .zip([1, 2])
            .flat_map(|(tasks, d)| {
                tasks.iter().filter(|(i, _)| *i == 1).map(move |(_, x)| Rational::from(x * d))
            })
            .sum();
        assert!(on_b <= 3 && placed[1].iter().all(|(i, _)| *i == 1), "{placed:?}");
    }
    for broken in [totals((14, 1), (0, 1)), totals((0, 1), (2, 1)), totals((12, 1), (1, 1))] {
        let bound = placements.broken(&broken).unwrap().expect("a bound");
        assert!(bound.left(&broken) < 0);
        for kept in [totals((13, 1), (0, 1)), totals((10, 1), (3, 2)), totals((0, 1), (3, 2))] {
            assert!(bound.left(&kept) >= 0, "{bound:?}");
        }
        assert!(matches!(placements.place(&mut broken.clone()).unwrap(), Place::Broken(_)));
    }
}

/// The totals use all of one resource on many classes, and some of another resource.
///
/// They are placed greedily, or by a programme that starts from the greedy placement. Slightly larger totals cannot be
/// placed.
#[test]
fn totals_that_fill_all_classes_are_placed_exactly() {
    let server =
        |i: u32| json!({"name": format!("s{i}"), "capacity": {"cpu": 50 + 7 * (i % 5), "memory": 90 + i}});
    let user = |n: u32| json!({"name": format!("u{n}"), "demand": {"cpu": 1 + n % 7, "memory": 1 + n % 4}});
    let text = json!({
        "kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": (0..12).map(server).collect::<Vec<Value>>(), "users": (0..80).map(user).collect::<Vec<Value>>(),
    });
    let problem = Source { name: "problem", text: &text.to_string() }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let all: Rational = problem.servers().iter().map(|class| &class.capacity()[0]).sum();
    let cpu = |n: usize| &problem.users()[n].base_demand().entries()[0].1;
    // The users get decreasing totals. Together they use all of the resource.
    let mut totals: Vec<Rational> = (0..80)
        .map(|n| Rational::from(&all / 97_u32) * Rational::from((80 - n, 41)) / cpu(n as usize))
        .collect();
    let used: Rational = totals.iter().enumerate().map(|(n, x)| Rational::from(x * cpu(n))).sum();
    totals.iter_mut().for_each(|x| *x *= Rational::from(&all / &used));
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    let Place::Found(placed) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have a place")
    };
    let mut free: Vec<Rational> = constraints.rows().iter().map(|row| row.capacity.clone()).collect();
    for (n, list) in placed.iter().enumerate() {
        assert_eq!(list.iter().map(|(_, x)| x).sum::<Rational>(), totals[n], "user {n}");
        for (i, x) in list {
            let usage = constraints.usage(n, *i).unwrap();
            constraints
                .class_rows(*i)
                .zip(usage.iter())
                .for_each(|(row, d)| free[row] -= Rational::from(d * x));
        }
    }
    assert!(free.iter().all(|free| *free >= 0));
    let left: Rational = free.iter().step_by(2).sum();
    assert_eq!(left, 0, "all cpu is used");
    totals[3] += Rational::from((1, 1_000_000_000_000_i64));
    let Place::Broken(bound) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have none")
    };
    assert!(bound.left(&totals) < 0);
}

/// A total that is 0 in doubles is placed nevertheless. A total that cannot be placed violates a bound.
#[test]
fn totals_below_the_range_of_doubles_are_placed() {
    let problem = problem();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    let tiny = Rational::from(1) >> 2000_u32;
    let mut totals = vec![tiny.clone(), Rational::from(1)];
    let Place::Found(placed) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have a place")
    };
    assert_eq!(placed[0], [(0, tiny.clone())]);
    totals = vec![Rational::from(3), Rational::from((17, 2)) + tiny];
    let Place::Broken(bound) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have none")
    };
    assert!(bound.left(&totals) < 0);
}

/// A demand below the range of doubles: a task uses nothing of the resource in doubles.
#[test]
fn demands_below_the_range_of_doubles_are_placed() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 10, "gpu": 3}}, {"name": "b", "capacity": {"cpu": 10}}],
        "users": [{"name": "one", "demand": {"cpu": 1e-400, "gpu": 1}}, {"name": "two", "demand": {"cpu": 2}}]}"#;
    let problem = Source { name: "problem", text }.problem().unwrap();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let mut placements = Placements::new(&constraints, &ClassLimits::default()).unwrap();
    let mut totals = vec![Rational::from((5, 2)), Rational::from(7)];
    assert_eq!(placements.broken(&totals).unwrap(), None);
    let Place::Found(placed) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have a place")
    };
    let all = |n: usize| placed[n].iter().map(|(_, x)| x).sum::<Rational>();
    assert_eq!([all(0), all(1)], totals[..]);
    totals[1] = Rational::from(10);
    let Place::Broken(bound) = placements.place(&mut totals.clone()).unwrap() else {
        panic!("they have none")
    };
    assert!(bound.left(&totals) < 0);
}
