//! The certificates of the test kit that are about allocations: the accepted ones are valid, the rejected ones
//! well-formed and false, the malformed ones are not read.

use evenhand_exact::{Budget, Certificate, check_against, check_within};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_testkit::agreement::{Finding, agreed, agreed_text};
use evenhand_testkit::certificates::{Kind, accepted_of, malformed_of, rejected_of, unread, with_claims};
use evenhand_testkit::examples;

fn parse(text: &str) -> Result<Certificate, evenhand_problem::format::FormatError> {
    Certificate::parse(&Source { name: "certificate", text })
}

#[test]
fn accepted() {
    let mut files = Vec::new();
    for case in accepted_of(Kind::Allocation) {
        let certificate = parse(&case.text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let verdict = agreed(&certificate);
        assert!(verdict.valid, "{}: {:?}", case.name, verdict.reason);
        assert!(check_against(&certificate, &certificate.problem).valid);
        files.push((case.name, case.text));
    }
    let good = examples::good_certificates().into_iter();
    let mut good: Vec<_> = good.map(|(name, it)| (name.to_owned(), it.to_json())).collect();
    good.sort();
    assert!(files == good, "the files are not those that `write_accept` writes");
}

#[test]
fn what_is_not_read_may_say_anything() {
    for case in unread() {
        assert_eq!(agreed_text(&case.text), Finding::Accepted, "{}", case.name);
    }
}

/// Judging asks for work before it is done, and says when it is not allowed.
#[test]
fn a_small_budget_is_too_small() {
    let (_, good) = examples::good_certificates().swap_remove(0);
    let verdict = check_within(&good, Budget::of(10));
    assert!(!verdict.valid && verdict.too_large);
    assert!(verdict.reason.is_some_and(|reason| reason.contains("more than 10 steps")));
    assert!(check_within(&good, Budget::of(1_000_000)).valid);
}

#[test]
fn rejected() {
    let mut wrong = Vec::new();
    for case in rejected_of(Kind::Allocation) {
        match parse(&case.text).map(|certificate| agreed(&certificate)) {
            Ok(verdict) if verdict.reason.as_ref().is_some_and(|reason| reason.contains(&case.message)) => {
                assert!(!verdict.valid && !verdict.too_large, "{}", case.name);
            }
            found => wrong.push(format!("{}: {:?}", case.name, found.map(|verdict| verdict.reason))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn malformed() {
    let mut wrong = Vec::new();
    for case in malformed_of(Kind::Allocation) {
        assert_eq!(agreed_text(&case.text).status(), 2, "{}", case.name);
        match parse(&case.text) {
            Err(error) if error.to_string().contains(&case.message) => {}
            found => {
                wrong.push(format!("{}: {:?}", case.name, found.map_err(|error| error.to_string()).err()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn thirty_two_claims_of_proportional_are_read() {
    let good = &accepted_of(Kind::Allocation)[0].text;
    assert!(parse(&with_claims(good, 32)).is_ok());
}

#[test]
fn a_certificate_is_about_its_problem_in_any_spelling() {
    let (_, good) = examples::good_certificates().swap_remove(0);
    let text = problem_to_json(&good.problem);
    let read = |text: &str| Source { name: "problem", text }.problem().unwrap();
    let valid = |text: &str| check_against(&good, &read(text)).valid;
    assert!(valid(&text));
    assert!(valid(&text.replace("two servers", "another title")));
    assert!(valid(&text.replace("\"1/5\"", "0.20")));
    assert!(!valid(&text.replace("\"1/5\"", "0.21")));
    assert!(!valid(&text.replace("user 1", "user one")));
    let reordered = r#"{"kind": "allocation-problem", "resources": ["memory", "cpu"],
        "servers": [{"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}},
                    {"name": "high-memory", "count": 1, "capacity": {"cpu": 2, "memory": 12}}],
        "users": [{"name": "user 2", "weight": "2/2", "demand": {"cpu": 1, "memory": 0.2}},
                  {"name": "user 1", "servers": ["high-cpu", "high-memory"], "demand": {"cpu": 0.2, "memory": 1}}]}"#;
    assert!(valid(reordered));
    assert!(!valid(&reordered.replace("\"servers\": [\"high-cpu\", \"high-memory\"], ", "\"tasks\": 10, ")));
    assert!(!valid(&reordered.replace("[\"high-cpu\", \"high-memory\"]", "[\"high-memory\"]")));
}

/// Writes `accept` anew: `cargo test --release -p evenhand-exact --test it files -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let folder = Kind::Allocation.folder().join("accept");
    for (name, certificate) in examples::good_certificates() {
        std::fs::write(folder.join(name).with_extension("json"), certificate.to_json()).unwrap();
    }
}
