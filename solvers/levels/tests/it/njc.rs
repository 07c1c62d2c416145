//! Tests of No Justified Complaints: published and golden cases, and invalid input.

use crate::common;

use common::njc::{assert_njc, best_vertex, pool, set, totals};
use evenhand_levels::LevelsError;
use evenhand_levels::njc::{
    EnumerationLimits, Face, FaceError, Goal, NjcSet, SelectSettings, Tasks, Witness, entitlements,
    enumerate, member, select,
};
use evenhand_lp::LpError;
use evenhand_lp::mip::MipStatus;
use evenhand_problem::{Constraints, Problem, Rational, Sharing};
use evenhand_testkit::q;
use evenhand_testkit::random::problems::{build, resource_name};

fn assert_extreme(problem: &Problem, expected: &[&str]) -> NjcSet {
    let set = set(problem);
    assert_eq!(totals(&set.extreme_points), expected);
    for tasks in &set.extreme_points {
        assert_njc(problem, Sharing::Rdm, tasks);
    }
    set
}

/// NJC paper, figure 2: the allocation is unique.
#[test]
fn figure_2_is_unique() {
    let problem = pool(&["1 1/5", "1 1/5", "2/5 4/5"], "1/3 1/3 1/3");
    assert_extreme(&problem, &["1/3 1/3 5/6"]);
}

/// NJC paper, section 3. The Eisenberg-Gale point between the two end points is irrational.
#[test]
fn the_example_of_section_3_is_a_segment() {
    let problem = pool(&["1/2 1/2 2/3", "1/2 5/8 1/2", "1 1 1/3"], "1/2 3/8 1/8");
    let set = assert_extreme(&problem, &["31/32 5/8 1/8", "59/60 3/5 2/15"]);
    assert_eq!(set.polytopes.iter().map(|p| p.dimension).collect::<Vec<_>>(), [1]);
}

/// NJC paper, figures 3 and 5: two users have one point each.
#[test]
fn two_users_have_a_unique_answer() {
    let figure_3 = [
        ("1/2", "1/2", "3/4 3/4"),
        ("1/3", "2/3", "2/3 5/6"),
        ("2/3", "1/3", "1 1/2"),
        ("1/10", "9/10", "2/5 9/10"),
        ("9/10", "1/10", "1 1/2"),
        ("4/5", "1/5", "1 1/2"),
        ("3/5", "2/5", "9/10 3/5"),
        ("2/5", "3/5", "2/3 5/6"),
    ];
    for (e1, e2, point) in figure_3 {
        assert_extreme(&pool(&["1/4 2/3 1", "1 2/3 0"], &format!("{e1} {e2}")), &[point]);
    }
    let figure_5 = [
        ("2/5", "3/5", "3/5 9/10"),
        ("1/4", "3/4", "1/2 1"),
        ("1/3", "2/3", "1/2 1"),
        ("3/4", "1/4", "1 1/2"),
    ];
    for (e1, e2, point) in figure_5 {
        assert_extreme(&pool(&["2/3", "2/3"], &format!("{e1} {e2}")), &[point]);
    }
}

/// NJC paper, section 5.5: `(z, 1-z, 1-z)` for `1/2 <= z <= 7/10`.
#[test]
fn the_family_of_three_is_a_segment() {
    let problem = pool(&["1 1", "0 1", "1 0"], "1/2 3/10 1/5");
    let set = assert_extreme(&problem, &["1/2 1/2 1/2", "7/10 3/10 3/10"]);
    assert_eq!(set.polytopes.iter().map(|p| p.dimension).collect::<Vec<_>>(), [1]);
}

fn circulant() -> Problem {
    pool(&["1 1 0 1", "1 1 1 0", "0 1 1 1", "1 0 1 1"], "1/4 1/4 1/4 1/4")
}

