//! Tests that wrong input of every kind ends with status 2 and one line that names the file, line, column and
//! field. Standard output stays empty, and no file is partly written.

use crate::common;

use std::time::{Duration, Instant};

use common::{FIGURE_1, Folder, ONE_SERVER, finish};

const DRFH: [&str; 4] = ["solve", "problem.json", "--mechanism", "drfh"];

/// Checks that a problem is refused at the mark `§`, which comes before the offending text.
#[track_caller]
fn refuses(marked: &str, place: &str, message: &str) {
    let before = marked.split('§').next().unwrap();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let folder = Folder::with(&marked.replace('§', ""));
    let output = folder.run(&DRFH).fails(2);
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let expected = format!("error: problem.json:{line}:{column}: {place}");
    let line = output.error_line();
    assert!(line.starts_with(&expected) && line.contains(message), "`{expected}{message}` is not `{line}`");
}

/// Checks that a problem whose second user is `row` is refused.
#[track_caller]
fn refuses_user(row: &str, place: &str, message: &str) {
    let text = format!(
        "{{\"kind\": \"allocation-problem\",\n\"resources\": [\"cpu\", \"memory\"],\n\
         \"servers\": [{{\"name\": \"pool\", \"capacity\": {{\"cpu\": 10, \"memory\": 20}}}}],\n\
         \"users\": [{{\"name\": \"first\", \"demand\": {{\"cpu\": 1}}}},\n{row}]}}\n"
    );
    refuses(&text, place, message);
}

/// Checks that a problem whose only server class is `row` is refused.
#[track_caller]
fn refuses_server(row: &str, place: &str, message: &str) {
    let text = format!(
        "{{\"kind\": \"allocation-problem\",\n\"resources\": [\"cpu\"],\n\"servers\": [{row}], \"users\": []}}"
    );
    refuses(&text, place, message);
}

#[test]
fn refuses_files_that_are_not_documents() {
    refuses("§", "", "empty");
    refuses(" \n §", "", "empty");
    refuses("§null", "", "expected an object");
    refuses("§[]", "", "expected an object");
    refuses("§{}", "", "kind");
    refuses("§\u{feff}{}", "", "byte order mark");
    refuses(&format!("{FIGURE_1}\n§{FIGURE_1}"), "", "end of the file");
    refuses("{\"kind\": §'allocation-problem'}", "", "not JSON");
}

#[test]
fn refuses_truncated_files() {
    let folder = Folder::new();
    for cut in 1..FIGURE_1.len() {
        folder.write("problem.json", &FIGURE_1[..cut]);
        folder.run(&DRFH).fails_with(2, "problem.json:");
    }
}

#[test]
fn refuses_bytes_that_are_not_text() {
    let folder = Folder::new();
    let text = FIGURE_1.replace("user 1", "user §");
    let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0xc2).collect();
    folder.write("problem.json", bytes);
    folder.run(&DRFH).fails_with(2, "problem.json:6:");
    folder.write("problem.json", b"\xff\xfe{\0}\0");
    folder.run(&DRFH).fails_with(2, "problem.json:1:1:");
    folder.write("problem.json", b"\0\0\0");
    folder.run(&DRFH).fails_with(2, "problem.json:1:1:");
}

