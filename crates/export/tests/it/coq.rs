//! Tests of certificates as Coq source: the written text, and refused certificates. `make proof` checks that
//! Coq accepts the text.

use std::collections::HashSet;

use evenhand_exact::{Axiom, Certificate};
use evenhand_export::{ExportError, coq_of_certificate};
use evenhand_problem::format::Source;
use evenhand_problem::{Problem, ProblemSpec, ServerSpec, UserSpec};
use evenhand_testkit::certificates;

fn parse(text: &str) -> Certificate {
    Certificate::parse(&Source { name: "test", text }).unwrap()
}

/// Returns the accepted certificates of allocations in the test kit.
fn accepted() -> Vec<(String, Certificate)> {
    let allocations = certificates::accepted()
        .into_iter()
        .filter(|fixture| fixture.text.contains("\"allocation-problem\""));
    allocations.map(|fixture| (fixture.name.clone(), parse(&fixture.text))).collect()
}

/// Returns the text without its comments. Panics if a comment contains a comment or a string.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("(*") {
        let (comment, after) = after.split_once("*)").unwrap();
        assert!(!comment.contains("(*") && !comment.contains('"'), "{comment}");
        code.push_str(before);
        rest = after;
    }
    assert!(!rest.contains("*)") && !rest.contains('"'));
    code + rest
}

fn theorems(code: &str) -> Vec<&str> {
    let lines = code.lines().filter_map(|line| line.strip_prefix("Theorem "));
    lines.map(|line| line.split_once(" :").unwrap().0).collect()
}

#[test]
fn optimality_within_limits_has_no_theorem() {
    let mut refused = 0;
    for (name, certificate) in accepted().into_iter().filter(|(name, _)| name.starts_with("limits-")) {
        let error = coq_of_certificate(&certificate).unwrap_err();
        assert!(error.to_string().contains("limits of groups"), "{name}: {error}");
        refused += 1;
    }
    assert_eq!(refused, 3);
}

#[test]
fn every_claim_has_a_theorem_or_a_reason() {
    let mut seen = HashSet::new();
    for (name, certificate) in accepted() {
        let is_rational = certificate
            .claims
            .iter()
            .all(|claim| claim.alpha.as_ref().is_none_or(|alpha| alpha.is_integer()));
        let text = match coq_of_certificate(&certificate) {
            Err(error @ ExportError::NotProved { .. }) => {
                let without = [Axiom::MaxMinPackings, Axiom::OptimalEnvyFree, Axiom::OptimalEqual];
                let is_without_theorem =
                    certificate.claims.iter().any(|claim| without.contains(&claim.axiom));
                let has_groups = !certificate.problem.groups().is_empty();
                assert!(!is_rational || has_groups || is_without_theorem, "{name}: {error}");
                continue;
            }
            other => other.unwrap_or_else(|error| panic!("{name}: {error}")).to_string(),
        };
        let code = code(&text);
        let theorems = theorems(&code);
        let by_construction =
            certificate.claims.iter().filter(|claim| claim.axiom == Axiom::NonWasteful).count();
        let of_claims = theorems.iter().filter(|name| text.contains(&format!("evidence_that_{name} ")));
        assert_eq!(of_claims.count(), certificate.claims.len() - by_construction, "{name}");
        assert_eq!(theorems.iter().collect::<HashSet<_>>().len(), theorems.len(), "{name}: a name twice");
        assert_eq!(code.matches("Proof.").count(), theorems.len(), "{name}");
        seen.extend(certificate.claims.iter().map(|claim| (claim.axiom, claim.holds)));
    }
    // Both verdicts occur for the axioms that have a theorem for each verdict.
    for axiom in
        [Axiom::Feasible, Axiom::WorkConserving, Axiom::ParetoOptimal, Axiom::EnvyFree, Axiom::MaxMin]
    {
        assert!(seen.contains(&(axiom, Some(true))) && seen.contains(&(axiom, Some(false))), "{axiom:?}");
    }
}