/// NJC paper, section 5.5, which lists seven points. The set is in fact a triangle for every pair
/// of users, with one common corner.
#[test]
fn the_circulant_is_six_triangles() {
    let ends =
        ["1/4 1/4 1/4 1/2", "1/4 1/4 1/2 1/4", "1/4 1/2 1/4 1/4", "1/3 1/3 1/3 1/3", "1/2 1/4 1/4 1/4"];
    let set = assert_extreme(&circulant(), &ends);
    let mut triangles: Vec<Vec<String>> = set.polytopes.iter().map(|p| totals(&p.vertices)).collect();
    assert!(set.polytopes.iter().all(|p| p.dimension == 2));
    triangles.sort();
    let mut expected = Vec::new();
    for a in [0, 1, 2, 4] {
        for b in [0, 1, 2, 4] {
            if a < b {
                let mut corners = vec![ends[a], ends[b], ends[3]];
                corners.sort_by_key(|text| ends.iter().position(|end| end == text));
                expected.push(corners.into_iter().map(str::to_owned).collect::<Vec<_>>());
            }
        }
    }
    expected.sort();
    assert_eq!(triangles, expected);
}

#[test]
fn the_circulant_has_its_best_utilisation_in_the_middle() {
    let problem = circulant();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let best = select(&constraints, Goal::MaxUtilisation, &SelectSettings::default()).expect("a selection");
    assert_eq!(best.value, 4);
    assert_eq!(totals(&[best.tasks]), ["1/3 1/3 1/3 1/3"]);
    assert_eq!(best.status, MipStatus::Optimal);
    assert!(best.bound.is_some_and(|bound| (bound - 4.0).abs() < 1e-6), "bound {:?}", best.bound);
    let fair = select(&constraints, Goal::MaxMinShare, &SelectSettings::default()).expect("a selection");
    // A share of a third, divided by a weight of a quarter.
    assert_eq!(fair.value, q("4/3"));
}

/// With one resource and a satisfied user the allocation is not unique, contrary to the paper's
/// section 4.
#[test]
fn one_resource_can_have_a_continuum_of_answers() {
    let problem = pool(&["1/10", "1", "1"], "1/3 1/3 1/3");
    let set = assert_extreme(&problem, &["1 1/3 17/30", "1 17/30 1/3"]);
    assert_eq!(set.polytopes.len(), 1);
    let best =
        select(&Constraints::new(&problem, Sharing::Rdm), Goal::MaxMinShare, &SelectSettings::default());
    let best = best.expect("a selection");
    assert_eq!(totals(&[best.tasks]), ["1 9/20 9/20"]);
    assert_eq!(best.value, q("27/20"));
}

