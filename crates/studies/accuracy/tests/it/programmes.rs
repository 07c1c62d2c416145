//! Tests of linear programmes of any kind. Contenders and external programs are compared with the exact
//! answer.

use std::sync::Arc;
use std::time::Duration;

use evenhand_accuracy::Effort;
use evenhand_accuracy::accuracy::{Measured, Settings};
use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::contenders::{self, Answer, Contender, NoAnswer};
use evenhand_accuracy::outside::Outside;
use evenhand_accuracy::profile::RIGHT;
use evenhand_accuracy::programmes::{self, ProgrammeStatus, Violated};
use evenhand_accuracy::record::{Record, Status};
use evenhand_accuracy::{page, references};
use evenhand_lp::model::Model;
use evenhand_lp::mps;

use crate::contenders::measured;

/// The optimum 37/20 is at x = 33/10, y = 7/10, z = 16/5, with the prices 5/2 of `need` and 1 of `tie`.
const MIX: &str = "\
NAME mix
ROWS
 N cost
 L cap
 G need
 E tie
COLUMNS
 x cost 1 cap 1
 x need 1 tie 1
 y cost 2.5 cap 1
 y need 1
 z cost -1 tie -1
RHS
 rhs cap 10 need 4
 rhs tie 0.1
RANGES
 rng cap 7
BOUNDS
 UP bnd x 3.3
 FR bnd z
ENDATA
";
const INFEASIBLE: &str = "\
NAME infeasible
ROWS
 N cost
 G row
COLUMNS
 x cost 1 row 1
 y row 1
RHS
 rhs row 3
BOUNDS
 UP bnd x 1
 UP bnd y 1
ENDATA
";
const UNBOUNDED: &str = "\
NAME unbounded
ROWS
 N cost
 L row
COLUMNS
 x cost -1 row 1
 y row -1
RHS
 rhs row 1
ENDATA
";

fn model(text: &str) -> Model {
    mps::read(text.as_bytes()).unwrap()
}

fn settings() -> Settings {
    Settings { effort: Some(Effort::of_runs(1)), ..Settings::new(Duration::from_secs(20)) }
}

fn case(text: &str) -> Case {
    let model = model(text);
    programmes::case(model.name.clone(), model)
}

fn record_of<'m>(measured: &'m Measured, contender: &str) -> &'m Record {
    measured.records.iter().find(|record| record.contender == contender).unwrap()
}

#[test]
fn contenders_are_compared_with_the_exact_optimum() {
    let measured = measured(case(MIX), &settings());
    assert_eq!(measured.reference.objective, Some("37/20".parse().unwrap()));
    let names: Vec<&str> = measured.records.iter().map(|record| record.contender.as_str()).collect();
    for name in ["highs-simplex", "highs-simplex-1e-9", "highs-ipm", "highs-ipm-1e-9", "microlp", "clarabel"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"doubles") && !names.contains(&"path-follower"), "{names:?}");
    for record in &measured.records {
        assert_eq!((record.kind, record.size), (Kind::LinearProgramme, (3, 3)));
        let programme = record.measures.programme.as_ref().unwrap_or_else(|| panic!("{record:?}"));
        assert_eq!(programme.is, ProgrammeStatus::Optimal);
        assert!(!programme.is_wrong_status() && !programme.relaxed, "{record:?}");
        assert!(record.distance().unwrap() < 1e-3, "{record:?}");
        assert_eq!(programme.prices.is_some(), record.contender != "microlp", "{record:?}");
    }
    for name in ["highs-simplex", "microlp"] {
        assert!(record_of(&measured, name).distance().unwrap() < 1e-14, "{name}");
    }
    // The prices of both solvers have the signs of the minimised programme.
    for (name, most) in [("highs-simplex", 1e-12), ("clarabel", 1e-5)] {
        let programme = record_of(&measured, name).measures.programme.as_ref().unwrap();
        let prices = programme.prices.as_ref().unwrap();
        for violated in [&prices.dual_violation, &prices.complementarity].into_iter().flatten() {
            assert!(violated.by < most, "{name}: {prices:?}");
        }
    }
    // The same programme, maximised with the opposite costs, has the opposite objective and the same errors.
    let mut opposite = model(MIX);
    opposite.direction = evenhand_lp::model::Direction::Maximise;
    opposite.columns.iter_mut().for_each(|column| column.cost = -column.cost.clone());
    opposite.constant = 100.into();
    let measured = crate::contenders::measured(programmes::case("opposite", opposite), &settings());
    assert_eq!(measured.reference.objective, Some("1963/20".parse().unwrap()));
    for name in ["highs-simplex", "microlp", "clarabel"] {
        let record = record_of(&measured, name);
        assert!(record.distance().unwrap() < RIGHT, "{record:?}");
        assert!((record.claims.objective.unwrap() - 98.15).abs() < 1e-4, "{record:?}");
    }
}

