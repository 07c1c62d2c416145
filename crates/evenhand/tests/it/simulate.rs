//! Tests of `simulate`: its output and files, and refused input.

use crate::common;

use common::Folder;
use serde_json::Value;

const SCENARIO: &str = r#"{"kind": "scenario", "name": "two", "resources": ["cpu", "memory"],
    "servers": [{"name": "A", "count": 3, "capacity": {"cpu": 4, "memory": 9}},
                {"name": "B", "count": 2, "capacity": {"cpu": 9, "memory": 5}}],
    "draw_servers": 6, "policy": {"server": "best-fit"},
    "users": [{"name": "a", "demand": {"cpu": 1, "memory": 2},
               "poisson": {"rate": 2, "tasks": 2, "duration": {"exponential": 4}}},
              {"name": "b", "demand": {"cpu": 2, "memory": 1},
               "jobs": [{"at": 3, "tasks": 200, "duration": 1}], "leaves": 30}],
    "horizon": 60, "every": 1}"#;

fn fits(name: &str, text: &str) {
    let schema = Folder::new().run(&["schema", name]).ends_with(0).json();
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(&value) {
        panic!("{error} at {}: {text}", error.instance_path());
    }
}

#[test]
fn a_run_is_printed_and_written() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    fits("scenario", SCENARIO);
    let table = folder.run(&["simulate", "scenario.json", "-o", "results"]).ends_with(0).stdout;
    assert!(table.contains("utilisation") && table.contains("dominant share"), "{table}");
    let summary = folder.read("results/summary.json");
    fits("simulation", &summary);
    let series = folder.read("results/series.csv");
    assert_eq!(series.lines().count(), 62, "a head and a row for every time from 0 to 60");
    assert!(folder.read("results/series.svg").starts_with("<svg"));
    assert!(folder.read("results/completion-times.svg").starts_with("<svg"));
    for name in ["jobs.csv", "users.csv", "completion-times.csv"] {
        assert!(folder.read(&format!("results/{name}")).lines().count() > 1, "{name}");
    }
    let again = folder.run(&["simulate", "scenario.json", "--format", "json"]).ends_with(0);
    assert_eq!(again.json(), serde_json::from_str::<Value>(&summary).unwrap());
}

