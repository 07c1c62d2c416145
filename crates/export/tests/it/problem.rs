//! Tests of MPS and LP files. A small parser for each format reads the files, and the result is compared with
//! the problem.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use evenhand_budget::{Limits, spent, within};
use evenhand_export::{ExportError, Form, of_problem};
use evenhand_problem::format::Source;
use evenhand_problem::{Constraints, Integer, Problem, Rational, RowKind, Sharing};
use evenhand_testkit::examples::{self, problem};
use evenhand_testkit::random::optima;
use evenhand_testkit::reference::{Dense, Programme};
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// A programme that maximises the objective, with rows of type `<=`. Variables and rows are keyed by name.
#[derive(Debug, PartialEq, Eq, Default)]
struct Read {
    objective: BTreeMap<String, Integer>,
    rows: BTreeMap<String, (BTreeMap<String, Integer>, Integer)>,
}

fn integer(text: &str) -> Integer {
    text.parse().unwrap_or_else(|_| panic!("{text} is no integer"))
}

fn read_lp(text: &str) -> Read {
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('\\')).collect();
    assert!(text.iter().all(|line| line.len() <= 255 || line.split(' ').count() < 4));
    let text = text.join(" ");
    let (objective, rest) = text.split_once("Subject To").expect("constraints");
    let terms = |text: &str| -> BTreeMap<String, Integer> {
        let terms = text.split('+').map(|term| term.split_whitespace().collect::<Vec<_>>());
        terms.map(|term| (term[1].to_owned(), integer(term[0]))).collect()
    };
    let objective = objective.trim().strip_prefix("Maximize").expect("the sense").trim();
    let mut read = Read { objective: terms(objective.strip_prefix("obj:").unwrap()), ..Read::default() };
    let mut rest = rest.trim().strip_suffix("End").expect("the end").trim();
    while let Some((name, row)) = rest.split_once(':') {
        let (left, right) = row.split_once("<=").unwrap();
        let right = right.trim_start();
        let end = right.find(' ').unwrap_or(right.len());
        read.rows.insert(name.trim().to_owned(), (terms(left), integer(&right[..end])));
        rest = &right[end..];
    }
    read
}

fn read_mps(text: &str) -> Read {
    let mut read = Read::default();
    let mut section = "";
    for line in text.lines().filter(|line| !line.starts_with('*')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            section = words[0];
            continue;
        }
        match (section, &words[..]) {
            ("OBJSENSE", ["MAX"]) | ("ROWS", ["N", "obj"]) => {}
            ("ROWS", ["L", row]) => {
                read.rows.insert((*row).to_owned(), (BTreeMap::new(), Integer::new()));
            }
            ("COLUMNS", [column, "obj", value]) => {
                read.objective.insert((*column).to_owned(), integer(value));
            }
            ("COLUMNS", [column, row, value]) => {
                read.rows.get_mut(*row).unwrap().0.insert((*column).to_owned(), integer(value));
            }
            ("RHS", [_, row, value]) => read.rows.get_mut(*row).unwrap().1 = integer(value),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(section, "ENDATA");
    read
}

/// Checks that both files have the same content, and that every row is a multiple of a row of the problem.
fn compare(problem: &Problem) -> Read {
    let text = |form| of_problem(problem, form).unwrap().to_string();
    let read = read_lp(&text(Form::Lp));
    assert_eq!(read, read_mps(&text(Form::Mps)));
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut expected: BTreeMap<String, (BTreeMap<String, Rational>, Rational)> = BTreeMap::new();
    for row in constraints.rows() {
        let mut terms = BTreeMap::new();
        let mut name = format!("t{}", row.server + 1);
        for n in (0..problem.n_users()).filter(|&n| problem.is_active(n) && problem.can_run(n, row.server)) {
            let i = row.server;
            let used = match row.kind {
                RowKind::Resource(r) => {
                    name = format!("r{}_{}", i + 1, r + 1);
                    problem.demand(n, i)[r].clone()
                }
                RowKind::Time => problem.gamma(n, i).recip(),
            };
            terms.insert(format!("x{}_{}", n + 1, i + 1), used);
        }
        expected.insert(name, (terms, row.capacity.clone()));
    }
    let mut objective = BTreeMap::new();
    for (n, user) in problem.users().iter().enumerate().filter(|(n, _)| problem.is_active(*n)) {
        let columns = problem.classes_of(n).map(|i| format!("x{}_{}", n + 1, i + 1));
        let columns: Vec<String> = columns.collect();
        objective.extend(columns.iter().map(|column| (column.clone(), user.weight().clone())));
        if let Some(tasks) = user.tasks() {
            let terms = columns.into_iter().map(|column| (column, Rational::from(1))).collect();
            expected.insert(format!("u{}", n + 1), (terms, tasks.clone()));
        }
    }
    for (terms, _) in expected.values_mut() {
        terms.retain(|_, value| !value.is_zero());
    }
    expected.retain(|_, (terms, _)| !terms.is_empty());
    assert_eq!(read.rows.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, (terms, most)) in &read.rows {
        let (of, capacity) = &expected[name];
        assert_multiple(terms, of, Some((most, capacity)));
    }
    assert_multiple(&read.objective, &objective, None);
    read
}

/// Checks that `found` is a positive multiple of `expected`, including the right-hand sides.
fn assert_multiple(
    found: &BTreeMap<String, Integer>,
    expected: &BTreeMap<String, Rational>,
    right: Option<(&Integer, &Rational)>,
) {
    assert!(found.keys().eq(expected.keys()), "{found:?} {expected:?}");
    let (name, value) = expected.iter().next().unwrap();
    let factor = Rational::from(&found[name]) / value;
    assert!(factor > 0);
    for (name, value) in expected {
        assert_eq!(Rational::from(value * &factor), found[name]);
    }
    if let Some((found, expected)) = right {
        assert_eq!(Rational::from(expected * &factor), *found);
    }
}

#[test]
fn examples_of_every_kind_are_exported() {
    let two = compare(&examples::figure_1());
    assert_eq!(two.objective.len(), 4);
    // In whole numbers, `1/5 x + y <= 2` is `x + 5y <= 10`.
    let row: Vec<(&str, i32)> = vec![("x1_1", 1), ("x2_1", 5)];
    let row = row.into_iter().map(|(name, value)| (name.to_owned(), Integer::from(value))).collect();
    assert_eq!(two.rows["r1_1"], (row, Integer::from(10)));
    for problem in [examples::kesidis(), examples::ps_dsf_2(), examples::pool(), examples::generic()] {
        compare(&problem);
    }
    // The problem has a class that is shared by time, a user that cannot get any tasks, and a resource that
    // no user demands.
    compare(&problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu", "rest"],
        "servers": [{"name": "a", "count": 3, "capacity": {"cpu": "1/7", "rest": 1}},
                    {"name": "b", "capacity": {"cpu": 2}}],
        "users": [{"name": "u", "weight": "2/3", "demand": {"cpu": 0.1}, "gamma": {"b": "7/2"}, "tasks": "9/4"},
                  {"name": "v\n\\", "weight": "1/5", "demand": {"cpu": "3/11"}},
                  {"name": "idle", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    ));
}

#[test]
fn exported_problems_have_the_same_optima() {
    let mut rng = Pcg64::seed_from_u64(3);
    for _ in 0..60 {
        let problem = optima::optimum(&mut rng, false).problem;
        let read = compare(&problem);
        // The optimum of the programme is the utilitarian optimum times the factor of the objective.
        let columns: Vec<&String> = read.objective.keys().collect();
        let dense = |terms: &BTreeMap<String, Integer>| -> Vec<Rational> {
            columns.iter().map(|c| Rational::from(terms.get(*c).cloned().unwrap_or_default())).collect()
        };
        let rows = read.rows.values().map(|(terms, most)| (dense(terms), Rational::from(most))).collect();
        let (value, _) = Dense { costs: dense(&read.objective), rows }.solve().optimal();
        let reference = Programme::new(&problem, Sharing::Rdm);
        let weight = |n: usize, _| problem.users()[n].weight().clone();
        let (best, _) = reference.maximise(weight, Rational::new(), Vec::new()).optimal();
        let n = (0..problem.n_users()).find(|&n| problem.is_active(n)).unwrap();
        let i = problem.classes_of(n).next().unwrap();
        let factor = Rational::from(&read.objective[&format!("x{}_{}", n + 1, i + 1)]);
        assert_eq!(value, best * factor / problem.users()[n].weight());
    }
}

#[test]
fn wide_integers_are_announced() {
    let text = |demand: &str| {
        format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"],
            "servers": [{{"name": "a", "capacity": {{"cpu": 1}}}}],
            "users": [{{"name": "u", "demand": {{"cpu": "{demand}"}}}}]}}"#
        )
    };
    let lp = |demand: &str| {
        let problem = Source { name: "wide", text: &text(demand) }.problem().unwrap();
        of_problem(&problem, Form::Lp).unwrap().to_string()
    };
    assert!(lp("1/98765432109876543210").contains("have up to 67 bits"));
    assert!(!lp("1/9007199254740991").contains("bits"));
}

