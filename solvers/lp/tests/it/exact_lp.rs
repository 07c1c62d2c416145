//! Compares the exact simplex method with enumeration of all bases, from every kind of starting basis.

use crate::common;

use common::runner;
use evenhand_lp::LpError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, ExactOptimum, Feasibility, Sense, Variable};
use evenhand_problem::Rational;
use evenhand_testkit::reference::{Dense, Solved};
use evenhand_testkit::{q, qs};
use proptest::prelude::*;

const MANY: usize = 10_000;

/// Builds `max c x` with rows given as `(a, sense, b)`.
fn lp(costs: &[Rational], rows: &[(Vec<Rational>, Sense, Rational)]) -> ExactLp {
    let column = |(j, cost): (usize, &Rational)| {
        let entries = rows.iter().enumerate().filter(|(_, (a, _, _))| !a[j].is_zero());
        ExactColumn { cost: cost.clone(), entries: entries.map(|(r, (a, _, _))| (r, a[j].clone())).collect() }
    };
    ExactLp {
        rows: rows.iter().map(|(_, sense, b)| (*sense, b.clone())).collect(),
        columns: costs.iter().enumerate().map(column).collect(),
    }
}

fn at_most(costs: &[&str], rows: &[(&[&str], &str)]) -> ExactLp {
    let rows: Vec<_> = rows.iter().map(|(a, b)| (qs(a), Sense::AtMost, q(b))).collect();
    lp(&qs(costs), &rows)
}

/// Returns the entry of each column in row `row`.
fn dense(lp: &ExactLp, row: usize) -> Vec<Rational> {
    let entry = |column: &ExactColumn| column.entries.iter().find(|(r, _)| *r == row).map(|(_, v)| v.clone());
    lp.columns.iter().map(|column| entry(column).unwrap_or_default()).collect()
}

fn dot(a: &[Rational], b: &[Rational]) -> Rational {
    a.iter().zip(b).map(|(a, b)| Rational::from(a * b)).sum()
}

fn costs(lp: &ExactLp) -> Vec<Rational> {
    lp.columns.iter().map(|column| column.cost.clone()).collect()
}

/// Returns the solution of the square system, if there is exactly one.
fn gauss(mut matrix: Vec<Vec<Rational>>) -> Option<Vec<Rational>> {
    let n = matrix.len();
    for k in 0..n {
        let pivot = (k..n).find(|&row| !matrix[row][k].is_zero())?;
        matrix.swap(k, pivot);
        let inverse = matrix[k][k].clone().recip();
        for entry in &mut matrix[k] {
            *entry *= &inverse;
        }
        let pivot_row = matrix[k].clone();
        for (_, other) in matrix.iter_mut().enumerate().filter(|(row, _)| *row != k) {
            let factor = other[k].clone();
            for (entry, p) in other.iter_mut().zip(&pivot_row) {
                *entry -= Rational::from(&factor * p);
            }
        }
    }
    Some(matrix.into_iter().map(|mut row| row.pop().unwrap_or_default()).collect())
}

/// Returns the value of the best feasible basic solution over all bases.
fn enumerate(lp: &ExactLp) -> Option<Rational> {
    let (n_rows, n_columns) = (lp.rows.len(), lp.columns.len());
    let mut best: Option<Rational> = None;
    for subset in 0u32..1 << (n_rows + n_columns) {
        if subset.count_ones() as usize != n_rows {
            continue;
        }
        let chosen: Vec<usize> = (0..n_rows + n_columns).filter(|k| subset >> k & 1 == 1).collect();
        let matrix = (0..n_rows)
            .map(|row| {
                let entries = dense(lp, row);
                let slack = if lp.rows[row].0 == Sense::AtLeast { -1 } else { 1 };
                let of = |k: usize| match k.checked_sub(n_columns) {
                    None => entries[k].clone(),
                    Some(r) => Rational::from(if r == row { slack } else { 0 }),
                };
                chosen.iter().map(|&k| of(k)).chain([lp.rows[row].1.clone()]).collect()
            })
            .collect();
        let Some(values) = gauss(matrix).filter(|values| values.iter().all(|v| *v >= 0)) else { continue };
        // The slack of an equation is 0.
        let is_free = |k: usize| k.checked_sub(n_columns).is_none_or(|r| lp.rows[r].0 != Sense::Equal);
        if chosen.iter().zip(&values).any(|(&k, v)| !v.is_zero() && !is_free(k)) {
            continue;
        }
        let basic = chosen.iter().zip(&values).filter(|(k, _)| **k < n_columns);
        let value = basic.map(|(k, v)| Rational::from(&lp.columns[*k].cost * v)).sum();
        if best.as_ref().is_none_or(|best| value > *best) {
            best = Some(value);
        }
    }
    best
}

