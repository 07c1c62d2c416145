//! Tests of limits on the cost of small files. Also tests that a defect is reported regardless of its position in the
//! file.

use std::process::Command;

use evenhand_check::{File, Options, Report, Unusable, check};
use evenhand_testkit::certificates::{Fixture, Kind, accepted};

fn verdict_on(text: String) -> Result<Report, Unusable> {
    check(&File { name: "certificate".to_owned(), text }, &Options::default())
}

fn joined(count: usize, of: impl Fn(usize) -> String) -> String {
    (0..count).map(of).collect::<Vec<_>>().join(",")
}

/// The same claim is repeated many times. Judging each repetition separately took half a minute.
#[test]
fn repeated_claims_are_not_judged_again() {
    let users = joined(300, |n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1}}}}"#));
    let tasks = joined(300, |n| format!(r#""u{n}": {{"s": 1}}"#));
    let claims = joined(8_000, |_| {
        r#"{"axiom": "envy-free", "holds": true, "margin": "0", "evidence": {"tightest": {}}}"#.to_owned()
    });
    let text = format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["r"],
          "servers": [{{"name": "s", "capacity": {{"r": 300}}}}], "users": [{users}]}},
        "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}}, "claims": [{claims}], "not_checked": []}}"#
    );
    assert_eq!(
        verdict_on(text).unwrap().reason.as_deref(),
        Some("the certificate has two claims of the same axiom")
    );
}

/// The budget is charged for the widths of the numbers that an operation uses. One wide number among many users does
/// not make every operation as expensive.
#[test]
fn one_wide_number_does_not_exceed_the_budget_for_envy() {
    let users = joined(20_000, |n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1, "q": 1}}}}"#));
    let servers =
        joined(10, |i| format!(r#"{{"name": "s{i}", "count": 1, "capacity": {{"r": 4000, "q": 4000}}}}"#));
    let wide = format!("0.{}", "9".repeat(3_400));
    let tasks = |n: usize| format!(r#""u{n}": {{"s{}": "{}"}}"#, n % 10, if n == 0 { &wide } else { "1" });
    let text = |margin: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem",
              "resources": ["r", "q"], "servers": [{servers}], "users": [{users}]}},
            "allocation": {{"kind": "allocation", "tasks": {{{}}}}}, "not_checked": [],
            "claims": [{{"axiom": "envy-free", "holds": false, "margin": "{margin}", "evidence": {{}}}}]}}"#,
            joined(20_000, tasks)
        )
    };
    // One user lacks 10^-3400 tasks, and could have 40,000.
    assert_eq!(verdict_on(text("-25e-3406")).unwrap().reason, None);
    assert!(
        verdict_on(text("-24e-3406")).unwrap().reason.is_some_and(|why| why.contains("a smaller margin"))
    );
}

/// Two hundred wide numbers among users of two hundred queues: sums and margins of groups are charged for the numbers that
/// they use, so the limits and the guarantees of the queues are decided.
#[test]
fn wide_numbers_in_many_groups_stay_within_the_budget() {
    const DIGITS: usize = 8_600;
    let groups = joined(250, |v| {
        let name = |v: usize| format!(r#""name": "g{v}""#);
        match v {
            0..10 => format!("{{{}}}", name(v)),
            10..50 => format!(r#"{{{}, "parent": "g{}"}}"#, name(v), v % 10),
            _ => format!(
                r#"{{{}, "parent": "g{}", "guarantee": {{"r": 5, "q": 5}}, "limit": {{"r": 100}}}}"#,
                name(v),
                10 + v % 40
            ),
        }
    });
    let users = joined(2_000, |n| {
        format!(r#"{{"name": "u{n}", "group": "g{}", "demand": {{"r": 1, "q": 1}}}}"#, 50 + n % 200)
    });
    // The first user of every queue has 1 + 10^-8600 tasks, and the nine others have one task each.
    let wide = format!("1.{}1", "0".repeat(DIGITS - 1));
    let tasks = joined(2_000, |n| format!(r#""u{n}": {{"s": "{}"}}"#, if n < 200 { &wide } else { "1" }));
    // (100 - 10 - 10^-8600) / 4000.
    let margin = format!("0.0224{}75", "9".repeat(DIGITS - 1));
    let text = format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["r", "q"],
          "servers": [{{"name": "s", "capacity": {{"r": 4000, "q": 4000}}}}], "groups": [{groups}], "users": [{users}]}},
        "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}}, "not_checked": [], "claims": [
          {{"axiom": "limits", "holds": true, "margin": "{margin}", "evidence": {{}}}},
          {{"axiom": "guarantees", "holds": true, "margin": "0", "evidence": {{}}}}]}}"#
    );
    assert_eq!(verdict_on(text).unwrap().reason, None);
}

