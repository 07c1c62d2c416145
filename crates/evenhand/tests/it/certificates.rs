//! Tests of round trips through solve, certify and check for every mechanism, and of damaged certificates.

use crate::common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use common::{
    CONSTRAINED, FIGURE_1, FIGURE_1_RESPELLED, Folder, ONE_SERVER, efficient, finish, is_proven,
    of_programmes,
};
use evenhand::Axiom;
use serde_json::{Value, json};

/// Solves and certifies a problem. Returns the claims, each with its axiom.
#[track_caller]
fn certified(folder: &Folder, mechanism: &str, exact: bool, more: &[&str]) -> Vec<(String, Value)> {
    folder.solve(mechanism, exact, "a.json");
    let arguments = ["certify", "problem.json", "a.json", "-o", "c.json", "--format", "json"];
    let output = folder.run(&[&arguments, more].concat());
    let claims = output.json()["claims"].as_array().unwrap().clone();
    let violated = claims.iter().any(|claim| claim["holds"] == json!(false));
    assert_eq!(output.status, i32::from(violated), "{mechanism}: {output:?}");
    claims
        .into_iter()
        .map(|claim| (claim["axiom"].as_str().unwrap().to_owned(), claim["holds"].clone()))
        .collect()
}

#[track_caller]
fn valid(folder: &Folder) {
    folder.run(&["check", "c.json"]).ends_with(0);
    folder.run(&["check", "c.json", "--problem", "problem.json"]).ends_with(0);
}

#[test]
fn certifies_every_mechanism_exactly() {
    for (text, least) in [(ONE_SERVER, 7), (FIGURE_1, 6), (CONSTRAINED, 5)] {
        let mechanisms = of_programmes(text);
        assert!(mechanisms.len() >= least, "{mechanisms:?}");
        for mechanism in mechanisms {
            let folder = Folder::with(text);
            let claims = certified(&folder, mechanism, true, &[]);
            let holds =
                |axiom: &str| claims.iter().find(|(name, _)| name == axiom).map(|(_, holds)| holds.clone());
            assert_eq!(holds("feasible"), Some(json!(true)), "{mechanism}");
            assert_eq!(holds("work-conserving"), Some(json!(true)), "{mechanism}");
            if is_proven(mechanism, Axiom::ParetoOptimal) {
                assert_eq!(holds("pareto-optimal"), Some(json!(true)), "{mechanism}");
            }
            if is_proven(mechanism, Axiom::MaxMin) {
                assert_eq!(holds("max-min"), Some(json!(true)), "{mechanism}");
            }
            for axiom in ["envy-free", "sharing-incentive"] {
                assert!(holds(axiom).is_some_and(|holds| holds.is_boolean()), "{mechanism}, {axiom}");
            }
            valid(&folder);
        }
    }
}

#[test]
fn certifies_every_mechanism_in_floating_point_within_a_tolerance() {
    for text in [ONE_SERVER, FIGURE_1, CONSTRAINED] {
        for mechanism in efficient(text) {
            let folder = Folder::with(text);
            let claims = certified(&folder, mechanism, false, &["--tolerance", "1e-6"]);
            for axiom in ["feasible", "pareto-optimal"] {
                assert!(claims.contains(&(axiom.to_owned(), json!(true))), "{mechanism}: {claims:?}");
            }
            valid(&folder);
            // All claims are also proven with tolerance 0.
            certified(&folder, mechanism, false, &[]);
            valid(&folder);
        }
    }
}

#[test]
fn certifies_each_axiom_that_the_command_line_names() {
    let folder = Folder::with(ONE_SERVER);
    for axiom in [
        "feasible",
        "non-wasteful",
        "pareto-optimal",
        "envy-free",
        "sharing-incentive",
        "bottleneck-fair",
        "global-bottleneck-fair",
        "single-resource-fair",
        "max-min",
    ] {
        let claims = certified(&folder, "drf", true, &["--axiom", axiom]);
        assert_eq!(claims.len(), 1);
        assert_eq!(claims[0].0, axiom);
        valid(&folder);
    }
    let claims = certified(&folder, "drf", true, &["--axiom", "max-min", "--share", "resource:cpu"]);
    assert_eq!(claims, [("max-min".to_owned(), json!(false))]);
    valid(&folder);
}