/// Returns true if a feasible programme is unbounded: if some direction of recession, scaled to a sum of at most 1, has
/// a positive value.
fn has_ray(programme: &ExactLp) -> bool {
    let mut cone = programme.clone();
    for (_, b) in &mut cone.rows {
        *b = Rational::new();
    }
    cone.rows.push((Sense::AtMost, Rational::from(1)));
    let row = programme.rows.len();
    for column in &mut cone.columns {
        column.entries.push((row, Rational::from(1)));
    }
    enumerate(&cone).expect("0 is feasible") > 0
}

/// Fails unless `optimum` proves itself: feasible, dual feasible, with equal primal and dual value, and at a basis.
fn assert_optimal(lp: &ExactLp, optimum: &ExactOptimum) -> Rational {
    assert_eq!((optimum.x.len(), optimum.y.len()), (lp.columns.len(), lp.rows.len()));
    assert!(optimum.x.iter().all(|x| *x >= 0));
    let mut dual_value = Rational::new();
    for (row, (sense, b)) in lp.rows.iter().enumerate() {
        let (used, y) = (dot(&dense(lp, row), &optimum.x), &optimum.y[row]);
        match sense {
            Sense::AtMost => assert!(used <= *b && *y >= 0, "row {row}: {used} <= {b}, price {y}"),
            Sense::AtLeast => assert!(used >= *b && *y <= 0, "row {row}: {used} >= {b}, price {y}"),
            Sense::Equal => assert!(used == *b, "row {row}: {used} = {b}"),
        }
        dual_value += Rational::from(y * b);
    }
    for (j, column) in lp.columns.iter().enumerate() {
        let price: Rational = column.entries.iter().map(|(r, v)| Rational::from(v * &optimum.y[*r])).sum();
        assert!(price >= column.cost, "column {j} would still improve");
    }
    let value = dot(&costs(lp), &optimum.x);
    assert_eq!(value, dual_value, "strong duality");
    assert_eq!(optimum.basis.len(), lp.rows.len());
    for (j, x) in optimum.x.iter().enumerate() {
        assert!(x.is_zero() || optimum.basis.contains(&Variable::Column(j)), "column {j} is not basic");
    }
    value
}

/// Fails unless the multipliers prove that no point is feasible.
fn assert_infeasible(lp: &ExactLp, multipliers: &[Rational]) {
    assert_eq!(multipliers.len(), lp.rows.len());
    let mut value = Rational::new();
    for ((sense, b), y) in lp.rows.iter().zip(multipliers) {
        match sense {
            Sense::AtMost => assert!(*y >= 0),
            Sense::AtLeast => assert!(*y <= 0),
            Sense::Equal => {}
        }
        value += Rational::from(y * b);
    }
    assert!(value < 0);
    for column in &lp.columns {
        assert!(
            column.entries.iter().map(|(r, v)| Rational::from(v * &multipliers[*r])).sum::<Rational>() >= 0
        );
    }
}

fn assert_right(lp: &ExactLp, start: &[Variable]) -> Result<usize, LpError> {
    let truth = enumerate(lp);
    if let Ok(Feasibility::Infeasible(multipliers)) = lp.solve(start, MANY) {
        assert_infeasible(lp, &multipliers);
    }
    let unbounded = truth.is_some() && has_ray(lp);
    match (lp.optimise(start, MANY), truth) {
        (Err(LpError::ExactlyInfeasible), None) => Err(LpError::ExactlyInfeasible),
        (Err(LpError::ExactlyUnbounded), Some(_)) if unbounded => Err(LpError::ExactlyUnbounded),
        (Ok(optimum), Some(value)) if !unbounded => {
            assert_eq!(assert_optimal(lp, &optimum), value);
            Ok(optimum.pivots)
        }
        (found, truth) => panic!("{found:?} for {truth:?}, unbounded: {unbounded}"),
    }
}

fn programme(rows: usize, columns: usize, least_rhs: i32) -> impl Strategy<Value = ExactLp> {
    let entry = || (-3i32..4, 1i32..3).prop_map(Rational::from);
    (1..=rows, 1..=columns).prop_flat_map(move |(rows, columns)| {
        let sense = prop_oneof![2 => Just(Sense::AtMost), 2 => Just(Sense::AtLeast), 1 => Just(Sense::Equal)];
        let rhs = (least_rhs..7).prop_map(Rational::from);
        let row = (prop::collection::vec(entry(), columns), sense, rhs);
        (prop::collection::vec(entry(), columns), prop::collection::vec(row, rows))
            .prop_map(|(costs, rows)| lp(&costs, &rows))
    })
}

