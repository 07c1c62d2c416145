//! Tests of the program: its exit status, the last line on stderr, and its output.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use evenhand_testkit::certificates::{self, Kind};

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_evenhand-check"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The program may end without reading its input, so a failed write is ignored.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

fn path(kind: Kind, name: &str) -> String {
    kind.folder().join("accept").join(name).with_extension("json").to_str().unwrap().to_owned()
}

fn accepted() -> String {
    path(Kind::Allocation, "figure-1-drfh")
}

#[test]
fn the_exit_status_is_the_verdict() {
    let all = [(certificates::accepted(), 0), (certificates::rejected(), 1), (certificates::malformed(), 2)];
    for (fixtures, expected) in all {
        for fixture in fixtures {
            let mut arguments = vec!["-"];
            if fixture.kind == Kind::Allocation {
                let sharing = if fixture.text.contains("\"sharing\":\"tdm\"") { "tdm" } else { "rdm" };
                arguments.extend(["--max-tolerance", "0.999", "--sharing", sharing]);
            }
            let output = run(&arguments, &fixture.text);
            let stderr = String::from_utf8(output.stderr.clone()).unwrap();
            assert_eq!(code(&output), expected, "{:?} {}: {stderr}", fixture.kind, fixture.name);
            assert_eq!(stderr.lines().next().is_some_and(|line| line.starts_with("error: ")), expected == 2);
        }
    }
}

#[test]
fn json_output_is_one_document() {
    let good = String::from_utf8(run(&[&accepted(), "--format", "json"], "").stdout).unwrap();
    let says =
        ["\"valid\":true", "\"sharing\":\"rdm\"", "\"sha256\":\"", "\"verdicts\":[{\"axiom\":\"feasible\""];
    assert!(says.iter().all(|word| good.contains(word)) && good.lines().count() == 1, "{good}");
    let text = std::fs::read_to_string(accepted()).unwrap();
    let output = run(&["--format=json", "-"], &text.replacen("\"margin\":\"0\"", "\"margin\":\"1\"", 1));
    assert_eq!(code(&output), 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"valid\":false,") && text.contains("\"reason\":\""), "{text}");
}

#[test]
fn accepts_standard_input_and_the_readers_own_problem() {
    let text = std::fs::read_to_string(accepted()).unwrap();
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
                    {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2.0}}],
        "users": [{"name": "user 1", "demand": {"cpu": 0.2, "memory": 1}},
                  {"name": "user 2", "demand": {"cpu": 1, "memory": 0.2}}]}"#;
    assert_eq!(code(&run(&["-"], &text)), 0);
    assert_eq!(code(&run(&[&accepted(), "--problem", "-"], problem)), 0);
    let other = run(&[&accepted(), "--problem", "-"], &problem.replace("2.0", "2.1"));
    assert_eq!(code(&other), 1);
    let output_text = String::from_utf8(other.stdout).unwrap();
    assert!(
        output_text.starts_with("not valid: the certificate is about another problem\n"),
        "{output_text}"
    );
    assert_eq!(code(&run(&[&accepted(), "--problem", "-"], "{}")), 2);
}

/// An allocation file that the reader supplies may have any field of the schema.
#[test]
fn accepts_the_readers_own_allocation_with_every_field() {
    let schema = include_str!("../../../../crates/problem/src/schema/allocation.json");
    let (_, properties) = schema.split_once("\n  \"properties\": {\n").unwrap();
    let fields = properties.split("\n  }").next().unwrap().lines().filter_map(|line| {
        let name = line.strip_prefix("    \"")?.strip_suffix("\": {")?;
        let is_checked =
            matches!(name, "kind" | "sharing" | "arithmetic" | "tasks" | "placements" | "problem_sha256");
        Some(name).filter(|_| !is_checked)
    });
    let fields: Vec<String> = fields.map(|name| format!("\"{name}\": \"hash\"")).collect();
    assert!(fields.len() > 20, "{fields:?}");
    let allocation = |fields: &str| {
        format!(
            r#"{{"kind": "allocation", {fields},
                "tasks": {{"user 1": {{"high-memory": 10}}, "user 2": {{"high-cpu": 10}}}}}}"#
        )
    };
    for field in &fields {
        let output = run(&[&accepted(), "--allocation", "-"], &allocation(field));
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(code(&output), 0, "{field}: {stderr}");
    }
    assert_eq!(code(&run(&[&accepted(), "--allocation", "-"], &allocation("\"rules\": 1"))), 2);
}