#[test]
fn contenders_recognise_programmes_without_an_optimum() {
    for (text, is, contenders) in [
        (INFEASIBLE, ProgrammeStatus::Infeasible, &["highs-simplex", "clarabel", "microlp"][..]),
        (UNBOUNDED, ProgrammeStatus::Unbounded, &["highs-simplex", "clarabel", "microlp"]),
    ] {
        let measured = measured(case(text), &settings());
        assert_eq!(measured.reference.programme_status(), Some(is));
        for name in contenders {
            let record = record_of(&measured, name);
            assert_eq!((record.status, record.distance()), (Status::Solved, Some(0.0)), "{record:?}");
            assert!(!record.is_wrong_status(), "{record:?}");
        }
    }
}

/// A contender that states a status without any work.
struct Says(ProgrammeStatus, Vec<f64>);

impl Contender for Says {
    fn name(&self) -> String {
        format!("says {}", self.0)
    }

    fn about(&self) -> String {
        "states a status".to_owned()
    }

    fn takes(&self, kind: Kind) -> bool {
        kind == Kind::LinearProgramme
    }

    fn solve(&self, _case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let (says, x) = (Some(self.0), self.1.clone());
        Ok(Answer { x, says, status: self.0.to_string(), ..Answer::default() })
    }
}

#[test]
fn a_wrong_status_is_named() {
    let says: Vec<Arc<dyn Contender>> = vec![
        Arc::new(Says(ProgrammeStatus::Infeasible, Vec::new())),
        Arc::new(Says(ProgrammeStatus::NoOptimum, Vec::new())),
        Arc::new(Says(ProgrammeStatus::Optimal, vec![3.3, 0.7, 3.2])),
    ];
    let liars = Settings { inside: says.clone(), ..settings() };
    let mut records = measured(case(MIX), &liars).records;
    let wrong: Vec<bool> = records.iter().map(Record::is_wrong_status).collect();
    assert_eq!(wrong, [true, true, false]);
    assert_eq!(records[0].distance(), None);
    assert!(records[2].distance().unwrap() < 1e-15);
    let mut others: Vec<Arc<dyn Contender>> = says[..2].to_vec();
    others.push(Arc::new(Says(ProgrammeStatus::Optimal, vec![1.0, 1.0])));
    others.push(Arc::new(Says(ProgrammeStatus::Optimal, vec![1.0])));
    let infeasible = measured(case(INFEASIBLE), &Settings { inside: others, ..settings() }).records;
    let wrong: Vec<bool> = infeasible.iter().map(Record::is_wrong_status).collect();
    assert_eq!(wrong, [false, false, true, false]);
    assert_eq!((infeasible[2].measures.excess, infeasible[2].measures.violation), (1.0, 1.0 / 3.0));
    assert_eq!(infeasible[3].status, Status::Malformed, "{:?}", infeasible[3]);
    records.extend(infeasible);
    let files = page::files(&records, &[]).unwrap();
    for file in files.iter().filter(|file| ["accuracy.md", "index.html"].contains(&file.name)) {
        for words in ["wrong status", "says infeasible", "Errors by linear programme"] {
            assert!(file.text.contains(words), "{words} is not in {}", file.name);
        }
    }
}

fn outside(text: &str, command: &str) -> Record {
    let mine = Outside { name: "mine".to_owned(), command: command.to_owned() };
    let settings = Settings { inside: Vec::new(), outside: vec![mine], ..settings() };
    measured(case(text), &settings).records.remove(0)
}