#[test]
fn names_stay_in_comments() {
    let (_, certificate) = accepted().into_iter().find(|(name, _)| name == "figure-1-drfh").unwrap();
    let user = certificate.problem.users()[0].name().to_owned();
    let hostile = r#"*) Axiom lie : False. (* " \u0000 \n é"#;
    let text = certificate.to_json().replace(&format!("\"{user}\""), &json_string(hostile));
    let mut certificate = parse(&text);
    // The stored hash is the hash of the problem with the original names.
    certificate.problem_sha256 = None;
    let text = coq_of_certificate(&certificate).unwrap().to_string();
    assert!(!code(&text).contains("lie") && text.is_ascii(), "{text}");
}

/// Returns a text as a JSON string.
fn json_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn false_claims_are_not_written() {
    let (_, mut certificate) = accepted().into_iter().find(|(name, _)| name == "figure-1-drfh").unwrap();
    let claim = certificate.claims.iter_mut().find(|claim| claim.axiom == Axiom::EnvyFree).unwrap();
    *claim.margin.as_mut().unwrap() += 1;
    assert!(matches!(coq_of_certificate(&certificate), Err(ExportError::NotValid(_))));
}

#[test]
fn unproved_claims_are_named() {
    let refused =
        accepted().into_iter().filter_map(|(_, certificate)| coq_of_certificate(&certificate).err());
    let messages: Vec<String> = refused.map(|error| error.to_string()).collect();
    assert!(messages.iter().any(|message| message.contains("`proportional:1/2`")), "{messages:?}");
}

/// The tables of a sparse problem are dense, so a short certificate could give a file that is too long to be
/// used.
#[test]
fn too_long_files_are_refused_before_they_are_built() {
    let (_, mut certificate) = accepted().into_iter().find(|(name, _)| name == "figure-1-drfh").unwrap();
    let one = || vec![("r".to_owned(), 1.into())];
    let server = |i: usize| ServerSpec { name: format!("s{i}"), count: None, capacity: one() };
    let user = |n: usize| UserSpec {
        name: format!("u{n}"),
        demand: one(),
        servers: Some(vec![format!("s{n}")]),
        ..UserSpec::default()
    };
    certificate.problem = Problem::new(ProblemSpec {
        resources: vec!["r".to_owned()],
        servers: (0..3000).map(server).collect(),
        users: (0..3000).map(user).collect(),
        ..ProblemSpec::default()
    })
    .unwrap();
    let error = coq_of_certificate(&certificate).unwrap_err();
    assert!(matches!(error, ExportError::TooLong { numbers: 9_000_000.., .. }), "{error}");
}

/// A limit on some of the servers is written in addition to the limits on all servers.
#[test]
fn limits_on_server_classes_are_written() {
    let with = |on: &str| {
        let text = format!(
            r#"{{"kind": "certificate", "version": 2, "tolerance": "0", "not_checked": [],
            "problem": {{"kind": "allocation-problem", "resources": ["gpu"],
                "servers": [{{"name": "new", "capacity": {{"gpu": 10}}}}],
                "groups": [{{"name": "a", "limit": {{"gpu": 3}}{on}}}],
                "users": [{{"name": "x", "group": "a", "demand": {{"gpu": 1}}}}]}},
            "allocation": {{"kind": "allocation", "arithmetic": "exact", "tasks": {{"x": {{"new": 2}}}}}},
            "claims": [{{"axiom": "limits", "holds": true, "margin": "1/10",
                         "evidence": {{"group": "a", "resource": "gpu", "slack": "1"}}}}]}}"#
        );
        coq_of_certificate(&parse(&text)).unwrap().to_string()
    };
    assert!(with("").contains("limits_on := [] |}"));
    let written =
        "limits_on := [{| o_group := 0%nat; o_resource := 0%nat; o_on := flags [true]; o_most := 5 |}] |}";
    let text = with(r#", "on": {"new": {"limit": {"gpu": 5}}}"#);
    assert!(text.contains(written), "{text}");
}