#[test]
fn refuses_unbounded_nesting() {
    let deep = format!("{{\"kind\": {}", "[".repeat(1_000_000));
    let folder = Folder::with(&deep);
    let started = Instant::now();
    folder.run(&DRFH).fails_with(2, "nested too deeply");
    folder.write("problem.json", "{\"a\":".repeat(300_000));
    folder.run(&DRFH).fails_with(2, "nested too deeply");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn refuses_malformed_and_overlong_numbers() {
    let started = Instant::now();
    let user = |number: &str, message: &str| {
        let row = format!(r#"{{"name": "v", "demand": {{"memory": §{number}}}}}"#);
        refuses_user(&row, "users[1].demand.memory", message);
    };
    user("-1", "negative");
    user("\"-1/2\"", "negative");
    user("1e999999999", "exponent");
    user("1e-999999999", "exponent");
    user("\"1e999999999\"", "exponent");
    user("1e401", "exponent");
    user(&"7".repeat(401), "401 digits: at most 400");
    user(&format!("0.{}", "7".repeat(400)), "401 digits: at most 400");
    user(&"7".repeat(1_000_000), "1000000 digits: at most 400");
    user(&format!("\"1/{}\"", "3".repeat(1_000_000)), "at most 400");
    user("\"1/0\"", "zero denominator");
    user("\"NaN\"", "not a number");
    user("\"inf\"", "not a number");
    user("\"\"", "not a number");
    user("\"one\"", "not a number");
    user("null", "expected a number");
    user("true", "expected a number");
    user("[1]", "expected a number");
    for number in ["NaN", "Infinity", ".5", "+1"] {
        let row = format!(r#"{{"name": "v", "demand": {{"memory": §{number}}}}}"#);
        refuses_user(&row, "", "not JSON");
    }
    assert!(started.elapsed() < Duration::from_secs(30), "a file cannot make the reader work for ever");
}

#[test]
fn refuses_wrong_users() {
    refuses_user(
        r#"{"name": "v", "demand": {"cpu": 1}, §"wieght": 2}"#,
        "users[1].wieght",
        "unknown field `wieght`",
    );
    refuses_user(r#"{"name": §"first", "demand": {"cpu": 1}}"#, "users[1].name", "twice");
    refuses_user(r#"{"name": §"", "demand": {"cpu": 1}}"#, "users[1].name", "not empty");
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1, §"cpu": 2}}"#, "users[1].demand.cpu", "twice");
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1}, §"name": "w"}"#, "users[1].name", "twice");
    refuses_user(r#"{"name": "v", "demand": §{"cpu": 0}}"#, "users[1].demand", "demands nothing");
    refuses_user(r#"{"name": "v", "demand": §{}}"#, "users[1].demand", "demands nothing");
    refuses_user(r#"§{"name": "v"}"#, "users[1].demand", "demand");
    refuses_user(r#"{"name": "v", "demand": {"gpu": §1}}"#, "users[1].demand.gpu", "gpu");
    refuses_user(
        r#"{"name": "v", "demand": {"cpu": 1}, "servers": [§"no such"]}"#,
        "users[1].servers[0]",
        "no such",
    );
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1}, "servers": §[]}"#, "users[1].servers", "no server");
    refuses_user(
        r#"{"name": "v", "demand": {"cpu": 1}, "demand_on": {"pool": §{"cpu": 0}}}"#,
        "users[1].demand_on.pool",
        "nothing",
    );
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1}, "weight": §0}"#, "users[1].weight", "positive");
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1}, "weight": §-1}"#, "users[1].weight", "positive");
    refuses_user(r#"{"name": "v", "demand": {"cpu": 1}, "tasks": §-1}"#, "users[1].tasks", "negative");
}