#[test]
fn a_series_can_be_written_as_parquet() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    folder.run(&["simulate", "scenario.json", "-o", "results", "--series", "parquet"]).ends_with(0);
    let bytes = std::fs::read(folder.path().join("results/series.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert!(!folder.path().join("results/series.csv").exists());
    folder
        .run(&["simulate", "scenario.json", "-o", "results", "--series", "parqet"])
        .fails_with(2, "invalid value 'parqet'");
    folder.run(&["simulate", "scenario.json", "--series", "parquet"]).fails(2);
}

#[test]
fn replications_do_not_depend_on_threads() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    let with = |threads: &str| {
        let arguments =
            ["simulate", "scenario.json", "--replications", "5", "--threads", threads, "--format", "json"];
        folder.run(&arguments).ends_with(0)
    };
    let (one, many) = (with("1"), with("3"));
    assert_eq!(one.stdout, many.stdout);
    fits("simulation", &one.stdout);
    let document = one.json();
    assert_eq!(document["runs"].as_array().unwrap().len(), 5);
    assert_eq!(document["runs"][4]["seed"], 4);
    assert!(document["means"]["utilisation"]["cpu"]["half_width"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_interrupted_run_resumes_from_its_checkpoint() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    let whole = folder.run(&["simulate", "scenario.json", "--format", "json"]).ends_with(0).stdout;
    let with = ["simulate", "scenario.json", "--resume", "run.json", "--format", "json"];
    let every = [&with[..], &["--checkpoint-every", "150"]].concat();
    assert_eq!(folder.run(&every).ends_with(0).stdout, whole);
    let checkpoint = folder.read("run.json");
    assert_eq!(folder.run(&with).ends_with(0).stdout, whole);
    folder.write("run.json", &checkpoint[..checkpoint.len() / 2]);
    let refused = folder.run(&with).ends_with(2);
    assert!(refused.stderr.starts_with("error: run.json: the checkpoint is cut off"), "{}", refused.stderr);
    folder.write("run.json", &checkpoint);
    let other = [&with[..], &["--seed", "5"]].concat();
    assert!(folder.run(&other).ends_with(2).stderr.contains("another scenario, seed or policy"));
    folder.run(&["simulate", "scenario.json", "--resume", "no/run.json"]).ends_with(2);
    folder.run(&[&with[..], &["--replications", "2"]].concat()).ends_with(2);
}

#[test]
fn wrong_scenarios_end_with_status_2() {
    let folder = Folder::new();
    let wrong = [
        (SCENARIO.replace("\"at\": 3", "\"at\": -3"), "users[1].jobs[0].at: found -3"),
        (
            SCENARIO.replace("{\"cpu\": 2, \"memory\": 1}", "{\"cpu\": 20, \"memory\": 1}"),
            "scenario.json:7:39: users[1].demand: a task of user `b` fits on no server",
        ),
        (
            SCENARIO.replace("\"horizon\": 60, ", ""),
            "scenario.json:6:27: users[0].poisson: the jobs of user `a` arrive without end: give the scenario a `horizon`",
        ),
        (
            SCENARIO.replace("{\"server\": \"best-fit\"}", "{\"slots\": 2000000000}"),
            "scenario.json:4:34: policy: ",
        ),
        (
            // One server is drawn, and each of the two users may run on only one of the classes.
            SCENARIO
                .replace("\"draw_servers\": 6", "\"draw_servers\": 1")
                .replace("\"name\": \"a\",", "\"name\": \"a\", \"servers\": [\"A\"],")
                .replace("\"name\": \"b\",", "\"name\": \"b\", \"servers\": [\"B\"],"),
            "demand: a task of user `",
        ),
        (
            SCENARIO.replace("best-fit", "worst-fit"),
            "policy.server: there is no such name: `worst-fit` (did you mean `first-fit`?): expected iid, rrr",
        ),
        (SCENARIO.replace("[{\"name\": \"A\"", "[{\"nme\": \"A\""), "nme"),
        (SCENARIO[..300].to_owned(), "the file ends inside"),
    ];
    for (text, expected) in wrong {
        folder.write("scenario.json", &text);
        let output = folder.run(&["simulate", "scenario.json"]).fails(2);
        assert!(output.error_line().contains(expected), "{output:?}");
    }
    let every = SCENARIO.replace("\"every\": 1", "\"every\": 1e-9");
    folder.write("scenario.json", &every);
    let output = folder.run(&["simulate", "scenario.json"]).fails(3);
    assert!(output.error_line().contains("scenario.json:9:29: every: a row every 1e-9 up to"), "{output:?}");
    // Scenarios that are too large for a run are refused before memory is allocated.
    for (from, to, expected) in [
        ("\"draw_servers\": 6", "\"draw_servers\": 1000000000", "1000000000 servers are to be drawn"),
        ("\"rate\": 2", "\"rate\": 1e12", "about 60000000000000 jobs of user `a` are expected"),
    ] {
        folder.write("scenario.json", SCENARIO.replace(from, to));
        let output = folder.run(&["simulate", "scenario.json"]).fails(3);
        assert!(output.error_line().contains(expected), "{output:?}");
    }
    folder.write("scenario.json", SCENARIO);
    folder.write("results", "a file");
    folder.run(&["simulate", "scenario.json", "-o", "results"]).fails(2);
    folder.run(&["simulate", "missing.json"]).fails(2);
}

/// A scenario whose tasks are in a table.
const TABLE: &str = r#"{"kind": "scenario", "resources": ["gpu"], "policy": {"tree": {}},
    "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 2}}], "trace": {"tasks": "tasks.csv"},
    "users": [{"name": "x", "gang": 2, "demand": {"gpu": 1}}, {"name": "y", "demand": {"gpu": 2}}]}"#;

#[test]
fn errors_in_traces_name_row_and_column() {
    let folder = Folder::new();
    folder.write("scenario.json", TABLE);
    let head = "time,user,tasks,duration\n";
    for (rows, expected) in [
        ("0,x,2,1\n5,y,1,1\n4,y,1,1\n", "tasks.csv:4: time goes back from 5 to 4"),
        ("0,x,2,1\n1,z,1,1\n", "tasks.csv:3: user: there is no user `z`"),
        ("0,x,2,-1\n", "tasks.csv:2: duration: found `-1`: expected a number of at least 0"),
        ("-1,x,2,1\n", "tasks.csv:2: time: found `-1`"),
        ("0,x,3,1\n", "tasks.csv:2: tasks: found `3`: expected a multiple of 2, the gang of its user"),
        ("0,y,0,1\n", "tasks.csv:2: tasks: found `0`: expected at least 1"),
        ("0,y,1,1\n3,y", "tasks.csv:3: found 2 columns: expected 4"),
    ] {
        folder.write("tasks.csv", format!("{head}{rows}"));
        let output = folder.run(&["simulate", "scenario.json"]).fails(2);
        assert!(output.error_line().contains(expected), "{output:?}");
    }
    folder.write("tasks.csv", "");
    folder.run(&["simulate", "scenario.json"]).fails_with(2, "tasks.csv:1: the file is empty");
    // A truncated compressed table: gzip with one stored block.
    let rows: String = (0..3000).map(|k| format!("{k},y,1,{}\n", k * 7919 % 1000)).collect();
    let table = format!("{head}{rows}");
    let length = u16::try_from(table.len()).unwrap();
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    packed.extend(length.to_le_bytes().into_iter().chain((!length).to_le_bytes()));
    packed.extend(table.bytes());
    std::fs::write(folder.path().join("tasks.csv"), &packed[..packed.len() / 2]).unwrap();
    let output = folder.run(&["simulate", "scenario.json"]).fails(2);
    let line: u64 =
        output.error_line().split("tasks.csv:").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert!((1000..3000).contains(&line), "{output:?}");
    std::fs::remove_file(folder.path().join("tasks.csv")).unwrap();
    assert!(folder.run(&["simulate", "scenario.json"]).fails(2).error_line().contains("tasks.csv: "));
    folder.write("scenario.json", TABLE.replace("\"gang\": 2", "\"gang\": 5"));
    folder.write("tasks.csv", format!("{head}0,x,5,1\n"));
    folder
        .run(&["simulate", "scenario.json"])
        .fails_with(2, "users[0].gang: a gang of 5 tasks of user `x` does not fit");
}

#[test]
fn servers_are_added_and_removed_during_a_run() {
    let folder = Folder::new();
    let text = r#"{"kind": "scenario", "resources": ["cpu"], "policy": {}, "horizon": 20, "every": 1,
        "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4}}],
        "events": [{"at": 4, "server": "s", "remove": 1}, {"at": 6, "server": "t", "add": 1, "capacity": {"cpu": 1}},
                   {"at": 7, "server": "s", "capacity": {"cpu": 3}, "count": 1}],
        "users": [{"name": "u", "demand": {"cpu": 2}, "jobs": [{"at": 0, "tasks": 4, "duration": 10}]}]}"#;
    folder.write("scenario.json", text);
    fits("scenario", text);
    let table = folder.run(&["simulate", "scenario.json", "-o", "results"]).ends_with(0).stdout;
    assert!(table.contains("evicted"), "{table}");
    let summary = folder.read("results/summary.json");
    fits("simulation", &summary);
    let summary: Value = serde_json::from_str(&summary).unwrap();
    // Two tasks are evicted together with the server. One more task is evicted when 3 units are left on the
    // other server.
    assert_eq!(summary["runs"][0]["tasks"]["evicted"], 3);
    assert_eq!(summary["runs"][0]["servers"]["most"], 2);
    assert!(
        folder.read("results/series.csv").starts_with("time,utilisation of cpu,running,waiting,servers,")
    );
    let with =
        ["simulate", "scenario.json", "--resume", "run.json", "--checkpoint-every", "1", "--format", "json"];
    assert_eq!(folder.run(&with).ends_with(0).json(), summary);
    assert_eq!(folder.run(&with).ends_with(0).json(), summary);
    for (from, to, expected) in [
        (
            "\"server\": \"t\", \"add\": 1, ",
            "\"server\": \"t\", ",
            "events[1].server: there is no server `t`",
        ),
        (
            "\"remove\": 1",
            "\"remove\": 3",
            "events[0].remove: found 3: 2 servers of this name exist at time 4",
        ),
        ("\"at\": 6", "\"at\": 3", "events[1]: time goes back from 4 to 3"),
    ] {
        folder.write("scenario.json", text.replace(from, to));
        let output = folder.run(&["simulate", "scenario.json"]).fails(2);
        assert!(output.error_line().contains(expected), "{output:?}");
        assert!(output.error_line().contains("scenario.json:3:") || expected.contains("[0]"), "{output:?}");
    }
    folder.write("events.csv", "0,5,0,P,1,1\n7,6,1,,,\n");
    let google = text.replace(
        r#"[{"name": "s", "count": 2, "capacity": {"cpu": 4}}]"#,
        r#"{"google": "events.csv", "events": true}"#,
    );
    folder.write("scenario.json", &google);
    folder
        .run(&["simulate", "scenario.json"])
        .fails_with(2, "expected a machine of the cluster, to remove or update it");
}