/// If an allocation states the hash of a problem, it is about that problem.
#[test]
fn refuses_the_readers_own_allocation_of_another_problem() {
    let text = std::fs::read_to_string(accepted()).unwrap();
    let output_text = String::from_utf8(run(&["-"], &text).stdout).unwrap();
    let hash = output_text.lines().find_map(|line| line.strip_prefix("problem sha256 ")).unwrap();
    let allocation = |hash: &str| {
        format!(
            r#"{{"kind": "allocation", "problem_sha256": "{hash}",
                "tasks": {{"user 1": {{"high-memory": 10}}, "user 2": {{"high-cpu": 10}}}}}}"#
        )
    };
    assert_eq!(code(&run(&[&accepted(), "--allocation", "-"], &allocation(&hash[..64]))), 0);
    let other = run(&[&accepted(), "--allocation", "-"], &allocation(&hash[..64].replace(['a', '1'], "b")));
    assert_eq!(code(&other), 1);
    let output_text = String::from_utf8(other.stdout).unwrap();
    assert!(
        output_text.starts_with("not valid: the allocation is for another problem than the certificate"),
        "{output_text}"
    );
}

/// A title is never printed before the hash. It can neither end the line of the hash nor hide characters.
#[test]
fn titles_cannot_imitate_the_hash() {
    let certificate = |title: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "name": "{title}",
                "resources": ["cpu"], "servers": [{{"name": "s", "capacity": {{"cpu": 4}}}}],
                "users": [{{"name": "u", "demand": {{"cpu": 1}}}}]}},
              "allocation": {{"kind": "allocation", "tasks": {{"u": {{"s": 4}}}}}}, "not_checked": [],
              "claims": [{{"axiom": "feasible", "holds": true, "margin": "0",
                          "evidence": {{"server": "s", "resource": "cpu", "slack": "0"}}}}]}}"#
        )
    };
    let forged = format!("x`: users 1, server classes 1, sha256 {}", "0".repeat(64));
    for title in [&forged, &format!("a\\n{forged}"), &format!("a\\u2028{forged}")] {
        let output_text = String::from_utf8(run(&["-"], &certificate(title)).stdout).unwrap();
        let lines: Vec<&str> = output_text.lines().filter(|line| line.contains("sha256")).collect();
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with("problem sha256 ") || line.starts_with("allocation sha256 ")),
            "{output_text}"
        );
        assert!(lines.len() == 2 && !lines[0].starts_with("problem sha256 000"), "{output_text}");
    }
    for hidden in [
        '\u{34f}',
        '\u{17b4}',
        '\u{180b}',
        '\u{2800}',
        '\u{fe0f}',
        '\u{e0100}',
        '\u{1d173}',
        '\u{ad}',
        '\u{85}',
    ] {
        let output_text =
            String::from_utf8(run(&["-"], &certificate(&format!("a{hidden}b"))).stdout).unwrap();
        assert!(output_text.contains(&format!("`a{}b`", hidden.escape_unicode())), "{output_text}");
    }
}

/// ASCII white space around the names of classes does not belong to the names. All other white space does.
#[test]
fn only_ascii_white_space_is_stripped_from_names() {
    let certificate = |key: &str, holds: bool| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["cpu"],
                "servers": [{{"name": "a", "capacity": {{"cpu": 4}}}}, {{"name": "b", "capacity": {{"cpu": 4}}}},
                            {{"name": "\u00a0b", "capacity": {{"cpu": 4}}}}],
                "groups": [{{"name": "g", "on": {{"{key}": {{"limit": {{"cpu": 1}}}}}}}}],
                "users": [{{"name": "u", "group": "g", "demand": {{"cpu": 1}}}}]}},
              "allocation": {{"kind": "allocation", "tasks": {{"u": {{"b": 4}}}}}}, "tolerance": "0", "not_checked": [],
              "claims": [{{"axiom": "limits", "holds": {holds}, "margin": "{}"}}]}}"#,
            if holds { "1/12" } else { "-1/4" }
        )
    };
    for (key, is_about_b) in [("a, b", true), ("a,\\tb ", true), ("a,\u{a0}b", false), ("a, \u{a0}b", false)]
    {
        let statuses = [true, false].map(|holds| code(&run(&["-"], &certificate(key, holds))));
        assert_eq!(statuses, if is_about_b { [1, 0] } else { [0, 1] }, "{key:?}");
    }
    assert_eq!(code(&run(&["-"], &certificate("a,\u{3000}b", true))), 2);
}

/// Evidence is not read if no user needs it, but it still has to be an object.
#[test]
fn unneeded_evidence_must_still_be_an_object() {
    let text = |evidence: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem",
                "resources": ["cpu", "gpu"], "servers": [{{"name": "s", "capacity": {{"cpu": 1}}}}],
                "users": [{{"name": "u", "demand": {{"gpu": 1}}}}]}},
                "allocation": {{"kind": "allocation", "arithmetic": "exact", "tasks": {{}}}}, "tolerance": "0",
                "claims": [{{"axiom": "ps-dsf", "holds": true, "evidence": {evidence}}}], "not_checked": []}}"#
        )
    };
    for (evidence, expected) in
        [("{}", 0), (r#"{"bottlenecks": {"u": {"s": "disk"}}}"#, 0), ("[]", 2), ("7", 2)]
    {
        let output = run(&["-"], &text(evidence));
        let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            code(&output),
            expected,
            "{evidence}: {output_text} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            expected == 0,
            output_text.contains("ps-dsf holds (there is nothing to compare)"),
            "{output_text}"
        );
    }
}

