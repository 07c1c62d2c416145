//! Tests of mixed-integer programmes, compared with all integer points.

use crate::common;

use common::runner;
use evenhand_lp::LpError;
use evenhand_lp::mip::{MipColumn, MipModel, MipRow, MipSettings, MipStatus};
use proptest::prelude::*;

const INFINITY: f64 = f64::INFINITY;

fn integer(cost: f64, lower: f64, upper: f64) -> MipColumn {
    MipColumn { cost, lower, upper, is_integer: true }
}

fn model(columns: &[MipColumn], rows: &[(f64, &[f64], f64)]) -> MipModel {
    let mut model = MipModel::default();
    for column in columns {
        model.add_column(*column).expect("a good column");
    }
    for (lower, a, upper) in rows {
        let entries = a.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).collect();
        model.add_row(MipRow { lower: *lower, upper: *upper, entries }).expect("a good row");
    }
    model
}

fn solve(columns: &[MipColumn], rows: &[(f64, &[f64], f64)]) -> Result<(Vec<f64>, f64, f64), LpError> {
    let solution = model(columns, rows).solve(&MipSettings::default())?;
    assert_eq!(solution.status, MipStatus::Optimal);
    Ok((solution.values, solution.objective, solution.bound))
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-7, "{found} for {expected}");
}