/// Random instances from an independent implementation. Each has a point, and most have the best utilisation.
#[test]
fn golden_instances_have_their_points_and_utilisation() {
    type Case = (&'static [&'static str], &'static str, &'static str, Option<f64>);
    let cases: [Case; 7] = [
        (&["3/4 0", "7/10 9/10", "1/10 3/20"], "2/9 2/9 5/9", "43/135 17/18 1", Some(2.0)),
        (
            &["13/20 0 1/10", "1 19/20 17/20", "4/5 4/5 3/10"],
            "3/19 8/19 8/19",
            "60/247 8/19 10/19",
            Some(2.361133603238866),
        ),
        (
            &["0 17/20 9/10", "9/10 1/20 1/2", "3/10 11/20 1/5", "19/20 0 13/20"],
            "3/17 8/17 2/17 4/17",
            "11090/26163 80/153 50/51 80/323",
            Some(2.9256583725107976),
        ),
        (
            &["19/20 0 3/20", "0 2/5 7/10", "1/2 0 1", "7/10 1/2 19/20", "3/20 4/5 17/20"],
            "8/23 6/23 1/23 7/23 1/23",
            "50885/68609 60/161 1/23 140/437 22605/68609",
            Some(2.5728319691502364),
        ),
        (
            &[
                "0 0 13/20 1/5",
                "13/20 0 4/5 3/10",
                "4/5 19/20 11/20 17/20",
                "11/20 0 13/20 19/20",
                "3/10 9/20 1/20 7/20",
                "2/5 1/10 3/5 1/2",
            ],
            "3/16 3/16 1/4 3/16 1/16 1/8",
            "15/52 299995/667641 5/17 15/76 1014205/1335282 5/24",
            None,
        ),
        (
            &[
                "9/10 17/20 0 1/2",
                "3/10 1 7/10 11/20",
                "3/4 7/10 3/5 0",
                "0 17/20 0 0",
                "3/10 13/20 19/20 7/20",
                "2/5 4/5 0 4/5",
                "0 9/20 4/5 3/4",
                "3/5 9/20 0 7/10",
            ],
            "7/38 3/19 3/38 4/19 1/38 1/19 7/38 2/19",
            "70/323 3/19 15/133 80/323 10/247 5/76 70/171 40/171",
            None,
        ),
        (
            &[
                "1/4 0 1 0 1/4",
                "17/20 0 1/5 0 3/10",
                "1/5 2/5 0 1/20 17/20",
                "0 3/4 9/20 7/10 7/20",
                "1/10 13/20 1 0 0",
                "11/20 0 0 3/10 0",
                "1 0 0 7/10 7/10",
                "0 7/10 3/10 0 13/20",
                "0 1 4/5 0 1/20",
                "3/10 0 7/20 2/5 1",
            ],
            "1/52 2/13 9/52 7/52 1/13 3/26 3/52 3/26 5/52 3/52",
            "599681491/1937926900 40/221 602675183/2015443976 994163194/1259652485 20/169 1 \
             57844913/575841136 15/91 5/52 196084703/1259652485",
            None,
        ),
    ];
    for (requests, entitlements, point, best) in cases {
        let problem = pool(requests, entitlements);
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let point: Tasks = point.split_whitespace().map(|x| vec![(0, q(x))]).collect();
        assert_njc(&problem, Sharing::Rdm, &point);
        let set = set(&problem);
        assert!(set.polytopes.iter().any(|p| p.face.contains(&constraints, &point).expect("fits")));
        let selection = select(&constraints, Goal::MaxUtilisation, &SelectSettings::default());
        let selection = selection.expect("a selection");
        assert_njc(&problem, Sharing::Rdm, &selection.tasks);
        assert_eq!(Some(&selection.value), best_vertex(&constraints, &set, Goal::MaxUtilisation).as_ref());
        if let Some(best) = best {
            assert!((selection.value.to_f64() - best).abs() < 1e-9);
        }
        println!(
            "{} users: {} polytopes, {} extreme points, {} choices; {} nodes",
            problem.n_users(),
            set.polytopes.len(),
            set.extreme_points.len(),
            set.choices,
            selection.nodes
        );
    }
}

