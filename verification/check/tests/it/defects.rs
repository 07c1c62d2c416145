//! Tests with certificates that an earlier version of the kernel judged wrongly, or on which it crashed.

use evenhand_check::{File, Options, Report, check};

fn report_on(text: String) -> Report {
    let options = Options { sharing: Some("tdm".to_owned()), ..Options::default() };
    let options = if text.contains("tdm") { options } else { Options::default() };
    check(&File { name: "certificate".to_owned(), text }, &options).expect("a verdict")
}

/// Returns a certificate about envy up to one task. To user A, the task of B on `near` is worth one task, and its task
/// on `far` is worth three. Without the task on `far`, no user is envied.
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
fn ef1_removes_the_most_valuable_task() {
    assert_eq!(report_on(one_less("far", true, "0", "")).reason, None);
    // Without the task on `near`, B is still envied. But this does not violate the axiom, because the task on `far` may
    // be removed.
    let reason = report_on(one_less("near", false, "-1/10", "2")).reason;
    assert!(reason.as_ref().is_some_and(|reason| reason.contains("no pair of users has")), "{reason:?}");
}

/// The task is on a single server of a class whose time is shared. The server has none of the resource that the task
/// demands.
#[test]
fn a_task_that_cannot_run_uses_no_time() {
    let text = r#"{"kind": "certificate", "version": 2, "problem": {"kind": "allocation-problem",
          "resources": ["cpu", "memory"], "servers": [{"name": "s", "capacity": {"memory": 1}}],
          "users": [{"name": "A", "demand": {"cpu": 1}}, {"name": "B", "demand": {"memory": 1}}]},
        "allocation": {"kind": "allocation", "sharing": "tdm",
          "placements": [{"server": "s", "index": 0, "tasks": {"A": 1}}]},
        "not_checked": [],
        "claims": [{"axiom": "work-conserving", "holds": true, "margin": "0", "evidence": {"short": {}}}]}"#;
    assert!(report_on(text.to_owned()).reason.is_some());
}

