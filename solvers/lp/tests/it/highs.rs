//! Tests of the boundary to HiGHS: calls that it refuses, and programmes that end at the right optimum after changes in
//! place and warm starts.

use crate::common;

use common::fixed_runner;
use evenhand_lp::LpError;
use evenhand_lp::highs::{Basis, BasisStatus, ColumnBlock, FloatLp, FloatSolution};
use evenhand_problem::Rational;
use evenhand_testkit::reference::{Dense, Solved};
use proptest::prelude::*;

/// Builds `max c x` with rows `lower <= a x <= upper`.
fn lp(costs: &[f64], rows: &[(&[f64], f64, f64)]) -> FloatLp {
    let bounds: Vec<(f64, f64)> = rows.iter().map(|(_, lower, upper)| (*lower, *upper)).collect();
    let mut lp = FloatLp::new(&bounds).expect("rows");
    lp.add_columns(&block(costs, &rows.iter().map(|(a, _, _)| *a).collect::<Vec<_>>())).expect("columns");
    lp
}

/// Builds columns. For each column, the entries are given for all rows.
fn block(costs: &[f64], rows: &[&[f64]]) -> ColumnBlock {
    let mut block = ColumnBlock::default();
    for (j, cost) in costs.iter().enumerate() {
        let entries = rows.iter().enumerate().map(|(r, row)| (r, row[j])).filter(|(_, v)| *v != 0.0);
        block.push(*cost, entries).expect("finite numbers");
    }
    block
}

fn value(costs: &[f64], solution: &FloatSolution) -> f64 {
    costs.iter().zip(&solution.columns).map(|(c, x)| c * x).sum()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} for {expected}");
}

const WYNDOR: [(&[f64], f64, f64); 3] = [
    (&[1.0, 0.0], f64::NEG_INFINITY, 4.0),
    (&[0.0, 2.0], f64::NEG_INFINITY, 12.0),
    (&[3.0, 2.0], f64::NEG_INFINITY, 18.0),
];

#[test]
fn infinite_numbers_and_nan_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut block = ColumnBlock::default();
        assert_eq!(block.push(bad, []), Err(LpError::NotFinite), "a cost of {bad}");
        let mut block = ColumnBlock::default();
        assert_eq!(block.push(0.0, [(0, bad)]), Err(LpError::NotFinite), "an entry of {bad}");
        let mut lp = lp(&[3.0, 5.0], &WYNDOR);
        assert_eq!(lp.set_coefficient(0, 0, bad), Err(LpError::NotFinite));
        near(value(&[3.0, 5.0], &lp.solve().expect("unchanged")), 36.0);
    }
    assert_eq!(FloatLp::new(&[(f64::NAN, 1.0)]).map(|_| ()), Err(LpError::NotFinite));
    assert_eq!(FloatLp::new(&[(0.0, f64::NAN)]).map(|_| ()), Err(LpError::NotFinite));
    let mut lp = lp(&[3.0, 5.0], &WYNDOR);
    assert_eq!(lp.set_row_bounds(0, f64::NAN, 1.0), Err(LpError::NotFinite));
    assert_eq!(lp.set_row_bounds(0, 0.0, f64::NAN), Err(LpError::NotFinite));
    near(value(&[3.0, 5.0], &lp.solve().expect("unchanged")), 36.0);
}

/// A refused column leaves no entries in the block.
#[test]
fn a_block_survives_a_refused_column() {
    let mut block = ColumnBlock::default();
    assert_eq!(block.push(1.0, [(0, 1.0), (1, f64::NAN)]), Err(LpError::NotFinite));
    let (columns, empty) = (block.len(), block.is_empty());
    assert_eq!((columns, empty), (0, true), "half a column stays in the block");
}

#[test]
fn every_status_has_its_own_error() {
    let infeasible: [(&[f64], f64, f64); 2] =
        [(&[1.0], f64::NEG_INFINITY, 1.0), (&[1.0], 2.0, f64::INFINITY)];
    assert_eq!(lp(&[1.0], &infeasible).solve().map(|s| s.columns), Err(LpError::Infeasible));
    let unbounded: [(&[f64], f64, f64); 1] = [(&[-1.0], f64::NEG_INFINITY, 1.0)];
    assert_eq!(lp(&[1.0], &unbounded).solve().map(|s| s.columns), Err(LpError::Unbounded));
    let crossed: [(&[f64], f64, f64); 1] = [(&[1.0], 2.0, 1.0)];
    let bounds = [(2.0, 1.0)];
    let crossed = FloatLp::new(&bounds).and_then(|mut lp| {
        lp.add_columns(&block(&[1.0], &[crossed[0].0]))?;
        lp.solve()
    });
    assert!(matches!(crossed, Err(LpError::Infeasible | LpError::Call { .. })), "{crossed:?}");
    assert_eq!(FloatLp::new(&[]).and_then(|mut lp| lp.solve()).map(|s| s.columns), Err(LpError::Empty));
}