/// Sharing by time has to be requested, even if a class states times.
#[test]
fn time_sharing_must_be_requested() {
    let problem = r#"{"kind": "allocation-problem", "resources": ["cpu", "mem"],
        "servers": [{"name": "big", "capacity": {"cpu": 10, "mem": 10}}, {"name": "acc", "capacity": {"cpu": 1, "mem": 1}}],
        "users": [{"name": "c", "demand": {"cpu": 1}}, {"name": "m", "demand": {"mem": 1}},
                  {"name": "t", "demand": {"cpu": 1}, "servers": ["acc"], "gamma": {"acc": 1}}]}"#;
    let certificate = |sharing: &str, claim: &str| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {problem}, "not_checked": [], "claims": [{claim}],
            "allocation": {{"kind": "allocation", "sharing": "{sharing}",
                            "tasks": {{"c": {{"big": 5}}, "m": {{"big": 5}}, "t": {{"acc": 1}}}}}}}}"#
        )
    };
    let by_time = certificate(
        "tdm",
        r#"{"axiom": "pareto-optimal", "holds": true, "margin": "0", "evidence":
            {"user_weights": {"c": "1/11", "m": "1/11", "t": "1"}, "prices": {"big": {"time": "10/11"}, "acc": {"time": "1"}}}}"#,
    );
    let divided = certificate(
        "rdm",
        r#"{"axiom": "pareto-optimal", "holds": false, "margin": "-10/11", "evidence":
            {"dominating": {"c": {"big": "10"}, "m": {"big": "10"}, "t": {"acc": "1"}}}}"#,
    );
    let unasked = run(&["-"], &by_time);
    assert_eq!(code(&unasked), 1);
    let output_text = String::from_utf8(unasked.stdout).unwrap();
    assert!(output_text.contains("shared by time (tdm), which the reader did not allow"), "{output_text}");
    assert_eq!(code(&run(&["-", "--sharing", "tdm"], &by_time)), 0);
    assert_eq!(code(&run(&["-"], &divided)), 0);
    assert_eq!(code(&run(&["-", "--sharing", "tdm"], &divided)), 1);
}

/// The claims of a certificate that is not valid are not verdicts. The output for a valid certificate names its
/// allocation.
#[test]
fn only_valid_certificates_have_verdicts() {
    let good = String::from_utf8(run(&[&accepted(), "--format", "json"], "").stdout).unwrap();
    assert!(good.contains(r#""allocation":{"sha256":"#), "{good}");
    let text = std::fs::read_to_string(accepted()).unwrap();
    let worse = text.replacen("\"margin\":\"0\"", "\"margin\":\"1\"", 1);
    let bad = String::from_utf8(run(&["-", "--format", "json"], &worse).stdout).unwrap();
    assert!(bad.contains("\"valid\":false") && bad.contains("\"verdicts\":[]"), "{bad}");
    let says = |text: &str| {
        let output_text = String::from_utf8(run(&["-"], text).stdout).unwrap();
        output_text
            .lines()
            .find_map(|line| line.strip_prefix("allocation sha256 ").map(str::to_owned))
            .unwrap()
    };
    // A different spelling of a number does not change the hash. A different value does.
    let tasks =
        |x: &str| text.replacen("{\"high-memory\":\"10\"}", &format!("{{\"high-memory\":\"{x}\"}}"), 1);
    assert_eq!(says(&text), says(&tasks("10.0")));
    assert_ne!(says(&text), says(&tasks("9")));
}

#[test]
fn checks_ratio_certificates() {
    let path = path(Kind::Ratio, "introduction");
    let output_text = |output: Output| String::from_utf8(output.stdout).unwrap();
    let text = output_text(run(&[&path], ""));
    let proven = "valid: 3 claims, each proven\n  greedy earns 5\n  the optimum is 5\n  greedy earns 1 of the optimum\n";
    assert!(text.starts_with(proven), "{text}");
    let about = ": `the example of the introduction`, job types 3, pools 1\n";
    assert!(
        text.contains("\nproblem sha256 ")
            && text.contains(about)
            && text.ends_with("loads per server: a 1/2, b 1/2, c 1/2\n"),
        "{text}"
    );
    let json = output_text(run(&[&path, "--format", "json"], ""));
    assert!(json.contains("\"valid\":true,\"claims\":3,"), "{json}");
    assert!(json.contains("\"ratio\":\"1\",\"exact\":true"), "{json}");
    for (required, expected) in
        [("exact", 0), ("ratio:1", 0), ("ratio:2/3", 0), ("ratio:1.01", 1), ("envy-free", 2), ("ratio:x", 2)]
    {
        assert_eq!(code(&run(&[&path, "--require", required], "")), expected, "{required}");
    }
    assert_eq!(code(&run(&[&path, "--sharing", "rdm"], "")), 2);
    // In this certificate the optimum of whole servers is only known to be between 115 and 128.
    let counted = self::path(Kind::Ratio, "counted");
    assert_eq!(code(&run(&[&counted], "")), 0);
    assert_eq!(code(&run(&[&counted, "--require", "exact"], "")), 1);
    let problem = r#"{"kind": "reservation-problem", "resources": ["memory", "cpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 10, "memory": 10.0}}],
        "jobs": [{"name": "a", "demand": {"cpu": 6, "memory": 6}, "reward": 4, "load": 0.5},
                 {"name": "b", "demand": {"cpu": 7, "memory": 1}, "reward": 3, "load": 0.5},
                 {"name": "c", "demand": {"cpu": 1, "memory": 7}, "reward": 3, "load": 0.5}]}"#;
    assert_eq!(code(&run(&[&path, "--problem", "-"], problem)), 0);
    let other = run(&[&path, "--problem", "-"], &problem.replace("10.0", "11"));
    assert_eq!(code(&other), 1);
    assert!(output_text(other).starts_with("not valid: the certificate is about another problem\n"));
    // A problem of another kind is rejected.
    let allocation = r#"{"kind": "allocation-problem", "resources": ["x"], "users": [],
        "servers": [{"name": "s", "capacity": {"x": 1}}]}"#;
    assert_eq!(code(&run(&[&path, "--problem", "-"], allocation)), 2);
    assert_eq!(code(&run(&[&accepted(), "--problem", "-"], problem)), 2);
}