/// Returns a certificate with `n` users on 12 classes of 10 cpu. Each user has `each` tasks. The digits `scale` are
/// appended to every level and price.
fn scaled(n: usize, each: &str, scale: &str, margin: &str) -> String {
    let classes = 12;
    let list = |of: &dyn Fn(usize) -> String, count: usize| (0..count).map(of).collect::<Vec<_>>().join(",");
    let servers = list(&|i| format!(r#"{{"name": "s{i}", "capacity": {{"cpu": 10}}}}"#), classes);
    let users = list(&|k| format!(r#"{{"name": "u{k}", "demand": {{"cpu": 1}}}}"#), n);
    let tasks = list(&|k| format!(r#""u{k}": {{"s{}": "{each}"}}"#, k % classes), n);
    let covers = list(&|k| format!(r#""u{k}""#), n);
    // Shares are fractions of 120 cpu.
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

/// Wide numbers are charged only where they are used, and not for every demand of a user on a class. Before this rule,
/// 4,600 digits among 86,400 placements exceeded the budget of steps.
#[test]
fn wide_prices_of_many_placements_are_checked() {
    assert_eq!(report_on(scaled(60, "10/5", "", "0")).reason, None);
    assert!(report_on(scaled(60, "10/5", "", "-1/10")).reason.is_some());
    assert_eq!(report_on(scaled(7_200, "10/600", &"0".repeat(4_600), "0")).reason, None);
    // A sum of wide denominators is still rejected before the denominators are multiplied.
    let text = scaled(480, &format!("1/1{}1", "0".repeat(99_990)), "", "0");
    let refused = check(&File { name: "certificate".to_owned(), text }, &Options::default());
    assert!(refused.is_err_and(|unusable| unusable.status == 3 && unusable.what.contains("too large")));
}

/// Returns a certificate of moves. User `x` of queue `a` runs one task and is entitled to two tasks. User `y` of queue
/// `b` stops one task, so that `x` can start one. `due` states the tolerance of the certificate of fair shares, and the
/// tasks of `x` in this certificate. `rows` is the statement about queue `a`. `tolerance_after` is the tolerance of the
/// certificate about the usage after the moves.
fn moves(due: [&str; 2], rows: &str, tolerance_after: &str) -> String {
    let [tolerance_of_due, tasks] = due;
    let problem = r#""problem": {"kind": "allocation-problem", "resources": ["r"],
      "servers": [{"name": "s", "capacity": {"r": 4}}, {"name": "t", "capacity": {"r": 1}}],
      "groups": [{"name": "a"}, {"name": "b"}],
      "users": [{"name": "x", "group": "a", "demand": {"r": 1}, "tasks": 2, "servers": ["s"]},
                {"name": "y", "group": "b", "demand": {"r": 1}, "tasks": 4, "servers": ["s"]}]}"#;
    let running = |x: u32, tolerance: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, {problem}, "tolerance": "{tolerance}", "not_checked": [],
              "allocation": {{"kind": "allocation",
                "placements": [{{"server": "s", "index": 0, "tasks": {{"x": {x}, "y": {}}}}}]}},
              "claims": [{{"axiom": "feasible", "holds": true, "margin": "0", "evidence": {{}}}},
                {{"axiom": "work-conserving", "holds": true, "margin": "0", "evidence": {{}}}},
                {{"axiom": "limits", "holds": true, "margin": null, "evidence": {{}}}},
                {{"axiom": "guarantees", "holds": true, "margin": "0", "evidence": {{}}}}]}}"#,
            4 - x
        )
    };
    let (held, after) = (running(1, "0"), running(2, tolerance_after));
    format!(
        r#"{{"kind": "moves-certificate", "version": 1, "tolerance": "0", "held": {held},
          "due": {{"kind": "certificate", "version": 2, {problem}, "tolerance": "{tolerance_of_due}",
            "not_checked": [],
            "allocation": {{"kind": "allocation", "tasks": {{"x": {tasks}, "y": {{"s": 2}}}}}},
            "claims": [{{"axiom": "tree", "holds": true, "margin": "0",
              "evidence": {{"filling": {{"x": {{"s": 2}}, "y": {{"s": 2}}}}, "prices": [{{"s": {{"r": 1}}}}]}}}}]}},
          "queues": [{rows}, {{"name": "b", "held": {{"r": 3}}, "due": {{"r": 2}}, "above": {{"r": 1}}}}],
          "fits": [],
          "moves": {{"least": 1, "short": [], "after": {after},
            "steps": [{{"stop": [{{"user": "y", "places": [{{"server": "s", "index": 0, "tasks": 1}}]}}],
                       "start": {{"user": "x", "places": [{{"server": "s", "index": 0, "tasks": 1}}]}}}}]}}}}"#
    )
}

const SHORT: &str = r#"{"name": "a", "held": {"r": 1}, "due": {"r": 2}, "short": {"r": 1}, "by": "x"}"#;

/// Within a tolerance, an allocation may have entries that do not count as tasks. An earlier version computed fair
/// shares from the sum of all entries, including these entries.
#[test]
fn fair_shares_come_from_the_result_of_the_filling() {
    assert_eq!(report_on(moves(["0", r#"{"s": 2}"#], SHORT, "0")).reason, None);
    let less = r#"{"name": "a", "held": {"r": 1}, "due": {"r": "1.9999999"}, "short": {"r": "0.9999999"}}"#;
    let forged = moves(["0.000001", r#"{"s": 2, "t": "-0.0000001"}"#], less, "0")
        .replace("\"least\": 1", "\"least\": 0");
    let reason = report_on(forged).reason;
    assert!(reason.as_ref().is_some_and(|why| why.contains("queue `a`: an amount")), "{reason:?}");
}

/// An earlier version did not compare the reader's largest tolerance with the tolerance of the certificate about the
/// usage after the moves.
#[test]
fn every_certificate_of_a_bundle_respects_the_allowed_tolerance() {
    let reason = report_on(moves(["0", r#"{"s": 2}"#], SHORT, "0.9")).reason;
    assert!(reason.as_ref().is_some_and(|why| why.contains("the tolerance is 9/10")), "{reason:?}");
    let reason = report_on(moves(["0.1", r#"{"s": 2}"#], SHORT, "0")).reason;
    assert!(reason.as_ref().is_some_and(|why| why.contains("the tolerance is 1/10")), "{reason:?}");
}