#[test]
fn refuses_wrong_servers() {
    for count in ["0", "-1", "1.5", "\"7/2\"", "1000000000001"] {
        let row = format!(r#"{{"name": "pool", "count": §{count}, "capacity": {{"cpu": 1}}}}"#);
        refuses_server(&row, "servers[0].count", "10^12");
    }
    refuses_server(r#"{"name": "pool", "capacity": {"cpu": §-1}}"#, "servers[0].capacity.cpu", "negative");
    refuses_server(r#"{"name": "pool", "capacity": {"gpu": §1}}"#, "servers[0].capacity.gpu", "gpu");
    refuses_server(
        r#"{"name": "p", "capacity": {"cpu": 1}}, {"name": §"p", "capacity": {"cpu": 1}}"#,
        "servers[1].name",
        "twice",
    );
    refuses(
        "{\"kind\": \"allocation-problem\", \"resources\": [\"cpu\"], \"servers\": §[]}",
        "servers",
        "at least one",
    );
    refuses(
        "{\"kind\": \"allocation-problem\", \"resources\": §[], \"servers\": []}",
        "resources",
        "at least one",
    );
    refuses(
        "{\"kind\": \"allocation-problem\", \"resources\": [\"a\", §\"a\"],\n\"servers\": [{\"name\": \"p\"}]}",
        "resources[1]",
        "twice",
    );
    refuses("§{\"kind\": \"allocation-problem\", \"resources\": [\"a\"]}", "", "`servers` is missing");
}

#[test]
fn the_offending_line_is_shown() {
    let folder = Folder::with(&FIGURE_1.replace("\"1/5\"", "\"1/0\""));
    let stderr = folder.run(&DRFH).fails(2).stderr;
    assert!(
        stderr.contains("{\"name\": \"user 2\", \"demand\": {\"cpu\": 1, \"memory\": \"1/0\"}}]"),
        "{stderr}"
    );
}

/// The excerpt marks the line and column of the error, also after letters that have several bytes.
#[test]
fn the_excerpt_and_the_line_agree() {
    let text = FIGURE_1.replace("user 2", "ünïcödé 漢字").replace("\"1/5\"", "-1");
    let stderr = Folder::with(&text).run(&DRFH).fails(2).stderr;
    let at = stderr.lines().next().unwrap().split(": ").nth(1).unwrap();
    assert!(stderr.contains(&format!("[{at}]")), "{stderr}");
}

/// The content of a file cannot control the terminal.
#[test]
fn control_characters_are_not_printed() {
    let esc = "\u{1b}[31m";
    let folder = Folder::with(&FIGURE_1.replace("user 1", esc));
    // A raw control character is not valid JSON. The excerpt shows the line without it.
    folder.run(&DRFH).fails_with(2, "problem.json:6:");
    let text = FIGURE_1.replace("user 1", r"evil\u001b[31m\nname");
    let folder = Folder::with(&text);
    let output = folder.solve("drfh", true, "a.json");
    assert!(!output.stdout.contains('\u{1b}'), "a table with an escape sequence: {:?}", output.stdout);
    assert!(output.stdout.lines().all(|line| !line.starts_with("name")), "a broken row: {}", output.stdout);
    let name = format!("evil{esc}\nname");
    let arguments = ["explain", "problem.json", "a.json", "--user", &name];
    let output = folder.run(&arguments).ends_with(0);
    assert!(!output.stdout.contains('\u{1b}'), "{:?}", output.stdout);
    let arguments = ["explain", "problem.json", "a.json", "--user", "no\u{1b}[31m\nbody"];
    folder.run(&arguments).fails_with(2, "there is no user");
}

#[test]
fn refuses_unreadable_files() {
    let folder = Folder::with(FIGURE_1);
    folder.run(&["solve", "nowhere.json", "-m", "drfh"]).fails_with(2, "nowhere.json: ");
    folder.run(&["solve", ".", "-m", "drfh"]).fails_with(2, ".: ");
    folder.run(&["check", "nowhere.json"]).fails_with(2, "nowhere.json: ");
    folder.run(&["check", "problem.json"]).fails_with(2, "problem.json:2:11: kind: ");
    folder.run(&["certify", "problem.json", "nowhere.json"]).fails_with(2, "nowhere.json: ");
    folder.run(&["compare", "nowhere.json"]).fails_with(2, "nowhere.json: ");
    folder.run(&["explain", "nowhere.json", "a", "--user", "u"]).fails_with(2, "nowhere.json: ");
    folder.run(&["import", "openb", "nowhere.csv", "nowhere.csv"]).fails_with(2, "nowhere.csv");
    folder.run_with(&["certify", "-", "-"], FIGURE_1).fails_with(2, "standard input");
    folder.run_with(&["explain", "-", "-", "--user", "u"], FIGURE_1).fails_with(2, "standard input");
    folder.run_with(&["check", "-", "--problem", "-"], "{}").fails_with(2, "standard input");
    folder.run_with(&["solve", "-", "-m", "drfh"], "{\n§").fails_with(2, "-:2:1:");
    folder.run_with(&["solve", "-", "-m", "drfh"], "").fails_with(2, "-:1:1:");
}

#[test]
fn refuses_files_of_another_kind() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "allocation.json");
    folder.run(&["certify", "problem.json", "allocation.json", "-o", "certificate.json"]).ends_with(0);
    let wrong = |arguments: &[&str], file: &str, expected: &str| {
        let output = folder.run(arguments).fails_with(2, &format!("expected `{expected}`"));
        assert!(output.error_line().starts_with(&format!("error: {file}:")), "{}", output.error_line());
    };
    for file in ["allocation.json", "certificate.json"] {
        wrong(&["solve", file, "-m", "drfh"], file, "allocation-problem");
        wrong(&["compare", file], file, "allocation-problem");
        wrong(&["certify", file, "allocation.json"], file, "allocation-problem");
    }
    for file in ["problem.json", "certificate.json"] {
        wrong(&["certify", "problem.json", file], file, "allocation");
        wrong(&["explain", "problem.json", file, "--user", "user 1"], file, "allocation");
    }
    for file in ["problem.json", "allocation.json"] {
        wrong(&["check", file], file, "certificate");
    }
    wrong(
        &["check", "certificate.json", "--problem", "allocation.json"],
        "allocation.json",
        "allocation-problem",
    );
    folder.write("reservation.json", r#"{"kind": "reservation-problem"}"#);
    wrong(&["solve", "reservation.json", "-m", "drfh"], "reservation.json", "allocation-problem");
}

#[test]
fn refuses_wrong_allocations() {
    let folder = Folder::with(FIGURE_1);
    let refuses = |marked: &str, place: &str, message: &str| {
        let column = marked.find('§').unwrap() + 1;
        folder.write("allocation.json", marked.replace('§', ""));
        let last = format!("allocation.json:1:{column}: {place}: ");
        for command in ["certify", "explain"] {
            let mut arguments = vec![command, "problem.json", "allocation.json"];
            if command == "explain" {
                arguments.extend(["--user", "user 1"]);
            }
            folder.run(&arguments).fails_with(2, &last).fails_with(2, message);
        }
    };
    let tasks = |tasks: &str| format!("{{\"kind\": \"allocation\", \"tasks\": {tasks}}}");
    refuses(&tasks(r#"{§"user 3": {"high-cpu": 1}}"#), "tasks[\"user 3\"]", "no user `user 3`");
    refuses(&tasks(r#"{"user 1": {§"low": 1}}"#), "tasks[\"user 1\"].low", "`low`");
    refuses(&tasks(r#"{"user 1": {"high-cpu": §1e999999}}"#), "tasks[\"user 1\"].high-cpu", "exponent");
    refuses(&tasks(r#"{"user 1": {}, §"user 1": {}}"#), "tasks[\"user 1\"]", "twice");
    refuses(r#"{"tasks": {}, "kind": "allocation", §"taskz": {}}"#, "taskz", "unknown field");
}

#[test]
fn refuses_an_allocation_for_another_problem() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "allocation.json");
    folder.write("problem.json", FIGURE_1.replace("\"cpu\": 12", "\"cpu\": 13"));
    folder.run(&["certify", "problem.json", "allocation.json"]).fails_with(2, "another problem");
    folder
        .run(&["explain", "problem.json", "allocation.json", "--user", "user 1"])
        .fails_with(2, "another problem");
    // The hash depends on the meaning of a file, not on its notation.
    folder.write("problem.json", common::FIGURE_1_RESPELLED);
    folder.run(&["certify", "problem.json", "allocation.json"]).ends_with(0);
}

#[test]
fn refuses_unknown_names() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "allocation.json");
    let certify = ["certify", "problem.json", "allocation.json"];
    let with = |more: &[&'static str]| [&certify[..], more].concat();
    folder.run(&["solve", "problem.json", "-m", "fcfs"]).fails_with(2, "possible values: drf, drfh");
    folder.run(&["compare", "problem.json", "-m", "fcfs"]).fails_with(2, "possible values: drf, drfh");
    folder.run(&with(&["--axiom", "kind"])).fails_with(2, "possible values: feasible");
    folder.run(&with(&["--axiom", "max-min", "--share", "half"])).fails_with(2, "expected drfh");
    folder.run(&with(&["--axiom", "max-min", "--share", "resource:gpu"])).fails_with(2, "gpu");
    folder.run(&with(&["--axiom", "envy-free", "--share", "tsf"])).fails_with(2, "max-min");
    for tolerance in
        ["--tolerance=-1", "--tolerance=x", "--tolerance=1e9999", "--tolerance=1/0", "--tolerance="]
    {
        folder.run(&with(&[tolerance])).fails_with(2, "--tolerance");
    }
    folder
        .run(&["explain", "problem.json", "allocation.json", "--user", "nobody"])
        .fails_with(2, "there is no user `nobody`");
    folder.run(&["schema", "poem"]).fails_with(2, "possible values: allocation-problem");
    folder.run(&["reproduce", "poem"]).fails_with(2, "poem");
}

#[test]
fn refuses_wrong_command_lines() {
    let folder = Folder::with(FIGURE_1);
    for arguments in [
        &[][..],
        &["nonsense"],
        &["solve"],
        &["solve", "problem.json"],
        &["solve", "problem.json", "-m", "drfh", "-m", "tsf"],
        &["solve", "problem.json", "-m", "drfh", "--nonsense"],
        &["solve", "problem.json", "-m", "drfh", "--format", "xml"],
        &["solve", "problem.json", "-m", "drfh", "--threads", "0"],
        &["solve", "problem.json", "-m", "drfh", "--threads", "-1"],
        &["solve", "problem.json", "-m", "drfh", "--seed", "x"],
        &["solve", "problem.json", "problem.json", "-m", "drfh"],
        &["solve", "problem.json", "-m", "drfh", "-o", ""],
        &["solve", "", "-m", "drfh"],
        &["help", "nonsense"],
        &["import", "openb", "one"],
        &["import", "google", "one"],
        &["import", "nonsense", "one", "two"],
    ] {
        folder.run(arguments).fails(2);
    }
    for flag in [&["--time", "5"][..], &["--by-shape"]] {
        let output = folder.run(&[&["import", "openb", "one", "two"], flag].concat());
        output.fails_with(2, &format!("{} does not go with openb", flag[0]));
    }
    folder.run(&["import", "slurm", "one", "--time", "5"]).fails_with(2, "--time does not go with slurm");
    folder
        .run(&["import", "google", "one", "two", "--merge", "0"])
        .fails_with(2, "--merge does not go with google");
    folder.run(&["import", "slurm", "one", "--merge", "100%"]).fails(2);
    folder.run(&["import", "slurm", "-", "-"]).fails_with(2, "only one file can be standard input");
    // A negative number after an option is the value of the option, and not another option.
    folder
        .run(&["certify", "problem.json", "problem.json", "--tolerance", "-1"])
        .fails_with(2, "--tolerance: expected");
}

/// A number of threads with too many zeros gets an answer, and causes no crash.
#[test]
fn a_hundred_thousand_threads_cause_no_crash() {
    let folder = Folder::with(FIGURE_1);
    let command = folder.command(&["solve", "problem.json", "-m", "drfh", "--threads", "100000"]);
    let output = finish(command, b"", Duration::from_secs(10));
    if output.status == 0 {
        output.ends_with(0)
    } else {
        output.fails(2)
    };
}

#[test]
fn refuses_mechanisms_that_do_not_apply() {
    let folder = Folder::with(FIGURE_1);
    let solve = |name: &str, why: &str| {
        for exact in [&["--float"][..], &["--exact"], &[]] {
            let arguments = [&["solve", "problem.json", "-o", "allocation.json", "-m", name], exact].concat();
            folder.run(&arguments).fails_with(2, why);
            assert_eq!(folder.names(), ["problem.json"]);
        }
    };
    solve("drf", "one server");
    solve("generic", "criterion");
    folder
        .write("problem.json", ONE_SERVER.replace("\"name\": \"pool\"", "\"name\": \"pool\", \"count\": 2"));
    solve("drf", "one server");
    solve("per-server-drf", "unlimited tasks");
    folder.write(
        "problem.json",
        FIGURE_1
            .replace("\"weight\"", "")
            .replace("\"name\": \"user 1\"", "\"name\": \"user 1\", \"servers\": [\"high-cpu\"]"),
    );
    solve("cdrf", "placement constraints");
}

#[test]
fn refuses_unwritable_outputs() {
    let folder = Folder::with(FIGURE_1);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for path in ["no/such/folder/a.json", "folder", "problem.json/a.json", "folder/"] {
        for format in ["table", "json"] {
            let arguments = ["solve", "problem.json", "-m", "drfh", "--format", format, "-o", path];
            folder.run(&arguments).fails_with(2, path);
        }
    }
    assert_eq!(folder.names(), ["folder", "problem.json"]);
    assert_eq!(std::fs::read_dir(folder.path().join("folder")).unwrap().count(), 0);
}

/// A failure does not change the file of the last run.
#[test]
fn a_failure_keeps_the_old_output_file() {
    let folder = Folder::with(FIGURE_1);
    folder.write("out.json", "precious");
    folder.run(&["solve", "problem.json", "-m", "drf", "-o", "out.json"]).fails(2);
    folder.run(&["certify", "problem.json", "problem.json", "-o", "out.json"]).fails(2);
    folder.run(&["import", "openb", "problem.json", "problem.json", "-o", "out.json"]).fails(2);
    assert_eq!(folder.read("out.json"), "precious");
    assert_eq!(folder.names(), ["out.json", "problem.json"]);
}

/// A failure creates no folder.
#[test]
fn a_failure_creates_no_output_folder() {
    let folder = Folder::with(FIGURE_1);
    for arguments in [
        &["simulate", "problem.json"][..],
        &["simulate", "none.json"],
        &["export", "problem.json", "--to", "vipr"],
        &["reproduce", "no such section"],
    ] {
        folder.run(&[arguments, &["-o", "new/results"]].concat()).fails(2);
        assert_eq!(folder.names(), ["problem.json"], "{arguments:?}");
    }
}

/// The argument `-o -` writes to standard output or is an error. It never writes to a file named `-`.
#[test]
fn minus_never_creates_a_file() {
    let folder = Folder::with(FIGURE_1);
    folder.run(&["solve", "problem.json", "-m", "drfh", "-o", "-"]);
    assert_eq!(folder.names(), ["problem.json"]);
}