#[test]
fn refuses_problems_without_variables() {
    let idle = problem(
        r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "tasks": 0}]}"#,
    );
    assert_eq!(of_problem(&idle, Form::Mps).err(), Some(ExportError::Nothing));
}

/// A writer that accepts `left` bytes and then fails.
struct Full {
    left: usize,
}

impl Write for Full {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

#[test]
fn text_is_built_only_while_it_is_written() {
    let users = (0..50).map(|n| format!(r#"{{"name": "u{n}", "demand": {{"r": "1/{}"}}}}"#, n + 1));
    let servers = (0..40).map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"r": {}}}}}"#, i + 1));
    let problem = problem(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["r"], "servers": [{}], "users": [{}]}}"#,
        servers.collect::<Vec<_>>().join(","),
        users.collect::<Vec<_>>().join(",")
    ));
    let programme = of_problem(&problem, Form::Mps).unwrap();
    let steps_of = |bytes: usize| {
        let written = || (write!(Full { left: bytes }, "{programme}").is_ok(), spent());
        within(&Limits::default(), written).unwrap()
    };
    let (whole, all) = steps_of(usize::MAX);
    let (part, some) = steps_of(programme.to_string().len() / 4);
    assert!(whole && !part && 2 * some < all, "{some} of {all}");
}

#[test]
fn wide_factors_are_charged() {
    let text = |digits: usize| {
        let demand = |n: usize| format!(r#""1/{}{}""#, "9".repeat(digits), 2 * n + 1);
        let users = (0..40).map(|n| format!(r#"{{"name": "u{n}", "demand": {{"r": {}}}}}"#, demand(n)));
        let users = users.collect::<Vec<_>>().join(",");
        format!(
            r#"{{"kind": "allocation-problem", "resources": ["r"],
            "servers": [{{"name": "s", "capacity": {{"r": 1}}}}], "users": [{users}]}}"#
        )
    };
    let limits = Limits { work: Some(1_000_000), ..Limits::default() };
    let written = |digits| {
        let problem = problem(&text(digits));
        within(&limits, || of_problem(&problem, Form::Lp).unwrap().to_string().len())
    };
    assert!(written(1).is_ok());
    let exceeded = written(390).unwrap_err().to_string();
    assert!(exceeded.contains("linear programme") && exceeded.contains("--work"), "{exceeded}");
}