/// An allocation of another program needs only a kind and tasks.
#[test]
fn certifies_an_allocation_of_another_program() {
    let folder = Folder::with(FIGURE_1);
    let tasks = r#"{"user 1": {"high-memory": 10}, "user 2": {"high-cpu": "10"}}"#;
    folder.write("a.json", format!(r#"{{"kind": "allocation", "tasks": {tasks}}}"#));
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    valid(&folder);
    folder.run(&["certify", "problem.json", "a.json", "--axiom", "max-min", "--share", "drfh"]).ends_with(0);
    folder.write("a.json", r#"{"kind": "allocation", "tasks": {"user 1": {"high-memory": "10000000000000001/1000000000000000"}, "user 2": {"high-cpu": 10}}}"#);
    // An allocation that exceeds a capacity by one ulp counts as rounded, unless the tolerance is 0.
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    valid(&folder);
    let strict =
        ["certify", "problem.json", "a.json", "--axiom", "feasible", "--tolerance", "0", "-o", "c.json"];
    folder.run(&strict).ends_with(1);
    valid(&folder);
}

/// A rounding error within a solver's tolerance is distinguished from a violation. Every axiom holds at the
/// least tolerance that the output states.
#[test]
fn rounding_is_distinguished_from_violation() {
    let folder = Folder::with(FIGURE_1);
    let examine = |x: &str, tolerance: &str| {
        let tasks = format!(r#"{{"user 1": {{"high-memory": {x}}}, "user 2": {{"high-cpu": 10}}}}"#);
        folder.write("a.json", format!(r#"{{"kind": "allocation", "tasks": {tasks}}}"#));
        folder.run(&["certify", "problem.json", "a.json", "-o", "c.json", "--tolerance", tolerance])
    };
    for (x, least, tolerance, is_accepted) in
        [("9.9999996", "3.4e-8", "1e-7", true), ("9.9996", "3.4e-5", "1e-4", false)]
    {
        let output_text = examine(x, "1e-9").ends_with(1).stdout;
        // The verdict states the least tolerance. The axiom holds at this tolerance.
        assert!(output_text.contains(&format!("VIOLATED at 1e-9; holds from {least} ")), "{output_text}");
        examine(x, least).ends_with(0);
        let sentences = [
            "This is a solver's rounding rather than a violation".to_owned(),
            format!(
                "solvers with tolerance {tolerance} leave such misses, and with `--tolerance {tolerance}`"
            ),
            "Other axioms may be violated at that tolerance.".to_owned(),
        ];
        sentences
            .iter()
            .for_each(|sentence| assert!(output_text.contains(sentence), "{sentence}: {output_text}"));
        assert_eq!(output_text.contains("needs `--max-tolerance"), !is_accepted, "{output_text}");
        examine(x, tolerance).ends_with(0);
        folder.run(&["check", "c.json"]).ends_with(if is_accepted { 0 } else { 1 });
        folder.run(&["check", "c.json", "--max-tolerance", tolerance]).ends_with(0);
    }
    let output_text = examine("8", "1e-9").ends_with(1).stdout;
    assert!(output_text.contains("This is a violation, not a solver's rounding"), "{output_text}");
    assert!(output_text.contains("VIOLATED at 1e-9; holds from 0.17 "), "{output_text}");
    // max-min is not examined, because the command names no share.
    assert!(!output_text.contains("max-min"), "{output_text}");
}

#[test]
fn a_problem_is_compared_by_meaning() {
    let folder = Folder::with(FIGURE_1);
    certified(&folder, "drfh", true, &[]);
    folder.write("mine.json", FIGURE_1_RESPELLED);
    folder.run(&["check", "c.json", "--problem", "mine.json"]).ends_with(0);
    for (from, to) in [
        ("\"cpu\": 12", "\"cpu\": 12.0000000000000000000000001"),
        ("\"user 1\"", "\"user one\""),
        ("\"high-cpu\"", "\"low-cpu\""),
        ("\"demand\": {\"cpu\": 1,", "\"weight\": 2, \"demand\": {\"cpu\": 1,"),
        ("\"demand\": {\"cpu\": 1,", "\"tasks\": 10, \"demand\": {\"cpu\": 1,"),
        ("\"demand\": {\"cpu\": 1,", "\"servers\": [\"high-cpu\"], \"demand\": {\"cpu\": 1,"),
        ("\"name\": \"high-cpu\",", "\"name\": \"high-cpu\", \"count\": 2,"),
        ("\"resources\": [\"cpu\", \"memory\"]", "\"resources\": [\"cpu\", \"memory\", \"gpu\"]"),
    ] {
        let other = FIGURE_1.replacen(from, to, 1);
        assert_ne!(other, FIGURE_1);
        folder.write("mine.json", other);
        let arguments = ["check", "c.json", "--problem", "mine.json", "--format", "json"];
        let output = folder.run(&arguments).ends_with(1);
        assert_eq!(output.json()["valid"], json!(false), "{to}");
    }
}

/// Returns the ranges of the quoted texts that contain numbers.
fn quoted_numbers(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(open) = text[rest..].find('"').map(|at| rest + at + 1) {
        let close = open + text[open..].find('"').unwrap();
        let inside = &text[open..close];
        if !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || b == b'/' || b == b'-') {
            found.push((open, close));
        }
        rest = close + 1;
    }
    found
}

/// The axioms that the checker decides from the allocation alone. It does not read their evidence.
const UNREAD: [&str; 6] =
    ["feasible", "integer-feasible", "work-conserving", "envy-free", "sharing-incentive", "njc"];

/// Each number is changed, one after the other. The certificate then states a false fact or belongs to
/// another problem, and is refused.
#[test]
fn changed_numbers_are_refused() {
    for (text, mechanism) in
        [(FIGURE_1, "drfh"), (FIGURE_1, "per-server-drf"), (ONE_SERVER, "tsf"), (CONSTRAINED, "tsf")]
    {
        let folder = Folder::with(text);
        certified(&folder, mechanism, true, &[]);
        let good = folder.read("c.json");
        let places = quoted_numbers(&good);
        assert!(places.len() > 20, "{good}");
        for (open, close) in places {
            // A larger tolerance is a weaker claim, which is still true. Some evidence is only for people.
            let claim = &good[good[..open].rfind('\n').unwrap_or(0)..open];
            let is_read = !UNREAD.iter().any(|axiom| claim.contains(&format!("{{\"axiom\":\"{axiom}\"")));
            if good[..open].ends_with("\"tolerance\": \"") || claim.contains("\"evidence\":") && !is_read {
                continue;
            }
            let old = &good[open..close];
            let plus_one = match old.split_once('/') {
                Some((p, q)) => format!("{}/{q}", p.parse::<i128>().unwrap() + q.parse::<i128>().unwrap()),
                None => (old.parse::<i128>().unwrap() + 1).to_string(),
            };
            for new in
                [plus_one, format!("1{}", old.trim_start_matches('-')), "-7".to_owned(), "x".to_owned()]
            {
                let damaged = format!("{}{new}{}", &good[..open], &good[close..]);
                folder.write("c.json", &damaged);
                let output = folder.run(&["check", "c.json", "--problem", "problem.json"]);
                assert!(
                    output.status == 1 || output.status == 2,
                    "{old} became {new} and is accepted:\n{damaged}"
                );
                if output.status == 2 {
                    output.fails_with(2, "c.json:");
                }
            }
        }
    }
}

#[test]
fn flipped_verdicts_are_refused() {
    for mechanism in ["drfh", "per-server-drf"] {
        let folder = Folder::with(FIGURE_1);
        certified(&folder, mechanism, true, &[]);
        let good = folder.read("c.json");
        for (from, others) in [("\"holds\":true", ["false", "null"]), ("\"holds\":false", ["true", "null"])] {
            for (at, _) in good.match_indices(from) {
                for other in others {
                    let damaged = format!("{}\"holds\":{other}{}", &good[..at], &good[at + from.len()..]);
                    folder.write("c.json", &damaged);
                    let output = folder.run(&["check", "c.json"]);
                    assert!(matches!(output.status, 1 | 2), "{damaged}");
                }
            }
        }
    }
}

/// A malformed certificate gives status 2 and the position of the error. A wrong certificate gives status 1
/// and a reason.
#[test]
fn malformed_certificates_end_with_2_and_wrong_ones_with_1() {
    let folder = Folder::with(FIGURE_1);
    certified(&folder, "drfh", true, &[]);
    let good = folder.read("c.json");
    let damage = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        folder.write("c.json", good.replacen(from, to, 1));
        folder.run(&["check", "c.json"])
    };
    for (from, to) in [
        ("\"version\": 2", "\"version\": 1"),
        ("\"version\": 2", "\"version\": 3"),
        ("\"tolerance\": \"0\"", "\"tolerance\": \"1\""),
        ("\"kind\": \"certificate\"", "\"kind\": \"certified\""),
        ("\"tolerance\": \"0\"", "\"tolerance\": \"-1\""),
        ("\"tolerance\": \"0\"", "\"tolerance\": \"1e999999\""),
        ("\"axiom\":\"envy-free\"", "\"axiom\":\"envy-freedom\""),
        ("\"holds\":true", "\"holds\":\"yes\""),
        ("\"claims\": [", "\"claims\": {"),
        ("\"claims\"", "\"klaims\""),
        ("\"tasks\":{\"user 1\"", "\"tasks\":{\"user 9\""),
        ("\"margin\":\"2/3\"", "\"margin\":\"2/3\",\"margin\":\"2/3\""),
        ("\"tasks\":", "\"gap\":\"0\",\"tasks\":"),
        ("\"tasks\":", "\"summary\":{},\"tasks\":"),
    ] {
        damage(from, to).fails_with(2, "c.json:");
    }
    for cut in (1..good.len() - 2).step_by(41) {
        folder.write("c.json", &good[..cut]);
        folder.run(&["check", "c.json"]).fails_with(2, "c.json:");
    }
    for (from, to) in [
        ("\"margin\":\"2/3\"", "\"margin\":\"1/3\""),
        ("\"covers\":[\"user 1\",", "\"covers\":["),
        ("\"problem_sha256\":\"", "\"problem_sha256\":\"0"),
        ("\"tasks\":{\"user 1\":{\"high-memory\":\"10\"}", "\"tasks\":{\"user 1\":{\"high-memory\":\"9\"}"),
        (
            "\"claims\": [",
            "\"claims\": [{\"axiom\":\"envy-free\",\"holds\":true,\"margin\":\"2/3\",\"evidence\":{\"tightest\":{\"user\":\"user 1\",\"envied\":\"user 2\"}}},",
        ),
    ] {
        let output = damage(from, to).ends_with(1);
        assert!(output.stdout.starts_with("not valid: "), "{from} became {to}: {}", output.stdout);
    }
}

/// A claim that holds within a tolerance states the tolerance, so that readers do not mistake it for an exact
/// claim. A large tolerance is refused unless an option allows it.
#[test]
fn a_tolerance_is_shown_and_bounded() {
    let folder = Folder::with(FIGURE_1);
    certified(&folder, "per-server-drf", true, &["--tolerance", "0.987"]);
    let certify = ["certify", "problem.json", "a.json", "--tolerance", "0.987"];
    for arguments in [&certify[..], &["check", "c.json", "--max-tolerance", "0.99"]] {
        let output = folder.run(arguments).ends_with(0);
        let is_shown = ["0.987", "987/1000"].iter().any(|tolerance| output.stdout.contains(tolerance));
        assert!(is_shown, "{arguments:?}: {}", output.stdout);
        assert!(output.stdout.contains("holds within"), "{arguments:?}: {}", output.stdout);
    }
    let output = folder.run(&["check", "c.json"]).ends_with(1);
    assert!(output.stdout.contains("tolerance"), "{output:?}");
    for tolerance in ["1", "-1", "x"] {
        let certify = ["certify", "problem.json", "a.json", "--tolerance", tolerance];
        folder.run(&certify).fails_with(2, "--tolerance");
        folder.run(&["check", "c.json", "--max-tolerance", tolerance]).fails_with(2, "--max-tolerance");
    }
}

#[test]
fn check_requires_the_stated_claims() {
    let folder = Folder::with(FIGURE_1);
    certified(&folder, "drfh", true, &[]);
    let check = |more: &[&str]| folder.run(&[&["check", "c.json"], more].concat());
    for axiom in ["envy-free", "feasible", "max-min:drfh", "work-conserving"] {
        check(&["--require", axiom]).ends_with(0);
    }
    for axiom in ["max-min:tsf", "njc", "proportional:1", "bottleneck-fair"] {
        check(&["--require", axiom]).ends_with(1);
    }
    for axiom in ["max-min", "proportional", "max-min:nothing", "envy-free:1", "envy"] {
        check(&["--require", axiom]).fails(2);
    }
    check(&["--allocation", "a.json", "--problem", "problem.json"]).ends_with(0);
    folder.run(&["solve", "problem.json", "-m", "per-server-drf", "-o", "b.json"]).ends_with(0);
    check(&["--allocation", "b.json"]).ends_with(1);
    // The order of fields, zeros and the notation of numbers in a file have no meaning.
    let respelled = r#"{"tasks": {"user 2": {"high-cpu": 10, "high-memory": 0}, "user 1": {"high-memory": "20/2"}}, "kind": "allocation"}"#;
    folder.write("b.json", respelled);
    check(&["--allocation", "b.json"]).ends_with(0);
    check(&["--sharing", "rdm"]).ends_with(0);
    check(&["--sharing", "tdm"]).ends_with(1);
    folder.write("c.json", folder.read("c.json").replace("\"claims\": [", "\"claims\": [],\"x\": ["));
    check(&[]).fails(2);
    let none = r#"{"kind": "certificate", "version": 2, "problem": PROBLEM, "allocation": {"kind": "allocation", "tasks": {}}, "claims": [], "not_checked": []}"#;
    folder.write("c.json", none.replace("PROBLEM", FIGURE_1));
    let output = check(&[]).ends_with(1);
    assert!(output.stdout.contains("the certificate has no claims"), "{output:?}");
}

/// Removing a claim, or moving it to `not_checked`, makes the certificate weaker but not wrong.
#[test]
fn axioms_not_examined_are_not_reported_as_passed() {
    let folder = Folder::with(FIGURE_1);
    certified(&folder, "drfh", true, &["--axiom", "envy-free"]);
    let certificate: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    let not_checked = certificate["not_checked"].as_array().unwrap();
    for axiom in ["feasible", "pareto-optimal", "max-min", "njc"] {
        assert!(not_checked.contains(&json!(axiom)), "{axiom}");
    }
    let output = folder.run(&["check", "c.json", "--format", "json"]).ends_with(0);
    assert_eq!(output.json()["claims"], json!(1));
}

/// Returns the path of `evenhand-check`. Returns `None` if it is not built or older than its sources.
fn small_checker() -> Option<PathBuf> {
    let binary = Path::new(env!("CARGO_BIN_EXE_evenhand")).with_file_name("evenhand-check");
    let built = std::fs::metadata(&binary).ok()?.modified().ok()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    (built >= newest(&root.join("verification/check/src"))).then_some(binary)
}

fn newest(folder: &Path) -> SystemTime {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let times = entries.map(|entry| match entry.metadata().unwrap() {
        data if data.is_dir() => newest(&entry.path()),
        data => data.modified().unwrap(),
    });
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Both programs give the same answer for the certificates that the checker's own tests accept. They also
/// give the same answer if a number in these certificates is changed.
#[test]
fn the_small_checker_agrees() {
    let checker = small_checker();
    if checker.is_none() {
        // The test harness hides the output of macros, but a comparison that did not run must be visible.
        let line =
            b"\nNOT RUN: the_small_checker_agrees: evenhand-check is not built, or older than its sources\n";
        std::io::stderr().write_all(line).unwrap();
    }
    let folder = Folder::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/certificates/allocation/accept");
    let paths = std::fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path());
    let paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    assert!(!paths.is_empty());
    for path in paths {
        let good = std::fs::read_to_string(&path).unwrap();
        let damaged = good.replacen("\"margin\":\"0\"", "\"margin\":\"1/7\"", 1);
        let malformed = good.replacen("\"holds\"", "\"hold\"", 1);
        for text in [good, damaged, malformed] {
            folder.write("c.json", text);
            let wide = ["check", "c.json", "--format", "json", "--max-tolerance", "1/2"];
            let sharing = if folder.read("c.json").contains("\"sharing\":\"tdm\"") { "tdm" } else { "rdm" };
            let arguments = [&wide[..], &["--sharing", sharing]].concat();
            let ours = folder.run(&arguments);
            let Some(checker) = &checker else { continue };
            let mut command = Command::new(checker);
            command.args(&arguments[1..]).current_dir(folder.path());
            let theirs = finish(command, b"", Duration::from_secs(60));
            assert_eq!(ours.status, theirs.status, "{}", path.display());
            assert_eq!(ours.error_line(), theirs.error_line(), "{}", path.display());
            assert_eq!(ours.stdout.trim(), theirs.stdout.trim(), "{}", path.display());
        }
    }
}

/// The order of entries in a file has no meaning, even if the reader's own allocation states the hash of the
/// reader's own problem.
#[test]
fn accepts_the_readers_own_problem_and_allocation_in_another_order() {
    let reversed = |text: &str| {
        let mut problem: Value = serde_json::from_str(text).unwrap();
        for list in ["resources", "servers", "users"] {
            problem[list].as_array_mut().unwrap().reverse();
        }
        problem.to_string()
    };
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    folder.write("own.json", reversed(FIGURE_1));
    folder.run(&["solve", "own.json", "-m", "drfh", "-o", "own.a.json"]).ends_with(0);
    folder.run(&["check", "c.json", "--problem", "own.json", "--allocation", "own.a.json"]).ends_with(0);
}

/// Returns a problem with many users that may all run on many classes, and an allocation with a single task.
fn many_users_and_classes() -> Folder {
    let list = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(",");
    let servers = list(100, &|i| format!(r#"{{"name": "s{i}", "capacity": {{"r": {}, "q": 7}}}}"#, i + 1));
    let users = list(1_000, &|n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1, "q": "1/{}"}}}}"#, n + 1));
    let folder = Folder::with(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["r", "q"], "servers": [{servers}], "users": [{users}]}}"#
    ));
    folder.write("a.json", r#"{"kind": "allocation", "tasks": {"u0": {"s0": 1}}}"#);
    folder
}

/// Axioms that are not decided in time are reported, and the certificate does not claim them.
#[test]
fn certify_writes_the_decided_axioms_at_its_time_limit() {
    let folder = many_users_and_classes();
    // These linear programmes have a hundred thousand variables, so none of them is solved in a microsecond.
    let certify = ["certify", "problem.json", "a.json", "--axiom", "pareto-optimal", "--axiom", "max-min"];
    let late = folder.run(&[&certify[..], &["--seconds", "0.000001", "-o", "c.json"]].concat()).ends_with(3);
    for axiom in ["pareto-optimal", "max-min"] {
        let why = format!("{axiom} is not checked: it was not decided in 0.000001 seconds");
        assert!(late.stderr.contains(&why), "{}", late.stderr);
    }
    assert!(late.stdout.contains("not checked"), "{}", late.stdout);
    // A certificate without claims is not written.
    assert!(!folder.names().contains(&"c.json".to_owned()));
    // With enough time, the result is the same as without a limit.
    let solved = Folder::with(FIGURE_1);
    solved.solve("drfh", true, "a.json");
    let with_time = ["certify", "problem.json", "a.json", "--seconds", "1000", "-o", "timed.json"];
    solved.run(&with_time).ends_with(0);
    solved.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    assert_eq!(solved.read("timed.json"), solved.read("c.json"));
}

/// One axiom needs a table of all users and classes, and no two users are identical.
#[test]
fn certify_leaves_out_axioms_that_need_too_much_memory() {
    let users: Vec<String> =
        (1..=4_000).map(|n| format!(r#"{{"name": "u{n}", "demand": {{"r": {n}}}}}"#)).collect();
    let classes: Vec<String> =
        (0..5_500).map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"r": 1}}}}"#)).collect();
    let folder = Folder::with(&format!(
        r#"{{"kind": "allocation-problem", "resources": ["r"], "servers": [{}], "users": [{}]}}"#,
        classes.join(","),
        users.join(",")
    ));
    folder.write("a.json", r#"{"kind": "allocation", "tasks": {}}"#);
    let axioms = ["--axiom", "feasible", "--axiom", "work-conserving", "--memory", "80MiB"];
    let certify = [&["certify", "problem.json", "a.json", "-o", "c.json"][..], &axioms].concat();
    let certified = folder.run(&certify).ends_with(3);
    let why = "work-conserving is not checked: the table of the short rows of every user is too large";
    assert!(certified.stderr.contains(why), "{}", certified.stderr);
    let certificate: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    assert!(certificate["not_checked"].as_array().unwrap().contains(&json!("work-conserving")));
    folder.run(&["check", "c.json", "--require", "feasible"]).ends_with(0);
}

