//! Certificates that a version of the kernel judged wrongly, or did not survive.

use evenhand_check::{File, Options, Report, check};

fn found(text: String) -> Report {
    let options = Options { sharing: Some("tdm".to_owned()), ..Options::default() };
    let options = if text.contains("tdm") { options } else { Options::default() };
    check(&File { name: "certificate".to_owned(), text }, &options).expect("a verdict")
}

/// A task on `near` is worth one of A's, one on `far` three: without that one nobody is envied.
fn one_less(server: &str, holds: bool, margin: &str, gain: &str) -> String {
    let pair = format!(r#""user": "A", "envied": "B", "server": "{server}""#);
    let evidence =
        if holds { format!(r#""tightest": {{{pair}}}"#) } else { format!(r#"{pair}, "gain": "{gain}""#) };
    format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["r"],
          "servers": [{{"name": "near", "capacity": {{"r": 10}}}}, {{"name": "far", "capacity": {{"r": 10}}}}],
          "users": [{{"name": "A", "demand": {{"r": 1}}}},
                    {{"name": "B", "demand": {{"r": 1}}, "demand_on": {{"far": {{"r": 3}}}}}}]}},
        "allocation": {{"kind": "allocation", "tasks": {{"A": {{"near": 1}}, "B": {{"near": 1, "far": 1}}}}}},
        "not_checked": [],
        "claims": [{{"axiom": "ef1", "holds": {holds}, "margin": "{margin}", "evidence": {{{evidence}}}}}]}}"#
    )
}

#[test]
fn ef1_takes_away_the_task_that_is_worth_most() {
    assert_eq!(found(one_less("far", true, "0", "")).reason, None);
    // With the other task taken away B is envied: which is no violation.
    let reason = found(one_less("near", false, "-1/10", "2")).reason;
    assert!(reason.as_ref().is_some_and(|reason| reason.contains("no pair of users has")), "{reason:?}");
}

/// A task stands on a single server of a class that is shared by time, and has none of what it demands.
#[test]
fn a_task_that_cannot_run_takes_no_time() {
    let text = r#"{"kind": "certificate", "version": 2, "problem": {"kind": "allocation-problem",
          "resources": ["cpu", "memory"], "servers": [{"name": "s", "capacity": {"memory": 1}}],
          "users": [{"name": "A", "demand": {"cpu": 1}}, {"name": "B", "demand": {"memory": 1}}]},
        "allocation": {"kind": "allocation", "sharing": "tdm",
          "placements": [{"server": "s", "index": 0, "tasks": {"A": 1}}]},
        "not_checked": [],
        "claims": [{"axiom": "work-conserving", "holds": true, "margin": "0", "evidence": {"short": {}}}]}"#;
    assert!(found(text.to_owned()).reason.is_some());
}

/// `n` users on 12 classes of 10 cpu, each with so many tasks; the digits `scale` follow every level and price.
fn scaled(n: usize, each: &str, scale: &str, margin: &str) -> String {
    let classes = 12;
    let list = |of: &dyn Fn(usize) -> String, count: usize| (0..count).map(of).collect::<Vec<_>>().join(",");
    let servers = list(&|i| format!(r#"{{"name": "s{i}", "capacity": {{"cpu": 10}}}}"#), classes);
    let users = list(&|k| format!(r#"{{"name": "u{k}", "demand": {{"cpu": 1}}}}"#), n);
    let tasks = list(&|k| format!(r#""u{k}": {{"s{}": "{each}"}}"#, k % classes), n);
    let covers = list(&|k| format!(r#""u{k}""#), n);
    // A share is a part of 120 cpu.
    let weights = list(&|k| format!(r#""u{k}": "120{scale}""#), n);
    let prices = list(&|i| format!(r#""s{i}": {{"cpu": "1{scale}"}}"#), classes);
    format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["cpu"],
          "servers": [{servers}], "users": [{users}]}},
        "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}}, "not_checked": [],
        "claims": [{{"axiom": "max-min", "share": "drfh", "holds": true, "margin": "{margin}", "evidence":
          {{"levels": [{{"covers": [{covers}], "user_weights": {{{weights}}}, "prices": {{{prices}}}}}]}}}},
          {{"axiom": "feasible", "holds": true, "margin": "0",
            "evidence": {{"server": "s0", "resource": "cpu", "slack": "0"}}}}]}}"#
    )
}

/// Wide numbers are charged where they are used, and not for every demand of a user on a class: 4,600 digits among 86,400
/// placements took more than all steps.
#[test]
fn wide_prices_of_many_placements_are_checked() {
    assert_eq!(found(scaled(60, "10/5", "", "0")).reason, None);
    assert!(found(scaled(60, "10/5", "", "-1/10")).reason.is_some());
    assert_eq!(found(scaled(7_200, "10/600", &"0".repeat(4_600), "0")).reason, None);
    // Wide denominators that meet are still refused before they are multiplied.
    let text = scaled(480, &format!("1/1{}1", "0".repeat(99_990)), "", "0");
    let refused = check(&File { name: "certificate".to_owned(), text }, &Options::default());
    assert!(refused.is_err_and(|unusable| unusable.status == 3 && unusable.what.contains("too large")));
}