#[test]
fn refuses_wrong_command_lines() {
    let good = accepted();
    let wrong: [&[&str]; 9] = [
        &[],
        &["--problem"],
        &["--wrong", &good],
        &[&good, &good],
        &[&good, "--format", "xml"],
        &["-", "--problem", "-"],
        &["no such file"],
        &[&good, "--problem", "no such file"],
        &[&good, "--format=json", "--format", "json"],
    ];
    for arguments in wrong {
        let output = run(arguments, "");
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {stderr}");
        assert!(stderr.lines().next().unwrap().starts_with("error: "), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    for help in ["--help", "-h", "--version", "-V"] {
        assert_eq!(code(&run(&[help], "")), 0);
    }
}

#[test]
fn checks_worst_load_certificates() {
    let path = path(Kind::WorstLoad, "random");
    let output = run(&[&path], "");
    assert_eq!(code(&output), 0);
    let output_text = String::from_utf8(output.stdout).unwrap();
    let proven = "valid: 2 claims, each proven\n  greedy earns at least 5/6 of the optimum, whatever the load\n  \
                  with the stated loads it earns no more than that\n";
    assert!(
        output_text.starts_with(proven) && output_text.ends_with("stated loads per server: j0 1, j2 1\n"),
        "{output_text}"
    );
    assert_eq!(code(&run(&[&path, "--require", "exact", "--require", "ratio:5/6"], "")), 0);
    assert_eq!(code(&run(&[&path, "--require", "ratio:0.84"], "")), 1);
    // A lower bound below 0 is rejected, because it says nothing.
    let text = std::fs::read_to_string(&path).unwrap();
    let below = text.replacen("\"ratio_lower\": \"5/6\"", "\"ratio_lower\": \"-1\"", 1);
    assert_ne!(below, text);
    let below = String::from_utf8(run(&["-"], &below).stdout).unwrap();
    assert!(below.contains("ratio_lower: expected at least 0"), "{below}");
    // Loads and numbers of servers do not belong to the problem of a worst-load certificate. Types and capacities do.
    let problem = r#"{"kind": "reservation-problem", "resources": ["x", "y", "idle"],
        "servers": [{"name": "p0", "count": 12, "capacity": {"x": 7, "idle": 7, "y": 8.0}}],
        "jobs": [{"name": "j0", "demand": {"x": 2, "y": 3}, "reward": 6},
                 {"name": "j1", "demand": {"x": 5, "y": 3}, "reward": 11, "load": "2/7"},
                 {"name": "j2", "demand": {"x": 4}, "reward": 3}]}"#;
    assert_eq!(code(&run(&[&path, "--problem", "-"], problem)), 0);
    assert_eq!(code(&run(&[&path, "--problem", "-"], &problem.replace("8.0", "9"))), 1);
    assert_eq!(code(&run(&[&path, "--problem", "-"], "{}")), 2);
}
