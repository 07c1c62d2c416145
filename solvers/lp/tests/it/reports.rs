//! Tests of public reports about other solvers. Each problem is answered by `lp check` or `lp solve`.

use evenhand_lp::judge::judge;
use evenhand_lp::model::{Model, Position};
use evenhand_lp::read::read;
use evenhand_lp::solve::{Settings, Status, solve};
use evenhand_lp::stated;
use evenhand_problem::Rational;
use evenhand_testkit::q;

fn programme(text: &str) -> Model {
    read("report.lp", text).unwrap()
}

fn optimum(model: &Model) -> (Rational, Vec<Rational>) {
    match solve(model, &Settings::default()).unwrap().status {
        Status::Optimal(optimum) => (optimum.objective, optimum.x),
        other => panic!("{other:?}"),
    }
}

/// HiGHS drops coefficients below 1e-9 when it reads a programme (HiGHS issue 1965).
#[test]
fn small_coefficients_count() {
    let model = programme("max x + 1000 y\nst\n a: 1e-10 x + 1e-9 y <= 1\n b: 0.001 y <= 1\nend");
    let (objective, x) = optimum(&model);
    // Without its small coefficients the programme is unbounded.
    assert_eq!((objective, x), (q("10000990000"), vec![q("9999990000"), Rational::from(1_000)]));
}

/// A coefficient of 1e9 next to a coefficient of 100 (HiGHS issue 1721). The optimum is less than 1e-7 away from a
/// whole number.
#[test]
fn large_coefficients_are_not_rounded() {
    let model = programme("max x\nst\n c: 1000000000 x + 100 y <= 999999998\n d: x <= 1\n e: y >= 1\nend");
    assert_eq!(optimum(&model).0, q("499999949/500000000"));
}

/// Coefficients of 5.55e-17 that a presolver treats as noise (Clp issue 217).
#[test]
fn coefficients_of_the_size_of_rounding_count() {
    let text = "max w + x + y + z\nst\n r1: 5.5511151231257827e-17 w + x + 5.5511151231257827e-17 y + z <= .99\n\
                r2: 5.5511151231257827e-17 w + x + 2 y + 2 z <= 1.99\nend";
    let model = programme(text);
    let (objective, x) = optimum(&model);
    assert!(x[0] > 1_000_000_000_000_000_u64 && objective == x[0]);
    let answer = stated::read(&model, "w 0\nx 0.99\ny 0.5\nz 0\n").unwrap();
    let judgement = judge(&model, &answer);
    let violation = judgement.row.expect("the small coefficient of y");
    assert_eq!((violation.at, violation.by), (Position::Row(0), q("5.5511151231257827e-17") / 2));
}

/// A solver states values that violate a row by 2, and calls them optimal (GLOP issue 2833).
#[test]
fn a_violation_has_a_name_and_a_size() {
    let model = programme("max cs1 + cs2\nst\n p0: cs1 <= 2\n p1: cs2 <= 2\n c0: cs1 + cs2 <= 2\nend");
    let judgement = judge(&model, &stated::read(&model, "=obj= 4\ncs1 2\ncs2 2\n").unwrap());
    let violation = judgement.row.expect("a violated row");
    assert_eq!((violation.at, violation.by), (Position::Row(2), Rational::from(2)));
    assert_eq!(optimum(&model).0, 2);
    // The same answer, judged by its prices: prices of 0 prove no bound, and the judgement names the column whose cost
    // the prices do not cover.
    let highs = "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 2\n# Columns 2\ncs1 2\ncs2 0\n# Rows 3\np0 2\np1 0\nc0 2\n\n\
                 # Dual solution values\nFeasible\n# Columns 2\ncs1 0\ncs2 0\n# Rows 3\np0 -1\np1 0\nc0 1\n\n# Basis\nHiGHS v1\n";
    let prices = judge(&model, &stated::read(&model, highs).unwrap()).prices.expect("prices");
    assert_eq!(prices.bound, None);
    assert_eq!(prices.dual_violation.expect("a price of the wrong sign").at, Position::Row(0));
}
