//! Tests of reading MPS files and answers of solvers, and of the lines that error messages name.

use evenhand_lp::model::{Bounds, Direction};
use evenhand_lp::read::read;
use evenhand_lp::solve::{Settings, Status, solve};
use evenhand_lp::{lp_format, mps, stated};
use evenhand_problem::Rational;
use evenhand_testkit::q;

const SMALL: &str = "\
* max 3 x + 2 y - 5
NAME          SMALL
OBJSENSE
    MAX
ROWS
 N  PROFIT
 L  SUM
 G  LEAST
 E  TIED
COLUMNS
    X         PROFIT            3.   SUM               1.
    X         TIED              1.
    Y         PROFIT           2.0   SUM              1D0
    Y         LEAST             .5
    Z         TIED             -1.
RHS
    RHS       SUM               4.   LEAST             .1
    RHS       PROFIT            5.
RANGES
    RNG       SUM               3.
BOUNDS
 UP BND       X                 3.
 FR BND       Z
ENDATA
";

fn small_programme() -> evenhand_lp::model::Model {
    mps::read(SMALL.as_bytes()).unwrap()
}

#[test]
fn reads_rows_ranges_bounds_and_a_constant() {
    let model = small_programme();
    assert_eq!((model.name.as_str(), model.direction), ("SMALL", Direction::Maximise));
    assert_eq!(model.constant, -5);
    let bounds: Vec<&Bounds> = model.rows.iter().map(|row| &row.bounds).collect();
    assert_eq!(bounds, [&Bounds::between(1, 4), &Bounds::at_least(q("1/10")), &Bounds::equal(0)]);
    let bounds: Vec<&Bounds> = model.columns.iter().map(|column| &column.bounds).collect();
    assert_eq!(bounds, [&Bounds::between(0, 3), &Bounds::at_least(0), &Bounds::free()]);
    let Status::Optimal(optimum) = solve(&model, &Settings::default()).unwrap().status else {
        panic!("an optimum")
    };
    assert_eq!(optimum.objective, 6);
    assert_eq!(optimum.x, [3, 1, 3].map(Rational::from));
}

#[test]
fn a_written_programme_is_read_again() {
    let mut model = small_programme();
    model.columns[0].is_integer = true;
    model.columns[1].bounds = Bounds::between(q("-7/4"), q("-1/1000"));
    let mut more = |name: &str, bounds: Bounds| {
        model.column(name, 0, bounds, [(0, q("1e-20"))]);
    };
    more("at most", Bounds::at_most(-2));
    more("fixed", Bounds::equal(q("1/8")));
    more("least", Bounds::at_least(3));
    more("upper", Bounds::at_most(0));
    let row = model.row("obj", Bounds::free());
    model.columns[2].entries.push((row, Rational::from(5)));
    model.columns[3].name = "at_most".to_owned();
    let text = mps::write(&model).unwrap();
    let mut read = mps::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    // A row of type N after the objective is left out.
    let free = model.rows.pop().unwrap();
    assert_eq!((free.name.as_str(), text.contains(" N obj_\n")), ("obj", true));
    model.columns[2].entries.pop();
    assert_eq!(read, model, "{text}");
    // A number without a short decimal is rounded to a double.
    read.columns[0].cost = q("1/3");
    let text = mps::write(&read).unwrap();
    assert_eq!(mps::read(text.as_bytes()).unwrap().columns[0].cost, q("0.3333333333333333"), "{text}");
    read.rows[0].bounds = Bounds::between(2, 1);
    assert!(mps::write(&read).unwrap_err().to_string().contains("row `SUM`"));
}

