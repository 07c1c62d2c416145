//! Tests of ratio certificates. Certificates of the paper's examples and of random instances are accepted. In the test
//! kit, the rejected certificates are well-formed and wrong, and the malformed certificates cannot be read.

use evenhand_exact::ratio::{RatioCertificate, is_ratio_certificate};
use evenhand_problem::Rational;
use evenhand_problem::format::{FormatError, Source};
use evenhand_testkit::agreement::{agreed, agreed_text};
use evenhand_testkit::build::ratio as build;
use evenhand_testkit::build::ratio::Method;
use evenhand_testkit::certificates::{Fixture, Kind, accepted_of, malformed_of, rejected_of};
use evenhand_testkit::golden;
use evenhand_testkit::plain::ratio as plain;
use evenhand_testkit::random::reservations;
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn parse(text: &str) -> Result<RatioCertificate, FormatError> {
    RatioCertificate::parse(&Source { name: "certificate", text })
}

fn accept(what: &str, certificate: &RatioCertificate) {
    let verdict = agreed(certificate);
    assert!(verdict.valid, "{what}: {:?}\n{}", verdict.reason, certificate.to_json());
    assert_eq!(verdict.claims, certificate.claims().len());
}

#[test]
fn accepted_certificates_are_valid() {
    for Fixture { name, text, .. } in accepted_of(Kind::Ratio) {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        accept(&name, &certificate);
        assert_eq!(plain::is_true(&certificate), Some(true));
        assert!(is_ratio_certificate(&Source { name: "c", text: &text }));
        assert_eq!(parse(&certificate.to_json()).unwrap(), certificate);
    }
}

#[test]
fn rejected_certificates_are_refused() {
    for Fixture { name, text, message, .. } in rejected_of(Kind::Ratio) {
        let certificate = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let reason = agreed(&certificate).reason.unwrap_or_else(|| panic!("{name} is accepted"));
        assert!(reason.contains(&message), "{name}: {reason}");
        assert_ne!(plain::is_true(&certificate), Some(true), "{name}");
    }
}

#[test]
fn malformed_certificates_are_unusable() {
    for Fixture { name, text, message, .. } in malformed_of(Kind::Ratio) {
        let Err(error) = parse(&text) else { panic!("{name} is read") };
        assert!(error.to_string().contains(&message), "{name}: {error}");
        assert_eq!(agreed_text(&text).status(), 2, "{name}");
    }
}

#[test]
fn appendix_c_has_the_published_ratio() {
    for j in 3..=6 {
        let problem = reservations::appendix_c(j);
        let certificate = build::certificate(&problem, Method::Trees);
        accept("appendix C", &certificate);
        let n = j - 1;
        let power = (0..n).fold(Rational::from(1), |power, _| power * Rational::from((n - 1, n)));
        assert_eq!(certificate.ratio, Some(1 - power));
    }
}

#[test]
fn random_instances_are_certified() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut below_one, mut with_counts, mut listed) = (0, 0, 0);
    for case in 0..400 {
        let problem = reservations::random(&mut rng);
        for method in [Method::Trees, Method::Tables] {
            let certificate = build::certificate(&problem, method);
            accept(&format!("{case} by {method:?}"), &certificate);
            assert_eq!(plain::is_true(&certificate), Some(true));
            assert_eq!(parse(&certificate.to_json()).unwrap(), certificate);
            below_one += usize::from(certificate.ratio.as_ref().is_some_and(|ratio| *ratio < 1));
            with_counts += usize::from(certificate.integer.is_some());
        }
        listed += usize::from(problem.configurations().is_some());
    }
    println!("{below_one} of 800 below 1, {with_counts} with whole servers, {listed} of 400 listed");
    assert!(below_one > 50 && with_counts > 200 && listed > 50);
}

/// Cases of an independent implementation.
#[test]
fn ratios_agree_with_golden_cases() {
    let mut found = 0;
    for case in golden::cases("vm.intro.") {
        let loads = golden::exacts(&case["inputs"]["rho"]);
        let certificate = build::certificate(&reservations::intro(&loads), Method::Trees);
        accept("introduction", &certificate);
        let expected = &case["expected"];
        assert_eq!(certificate.greedy.reward, golden::exact(&expected["greedy_reward"]));
        assert_eq!(certificate.optimum.bound, golden::exact(&expected["lp_opt"]));
        assert_eq!(certificate.ratio, Some(golden::exact(&expected["ratio"])));
        let steps = expected["greedy"].as_array().unwrap();
        for (step, ours) in steps.iter().zip(&certificate.greedy.steps) {
            assert_eq!(golden::exact(&step["fraction"]), ours.servers);
            for (j, k) in step["config"].as_array().unwrap().iter().enumerate() {
                let jobs = ours.configuration.iter().find(|(job, _)| *job == j).map_or(0, |(_, k)| *k);
                assert_eq!(k.as_u64(), Some(jobs));
            }
        }
        found += 1;
    }
    let family = golden::case("vm.adversarial");
    for j in 3..=6 {
        let ratio = build::certificate(&reservations::appendix_c(j), Method::Tables).ratio;
        assert_eq!(ratio, Some(golden::exact(&family["expected"]["values"][j.to_string()])));
    }
    assert_eq!(found, 5);
}

