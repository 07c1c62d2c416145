//! Tests of the contenders that are compiled in, and of contenders that misbehave.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use evenhand_accuracy::accuracy::{Measured, Settings, measure};
use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::contenders::{self, Answer, Contender, NoAnswer};
use evenhand_accuracy::record::{Record, Status};
use evenhand_accuracy::references;
use evenhand_accuracy::suite::{self, SEED, Suite};
use evenhand_accuracy::{Effort, document, page, profile};
use serde_json::json;

fn settings() -> Settings {
    Settings { effort: Some(Effort::of_runs(1)), ..Settings::new(Duration::from_secs(20)) }
}

pub fn case(kind: Kind, name: &str) -> Case {
    let mut cases = suite::cases(Suite::Small, SEED).map(Result::unwrap);
    cases.find(|case| case.kind == kind && case.name == name).unwrap()
}

pub fn measured(case: Case, settings: &Settings) -> Measured {
    let reference = references::of(&case).unwrap();
    measure(case, reference, settings, &mut |_| ())
}

fn record_of<'m>(measured: &'m Measured, contender: &str) -> &'m Record {
    measured.records.iter().find(|record| record.contender == contender).unwrap()
}

#[test]
fn nine_methods_exist_and_cover_every_kind() {
    let all = contenders::all();
    let names: BTreeSet<String> = all.iter().map(|contender| contender.name()).collect();
    let methods: BTreeSet<String> = all.iter().map(|contender| contender.method()).collect();
    assert_eq!(names.len(), all.len(), "two contenders have one name");
    assert!(methods.len() >= 9, "{methods:?}");
    for kind in Kind::ALL {
        let taken: BTreeSet<String> = all
            .iter()
            .filter(|contender| contender.takes(kind))
            .map(|contender| contender.method())
            .collect();
        assert!(taken.len() >= 2, "{kind}: {taken:?}");
    }
    assert!(all.iter().all(|contender| !contender.about().is_empty()));
}

#[test]
fn the_path_follower_is_exact_and_the_trajectory_converges_as_one_over_c() {
    for name in ["three-users", "family-z", "random-5x3"] {
        let measured = measured(case(Kind::Njc, name), &settings());
        let error = |contender: &str| record_of(&measured, contender).measures.error.unwrap();
        assert!(error("path-follower") < 1e-13, "{name}");
        assert_eq!(record_of(&measured, "path-follower").measures.wrong_verdicts(), Some(0), "{name}");
        for method in ["dopri5", "dop853"] {
            let (near, far) = (error(&format!("{method}-1e8")), error(&format!("{method}-1e4")));
            assert!((0.5e-4..2e-4).contains(&(near / far)), "{name}: {method} {near:e} {far:e}");
        }
    }
    // The slack and the price of a resource both tend to 0, so the distance falls only as 1 / sqrt(c).
    let measured = measured(case(Kind::Njc, "free-bottleneck"), &settings());
    let error = |contender: &str| record_of(&measured, contender).measures.error.unwrap();
    assert!((0.5e-2..2e-2).contains(&(error("dop853-1e8") / error("dop853-1e4"))));
}

#[test]
fn simplex_methods_are_right_on_linear_programmes() {
    for (kind, name) in [
        (Kind::MaxMinDrfh, "random-20x4"),
        (Kind::MaxMinTsf, "sparse-24x8"),
        (Kind::Utilitarian, "random-5x2"),
        (Kind::Configurations, "two-pools-4"),
    ] {
        let inside = contenders::all().into_iter().filter(|one| !one.name().contains("pdlp")).map(Arc::from);
        let settings = Settings { inside: inside.collect(), ..settings() };
        let measured = measured(case(kind, name), &settings);
        for contender in ["highs-simplex", "highs-ipm-crossover", "microlp"] {
            let record = record_of(&measured, contender);
            assert!(record.distance().is_some_and(|off| off < 1e-9), "{kind} {name}: {record:?}");
        }
        assert!(measured.records.iter().all(|record| record.cost.seconds > 0.0));
    }
}

/// The misbehaviour of a contender.
#[derive(Clone, Copy)]
enum Does {
    Panics,
    NeverEnds,
    ReturnsNan,
    ForgetsUsers,
    NamesClassesThatAreNone,
    Fails,
}