#[test]
fn faults_name_their_line() {
    let fault = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        mps::read(SMALL.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    assert_eq!(fault(" E  TIED", " Q  TIED"), "line 9: the row type `Q`: expected N, E, L or G");
    assert_eq!(fault("    MAX", "    MOST"), "line 4: OBJSENSE `MOST`: expected MAX or MIN");
    assert_eq!(fault("LEAST             .5", "LOST              .5"), "line 14: there is no row `LOST`");
    assert_eq!(fault(" .5\n", " ,5\n"), "line 14: `,5` is not a number");
    assert_eq!(
        fault(" UP BND       X", " XX BND       X"),
        "line 22: the bound type `XX`: expected UP, LO, FX, FR, MI, PL, BV, UI or LI"
    );
    assert_eq!(
        fault(" FR BND       Z", " FR BND       W"),
        "line 23: a bound of `W`, but there is no such column"
    );
    assert_eq!(fault("ENDATA\n", ""), "line 24: the file ends without ENDATA");
    assert_eq!(fault(" G  LEAST", " G  SUM"), "line 8: the row `SUM` is stated twice");
    let twice = fault("    X         TIED              1.", "    X         SUM               1.");
    assert_eq!(twice, "line 24: the column `X` states row `SUM` twice");
    assert!(fault("RANGES", "QUADOBJ").starts_with("line 19: the section `QUADOBJ` is not read"));
}

#[test]
fn answers_of_solvers_are_read() {
    let model = small_programme();
    let highs = "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 6\n# Columns 3\nX 3\nY 1\nZ 3\n# Rows 3\nSUM 4\n\
                 LEAST 0.5\nTIED 0\n\n# Dual solution values\nFeasible\n# Columns 3\nX 1\nY 0\nZ 0\n# Rows 3\nSUM 2\nLEAST 0\nTIED 0\n\n# Basis\nHiGHS v1\n";
    let scip = "solution status: optimal solution found\nobjective value:                 6\nX                 3 \t(obj:3)\nY       1 \t(obj:2)\nZ  3 (obj:0)\n";
    let gurobi = "# Objective value = 6\nX 3\nY 1\nZ 3\n";
    let miplib = "=obj= 6\nX 3\nY 1\nZ 3\n";
    let cplex = "<?xml version = \"1.0\"?>\n<CPLEXSolution>\n <header\n   objectiveValue=\"6\"/>\n <linearConstraints>\n  <constraint name=\"SUM\" index=\"0\" status=\"UL\" slack=\"0\" dual=\"2\"/>\n </linearConstraints>\n <variables>\n\
                 <variable name=\"X\" index=\"0\" status=\"UL\" value=\"3\" reducedCost=\"1\"/>\n<variable name=\"Y\" index=\"1\" value=\"1\"/>\n<variable name=\"Z\" index=\"2\" value=\"3\"/>\n</variables>\n</CPLEXSolution>\n";
    let glpsol = "c Problem: SMALL\ns bas 3 3 f f 6\ni 1 u 4 2\ni 2 b 0.5 0\ni 3 l 0 0\nj 1 u 3 1\nj 2 b 1 0\nj 3 b 3 0\ne o f\n";
    let clp = "Optimal - objective value 6\n 0 SUM 4 2\n 1 LEAST 0.5 0\n 2 TIED 0 0\n 0 X 3 1\n 1 Y 1 0\n** 2 Z 3 0\n";
    let clp_columns = "Optimal - objective value 6\n 0 X 3 1\n 1 Y 1 0\n 2 Z 3 0\n";
    let qsopt = "status OPTIMAL\n\tValue = 6\nVARS:\nX = 3\nY = 1\nZ = 3\nREDUCED COST:\nX = 1\nPI:\nSUM = 2\nSLACK:\n";
    for (text, has_prices) in [
        (qsopt, true),
        (highs, true),
        (scip, false),
        (gurobi, false),
        (miplib, false),
        (cplex, true),
        (glpsol, true),
        (clp, true),
        (clp_columns, false),
    ] {
        let answer = stated::read(&model, text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(answer.x, [3, 1, 3].map(Rational::from), "{text}");
        assert_eq!(answer.objective, Some(Rational::from(6)), "{text}");
        // The price of a maximised programme is negated.
        assert_eq!(answer.y, has_prices.then(|| [-2, 0, 0].map(Rational::from).to_vec()), "{text}");
        let judgement = evenhand_lp::judge::judge(&model, &answer);
        assert_eq!((judgement.row, judgement.bound), (None, None));
        assert_eq!(judgement.prices.map(|prices| prices.gap), has_prices.then(|| Some(Rational::new())));
    }
}

#[test]
fn faults_of_answers_name_their_line() {
    let fault = |text: &str| stated::read(&small_programme(), text).unwrap_err().to_string();
    assert_eq!(fault("X 3\nW 1\n"), "line 2: the programme has no column `W`");
    assert_eq!(fault("X three\n"), "line 1: `three` is not a finite number");
    assert_eq!(fault("X 3\nnan\n"), "line 2: `nan`: expected a name and a value");
    assert_eq!(fault(""), "line 1: no column of the programme has a value here");
}

/// The programme of `SMALL` as an LP file that uses the freedoms of the format.
const SMALL_LP: &str = "\\ max 3 x + 2 y - 5\nMaximize\n PROFIT: 3 X + 2.0 Y - 5\nSubject To\n SUM: 1 <= X + 1e0Y <= 4\n LEAST: .5 Y\n   >= 0.1\n TIED: X - Z = 0\n\
                        Bounds\n X <= 3\n Z free\nEnd\n";

#[test]
fn an_lp_file_states_the_same_programme() {
    let model = lp_format::read(SMALL_LP).unwrap();
    let other = small_programme();
    assert_eq!((&model.constant, model.direction), (&other.constant, other.direction));
    assert_eq!((&model.rows, &model.columns), (&other.rows, &other.columns));
    let model = lp_format::read(
        "min 2x+y+3\nst\n c1: 3x - y >= -inf\n x + y >= 2 - y\n 10 >= x >= 1\nbounds\n -inf <= y <= -1\n 2 <= x\n z >= -infinity\n\
         binary b\ngeneral z",
    );
    assert_eq!(
        model.unwrap_err().to_string(),
        "line 9: the column `z` appears neither in the objective nor in a row"
    );
    let model = lp_format::read(
        "min 2x+y+3+0z\nst\n c1: 3x - y >= -inf\n x + y >= 2 - y\n 10 >= x >= 1\nbounds\n -inf <= y <= -1\n 2 <= x\n z >= -infinity\n\
         general z",
    );
    let model = model.unwrap();
    assert_eq!((model.constant, model.direction), (Rational::from(3), Direction::Minimise));
    let names: Vec<&str> = model.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["c1", "R2", "R3"]);
    let rows: Vec<&Bounds> = model.rows.iter().map(|row| &row.bounds).collect();
    assert_eq!(rows, [&Bounds::free(), &Bounds::at_least(2), &Bounds::between(1, 10)]);
    let columns: Vec<&Bounds> = model.columns.iter().map(|column| &column.bounds).collect();
    assert_eq!(columns, [&Bounds::at_least(2), &Bounds::at_most(-1), &Bounds::free()]);
    assert_eq!(model.columns[1].entries, [(0, Rational::from(-1)), (1, Rational::from(2))]);
    let integers: Vec<bool> = model.columns.iter().map(|column| column.is_integer).collect();
    assert_eq!(integers, [false, false, true]);
}

#[test]
fn faults_of_an_lp_file_name_their_line() {
    let fault = |from: &str, to: &str| {
        assert!(SMALL_LP.contains(from), "{from}");
        lp_format::read(&SMALL_LP.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(fault("Maximize", "Optimise"), "line 2: expected `minimize` or `maximize`");
    assert_eq!(
        fault("+ 2.0 Y", "+ [ Y ^ 2 ]"),
        "line 3: found `[`: expected a linear expression (quadratic terms are not supported)"
    );
    assert_eq!(fault("2.0 Y", "* Y"), "line 3: found `*`: expected a term after the sign");
    assert_eq!(fault("<= 4", "= 4"), "line 5: a row with two sides: expected `<=` twice or `>=` twice");
    assert_eq!(fault("TIED: X - Z = 0", "SUM: X - Z = 0"), "line 8: the row `SUM` is stated twice");
    assert_eq!(
        fault("X - Z = 0", "X - Z"),
        "line 9: found the end of the section: expected `<=`, `>=` or `=`"
    );
    assert_eq!(
        fault(" X <= 3", " W <= 3"),
        "line 10: the column `W` appears neither in the objective nor in a row"
    );
    assert_eq!(fault("Bounds", "Sos"), "line 9: the section `Sos` is not supported in a linear programme");
    assert_eq!(fault("2.0 Y", "2.0.1 Y"), "line 3: found the number 1/10: expected `subject to`");
    assert_eq!(lp_format::read("").unwrap_err().to_string(), "line 1: the file ends without an objective");
    assert_eq!(
        lp_format::read("min\nst\nend").unwrap_err().to_string(),
        "line 3: the programme has no columns and no rows"
    );
}

#[test]
fn json_numbers_are_read_as_exact_decimals() {
    let text = "{\"kind\": \"linear-programme\", \"direction\": \"minimise\", \"rows\": [{\"name\": \"r\", \"lower\": 0.12345678901234567890123}],
        \"columns\": [{\"name\": \"x\", \"cost\": 1, \"entries\": {\"r\": 1}}]}";
    let model = read("a.json", text).unwrap();
    assert_eq!(model.rows[0].bounds, Bounds::at_least(q("12345678901234567890123/100000000000000000000000")));
    let answer = stated::read(&model, "{\"x\": {\"x\": 0.12345678901234567890124}}").unwrap();
    assert_eq!(answer.x, [q("12345678901234567890124/100000000000000000000000")]);
    let fault = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read("a.json", &text.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(fault("\"r\": 1}", "\"s\": 1}"), "a.json:2:58: columns[0].entries.s: there is no row `s`");
    assert_eq!(
        fault("\"r\": 1}", "\"r\": 1, \"r\": 2}"),
        "a.json:2:66: columns[0].entries.r: the field `r` is given twice"
    );
    assert!(fault("\"cost\"", "\"price\"").contains("columns[0].price: unknown field `price`"));
    assert!(fault("minimise", "least").contains("direction: expected `minimise` or `maximise`"));
    let fault = |text: &str| stated::read(&model, text).unwrap_err().to_string();
    assert_eq!(fault("{\"x\":\n{\"y\": 1}}"), "line 2: the programme has no column `y`");
    assert_eq!(fault("{\"x\": {\"x\": 1, \"x\": 1}}"), "line 1: x.x: the field `x` is given twice");
    assert_eq!(fault("x 1\nx 2\n"), "line 2: the column `x` has a value already");
}

#[test]
fn the_format_is_recognised_from_the_text() {
    assert_eq!(read("a", SMALL).unwrap().rows.len(), 3);
    assert_eq!(read("a", SMALL_LP).unwrap().rows.len(), 3);
    assert_eq!(
        read("a.lp", "min x\nst\n x >= y z").unwrap_err().to_string(),
        "a.lp:3: found the end of the section: expected `<=`, `>=` or `=`"
    );
    assert_eq!(
        read("a.mps", "x").unwrap_err().to_string(),
        "a.mps:1: the section `x` is not read; known are NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS and ENDATA"
    );
}