fn variable(lp: &ExactLp, k: usize) -> Variable {
    let k = k % (lp.rows.len() + lp.columns.len());
    if k < lp.rows.len() { Variable::Slack(k) } else { Variable::Column(k - lp.rows.len()) }
}

#[test]
fn outcomes_agree_with_enumeration_of_all_bases() {
    let mut outcomes = [0; 4];
    // Any list of variables is a valid start. It may be short, too long, dependent, or have repetitions.
    let strategy = (programme(3, 4, -3), prop::collection::vec(0usize..100, 0..7));
    let outcome = runner(3000, file!()).run(&strategy, |(lp, start)| {
        let start: Vec<Variable> = start.into_iter().map(|k| variable(&lp, k)).collect();
        let seen = std::cell::Cell::new(0);
        seen.set(match assert_right(&lp, &start) {
            Ok(0) => 0,
            Ok(_) => 1,
            Err(LpError::ExactlyInfeasible) => 2,
            Err(_) => 3,
        });
        COUNTS.with(|counts| counts.borrow_mut()[seen.get()] += 1);
        Ok(())
    });
    COUNTS.with(|counts| outcomes.clone_from(&counts.borrow()));
    println!("optimal at once, after pivots, infeasible, unbounded: {outcomes:?}");
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(outcomes.iter().all(|count| *count > 100), "{outcomes:?}");
}

thread_local! {
    static COUNTS: std::cell::RefCell<[usize; 4]> = const { std::cell::RefCell::new([0; 4]) };
}