struct Wrong(Does);

impl Contender for Wrong {
    fn name(&self) -> String {
        "wrong".to_owned()
    }

    fn about(&self) -> String {
        "does not solve anything".to_owned()
    }

    fn takes(&self, _kind: Kind) -> bool {
        true
    }

    fn solve(&self, case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let users = case.problem().unwrap().n_users();
        let tasks = match self.0 {
            Does::Panics => panic!("on purpose"),
            Does::NeverEnds => loop {
                std::thread::sleep(Duration::from_millis(10));
            },
            Does::ReturnsNan => vec![vec![(0, f64::NAN)]; users],
            Does::ForgetsUsers => vec![vec![(0, 1.0)]],
            Does::NamesClassesThatAreNone => vec![vec![(99, 1.0)]; users],
            Does::Fails => return Err(NoAnswer::Failed("it cannot".to_owned())),
        };
        Ok(Answer { tasks, status: "solved".to_owned(), ..Answer::default() })
    }
}

#[test]
fn failures_of_contenders_are_named_and_do_not_stop_the_run() {
    for (does, status, words) in [
        (Does::Panics, Status::Failed, "panicked"),
        (Does::NeverEnds, Status::Timeout, "time was up"),
        (Does::ReturnsNan, Status::Malformed, "NaN, which is not a finite number"),
        (Does::ForgetsUsers, Status::Malformed, "differ from the users of the problem"),
        (Does::NamesClassesThatAreNone, Status::Malformed, "a class that the problem does not have"),
        (Does::Fails, Status::Failed, "it cannot"),
    ] {
        let last = contenders::all().into_iter().find(|one| one.name() == "path-follower").unwrap();
        let inside: Vec<Arc<dyn Contender>> = vec![Arc::new(Wrong(does)), Arc::from(last)];
        let settings = Settings { inside, limit: Duration::from_secs(3), ..settings() };
        let measured = measured(case(Kind::Pool, "three-users"), &settings);
        let record = record_of(&measured, "wrong");
        assert_eq!(record.status, status, "{record:?}");
        assert!(record.why.as_ref().unwrap().contains(words), "{record:?}");
        assert_eq!(record.measures.error, None);
        assert_eq!(record_of(&measured, "path-follower").status, Status::Solved);
    }
}

#[test]
fn writes_records_profiles_pictures_and_pages() {
    let mut records = Vec::new();
    for (kind, name) in
        [(Kind::Pool, "three-users"), (Kind::Whole, "random-5x2"), (Kind::PsDsf, "random-5x2")]
    {
        records.extend(measured(case(kind, name), &settings()).records);
    }
    let document = document::accuracy(&records, &json!({"suite": null, "limit": 20.0}));
    assert_eq!(document["kind"], "accuracy");
    assert_eq!(document["records"].as_array().unwrap().len(), records.len());
    for record in document["records"].as_array().unwrap() {
        for field in ["instance", "kind", "contender", "status"] {
            assert!(record[field].is_string(), "{field}");
        }
    }
    for profile in profile::performance(&records).iter().chain(&profile::errors(&records)) {
        assert!(profile.steps.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        assert!(profile.steps.iter().all(|(_, part)| (0.0..=1.0).contains(part)), "{profile:?}");
    }
    let fastest = profile::performance(&records).into_iter().flat_map(|one| one.steps).map(|step| step.0);
    assert_eq!(fastest.fold(f64::INFINITY, f64::min), 1.0);
    let files = page::files(&records, &[]).unwrap();
    for file in &files {
        // The page has a script that contains the word.
        let is_page = file.name == "index.html";
        assert!(is_page || !file.text.contains("NaN") && !file.text.is_empty(), "{}", file.name);
    }
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    assert_eq!(
        names,
        ["accuracy.md", "accuracy.csv", "accuracy.tex", "work-precision.svg", "profiles.svg", "index.html"]
    );
    let html = &files.last().unwrap().text;
    assert!(html.contains("<figure ") && html.contains("path-follower") && html.contains("All records"));
    assert!(page::files(&[], &[]).is_ok(), "a run without a record has a page");
}
