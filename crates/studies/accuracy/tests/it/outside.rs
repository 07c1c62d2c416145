//! Tests of external programs. Their answers are read, and programs that are wrong on purpose are detected.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use evenhand_accuracy::Effort;
use evenhand_accuracy::accuracy::{Measured, Settings};
use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::outside::{Outside, OutsideError};
use evenhand_accuracy::record::{Record, Status};
use evenhand_accuracy::references;
use evenhand_problem::Rational;
use evenhand_problem::format::AllocationDocument;

use crate::contenders::{case, measured};

fn run(case: Case, programs: &[(&str, String)], limit: Duration) -> Measured {
    let outside =
        programs.iter().map(|(name, command)| Outside { name: (*name).to_owned(), command: command.clone() });
    let settings = Settings {
        inside: Vec::new(),
        outside: outside.collect(),
        effort: Some(Effort::of_runs(1)),
        ..Settings::new(limit)
    };
    measured(case, &settings)
}

/// Returns the exact answer, changed, as a file with every number as a quotient.
fn answer(case: &Case, change: impl Fn(usize, &mut Rational)) -> String {
    let mut allocation = references::of(case).unwrap().allocation.unwrap();
    for (n, tasks) in allocation.tasks.iter_mut().enumerate() {
        tasks.iter_mut().for_each(|(_, x)| change(n, x));
        tasks.retain(|(_, x)| !x.is_zero());
    }
    AllocationDocument::new(case.problem().unwrap(), &allocation).to_json().unwrap()
}

fn copying(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    format!("test -s {{problem}} && cp '{}' {{answer}}", path.display())
}

#[test]
fn wrong_programs_are_named_and_do_not_stop_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let case = case(Kind::MaxMinDrfh, "random-20x4");
    let scaled = answer(&case, |_, x| *x *= Rational::from((10_000_001, 10_000_000)));
    let dropped = answer(&case, |n, x| {
        if n == 3 {
            *x = Rational::new();
        }
    });
    let right = answer(&case, |_, _| ());
    let nan = r#"{"kind": "allocation", "tasks": {"user 1": {"class 1": NaN}}}"#;
    let file = |name: &str, text: &str| copying(folder.path(), name, text);
    let programs = [
        ("right", file("right", &right)),
        ("scaled", file("scaled", &scaled)),
        ("dropped", file("dropped", &dropped)),
        ("nan", file("nan", nan)),
        ("never", "sleep 1000; : {problem} {answer}".to_owned()),
        ("never, with children", "sleep 1000 & sleep 1000 & wait; : {answer}".to_owned()),
        ("garbage", "echo rubbish > {answer}".to_owned()),
        ("nothing", ": {answer}".to_owned()),
        ("exits", "echo 'out of luck' >&2; : {answer}; exit 1".to_owned()),
        ("not mine", "test {kind} = pool || exit 77; : {answer}".to_owned()),
        ("none", "/no/such/program {problem} {answer}".to_owned()),
        ("last", file("last", &right)),
    ];
    let begun = Instant::now();
    let measured = run(case, &programs, Duration::from_secs(1));
    assert!(begun.elapsed() < Duration::from_secs(100), "those that never end were waited for");
    let of =
        |name: &str| -> &Record { measured.records.iter().find(|record| record.contender == name).unwrap() };
    assert!(measured.records.iter().all(|record| record.contender != "not mine" && record.outside));

    for name in ["right", "last"] {
        let measures = &of(name).measures;
        assert_eq!(
            (measures.error, measures.violation, measures.wrong_verdicts()),
            (Some(0.0), 0.0, Some(0))
        );
        assert_eq!(measures.repair.as_ref().unwrap().certified, Some(0.0));
        assert_eq!(of(name).cost.exit, Some(0));
    }
    let off = of("scaled");
    assert_eq!((off.measures.error, off.measures.violation), (Some(1e-7), 1e-7));
    let wrong: Vec<_> =
        off.measures.verdicts.as_ref().unwrap().iter().filter(|verdict| verdict.is_wrong()).collect();
    assert!(wrong.iter().any(|verdict| verdict.axiom == "feasible" && verdict.tolerance == 9));
    assert!(wrong.iter().all(|verdict| verdict.tolerance == 9), "1e-6 forgives it: {wrong:?}");
    let repair = off.measures.repair.as_ref().unwrap();
    assert!(repair.certified.is_some() && (1e-9..1e-6).contains(&repair.change), "{repair:?}");
    let off = of("dropped");
    assert_eq!(off.measures.error, Some(1.0));
    assert!(
        off.measures.wrong_verdicts().unwrap() >= 2
            && off.measures.repair.as_ref().unwrap().certified.is_none()
    );

    for (name, status, words) in [
        ("nan", Status::Malformed, "found `NaN`"),
        ("never", Status::Timeout, "time was up"),
        ("never, with children", Status::Timeout, "time was up"),
        ("garbage", Status::Malformed, "not JSON"),
        ("nothing", Status::Malformed, "wrote no answer"),
        ("exits", Status::Failed, "exit status 1: out of luck"),
        ("none", Status::Failed, "exit status 127"),
    ] {
        let record = of(name);
        assert_eq!(record.status, status, "{record:?}");
        assert!(record.why.as_ref().unwrap().contains(words), "{record:?}");
        assert_eq!(record.measures.error, None);
    }
}