#[test]
fn the_model_can_be_repaired_after_an_error() {
    let mut lp = lp(&[1.0], &[(&[1.0], f64::NEG_INFINITY, 1.0), (&[1.0], 2.0, f64::INFINITY)]);
    assert_eq!(lp.solve().map(|s| s.columns), Err(LpError::Infeasible));
    lp.set_row_bounds(1, 0.5, f64::INFINITY).expect("bounds");
    near(lp.solve().expect("feasible now").columns[0], 1.0);
    lp.set_row_bounds(0, f64::NEG_INFINITY, f64::INFINITY).expect("bounds");
    assert_eq!(lp.solve().map(|s| s.columns), Err(LpError::Unbounded));
    lp.set_row_bounds(0, f64::NEG_INFINITY, 3.0).expect("bounds");
    near(lp.solve().expect("bounded again").columns[0], 3.0);
}

#[test]
fn indices_out_of_range_are_refused() {
    let mut lp = lp(&[3.0, 5.0], &WYNDOR);
    let refused =
        |result: Result<(), LpError>| assert!(matches!(result, Err(LpError::Call { .. })), "{result:?}");
    refused(lp.set_coefficient(3, 0, 1.0));
    refused(lp.set_coefficient(0, 2, 1.0));
    refused(lp.set_row_bounds(3, 0.0, 1.0));
    let mut no_such_row = ColumnBlock::default();
    no_such_row.push(1.0, [(3, 1.0)]).expect("finite");
    refused(lp.add_columns(&no_such_row));
    let mut row_twice = ColumnBlock::default();
    row_twice.push(1.0, [(0, 1.0), (0, 1.0)]).expect("finite");
    refused(lp.add_columns(&row_twice));
    let too_large = usize::try_from(i64::from(i32::MAX) + 1).expect("64 bits");
    assert_eq!(lp.set_coefficient(too_large, 0, 1.0), Err(LpError::TooLarge));
    assert_eq!(ColumnBlock::default().push(0.0, [(too_large, 1.0)]), Err(LpError::TooLarge));
    near(value(&[3.0, 5.0], &lp.solve().expect("unchanged")), 36.0);
}

/// Columns that HiGHS refused are not counted.
#[test]
fn refused_columns_are_not_counted() {
    let mut lp = lp(&[3.0, 5.0], &WYNDOR);
    let mut no_such_row = ColumnBlock::default();
    no_such_row.push(1.0, [(3, 1.0)]).expect("finite");
    assert!(lp.add_columns(&no_such_row).is_err());
    assert_eq!(lp.n_columns(), 2);
    lp.solve().expect("unchanged");
    assert_eq!(lp.basis().expect("a basis").columns.len(), 2);
}

#[test]
fn a_basis_of_another_size_is_refused() {
    use BasisStatus::{Basic, Lower};
    let mut lp = lp(&[3.0, 5.0], &WYNDOR);
    for (columns, rows) in [(1, 3), (3, 3), (2, 2), (2, 4), (0, 0)] {
        let basis = Basis { columns: vec![Lower; columns], rows: vec![Basic; rows] };
        assert_eq!(lp.set_basis(&basis), Err(LpError::BasisLength));
    }
    // A basis with too many or too few basic variables causes no wrong answer if its length is right.
    for status in [Basic, Lower] {
        let _ = lp.set_basis(&Basis { columns: vec![status; 2], rows: vec![status; 3] });
        near(value(&[3.0, 5.0], &lp.solve().expect("an optimum")), 36.0);
    }
    let optimal =
        Basis { columns: vec![Basic, Basic], rows: vec![Basic, BasisStatus::Upper, BasisStatus::Upper] };
    lp.set_basis(&optimal).expect("the optimal basis");
    near(value(&[3.0, 5.0], &lp.solve().expect("an optimum")), 36.0);
    assert_eq!(lp.basis().expect("a basis"), optimal);
}

#[test]
fn duals_measure_the_change_of_the_optimum() {
    let solution = lp(&[3.0, 5.0], &WYNDOR).solve().expect("an optimum");
    for (found, expected) in solution.row_duals.iter().zip([0.0, 1.5, 1.0]) {
        near(*found, expected);
    }
    let at_least: [(&[f64], f64, f64); 2] =
        [(&[1.0, 1.0], 2.0, f64::INFINITY), (&[1.0, 0.0], f64::NEG_INFINITY, 1.0)];
    let solution = lp(&[-1.0, -3.0], &at_least).solve().expect("an optimum");
    near(value(&[-1.0, -3.0], &solution), -4.0);
    near(solution.row_duals[0], -3.0);
    near(solution.row_duals[1], 2.0);
}