/// The page contains the unchanged certificate and the checker, and states the kernel's verdict.
#[test]
fn a_certificate_is_wrapped_in_a_page() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
    let alone = folder.run(&["check", "c.json"]).ends_with(0);
    let printed = folder.run(&["check", "c.json", "--page", "-o", "c.html"]).ends_with(0);
    assert_eq!(printed.stdout, alone.stdout);
    let page = folder.read("c.html");
    assert!(
        page.contains("download=\"c.certificate.json\"") && page.contains("id=\"check-program\""),
        "{page}"
    );
    assert!(page.contains(alone.stdout.lines().next().unwrap()), "{page}");
    let only = folder.run(&["check", "c.json", "--page", "-o", "-"]).ends_with(0);
    assert_eq!(only.stdout, page);
    // The page of a wrong certificate states that the certificate is wrong.
    let wrong = folder.read("c.json").replacen("\"holds\":true", "\"holds\":false", 1);
    folder.write("wrong.json", &wrong);
    folder.run(&["check", "wrong.json", "--page", "-o", "wrong.html"]).ends_with(1);
    assert!(folder.read("wrong.html").contains("not valid: claim"), "{}", folder.read("wrong.html"));
    folder.run(&["check", "c.json", "--page"]).ends_with(2);
    folder.run(&["check", "c.json", "-o", "c.html"]).ends_with(2);
}
