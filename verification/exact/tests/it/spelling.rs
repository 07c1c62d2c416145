//! Tests that a certificate is about its problem in any spelling, and about no other problem.

use evenhand_check::{File, Options, check};
use evenhand_exact::Document;
use evenhand_problem::Rational;
use evenhand_problem::format::{problem_to_json, reservation_to_json};
use evenhand_testkit::build::ratio as build;
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::build::worst_load as worst;
use evenhand_testkit::examples;
use evenhand_testkit::random::reservations;

/// Returns true if the kernel accepts the certificate as a certificate about `problem`.
fn is_about(certificate: &impl Document, problem: &str) -> bool {
    let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
    let options = Options { problem: Some(file("problem", problem)), ..Options::default() };
    check(&file("certificate", &certificate.text()), &options).unwrap().reason.is_none()
}

#[test]
fn spelling_does_not_change_allocation_certificates() {
    let (_, good) = examples::good_certificates().swap_remove(0);
    let text = problem_to_json(&good.problem);
    let valid = |text: &str| is_about(&good, text);
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

#[test]
fn spelling_does_not_change_ratio_certificates() {
    let half = Rational::from((1, 2));
    let problem = reservations::intro(&[half.clone(), half.clone(), half]);
    let certificate = build::certificate(&problem, Method::Tables);
    let text = reservation_to_json(&problem);
    let valid = |text: &str| is_about(&certificate, text);
    assert!(valid(&text));
    assert!(valid(&text.replace("introduction", "another title")));
    assert!(valid(&text.replace("\"1/2\"", "0.50")));
    assert!(valid(&text.replace("[\"cpu\",\"memory\"]", "[\"memory\",\"cpu\"]")));
    assert!(!valid(&text.replacen("\"1/2\"", "0.51", 1)));
    assert!(!valid(&text.replace("\"name\":\"pool\"", "\"name\":\"pool\",\"count\":1")));
    assert!(!valid(&text.replace("\"a\"", "\"d\"")));
    // The order of the types decides ties, so it is part of the problem.
    let swapped = text.replace("\"b\"", "\"x\"").replace("\"c\"", "\"b\"").replace("\"x\"", "\"c\"");
    assert!(!valid(&swapped));
}

#[test]
fn stated_configurations_are_compared_by_the_jobs_that_they_allow() {
    let text = |list: &str| {
        format!(
            r#"{{"kind": "reservation-problem", "configurations": [{list}],
             "jobs": [{{"name": "a", "reward": 2, "load": 1}}, {{"name": "b", "reward": 1, "load": 1}}]}}"#
        )
    };
    let one = reservations::read(&text(r#"{"a": 2}, {"a": 1, "b": 1}"#));
    let certificate = build::certificate(&one, Method::Tables);
    let valid = |list: &str| is_about(&certificate, &text(list));
    assert!(valid(r#"{"a": 1, "b": 1}, {"b": 1}, {"a": 2}, {"a": 2}"#));
    assert!(!valid(r#"{"a": 1, "b": 1}, {"a": 3}"#));
    assert!(!valid(r#"{"a": 1, "b": 1}"#));
}

#[test]
fn worst_loads_do_not_depend_on_stated_loads() {
    let certificate = worst::certificate(
        &reservations::intro(&[Rational::new(), Rational::new(), Rational::new()]),
        Method::Tables,
        true,
    );
    let text = reservation_to_json(&certificate.problem);
    let valid = |text: &str| is_about(&certificate, text);
    assert!(valid(&text) && valid(&text.replace("introduction", "another title")));
    assert!(text.contains("\"load\":\"0\"") && valid(&text.replace("\"load\":\"0\"", "\"load\":\"7\"")));
    assert!(valid(&text.replace("\"name\":\"pool\"", "\"name\":\"pool\",\"count\":9")));
    assert!(!valid(&text.replacen("\"reward\":\"4\"", "\"reward\":\"5\"", 1)));
    assert!(!valid(&text.replacen("\"cpu\":\"6\"", "\"cpu\":\"5\"", 1)));
    assert!(!valid(&text.replace("\"a\"", "\"d\"")));
    let swapped = text.replace("\"b\"", "\"x\"").replace("\"c\"", "\"b\"").replace("\"x\"", "\"c\"");
    assert!(!valid(&swapped), "the order of the types decides ties");
}