#[test]
fn queues_are_served_by_the_tree() {
    let folder = Folder::new();
    let text = r#"{"kind": "scenario", "resources": ["gpu"],
        "policy": {"tree": {"rule": "mesos", "preemption": "guarantees"}, "ties": "low"},
        "servers": [{"name": "s", "count": 2, "capacity": {"gpu": 2}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 2}}, {"name": "b", "priority": 1}],
        "share": {"of": "usage"},
        "users": [{"name": "x", "group": "a", "gang": 2, "demand": {"gpu": 1},
                   "jobs": [{"at": 3, "tasks": 2, "duration": 5}]},
                  {"name": "y", "group": "b", "pinned": 1, "demand": {"gpu": 1},
                   "jobs": [{"at": 0, "tasks": 4, "duration": 10}]}]}"#;
    folder.write("scenario.json", text);
    fits("scenario", text);
    let table = folder.run(&["simulate", "scenario.json", "-o", "results"]).ends_with(0).stdout;
    assert!(table.contains("preempted"), "{table}");
    let summary = folder.read("results/summary.json");
    fits("simulation", &summary);
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["runs"][0]["users"]["y"]["tasks"]["preempted"], 2);
    let with =
        ["simulate", "scenario.json", "--resume", "run.json", "--checkpoint-every", "1", "--format", "json"];
    assert_eq!(folder.run(&with).ends_with(0).json(), summary);
    assert_eq!(folder.run(&with).ends_with(0).json(), summary);
    folder.write("scenario.json", text.replace("\"rule\": \"mesos\"", "\"rule\": \"kueue\""));
    folder.run(&with).fails_with(2, "run.json: the checkpoint is of another scenario");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_summary() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    for name in ["jobs.csv", "series.csv", "summary.json"] {
        std::fs::create_dir(folder.path().join("results")).unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.path().join("results").join(name)).unwrap();
        let output = folder.run(&["simulate", "scenario.json", "-o", "results"]).fails(3);
        assert!(output.error_line().contains(&format!("{name}: cannot be written")), "{output:?}");
        let there = std::fs::symlink_metadata(folder.path().join("results/summary.json"));
        assert!(there.is_err() || name == "summary.json", "a summary beside results that are not whole");
        let parts = std::fs::read_dir(folder.path().join("results")).unwrap();
        let names = parts.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| !name.ends_with(".part")));
        std::fs::remove_dir_all(folder.path().join("results")).unwrap();
    }
    folder.run(&["simulate", "scenario.json", "-o", "/dev/full"]).fails_with(2, "/dev/full: is not a folder");
}