/// Random programmes are changed and solved again and again. The reference solves each changed programme from the
/// beginning.
#[test]
fn warm_solves_end_at_the_right_optimum() {
    #[derive(Debug, Clone)]
    enum Change {
        Column(i32, Vec<i32>),
        Upper(usize, i32),
        Coefficient(usize, usize, i32),
    }
    const ROWS: usize = 4;
    let change = prop_oneof![
        (-3i32..6, prop::collection::vec(-1i32..5, ROWS)).prop_map(|(c, a)| Change::Column(c, a)),
        (0..ROWS, 0i32..20).prop_map(|(r, b)| Change::Upper(r, b)),
        (0..ROWS, 0usize..100, -1i32..5).prop_map(|(r, j, v)| Change::Coefficient(r, j, v)),
    ];
    let strategy = (
        prop::collection::vec(1i32..20, ROWS),
        prop::collection::vec((-3i32..6, prop::collection::vec(0i32..5, ROWS)), 1..4),
        prop::collection::vec(change, 1..8),
    );
    let outcome = fixed_runner(400).run(&strategy, |(upper, mut columns, changes)| {
        let mut upper = upper;
        let bounds: Vec<(f64, f64)> = upper.iter().map(|&b| (f64::NEG_INFINITY, f64::from(b))).collect();
        let mut lp = FloatLp::new(&bounds).expect("rows");
        let add = |lp: &mut FloatLp, (cost, a): &(i32, Vec<i32>)| {
            let mut block = ColumnBlock::default();
            let entries = a.iter().enumerate().filter(|(_, v)| **v != 0).map(|(r, v)| (r, f64::from(*v)));
            block.push(f64::from(*cost), entries).expect("finite");
            lp.add_columns(&block).expect("columns");
        };
        for column in &columns {
            add(&mut lp, column);
        }
        for step in 0..=changes.len() {
            let dense = Dense {
                costs: columns.iter().map(|(c, _)| Rational::from(*c)).collect(),
                rows: (0..ROWS)
                    .map(|r| {
                        (
                            columns.iter().map(|(_, a)| Rational::from(a[r])).collect(),
                            Rational::from(upper[r]),
                        )
                    })
                    .collect(),
            };
            match (lp.solve(), dense.solve()) {
                (Ok(found), Solved::Optimal { value: truth, .. }) => {
                    let costs: Vec<f64> = columns.iter().map(|(c, _)| f64::from(*c)).collect();
                    near(value(&costs, &found), truth.to_f64());
                    let dual: f64 = found.row_duals.iter().zip(&upper).map(|(y, b)| y * f64::from(*b)).sum();
                    near(dual, truth.to_f64());
                    prop_assert_eq!(lp.n_columns(), columns.len());
                }
                (Err(LpError::Unbounded), Solved::Unbounded) => {}
                (found, truth) => prop_assert!(false, "step {step}: {found:?} for {truth:?}"),
            }
            match changes.get(step) {
                Some(Change::Column(cost, a)) => {
                    columns.push((*cost, a.clone()));
                    add(&mut lp, &columns[columns.len() - 1]);
                }
                Some(Change::Upper(r, b)) => {
                    upper[*r] = *b;
                    lp.set_row_bounds(*r, f64::NEG_INFINITY, f64::from(*b)).expect("bounds");
                }
                Some(Change::Coefficient(r, j, v)) => {
                    let j = j % columns.len();
                    columns[j].1[*r] = *v;
                    lp.set_coefficient(*r, j, f64::from(*v)).expect("a coefficient");
                }
                None => {}
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Solves `max x` with `x <= b`, which is bounded.
///
/// The ratio test of HiGHS' primal simplex method adds the feasibility tolerance to the slack of every row. The test
/// finds no blocking row if the sum rounds to the slack alone, which happens with a tolerance of 1e-9 from 2^24 on.
#[test]
fn large_values_are_not_unbounded() {
    for bound in [1e7, 2e7, 1e8, 1e9, 1e12] {
        let mut lp = lp(&[1.0], &[(&[1.0], f64::NEG_INFINITY, bound)]);
        match lp.solve() {
            Ok(solution) => near(solution.columns[0], bound),
            Err(error) => panic!("{bound:e}: {error:?}"),
        }
    }
}

/// Numbers that HiGHS does not accept as finite, or does not accept as an entry, lead to an error. They never lead to
/// an answer to another programme.
#[test]
fn numbers_beyond_the_range_of_highs_are_errors() {
    let answer = |cost: f64, entry: f64, bound: f64| -> Result<f64, LpError> {
        let mut lp = FloatLp::new(&[(f64::NEG_INFINITY, bound)])?;
        let mut block = ColumnBlock::default();
        block.push(cost, [(0, entry)])?;
        lp.add_columns(&block)?;
        lp.solve().map(|s| s.columns[0])
    };
    near(answer(1.0, 1.0, 1e7).expect("an optimum"), 1e7);
    assert!(answer(1.0, 1e16, 1.0).is_err(), "an entry that is too large");
    assert!(answer(1.0, 1.0, 1e21).is_err(), "a bound that counts as infinite");
    for cost in [1e20, 1e300] {
        match answer(cost, 1.0, 3.0) {
            Ok(x) => near(x, 3.0),
            Err(error) => println!("a cost of {cost}: {error:?}"),
        }
    }
}