/// All right-hand sides are 0, so every pivot is degenerate.
#[test]
fn degenerate_programmes_terminate() {
    let strategy = (programme(3, 4, -1), prop::collection::vec(0usize..100, 0..4));
    let outcome = runner(1000, file!()).run(&strategy, |(mut lp, start)| {
        for (_, b) in &mut lp.rows {
            *b = Rational::new();
        }
        let start: Vec<Variable> = start.into_iter().map(|k| variable(&lp, k)).collect();
        let _ = assert_right(&lp, &start);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Larger programmes compared with the dense reference.
#[test]
fn larger_programmes_equal_the_dense_simplex() {
    let strategy = (programme(9, 11, -2), prop::collection::vec(0usize..100, 0..12));
    let outcome = runner(400, file!()).run(&strategy, |(lp, start)| {
        let start: Vec<Variable> = start.into_iter().map(|k| variable(&lp, k)).collect();
        let rows = (0..lp.rows.len())
            .flat_map(|row| {
                let (sense, b) = &lp.rows[row];
                let below = (dense(&lp, row), b.clone());
                let above = (dense(&lp, row).into_iter().map(|v| -v).collect(), Rational::from(-b));
                match sense {
                    Sense::AtMost => vec![below],
                    Sense::AtLeast => vec![above],
                    Sense::Equal => vec![below, above],
                }
            })
            .collect();
        let truth = Dense { costs: costs(&lp), rows }.solve();
        match lp.optimise(&start, MANY) {
            Ok(optimum) => {
                let found = assert_optimal(&lp, &optimum);
                let (value, _) = truth.optimal();
                prop_assert_eq!(value, found);
            }
            Err(LpError::ExactlyInfeasible) => prop_assert_eq!(truth, Solved::Infeasible),
            Err(LpError::ExactlyUnbounded) => prop_assert_eq!(truth, Solved::Unbounded),
            Err(other) => prop_assert!(false, "{other:?}"),
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// A programme that needs so many pivots that the basis is factored again several times. The dual proves each answer.
#[test]
fn long_runs_prove_themselves() {
    let sparse = |entry: (bool, Rational)| if entry.0 { entry.1 } else { Rational::new() };
    let positive = || (1i32..30, 1i32..9).prop_map(Rational::from);
    let entry = move || (prop::bool::weighted(0.3), positive()).prop_map(sparse);
    let sense = || prop_oneof![6 => Just(Sense::AtMost), 1 => Just(Sense::AtLeast), 1 => Just(Sense::Equal)];
    // Lower bounds are small enough that most equations and floors can be met.
    let row = (prop::collection::vec(entry(), 40), sense(), positive()).prop_map(|(a, sense, b)| {
        let b = if sense == Sense::AtMost { b * 20 } else { b };
        (a, sense, b)
    });
    let strategy = (prop::collection::vec(positive(), 40), prop::collection::vec(row, 25));
    let counts = std::cell::RefCell::new((0, 0, 0));
    let outcome = runner(60, file!()).run(&strategy, |(costs, rows)| {
        let programme = lp(&costs, &rows);
        let mut counts = counts.borrow_mut();
        match programme.solve(&[], MANY) {
            Ok(Feasibility::Feasible(optimum)) => {
                assert_optimal(&programme, &optimum);
                counts.0 = optimum.pivots.max(counts.0);
                counts.1 += 1;
            }
            Ok(Feasibility::Infeasible(multipliers)) => {
                assert_infeasible(&programme, &multipliers);
                counts.2 += 1;
            }
            Err(error) => prop_assert_eq!(error, LpError::ExactlyUnbounded),
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (most, feasible, infeasible) = *counts.borrow();
    println!("{feasible} feasible, {infeasible} infeasible, at most {most} pivots");
    assert!(most > 40 && feasible > 5);
}

fn wyndor() -> ExactLp {
    at_most(&["3", "5"], &[(&["1", "0"], "4"), (&["0", "2"], "12"), (&["3", "2"], "18")])
}

#[test]
fn any_starting_basis_leads_to_the_optimum() {
    use Variable::{Column, Slack};
    let lp = wyndor();
    let starts: [&[Variable]; 9] = [
        &[],
        &[Slack(0), Slack(1), Slack(2)],
        &[Column(0), Column(1), Slack(0)],
        &[Column(1)],
        // A basis that is infeasible, and not dual feasible either.
        &[Column(0), Slack(0), Slack(1)],
        // A basis that is too long, with repetitions.
        &[Column(0), Column(0), Column(1), Slack(0), Slack(1), Slack(2), Column(0)],
        // A singular basis: column 1 lies in the span of two slacks.
        &[Column(1), Slack(1), Slack(2)],
        &[Slack(2), Slack(2), Slack(2)],
        // A basis with variables that do not exist.
        &[Column(1), Column(2), Slack(3), Slack(99)],
    ];
    for start in starts {
        let optimum = lp.optimise(start, MANY).unwrap_or_else(|error| panic!("{start:?}: {error}"));
        assert_eq!(assert_optimal(&lp, &optimum), 36, "{start:?}");
        assert_eq!(optimum.x, qs(&["2", "6"]), "{start:?}");
        assert_eq!(optimum.y, qs(&["0", "3/2", "1"]), "{start:?}");
    }
    let at_once = lp.optimise(&[Column(0), Column(1), Slack(0)], 0).expect("no pivot is needed");
    assert_eq!(at_once.pivots, 0);
}

#[test]
fn the_limit_of_pivots_is_honoured() {
    // Klee and Minty's cube: Dantzig's rule takes 2^n - 1 pivots in these units.
    let n = 6;
    let ten = |k: usize| Rational::from(10u64.pow(u32::try_from(k).expect("small")));
    let rows: Vec<_> = (0..n)
        .map(|i| {
            let entry = |j: usize| match j {
                _ if j < i => ten(i - j) * 2,
                _ if j == i => Rational::from(1),
                _ => Rational::new(),
            };
            ((0..n).map(entry).collect(), Sense::AtMost, ten(2 * i))
        })
        .collect();
    let costs: Vec<Rational> = (0..n).map(|j| ten(n - 1 - j)).collect();
    let lp = lp(&costs, &rows);
    let optimum = lp.optimise(&[], MANY).expect("an optimum");
    assert_eq!(assert_optimal(&lp, &optimum), ten(2 * n - 2));
    println!("Klee-Minty of {n}: {} pivots", optimum.pivots);
    assert!(optimum.pivots > 0);
    assert!(lp.optimise(&[], optimum.pivots).is_ok());
    for limit in [0, 1, optimum.pivots - 1] {
        assert_eq!(lp.optimise(&[], limit).map(|o| o.x), Err(LpError::PivotLimit { pivots: limit }));
    }
    // The limit of pivots also applies to the dual simplex method.
    let below = |b: &str| (qs(&["-1"]), Sense::AtMost, q(b));
    let feasible_later = self::lp(&qs(&["-1"]), &[below("-1"), below("-2")]);
    let limited = feasible_later.optimise(&[], 0).map(|o| o.x);
    assert_eq!(limited, Err(LpError::PivotLimit { pivots: 0 }));
}

/// Programmes on which Dantzig's rule cycles forever with an unfavourable choice among ties.
#[test]
fn cycling_examples_terminate() {
    // Beale (1955).
    let beale = at_most(
        &["3/4", "-150", "1/50", "-6"],
        &[
            (&["1/4", "-60", "-1/25", "9"], "0"),
            (&["1/2", "-90", "-1/50", "3"], "0"),
            (&["0", "0", "1", "0"], "1"),
        ],
    );
    // Hall and McKinnon (2004).
    let hall = at_most(
        &["2.3", "2.15", "-13.55", "-0.4"],
        &[(&["0.4", "0.2", "-1.4", "-0.2"], "0"), (&["-7.8", "-1.4", "7.8", "0.4"], "0")],
    );
    // Marshall and Suurballe (1969).
    let marshall = at_most(
        &["0.4", "0.4", "-1.8", "0"],
        &[
            (&["0.6", "-6.4", "4.8", "0"], "0"),
            (&["0.2", "-1.8", "0.6", "0"], "0"),
            (&["0.4", "-1.6", "0.2", "0"], "0"),
            (&["0", "1", "0", "0"], "1"),
            (&["1", "0", "0", "1"], "5"),
        ],
    );
    // Chvatal (1983), page 31.
    let chvatal = at_most(
        &["10", "-57", "-9", "-24"],
        &[
            (&["0.5", "-5.5", "-2.5", "9"], "0"),
            (&["0.5", "-1.5", "-0.5", "1"], "0"),
            (&["1", "0", "0", "0"], "1"),
        ],
    );
    assert_eq!(assert_optimal(&beale, &beale.optimise(&[], MANY).expect("ends")), q("1/20"));
    assert_eq!(assert_optimal(&chvatal, &chvatal.optimise(&[], MANY).expect("ends")), 1);
    for lp in [beale, hall, marshall, chvatal] {
        let _ = assert_right(&lp, &[]);
        // The method is started from every basis of columns and slacks.
        for a in 0..lp.rows.len() + lp.columns.len() {
            for b in 0..a {
                let _ = assert_right(&lp, &[variable(&lp, a), variable(&lp, b)]);
            }
        }
    }
}

/// An assignment problem: degenerate at every vertex, with many optima.
#[test]
fn an_assignment_has_an_integer_optimum() {
    let n = 6;
    let cost = |i: usize, j: usize| Rational::from((i * i * 7 + j * j * 11 + i * j * 5) % 13);
    let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let rows: Vec<_> = (0..n)
        .map(|k| pairs().map(|(i, _)| Rational::from(u8::from(i == k))).collect())
        .chain((0..n).map(|k| pairs().map(|(_, j)| Rational::from(u8::from(j == k))).collect()))
        .map(|a: Vec<Rational>| (a, Sense::AtMost, Rational::from(1)))
        .collect();
    let lp = lp(&pairs().map(|(i, j)| cost(i, j)).collect::<Vec<_>>(), &rows);
    let optimum = lp.optimise(&[], MANY).expect("an optimum");
    let value = assert_optimal(&lp, &optimum);
    assert!(optimum.x.iter().all(|x| x.is_integer()));
    let mut best = Rational::new();
    let mut order: Vec<usize> = (0..n).collect();
    permutations(&mut order, 0, &mut |order| {
        let sum: Rational = order.iter().enumerate().map(|(i, &j)| cost(i, j)).sum();
        if sum > best {
            best = sum;
        }
    });
    assert_eq!(value, best);
}

fn permutations(order: &mut Vec<usize>, k: usize, visit: &mut impl FnMut(&[usize])) {
    if k == order.len() {
        visit(order);
    }
    for other in k..order.len() {
        order.swap(k, other);
        permutations(order, k + 1, visit);
        order.swap(k, other);
    }
}

#[test]
fn solves_programmes_without_rows_or_columns() {
    let empty = ExactLp::default();
    assert!(empty.optimise(&[], 0).expect("optimal").x.is_empty());
    let no_rows = |cost: i32| ExactLp {
        rows: Vec::new(),
        columns: vec![ExactColumn { cost: Rational::from(cost), entries: Vec::new() }],
    };
    assert_eq!(no_rows(-1).optimise(&[], 0).expect("optimal").x, qs(&["0"]));
    assert_eq!(no_rows(1).optimise(&[], 9).map(|o| o.x), Err(LpError::ExactlyUnbounded));
    let no_columns =
        |b: i32| ExactLp { rows: vec![(Sense::AtLeast, Rational::from(b))], columns: Vec::new() };
    assert_eq!(no_columns(0).optimise(&[], 9).map(|o| o.x), Ok(vec![]));
    assert_eq!(no_columns(1).optimise(&[], 9).map(|o| o.x), Err(LpError::ExactlyInfeasible));
}