/// Returns the best of all integer points of a small box.
#[test]
fn returns_the_best_integer_point() {
    let entry = || -4i32..5;
    let strategy = (1usize..5, 1usize..4).prop_flat_map(move |(columns, rows)| {
        let row = (prop::collection::vec(entry(), columns), -9i32..6, 0i32..14);
        let bounds = prop::collection::vec((-2i32..2, 0i32..4), columns);
        (prop::collection::vec(entry(), columns), bounds, prop::collection::vec(row, rows))
    });
    let counts = std::cell::Cell::new((0, 0));
    let outcome = runner(500, file!()).run(&strategy, |(costs, bounds, rows)| {
        let mut points = vec![Vec::new()];
        for (lower, width) in &bounds {
            let longer = |point: &Vec<i32>| {
                let point = point.clone();
                (*lower..=lower + width).map(move |x| point.iter().copied().chain([x]).collect())
            };
            points = points.iter().flat_map(longer).collect();
        }
        let dot = |a: &[i32], x: &[i32]| a.iter().zip(x).map(|(a, x)| a * x).sum::<i32>();
        let holds =
            |x: &Vec<i32>| rows.iter().all(|(a, lower, width)| (*lower..=lower + width).contains(&dot(a, x)));
        let best = points.iter().filter(|x| holds(x)).map(|x| dot(&costs, x)).max();
        let columns: Vec<MipColumn> = costs
            .iter()
            .zip(&bounds)
            .map(|(cost, (lower, width))| {
                integer(f64::from(*cost), f64::from(*lower), f64::from(lower + width))
            })
            .collect();
        let dense: Vec<(f64, Vec<f64>, f64)> = rows
            .iter()
            .map(|(a, lower, width)| {
                (f64::from(*lower), a.iter().map(|v| f64::from(*v)).collect(), f64::from(lower + width))
            })
            .collect();
        let dense: Vec<(f64, &[f64], f64)> = dense.iter().map(|(l, a, u)| (*l, a.as_slice(), *u)).collect();
        let (mut solved, mut infeasible) = counts.get();
        match (solve(&columns, &dense), best) {
            (Ok((values, objective, bound)), Some(best)) => {
                solved += 1;
                assert_near(objective, f64::from(best));
                assert_near(bound, f64::from(best));
                let rounded: Vec<i32> = values.iter().map(|v| v.round() as i32).collect();
                prop_assert!(holds(&rounded));
                prop_assert_eq!(dot(&costs, &rounded), best);
            }
            (Err(LpError::Infeasible), None) => infeasible += 1,
            (found, best) => prop_assert!(false, "{:?} for {:?}", found, best),
        }
        counts.set((solved, infeasible));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    println!("solved, infeasible: {:?}", counts.get());
    assert!(counts.get().0 > 50 && counts.get().1 > 50);
}

#[test]
fn solves_integers_together_with_real_numbers() {
    // max 3 n + 2 y, n + y <= 5/2, y <= 1: n = 2, y = 1/2.
    let real = MipColumn { cost: 2.0, lower: 0.0, upper: 1.0, is_integer: false };
    let (values, objective, bound) =
        solve(&[integer(3.0, 0.0, INFINITY), real], &[(-INFINITY, &[1.0, 1.0], 2.5)]).expect("an optimum");
    assert_near(values[0], 2.0);
    assert_near(values[1], 0.5);
    assert_near(objective, 7.0);
    assert_near(bound, 7.0);
}

#[test]
fn without_integers_the_bound_equals_the_value() {
    let real = MipColumn { cost: 1.0, lower: 0.0, upper: INFINITY, is_integer: false };
    let (_, objective, bound) = solve(&[real], &[(-INFINITY, &[4.0], 1.0)]).expect("an optimum");
    assert_near(objective, 0.25);
    assert_near(bound, 0.25);
}

#[test]
fn reports_unsolvable_and_malformed_programmes() {
    let n = |upper: f64| integer(1.0, 0.0, upper);
    assert_eq!(solve(&[n(3.0)], &[(0.25, &[1.0], 0.75)]).map(|s| s.1), Err(LpError::Infeasible));
    let unbounded = solve(&[n(INFINITY)], &[(0.0, &[1.0], INFINITY)]).map(|s| s.1);
    assert!(matches!(unbounded, Err(LpError::Unbounded | LpError::UnboundedOrInfeasible)), "{unbounded:?}");
    assert_eq!(solve(&[], &[]).map(|s| s.1), Err(LpError::Empty));
    let mut model = MipModel::default();
    assert_eq!(model.add_column(integer(f64::NAN, 0.0, 1.0)), Err(LpError::NotFinite));
    assert_eq!(model.add_column(integer(0.0, f64::NAN, 1.0)), Err(LpError::NotFinite));
    assert_eq!(model.add_column(integer(0.0, 0.0, 1.0)), Ok(0));
    let row = |lower: f64, entries: &[(usize, f64)]| MipRow { lower, upper: 1.0, entries: entries.to_vec() };
    assert_eq!(model.add_row(row(f64::NAN, &[])), Err(LpError::NotFinite));
    assert_eq!(model.add_row(row(0.0, &[(0, INFINITY)])), Err(LpError::NotFinite));
    assert_eq!(model.add_row(row(0.0, &[(1, 1.0)])), Err(LpError::NoColumn { column: 1 }));
    assert_eq!(model.add_row(row(0.0, &[(0, 1.0)])), Ok(0));
    assert_eq!(model.n_columns(), 1);
}

/// Market split: the programme cannot be solved within the time, and the status says so.
#[test]
fn the_time_limit_is_a_status_or_an_error() {
    let n = 40;
    let a =
        |j: usize, r: usize| ((j * 7919 + r * 104_729 + j * j * 31 + j * j * j * 17 * (r + 1)) % 100) as f64;
    let mut hard = MipModel::default();
    for _ in 0..n {
        hard.add_column(integer(0.0, 0.0, 1.0)).expect("a good column");
    }
    // The distance from an even split, which is minimised.
    for r in 0..5 {
        let up = hard.add_column(MipColumn { cost: -1.0, lower: 0.0, upper: INFINITY, is_integer: false });
        let down = hard.add_column(MipColumn { cost: -1.0, lower: 0.0, upper: INFINITY, is_integer: false });
        let half = ((0..n).map(|j| a(j, r)).sum::<f64>() / 2.0).floor();
        let mut entries: Vec<(usize, f64)> = (0..n).map(|j| (j, a(j, r))).collect();
        entries.extend([(up.expect("a column"), 1.0), (down.expect("a column"), -1.0)]);
        hard.add_row(MipRow { lower: half, upper: half, entries }).expect("a good row");
    }
    let solution = hard.solve(&MipSettings { time_limit: 0.3, ..MipSettings::default() }).expect("a split");
    println!("{:?}, {} nodes, {} of {}", solution.status, solution.nodes, solution.objective, solution.bound);
    assert!(solution.objective <= solution.bound + 1e-6);
    if solution.status == MipStatus::Optimal {
        assert_near(solution.objective, solution.bound);
    }
    let none = hard.solve(&MipSettings { time_limit: 0.0, ..MipSettings::default() });
    assert!(none.is_err_and(|error| error == LpError::TimeLimit));
}