#[test]
fn unusable_answers_are_named_and_do_not_stop_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let case = case(Kind::MaxMinDrfh, "random-5x2");
    let right = answer(&case, |_, _| ());
    let file = |name: &str, text: &str| copying(folder.path(), name, text);
    let tasks = |tasks: &str| format!(r#"{{"kind": "allocation", "tasks": {tasks}}}"#);
    let of_one = |number: &str| tasks(&format!(r#"{{"user 1": {{"class 1": {number}}}}}"#));
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wrong = [
        ("text", file("text", &of_one(r#""many""#)), Status::Malformed, "many"),
        ("infinite", file("infinite", &of_one(r#""inf""#)), Status::Malformed, "inf"),
        ("too long a number", file("long", &of_one("1e999999999")), Status::Malformed, "1e999999999"),
        ("by zero", file("zero", &of_one(r#""1/0""#)), Status::Malformed, "1/0"),
        (
            "a stranger",
            file("stranger", &tasks(r#"{"nobody": {"class 1": 1}}"#)),
            Status::Malformed,
            "nobody",
        ),
        ("elsewhere", file("elsewhere", &tasks(r#"{"user 1": {"moon": 1}}"#)), Status::Malformed, "moon"),
        ("a list", file("list", &tasks("[1, 2]")), Status::Malformed, "tasks"),
        ("nested", file("nested", &tasks(&nested)), Status::Malformed, "nested too deeply"),
        ("a poem", file("poem", r#"{"kind": "poem"}"#), Status::Malformed, "poem"),
        ("half", file("half", &right[..right.len() / 2]), Status::Malformed, "the file ends"),
        ("no text", "printf '\\377\\376' > {answer}; : {problem}".to_owned(), Status::Malformed, "UTF-8"),
        ("empty", "touch {answer}; : {problem}".to_owned(), Status::Malformed, "the file is empty"),
        ("huge", "truncate -s 3G {answer}; : {problem}".to_owned(), Status::Malformed, "more than 256 MiB"),
        ("a pipe", "mkfifo {answer}; : {problem}".to_owned(), Status::Malformed, "not an ordinary file"),
        ("a folder", "mkdir {answer}; : {problem}".to_owned(), Status::Malformed, "not an ordinary file"),
        (
            "zeros for ever",
            "ln -s /dev/zero {answer}; : {problem}".to_owned(),
            Status::Malformed,
            "not an ordinary file",
        ),
        ("killed", "kill -9 $$; : {problem} {answer}".to_owned(), Status::Failed, "a signal ended it"),
        ("crashed", "kill -SEGV $$; : {problem} {answer}".to_owned(), Status::Failed, "a signal ended it"),
    ];
    let mut programs: Vec<(&str, String)> =
        wrong.iter().map(|(name, command, ..)| (*name, command.clone())).collect();
    programs.push(("negative", file("negative", &of_one("-1"))));
    programs.push(("one user alone", file("alone", &of_one("0.001"))));
    programs.push(("last", file("last", &right)));
    let measured = run(case, &programs, Duration::from_secs(20));
    let of =
        |name: &str| -> &Record { measured.records.iter().find(|record| record.contender == name).unwrap() };
    for (name, _, status, _) in &wrong {
        let record = of(name);
        assert_eq!(record.status, *status, "{record:?}");
        assert_eq!((record.measures.error, &record.measures.verdicts), (None, &None), "{name}");
    }
    let said = |name: &str| of(name).why.clone().unwrap_or_default();
    let others = wrong.iter().filter(|(name, .., words)| !said(name).contains(words));
    let others: Vec<(&str, String)> = others.map(|(name, ..)| (*name, said(name))).collect();
    assert!(others.is_empty(), "{others:#?}");
    // These answers are allocations, although bad allocations.
    for (name, violates) in [("negative", true), ("one user alone", false)] {
        let measures = &of(name).measures;
        assert_eq!((of(name).status, measures.violation > 0.0), (Status::Solved, violates), "{measures:?}");
        assert!(measures.error.unwrap() > 0.9 && measures.wrong_verdicts().unwrap() > 0, "{measures:?}");
    }
    assert_eq!(of("last").measures.error, Some(0.0));
}

#[test]
fn programs_may_answer_by_columns_of_a_linear_programme() {
    let one = |case: Case, command: &str| -> Record {
        run(case, &[("mine", command.to_owned())], Duration::from_secs(20)).records.remove(0)
    };
    // No user has any tasks. This is feasible and as far from the optimum as possible.
    let idle =
        one(case(Kind::Utilitarian, "random-5x2"), "grep -q ENDATA {mps} && echo '# status idle' > {answer}");
    assert_eq!(idle.status, Status::Solved, "{idle:?}");
    assert_eq!((idle.measures.objective_error, idle.measures.violation), (Some(1.0), 0.0));
    assert_eq!(idle.claims.status.as_deref(), Some("idle"));
    for (text, words) in [
        ("x1_1 nan", "finite number"),
        ("x1_1", "expected `column value`"),
        ("y 1", "no such column"),
        ("x9999_1 1", "no such column"),
    ] {
        let record =
            one(case(Kind::Utilitarian, "random-5x2"), &format!("echo '{text}' > {{answer}}; : {{mps}}"));
        assert_eq!(record.status, Status::Malformed, "{record:?}");
        assert!(record.why.as_ref().unwrap().contains(words), "{record:?}");
    }
    // A tenth of a job of the first type is served, but on no server.
    let record =
        one(case(Kind::Configurations, "random-3"), "echo 'c1 0.1' > {answer}; grep -q OBJSENSE {mps}");
    assert!(record.measures.violation > 0.0 && record.measures.wrong_verdicts().unwrap() > 0, "{record:?}");
    // The least share is one programme, which does not determine the other levels.
    let record = one(case(Kind::MaxMinTsf, "random-5x2"), "echo 'c1 0' > {answer}; : {mps}");
    assert_eq!((record.measures.error, record.measures.objective_error), (None, Some(1.0)));
    // A program that reads no problem file is used only for kinds that are one linear programme.
    let mine = Outside { name: "mine".to_owned(), command: "{mps} {answer}".to_owned() };
    assert!(!mine.applies(&case(Kind::Pool, "three-users")));
}

#[test]
fn programs_without_an_answer_file_are_refused() {
    let parse = |text: &str| text.parse::<Outside>();
    assert_eq!(parse("mine"), Err(OutsideError::Form));
    assert_eq!(parse("=x {problem} {answer}"), Err(OutsideError::Form));
    assert_eq!(parse("mine=x {problem}"), Err(OutsideError::NoAnswer("mine".to_owned())));
    assert_eq!(parse("mine=x {answer}"), Err(OutsideError::NoProblem("mine".to_owned())));
    let found = parse("mine=x=1 y {mps} {answer}").unwrap();
    assert_eq!((found.name.as_str(), found.command.as_str()), ("mine", "x=1 y {mps} {answer}"));
    assert!(found.is_linear());
}