#[test]
fn external_programs_write_solution_files() {
    let writes =
        |lines: &str| outside(MIX, &format!("grep -q RANGES {{mps}} && printf '{lines}' > {{answer}}"));
    let right = writes("# status optimal\\nx 3.3\\ny 0.7\\nz 3.2\\n");
    assert_eq!((right.distance(), right.outside, right.measures.violation), (Some(0.0), true, 0.0));
    assert_eq!(right.claims.status.as_deref(), Some("optimal"));
    let near = writes("x 3.3\\ny 0.70000001\\nz 3.2\\n");
    assert_eq!(near.measures.objective_error, Some(1.0 / 74_000_000.0));
    assert_eq!(near.measures.programme.as_ref().unwrap().says, None);
    // The row `need` gets 1/1000 less than it needs. Its bound is 4.
    let violating = writes("x 3.3\\ny 0.699\\nz 3.2\\n");
    assert_eq!((violating.measures.violation, violating.measures.excess), (0.000_25, 0.001));
    let row = violating.measures.programme.unwrap().row;
    assert_eq!(row, Some(Violated { is_row: true, name: "need".to_owned(), by: 0.001 }));
    // A JSON answer with prices that prove the optimum.
    let json = r#"{"status": "optimal", "objective": 1.85, "x": {"x": 3.3, "y": 0.7, "z": 3.2}, "y": {"need": 2.5, "tie": 1}}"#;
    let priced = writes(json);
    let programme = priced.measures.programme.clone().unwrap_or_else(|| panic!("{priced:?}"));
    let prices = programme.prices.unwrap();
    assert_eq!((prices.gap, prices.dual_violation, prices.complementarity), (Some(0.0), None, None));
    assert_eq!((priced.claims.objective, priced.distance()), (Some(1.85), Some(0.0)));
    for lies in ["# status infeasible\\n", "Model status\\nInfeasible\\n", "solution status: infeasible\\n"] {
        let record = writes(lies);
        assert!(record.is_wrong_status() && record.status == Status::Solved, "{record:?}");
    }
    for (lines, words) in [
        ("x abc\\n", "not a finite number"),
        ("w 1\\n", "no column `w`"),
        ("# status optimal\\n", "no column of the programme has a value"),
        ("{\"x\": ", "line 1"),
    ] {
        let record = writes(lines);
        assert_eq!(record.status, Status::Malformed, "{record:?}");
        assert!(record.why.as_ref().unwrap().contains(words), "{record:?}");
    }
    // A program may read the programme as JSON.
    let record =
        outside(INFEASIBLE, "grep -q linear-programme {problem} && echo '# status infeasible' > {answer}");
    assert_eq!(record.distance(), Some(0.0), "{record:?}");
}

#[test]
fn external_programs_read_a_relaxation_with_safe_names() {
    let mut model = model(MIX);
    model.columns[0].name = "a b".to_owned();
    model.columns[1].is_integer = true;
    let written = programmes::for_programs(&model);
    let names: Vec<&str> = written.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names, written.has_integers()), (vec!["c1", "c2", "c3"], false));
    let mine = Outside {
        name: "mine".to_owned(),
        command: "printf 'c1 3.3\\nc2 0.7\\nc3 3.2\\n' > {answer}; grep -q r3 {mps}; ! grep -q MARKER {mps}"
            .to_owned(),
    };
    let settings = Settings { inside: Vec::new(), outside: vec![mine], ..settings() };
    let record = measured(programmes::case("integer", model), &settings).records.remove(0);
    assert_eq!(record.distance(), Some(0.0), "{record:?}");
    assert!(record.measures.programme.unwrap().relaxed);
}

#[test]
fn a_saved_certificate_is_used_only_if_it_proves_the_optimum() {
    let case = case(MIX);
    let model = case.programme().unwrap();
    let reference = references::of(&case).unwrap();
    let text = references::certificate(&case, &reference).unwrap().unwrap();
    let read = programmes::proven_optimum(model, &text).unwrap();
    assert_eq!((&read.objective, read.sha256()), (&reference.objective, reference.sha256()));
    for (from, to) in [("\"33/10\"", "\"32/10\""), ("\"5/2\"", "\"2\"")] {
        assert!(text.contains(from), "{text}");
        // The bounds of the programme in the certificate are not read. So only a change of the proof matters.
        let (programme, proof) = text.split_once("\"status\"").unwrap();
        let changed = format!("{programme}\"status\"{}", proof.replace(from, to));
        assert!(programmes::proven_optimum(model, &changed).is_none(), "{from}");
    }
    assert!(programmes::proven_optimum(&self::model(UNBOUNDED), &text).is_none());
    let limits = evenhand_budget::Limits { time: Some(Duration::ZERO), ..Default::default() };
    assert!(references::within(&case, &limits).is_err(), "there is no time for an exact answer");
}

#[test]
fn every_contender_solves_any_linear_programme() {
    let taking = contenders::all().into_iter().filter(|one| one.takes(Kind::LinearProgramme));
    let methods: std::collections::BTreeSet<String> = taking.map(|one| one.method()).collect();
    let expected = ["clarabel", "highs-ipm", "highs-ipm-crossover", "highs-pdlp", "highs-simplex", "microlp"];
    assert_eq!(methods.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn words_of_solvers_mean_a_status() {
    use ProgrammeStatus::{Infeasible, NoOptimum, Optimal, Unbounded};
    for (words, status) in [
        ("Optimal", Some(Optimal)),
        ("optimal solution found", Some(Optimal)),
        ("Solved", Some(Optimal)),
        ("SUBOPTIMAL", None),
        ("not solved", None),
        ("time limit reached", None),
        ("Infeasible", Some(Infeasible)),
        ("PRIMAL_INFEASIBLE", Some(Infeasible)),
        ("unbounded", Some(Unbounded)),
        ("DualInfeasible", Some(NoOptimum)),
        ("INF_OR_UNBD", Some(NoOptimum)),
        ("infeasible or unbounded", Some(NoOptimum)),
    ] {
        assert_eq!(ProgrammeStatus::of_words(words), status, "{words}");
    }
}