/// Many identical users have equal bundles of long numbers. Each user is compared with only one other user. Rounded
/// numbers could not tell these pairs apart.
#[test]
fn identical_users_with_long_numbers_are_compared_within_the_budget() {
    let servers = joined(20, |i| format!(r#"{{"name": "s{i}", "capacity": {{"r": 1000, "q": 1000}}}}"#));
    let users = joined(600, |n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1, "q": 2}}}}"#));
    let bundle = |less: &str| {
        joined(20, |i| format!(r#""s{i}": "{}{}{less}/{}1""#, i + 1, "3".repeat(300), "7".repeat(302)))
    };
    let text = |first: &str| {
        let tasks = joined(600, |n| format!(r#""u{n}": {{{}}}"#, bundle(if n == 0 { first } else { "4" })));
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem",
              "resources": ["r", "q"], "servers": [{servers}], "users": [{users}]}},
            "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}}, "not_checked": [],
            "claims": [{{"axiom": "envy-free", "holds": true, "margin": "0", "evidence": {{}}}}]}}"#
        )
    };
    assert_eq!(verdict_on(text("4")).unwrap().reason, None);
    // A user with fewer tasks than all others envies them, even if only the last digit shows the difference.
    assert!(
        verdict_on(text("3")).unwrap().reason.is_some_and(|why| why.contains("a smaller margin towards"))
    );
}