#[test]
fn refuses_unsuitable_faces() {
    let problem = pool(&["1 0", "1 1"], "1/2 1/2");
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let rows = |bottlenecks: &[usize], witnesses: &[Option<Witness>]| {
        let face = Face { bottlenecks: bottlenecks.to_vec(), witnesses: witnesses.to_vec() };
        member(&constraints, &face, None)
    };
    let row = |row: usize| Some(Witness::Row(row));
    let fault = |error: FaceError| Err(LevelsError::Face(error));
    assert_eq!(rows(&[0], &[row(0)]), fault(FaceError::Users { expected: 2, found: 1 }));
    assert_eq!(rows(&[7], &[row(0), row(0)]), fault(FaceError::NoRow { row: 7 }));
    assert_eq!(rows(&[0], &[row(0), None]), fault(FaceError::NoWitness { user: 1 }));
    assert_eq!(rows(&[0, 1], &[row(1), row(0)]), fault(FaceError::NotWitness { user: 0, row: 1 }));
    assert_eq!(rows(&[0], &[row(0), row(1)]), fault(FaceError::NotWitness { user: 1, row: 1 }));
    let both = rows(&[0], &[row(0), row(0)]).expect("it fits").expect("a point");
    assert_eq!(totals(&[both]), ["1/2 1/2"]);
    let satisfied = Some(Witness::Satisfied);
    assert_eq!(rows(&[], &[satisfied, satisfied]), Ok(None));
    // Allocations that no face contains: too few users, a class that does not exist, and too much usage of a row.
    let face = Face { bottlenecks: vec![0], witnesses: vec![row(0), row(0)] };
    let contains = |tasks: Tasks| face.contains(&constraints, &tasks);
    let half = || vec![(0, q("1/2"))];
    assert_eq!(contains(vec![half()]), Err(FaceError::Users { expected: 2, found: 1 }));
    assert_eq!(contains(vec![half(), vec![(5, q("1/2"))]]), Ok(false));
    assert_eq!(contains(vec![half(), vec![(0, q("1/2")), (0, q("1/4"))]]), Ok(false));
    assert_eq!(contains(vec![half(), vec![(0, q("1/4"))]]), Ok(false));
    assert_eq!(contains(vec![half(), half()]), Ok(true));
    assert_eq!(Goal::MaxTasks.value(&constraints, &vec![half()]), q("1/2"));
    assert_eq!(Goal::MaxUtilisation.value(&constraints, &vec![half()]), q("1/2"));

    let mut unlimited = evenhand_testkit::random::problems::spec_of(&["1"], &["1", "1"]);
    unlimited.users[1].tasks = Some(Rational::new());
    let problem = build(unlimited);
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let of = |witnesses: [Option<Witness>; 2]| {
        member(&constraints, &Face { bottlenecks: vec![0], witnesses: witnesses.to_vec() }, None)
    };
    assert_eq!(of([satisfied, None]), fault(FaceError::Unlimited { user: 0 }));
    assert_eq!(of([row(0), row(0)]), fault(FaceError::NotActive { user: 1 }));
    assert_eq!(of([row(0), None]).expect("it fits").map(|t| totals(&[t])), Some(vec!["1 0".to_owned()]));
    assert_eq!(entitlements(&constraints), [Rational::from(1), Rational::new()]);
}

#[test]
fn limits_are_honoured() {
    let problem = circulant();
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let few = |limits: EnumerationLimits| enumerate(&constraints, &limits).map(|set| set.polytopes.len());
    let spent = |what: &'static str, limit: usize| Err(LevelsError::Budget { what, limit });
    let limits = EnumerationLimits::default();
    assert_eq!(
        few(EnumerationLimits { choices: 5, ..limits }),
        spent("choices of bottlenecks and witnesses", 5)
    );
    assert_eq!(few(EnumerationLimits { rays: 2, ..limits }), spent("rays of one polytope", 2));
    assert_eq!(few(EnumerationLimits { vertices: 17, ..limits }), spent("vertices", 17));
    assert_eq!(few(limits), Ok(6));
    let mut settings = SelectSettings::default();
    settings.mip.time_limit = 0.0;
    assert_eq!(select(&constraints, Goal::MaxTasks, &settings), Err(LevelsError::Lp(LpError::TimeLimit)));
}

#[test]
fn problems_without_active_users_have_one_answer() {
    let mut nobody = evenhand_testkit::random::problems::spec_of(&["1"], &["1"]);
    nobody.users[0].tasks = Some(Rational::new());
    nobody.resources = vec![resource_name(0)];
    let problem = build(nobody);
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    for goal in [Goal::MaxTasks, Goal::MaxUtilisation, Goal::MaxMinShare] {
        let selection = select(&constraints, goal, &SelectSettings::default()).expect("nothing");
        assert_eq!(selection.tasks, vec![Vec::new()]);
        assert_eq!(selection.value, 0);
    }
    assert_eq!(set(&problem).extreme_points, vec![vec![Vec::new()]]);
}