/// A certificate that is built by hand may have any shape. Writing it never panics. The text may then be another
/// certificate, which may be true.
#[test]
fn certificates_of_any_shape_never_panic() {
    let problem = reservations::appendix_c(3);
    let good = build::certificate(&problem, Method::Trees);
    let refused = |change: &dyn Fn(&mut RatioCertificate)| {
        let mut bad = good.clone();
        change(&mut bad);
        let _ = agreed_text(&bad.to_json());
    };
    refused(&|c| c.greedy.steps[0].pool = 7);
    refused(&|c| c.greedy.steps[0].exhausted = Some(7));
    refused(&|c| c.greedy.steps[0].configuration.push((9, 1)));
    refused(&|c| c.greedy.steps[0].configuration.push((0, 1)));
    refused(&|c| c.optimum.assignment.served.truncate(1));
    refused(&|c| c.optimum.assignment.servers[0].0 = 3);
    refused(&|c| c.optimum.prices.server.clear());
    refused(&|c| c.optimum.prices.load.clear());
    refused(&|c| c.optimum.pricing.clear());
}

/// Demands and profits that would need too much memory when scaled to integers, and tables that are too large.
#[test]
fn sizes_are_bounded() {
    let text = r#"{"kind": "reservation-problem", "resources": ["x", "y"],
        "servers": [{"name": "p", "capacity": {"x": "1", "y": "1"}}],
        "jobs": [{"name": "a", "demand": {"x": "1/3001", "y": "1/3003"}, "reward": 1, "load": 0}]}"#;
    let certificate = |proof: &str, first: &str| {
        let text = format!(
            r#"{{"kind": "ratio-certificate", "version": 1, "problem": {text},
            "greedy": {{"reward": 0, "steps": [{{"pool": "p", "configuration": {{"a": 3001}}, "servers": 0,
                "exhausted": "a", "first": {first}}}]}},
            "optimum": {{"reward": 0, "assignment": [], "served": {{}}, "bound": 3001,
                "prices": {{"load": {{}}, "slot": {{"a": 1}}, "server": {{"p": 3001}}}},
                "pricing": {{"p": {proof}}}}}, "ratio": 0}}"#
        );
        agreed(&parse(&text).unwrap())
    };
    let table = r#"{"method": "dynamic-programme", "cells": 9018008}"#;
    let tree = r#"{"method": "tree", "multipliers": [{"x": 3001}], "nodes": [0]}"#;
    let first = r#"{"method": "tree", "value": {"multipliers": [{"x": 3001}], "nodes": [0]},
        "order": {"multipliers": [{}], "nodes": [0]}}"#;
    assert_eq!(certificate(table, first).reason, None);
    assert_eq!(certificate(tree, table).reason, None);
    for cells in ["9018009", "10000001", "1000000000000"] {
        let table = format!("{{\"method\": \"dynamic-programme\", \"cells\": {cells}}}");
        assert!(certificate(&table, first).reason.unwrap().contains("cells"));
    }
}

/// Writes the files in `accept` that were not written by hand:
/// `cargo test -p evenhand-exact --test it ratio -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_accept() {
    let write = |name: &str, certificate: RatioCertificate| {
        std::fs::write(
            Kind::Ratio.folder().join("accept").join(name).with_extension("json"),
            certificate.to_json(),
        )
        .unwrap();
    };
    for j in 3..=6 {
        let certificate = build::certificate(&reservations::appendix_c(j), Method::Trees);
        write(&format!("appendix-c-{j}"), certificate);
    }
    let mut rng = Pcg64::seed_from_u64(1);
    let mut wanted = vec!["counted", "listed", "pools"];
    while let Some(name) = wanted.last() {
        let problem = reservations::random(&mut rng);
        let (listed, counted) = (problem.configurations().is_some(), problem.n_servers().is_some());
        let fits = match *name {
            "pools" => !listed && !counted && problem.n_pools() > 1,
            "counted" => !listed && counted && problem.n_pools() > 1,
            _ => listed && counted,
        };
        let certificate = build::certificate(&problem, Method::Trees);
        if fits && certificate.ratio.as_ref().is_some_and(|ratio| *ratio < 1) {
            write(name, certificate);
            wanted.pop();
        }
    }
}