/// There are as many demands as users, and no bundle is within another. A comparison of all bundles is rejected before
/// the first comparison.
#[test]
fn too_many_different_users_are_refused_before_comparison() {
    const USERS: usize = 26_000;
    let of_each = |what: &dyn Fn(usize) -> String| joined(USERS, what);
    let names: Vec<String> = (0..16).map(|r| format!("r{r}")).collect();
    let amounts = |of: &dyn Fn(usize) -> usize| {
        let list = names.iter().enumerate().map(|(r, name)| format!(r#""{name}":{}"#, of(r)));
        list.collect::<Vec<_>>().join(",")
    };
    let servers = of_each(&|i| format!(r#"{{"name":"s{i}","capacity":{{{}}}}}"#, amounts(&|_| 1)));
    let users = of_each(&|n| {
        let demand = amounts(&|r| if r == 0 { n + 2 } else { 1 });
        format!(r#"{{"name":"u{n}","servers":["s{n}"],"demand":{{{demand}}}}}"#)
    });
    let tasks = of_each(&|n| format!(r#""u{n}":{{"s{n}":"1/{}"}}"#, n + 2));
    let resources = format!(r#"["{}"]"#, names.join(r#"",""#));
    let text = format!(
        r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem",
          "resources": {resources}, "servers": [{servers}], "users": [{users}]}},
        "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}}, "not_checked": [],
        "claims": [{{"axiom": "envy-free", "holds": true, "margin": "0", "evidence": {{}}}}]}}"#
    );
    let refused = verdict_on(text).unwrap_err();
    assert_eq!(
        (refused.status, refused.what.as_str()),
        (3, "claim `envy-free`: too large: it takes more than 10000000000 steps of work")
    );
}

/// In these queues one user after another gets all its tasks. Each event is charged only for the nodes above the user.
#[test]
fn a_tree_is_charged_only_for_nodes_that_events_touch() {
    let groups = joined(200, |q| {
        let parent = if q < 20 { String::new() } else { format!(r#""parent": "q{}","#, q / 10 - 2) };
        format!(r#"{{"name": "q{q}", {parent} "weight": {}, "guarantee": {{"r": {}}}}}"#, q % 7 + 1, q % 11)
    });
    let users = joined(2_000, |n| {
        let (r, q, weight) = (n % 13 + 1, n % 17 + 1, n % 3 + 1);
        let queue = 20 + n % 180;
        format!(
            r#"{{"name": "u{n}", "group": "q{queue}", "tasks": {}, "weight": {weight}, "demand": {{"r": {r}, "q": {q}}}}}"#,
            n * n % 997 + 1
        )
    });
    let text = |last: usize| {
        let tasks = joined(2_000, |n| {
            format!(r#""u{n}": {{"s": {}}}"#, if n == 1999 { last } else { n * n % 997 + 1 })
        });
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem",
              "resources": ["r", "q"], "servers": [{{"name": "s", "capacity": {{"r": 100000000, "q": 100000000}}}}],
              "groups": [{groups}], "users": [{users}]}}, "allocation": {{"kind": "allocation", "tasks": {{{tasks}}}}},
            "not_checked": [], "claims": [{{"axiom": "tree", "holds": true, "margin": "0",
              "evidence": {{"filling": {{{tasks}}}, "prices": []}}}}]}}"#
        )
    };
    let all = 1999 * 1999 % 997 + 1;
    assert_eq!(verdict_on(text(all)).unwrap().reason, None);
    assert!(
        verdict_on(text(all - 1)).unwrap().reason.is_some_and(|why| why.contains("ends with other tasks"))
    );
}

/// Users may run on many classes and have tasks on one class. A wide number of one user is charged only where it is
/// used.
#[test]
fn one_wide_number_does_not_exceed_the_budget_for_a_tree() {
    let servers = joined(250, |i| format!(r#"{{"name": "s{i}", "capacity": {{"r": 12}}}}"#));
    let users = joined(1_000, |n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1}}}}"#));
    let nines = "9".repeat(3_400);
    // The first two users have swapped a fraction of their tasks. Each of them has 3 tasks in total.
    let tasks = |last: &str| {
        joined(1_000, |n| match n {
            0 | 1 => {
                let rest = format!("2.{}{}", "0".repeat(3_399), if n == 0 { last } else { "1" });
                format!(r#""u{n}": {{"s{n}": "{rest}", "s{}": "0.{nines}"}}"#, 1 - n)
            }
            _ => format!(r#""u{n}": {{"s{}": 3}}"#, n % 250),
        })
    };
    let text = |last: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["r"],
              "servers": [{servers}], "users": [{users}]}},
            "allocation": {{"kind": "allocation", "tasks": {{{}}}}}, "not_checked": [],
            "claims": [{{"axiom": "tree", "holds": true, "margin": "0",
              "evidence": {{"filling": {{{}}}, "prices": []}}}}]}}"#,
            tasks("1"),
            tasks(last)
        )
    };
    assert_eq!(verdict_on(text("1")).unwrap().reason, None);
    assert!(verdict_on(text("0")).unwrap().reason.is_some_and(|why| why.contains("ends with other tasks")));
}

/// Returns the valid certificates of the test kit about ratios and worst loads.
fn about_reservations() -> impl Iterator<Item = Fixture> {
    accepted().into_iter().filter(|fixture| fixture.kind != Kind::Allocation)
}

/// Each of these strings and numbers makes a certificate malformed if it is unreadable. The defect is reported even
/// though the reward of greedy is false and is judged first.
#[test]
fn unreadable_values_are_detected_after_false_claims() {
    let mut found_behind = 0;
    for Fixture { name, text, .. } in about_reservations() {
        let greedy = text.find("\"greedy\"").unwrap();
        let start = greedy + text[greedy..].find("\"reward\":").unwrap() + "\"reward\":".len();
        let end = start + text[start..].find(',').unwrap();
        let lie = format!("{}\"123456789\"{}", &text[..start], &text[end..]);
        assert!(verdict_on(lie.clone()).unwrap().reason.is_some(), "{name}");
        let after = lie.find("\"optimum\"").unwrap();
        for (word, unreadable) in [
            ("\"method\":", "\"methods\":"),
            ("\"servers\": \"", "\"servers\": \"x"),
            ("\"bound\": \"", "\"bound\": \"x"),
            ("\"slot\":", "\"slots\":"),
            ("\"nodes\":", "\"knots\":"),
            ("\"covers\": \"", "\"covers\": \"not"),
            ("\"order\":", "\"orders\":"),
        ] {
            let Some(at) = lie[after..].rfind(word).map(|at| after + at) else { continue };
            let text = format!("{}{unreadable}{}", &lie[..at], &lie[at + word.len()..]);
            let status = verdict_on(text).map(|report| report.reason);
            assert!(status.as_ref().is_err_and(|unusable| unusable.status == 2), "{name} {word}: {status:?}");
            found_behind += 1;
        }
    }
    assert!(found_behind > 20, "{found_behind}");
}