#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_without_an_end_is_refused() {
    let folder = Folder::new();
    folder.write("scenario.json", SCENARIO);
    for endless in ["/dev/zero", "/dev/full"] {
        let output = folder.run(&["simulate", "scenario.json", "--resume", endless]).fails(2);
        assert!(
            output.error_line().contains(&format!("{endless}: too large: more than 1073741824 bytes")),
            "{output:?}"
        );
    }
}

/// Jobs are admitted into reserved slots by the same command, with another kind of scenario.
#[test]
fn a_reservation_is_simulated_from_its_file() {
    let folder = Folder::new();
    folder.write("vms.json", include_str!("../../../../examples/vm-types.json"));
    let scenario = r#"{"kind": "reservation-scenario", "name": "vms", "reservation": "vms.json", "servers": 50,
        "policy": {"dra": {"reserve": 4}}, "horizon": 10, "from": 2}"#;
    folder.write("s.json", scenario);
    let call = ["simulate", "s.json", "--replications", "3", "-o", "out", "--format", "json"];
    let document = folder.run(&call).ends_with(0).json();
    assert_eq!(document["kind"], "admission");
    assert_eq!(document["runs"].as_array().unwrap().len(), 3);
    let schema = folder.run(&["schema", "admission"]).ends_with(0).json();
    jsonschema::validator_for(&schema).unwrap().validate(&document).unwrap();
    let schema = folder.run(&["schema", "reservation-scenario"]).ends_with(0).json();
    let stated: Value = serde_json::from_str(scenario).unwrap();
    jsonschema::validator_for(&schema).unwrap().validate(&stated).unwrap();
    assert!(folder.read("out/1-series.csv").starts_with("time,reward,jobs of v1-m1,"));
    assert!(folder.read("out/bounds.csv").starts_with("time,greedy,bound\n0,0,0\n"));
    assert!(document["beside"]["greedy"].as_f64().unwrap() <= document["beside"]["bound"].as_f64().unwrap());
    assert!(folder.read("out/2-series.svg").starts_with("<svg"));
    assert_eq!(folder.read("out/summary.json"), format!("{document:#}\n"));
    let again =
        folder.run(&["simulate", "s.json", "--replications", "3", "--threads", "1", "--format", "json"]);
    assert_eq!(again.ends_with(0).json(), document);
    let page = folder.run(&["simulate", "s.json"]).ends_with(0).stdout;
    assert!(page.contains("dra, reserve 4 on 50 servers") && page.contains("v32-m256"), "{page}");
    for (wrong, message) in [
        (scenario.replace(r#""horizon": 10"#, r#""horizon": 1"#), "from: expected a time before the horizon"),
        (scenario.replace("vms.json", "none.json"), "none.json"),
        (scenario.replace(r#""servers": 50"#, r#""servers": 0"#), "1 to 100000"),
    ] {
        folder.write("wrong.json", wrong);
        let output = folder.run(&["simulate", "wrong.json"]).fails(2);
        assert!(output.error_line().contains(message), "{message}: {}", output.error_line());
    }
    folder.run(&["simulate", "s.json", "--resume", "c.json"]).fails_with(2, "--resume");
    folder.run(&["simulate", "s.json", "-o", "out", "--series", "parquet"]).fails_with(2, "--series");
}

/// Small files whose runs would never end or would fill the memory are refused with the position of the
/// error. Other small files end.
#[test]
fn small_scenarios_terminate() {
    let folder = Folder::new();
    let of = |policy: &str, user: &str, rest: &str| {
        format!(
            r#"{{"kind": "scenario", "resources": ["cpu"], "policy": {policy},
            "servers": [{{"name": "s", "count": 10, "capacity": {{"cpu": 1}}}}], "users": [{{"name": "u", {user}}}]{rest}}}"#
        )
    };
    for (rate, from, horizon) in [("1e30", "100", "100"), ("10", "1e17", "100000000000001000")] {
        let poisson = format!(r#"{{"rate": {rate}, "duration": 1, "from": {from}}}"#);
        let user = format!(r#""demand": {{"cpu": 1}}, "poisson": {poisson}"#);
        folder.write("dense.json", of("{}", &user, &format!(r#", "horizon": {horizon}"#)));
        let output = folder.run(&["simulate", "dense.json"]).fails(2);
        let error = output.error_line();
        assert!(error.contains("dense.json:") && error.contains("users[0].poisson.rate"), "{error}");
        assert!(error.contains("double precision"), "{error}");
    }
    let gang = r#""demand": {"cpu": "1e-9"}, "gang": 10000000, "jobs": [{"at": 0, "tasks": 10000000, "duration": 1}]"#;
    folder.write("gang.json", of(r#"{"tree": {}}"#, gang, r#", "horizon": 2"#));
    let summary = folder.run(&["simulate", "gang.json", "--format", "json"]).ends_with(0).json();
    assert_eq!(summary["runs"][0]["tasks"]["completed"], 10_000_000);
    let endless = r#""demand": {"cpu": 1}, "jobs": [{"at": 0, "tasks": 1000000000000, "duration": 0}]"#;
    folder.write("endless.json", of("{}", endless, ""));
    let output = folder.run(&["simulate", "endless.json", "--work", "1e8"]).fails(3);
    let error = output.error_line();
    assert!(error.contains("too large") && error.contains("--work"), "{error}");
    let users: Vec<String> =
        (0..2_000).map(|n| format!(r#"{{"name": "{n}", "demand": {{"cpu": 1}}}}"#)).collect();
    let rows = format!(
        r#"{{"kind": "scenario", "resources": ["cpu"], "policy": {{}}, "horizon": 1, "every": "1e-6",
        "servers": [{{"name": "s", "capacity": {{"cpu": 1}}}}], "users": [{}]}}"#,
        users.join(",")
    );
    folder.write("rows.json", rows);
    let output = folder.run(&["simulate", "rows.json"]).fails(3);
    let error = output.error_line();
    assert!(error.contains("the series is too large") && error.contains("--memory"), "{error}");
}

/// If the time limit is reached, the results so far are written, and the message states this.
#[test]
fn a_run_stops_when_its_time_is_up() {
    let folder = Folder::new();
    let stops = |scenario: &str, kind: &str, more: &[&str]| {
        folder.write("long.json", scenario);
        let call = ["simulate", "long.json", "--seconds", "0.2", "-o", "out", "--format", "json"];
        let output = folder.run(&[&call[..], more].concat()).ends_with(3);
        assert!(output.error_line().contains("--seconds 0.2: the time was up"), "{output:?}");
        fits(kind, &output.stdout);
        let summary: Value = serde_json::from_str(&folder.read("out/summary.json")).unwrap();
        assert!(summary["runs"][0]["stopped_at"].is_number(), "{summary}");
        assert!(folder.read("out/series.csv").lines().count() > 1);
        summary
    };
    // The scenario has ten million jobs.
    let tasks = r#"{"kind": "scenario", "resources": ["cpu"], "policy": {}, "horizon": 1e7, "every": 100,
        "servers": [{"name": "s", "count": 10, "capacity": {"cpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1}, "poisson": {"rate": 1, "duration": {"exponential": 5}}}]}"#;
    let first = stops(tasks, "simulation", &["--resume", "c.json"]);
    let then = stops(tasks, "simulation", &["--resume", "c.json"]);
    let at = |summary: &Value| summary["runs"][0]["stopped_at"].as_f64().unwrap();
    assert!(at(&first) < at(&then), "it goes on from where it stopped");
    let course = r#"{"kind": "scenario", "resources": ["cpu"], "horizon": 100000, "every": 10,
        "servers": [{"name": "A", "count": 10, "capacity": {"cpu": 1}}],
        "users": [{"name": "1", "demand": {"cpu": 1}}, {"name": "2", "demand": {"cpu": "1/2"}}],
        "policy": {"distributed": {}}}"#;
    stops(course, "course", &[]);
    let admission = r#"{"kind": "reservation-scenario", "policy": {"power_of_d": 2}, "horizon": 100000, "servers": 50,
        "reservation": {"kind": "reservation-problem", "resources": ["cpu"],
            "servers": [{"name": "p", "capacity": {"cpu": 4}}],
            "jobs": [{"name": "small", "demand": {"cpu": 1}, "reward": 1, "load": 3}]}}"#;
    stops(admission, "admission", &[]);
    // A limit of 0 seconds is refused.
    let output = folder.run(&["simulate", "long.json", "--seconds", "0"]).fails(2);
    assert!(output.error_line().contains("seconds"), "{output:?}");
}

/// A scenario in which the user with the least past usage is served first.
const BY_USAGE: &str = include_str!("../../../../examples/half-life.json");

#[test]
fn half_lives_of_past_usage_are_compared() {
    let folder = Folder::with(BY_USAGE);
    let call = ["simulate", "problem.json", "--half-life", "1h,7d,none"];
    let printed = folder.run(&call).ends_with(0).stdout;
    assert!(printed.starts_with("The half-life matters most to weekly: its tasks wait"), "{printed}");
    assert!(printed.contains("a half-life of 7d") || printed.contains("no decay"), "{printed}");
    let json = folder.run(&[&call[..], &["--format", "json"]].concat()).ends_with(0).json();
    assert_eq!(json["half_lives"][0]["half_life"], 3600.0);
    assert!(json["half_lives"][2]["half_life"].is_null());
    let waits = |at: usize| json["half_lives"][at]["users"]["weekly"].as_f64().unwrap();
    assert!(waits(0) > 1.2 * waits(1), "{json}");
    folder.write("kueue.json", BY_USAGE.replace(r#""law": "slurm","#, r#""law": "kueue", "every": 300,"#));
    folder.run(&["simulate", "kueue.json", "--half-life", "1d"]).ends_with(0);
    for (call, message) in [
        (
            "simulate problem.json --half-life 0",
            "--half-life: `0`: expected times above 0 such as 3600 or 7d",
        ),
        ("simulate problem.json --half-life 1h,soon", "--half-life: `soon`"),
        ("simulate kueue.json --half-life none", "the law `kueue` needs a half-life"),
        (
            "simulate problem.json --resume run.json",
            "--resume: runs with an order by past usage cannot be resumed",
        ),
        ("simulate problem.json --history", "--output"),
    ] {
        folder.run(&call.split(' ').collect::<Vec<_>>()).fails_with(2, message);
    }
    assert!(!folder.path().join("run.json").exists());
    let plain = r#"{"kind": "scenario", "resources": ["gpu"], "policy": {}, "servers": [{"name": "s", "capacity": {"gpu": 1}}],
        "users": [{"name": "a", "demand": {"gpu": 1}, "jobs": [{"at": 0, "tasks": 2, "duration": 60}]}]}"#;
    folder.write("plain.json", plain);
    folder
        .run(&["simulate", "plain.json", "--half-life", "1h"])
        .fails_with(2, "the policy of the scenario has no `usage`");
    folder.write("snap.json", include_str!("../../../../examples/cluster.json"));
    folder
        .run(&["simulate", "snap.json", "--durations", "1h", "--half-life", "1h"])
        .fails_with(2, "--half-life: snap.json is a snapshot");
}

#[test]
fn verdict_judges_the_history_of_a_simulated_run() {
    let folder = Folder::with(BY_USAGE);
    folder.run(&["simulate", "problem.json", "-o", "out", "--history"]).ends_with(0);
    let history = "out/history.csv";
    let summary: Value = serde_json::from_str(&folder.read("out/summary.json")).unwrap();
    let call =
        ["usage", history, "--law", "slurm", "--half-life", "7d", "--at", "1814400", "--format", "json"];
    let usage = folder.run(&call).ends_with(0).json();
    for queue in usage["queues"].as_array().unwrap() {
        let exact: evenhand::problem::Rational = queue["charged"]["least"].as_str().unwrap().parse().unwrap();
        let simulated =
            summary["runs"][0]["users"][queue["queue"].as_str().unwrap()]["usage"].as_f64().unwrap();
        assert!((simulated / exact.to_f64() - 1.0).abs() < 1e-6, "{queue} {simulated}");
    }
    let printed = folder.run(&["verdict", history, "--window", "7d"]).ends_with(0).stdout;
    assert!(printed.contains("The history covers all of the 7 d before 1814400 s."), "{printed}");
}