/// Returns a certificate with one type of jobs, whose job fills a server. A table of 10^7 cells, with numbers as large
/// as this reward, proves the price.
fn wide_table(reward: &str) -> String {
    let table = r#"{"method": "dynamic-programme", "cells": 10000000}"#;
    let full = r#""configuration": {"j": "9999999"}"#;
    format!(
        r#"{{"kind": "ratio-certificate", "version": 1, "problem": {{"kind": "reservation-problem",
          "resources": ["a"], "servers": [{{"name": "s", "capacity": {{"a": "9999999"}}}}],
          "jobs": [{{"name": "j", "demand": {{"a": "1"}}, "reward": "{reward}", "load": "9999999"}},
                   {{"name": "k", "demand": {{"a": "9999999"}}, "reward": "1", "load": "0"}}]}},
        "greedy": {{"reward": "9999999{zeros}", "steps": [
          {{"pool": "s", {full}, "servers": "1", "exhausted": "j", "first": {table}}}]}},
        "optimum": {{"reward": "9999999{zeros}",
          "assignment": [{{"pool": "s", {full}, "servers": "1"}}], "served": {{"j": "9999999"}},
          "bound": "9999999{zeros}",
          "prices": {{"load": {{}}, "slot": {{"j": "{reward}", "k": "1"}}, "server": {{"s": "9999999{zeros}"}}}},
          "pricing": {{"s": {table}}}}},
        "ratio": "1"}}"#,
        zeros = &reward[1..]
    )
}

/// Runs the program with at most `bytes` bytes of memory.
fn within_bytes(bytes: u64, text: &str) -> std::process::Output {
    let path = std::env::temp_dir().join(format!("evenhand-check-{}-{bytes}.json", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let limited = format!("ulimit -v {}; exec \"$0\" \"$1\"", bytes >> 10);
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited).arg(env!("CARGO_BIN_EXE_evenhand-check")).arg(&path);
    let output = command.output().unwrap();
    std::fs::remove_file(path).unwrap();
    output
}

#[test]
fn tables_of_wide_numbers_take_bounded_memory() {
    // The table takes 160 MB if each number has two words.
    let output = within_bytes(300 << 20, &wide_table(&format!("1{}", "0".repeat(30))));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // Four words for each number are too many for 10^7 numbers.
    let output = within_bytes(300 << 20, &wide_table(&format!("1{}", "0".repeat(60))));
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("too large: the numbers of a dynamic programme")
    );
}

/// The JSON tree takes at most a constant multiple of the memory of the text, however deeply the text is nested.
#[test]
fn texts_are_read_in_linear_memory() {
    let nested = format!("{}0{}", "[".repeat(98), "]".repeat(98));
    let texts = [
        format!("[{}]", joined(1 << 20, |_| "0".to_owned())),
        format!("[{}]", joined(1 << 14, |_| nested.clone())),
        format!("[{}]", joined(1 << 19, |_| r#"{"":0}"#.to_owned())),
        format!("{{{}}}", joined(1 << 18, |at| format!("\"{at:x}\":0"))),
    ];
    for text in texts {
        let bytes = 64 * text.len() as u64 + (32 << 20);
        let output = within_bytes(bytes, &text);
        assert_eq!(output.status.code(), Some(2), "{}: {output:?}", &text[..40]);
    }
}
