//! Tables of tasks, both made up and real.

use crate::common;

use std::path::{Path, PathBuf};

use common::{Kill, killed};
use evenhand_import::{Input, Trace, azure_stream, google_stream, openb_stream};
use evenhand_mechanisms::filling::Draw;
use evenhand_problem::format::Source;
use evenhand_simulate::{
    ReadScenario, Scenario, SimulateError, Simulated, Summary, TraceFile, run, run_from, run_on,
};

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("evenhand-traces-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn run(&self, scenario: &str) -> Result<Simulated, SimulateError> {
        run(&Source { name: "s.json", text: scenario }.scenario(&self.0).unwrap(), &[0], &|_, _| {})
    }

    fn table(&self, table: &str) -> Result<Simulated, SimulateError> {
        std::fs::write(self.0.join("tasks.csv"), table).unwrap();
        self.run(
            r#"{"kind": "scenario", "resources": ["cpu"], "policy": {}, "trace": {"tasks": "tasks.csv"},
                "servers": [{"name": "s", "capacity": {"cpu": 2}}],
                "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 2}}]}"#,
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn simulates_a_table_of_tasks() {
    let folder = Folder::new("table");
    let simulated = folder.table("time,user,tasks,duration\n0,a,3,10\n0.5,b,1,1\n\n7,a,1,2e0\n").unwrap();
    let run = &simulated.runs[0].1;
    assert_eq!((run.end, run.jobs.len(), run.events), (21.0, 3, 8));
    let head = "time,user,tasks,duration\n";
    let leaving = folder.run(
        r#"{"kind": "scenario", "resources": ["cpu"], "policy": {}, "trace": {"tasks": "tasks.csv"},
            "servers": [{"name": "s", "capacity": {"cpu": 2}}],
            "users": [{"name": "a", "demand": {"cpu": 1}, "leaves": 5}, {"name": "b", "demand": {"cpu": 2}}]}"#,
    );
    let tasks = leaving.unwrap().runs[0].1.tasks[0];
    assert_eq!((tasks.submitted, tasks.completed, tasks.withdrawn), (3, 2, 1), "the task at 7 does not come");
    for (rows, expected) in [
        ("0,a,1,1\n5,a,1,1\n4,b,1,1\n", "tasks.csv:4: time goes back from 5 to 4"),
        ("0,a,1,1\n5,c,1,1\n", "tasks.csv:3: user: there is no user `c`"),
        ("0,a,1,-1\n", "duration: found `-1`"),
        ("0,a,1,inf\n", "duration: found `inf`"),
        ("0,a,0,1\n", "tasks: found `0`: expected at least 1"),
        ("0,a,1\n", "tasks.csv:2: found 3 columns: expected 4"),
    ] {
        let error = folder.table(&format!("{head}{rows}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(folder.table("a,b\n").unwrap_err().to_string().contains("found another header"));
    assert!(folder.table("").unwrap_err().to_string().contains("the file is empty"));
}

#[test]
fn simulates_events_of_the_google_trace() {
    let folder = Folder::new("google");
    let events = "0,,1,0,9,0,u1,3,9,0.25,0.25,,\n0,,1,0,9,1,u1,3,9,0.25,0.25,,\n1000000,,1,1,,0,u1,3,9,0.5,0.25,,\n\
        2000000,,2,0,,0,u2,3,9,,,,\n2000000,,2,0,8,1,u2,3,9,,,,\n3000000,,1,1,9,1,u1,3,9,0.5,0.25,,\n\
        4000000,,3,0,,0,u2,3,9,0.1,0.1,,\n5000000,,1,1,9,2,u1,3,9,0.5,0.25,,\n6000000,,1,1,9,1,u1,3,9,0.5,0.25,,\n\
        9000000,,1,1,9,4,u1,3,9,0.5,0.25,,\n";
    std::fs::write(folder.0.join("events.csv"), events).unwrap();
    std::fs::write(folder.0.join("machines.csv"), "platform,cpu,memory,count\nA,0.5,0.5,2\n").unwrap();
    let text = r#"{"kind": "scenario", "policy": {"server": "best-fit"}, "servers": {"google": "machines.csv"},
        "trace": {"google": ["events.csv"]}, "horizon": 20}"#;
    let simulated = folder.run(text).unwrap();
    let (problem, run) = &simulated.runs[0];
    assert_eq!(problem.users()[0].base_demand()[0], evenhand_problem::Rational::from((3, 8)));
    // One task still runs at the end of the trace. The other task ran for 3 s in its last run.
    assert_eq!((run.tasks[0].completed, run.tasks[0].running(), run.task_time[0]), (1, 1, 23.0));
    let notes = simulated.notes.join("\n");
    for note in [
        "1 tasks never ran",
        "1 tasks request no resource",
        "1 tasks ran more than once",
        "1 tasks still ran",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    // Job 1 has two tasks, and one of them never ends.
    assert!(run.jobs.is_empty());
    std::fs::write(folder.0.join("events.csv"), events.replace("4000000", "1000000")).unwrap();
    let error = folder.run(text).unwrap_err().to_string();
    assert!(error.contains("events.csv:7: time goes back from 3000000 to 1000000"), "{error}");
}

/// Returns the trace of a scenario in memory.
fn trace_in_memory(scenario: &Scenario) -> Trace {
    let open = |path: &PathBuf| Input::open(path).unwrap();
    let stream = match scenario.trace.as_ref().unwrap() {
        TraceFile::Google(paths, by) => google_stream(paths.iter().map(open).collect(), *by),
        TraceFile::Openb(path) => openb_stream(open(path), &scenario.servers),
        TraceFile::Azure(path) => azure_stream(open(path)),
        TraceFile::Tasks(path) => panic!("{} is streamed anyhow", path.display()),
    };
    stream.unwrap().into_memory().unwrap()
}

/// Runs a scenario and checks that a streamed trace and the trace in memory give the same result.
fn real(scenario: &str, folder: &Path) -> Simulated {
    let scenario = Source { name: "s.json", text: scenario }.scenario(folder).unwrap();
    let streamed = run(&scenario, &[0], &|_, _| {}).unwrap();
    assert!(streamed == run_on(&scenario, &trace_in_memory(&scenario), &[0], &|_, _| {}).unwrap());
    streamed
}

/// Returns random task events. Jobs have several tasks. Some tasks run again or never end.
fn random_events(draw: &mut Draw) -> String {
    let (mut text, mut time) = (String::new(), 0);
    for _ in 0..600 {
        time += draw.below(900_000);
        let (job, index, what) = (draw.below(60), draw.below(4), [0, 1, 1, 4, 5][draw.position(5)]);
        let (user, cpu) = (job % 7, [0.25, 0.5, 0.125][draw.position(3)]);
        text += &format!("{time},,{job},{index},1,{what},u{user},2,9,{cpu},0.25,,\n");
    }
    text
}

#[test]
fn a_streamed_trace_resumes_at_its_checkpoint() {
    let folder = Folder::new("resumed");
    let mut kills = 0;
    for seed in 0..40 {
        let mut draw = Draw::new(seed, 0);
        std::fs::write(folder.0.join("events.csv"), random_events(&mut draw)).unwrap();
        let by = if seed % 2 == 0 { "user" } else { "shape" };
        let text = format!(
            r#"{{"kind": "scenario", "policy": {{"server": "best-fit"}}, "every": 10, "horizon": 400,
                "servers": [{{"name": "s", "count": 2, "capacity": {{"cpu": 1, "memory": 1}}}}],
                "trace": {{"google": ["events.csv"], "by": "{by}"}}}}"#
        );
        let scenario = Source { name: "s.json", text: &text }.scenario(&folder.0).unwrap();
        let expected = run_on(&scenario, &trace_in_memory(&scenario), &[3], &|_, _| {}).unwrap();
        assert_eq!(run(&scenario, &[3], &|_, _| {}).unwrap(), expected);
        assert_eq!(
            run(&scenario, &[3, 4], &|_, _| {}).unwrap().runs[0],
            expected.runs[0],
            "two readers of one trace"
        );
        let (resumed, stops) = killed(&scenario, 3, &mut draw, 90);
        kills += stops;
        assert_eq!(resumed, expected);
    }
    assert!(kills > 100, "{kills}");
}

#[test]
fn a_checkpoint_of_another_trace_is_refused() {
    let folder = Folder::new("another");
    let text = r#"{"kind": "scenario", "policy": {}, "trace": {"azure": "vms.csv"},
        "servers": [{"name": "s", "capacity": {"vcpu": 1, "memory": 1}}], "resources": ["vcpu", "memory"]}"#;
    let with = |end: u64| {
        let head = "split,arrival_s,batch_id,flavour,vcpus,memory_gb,duration_bin,duration_lo_s,duration_hi_s,censored\n";
        let rows: String = (0..50).map(|k| format!("dev,{k},{k},f,1,1,0,2,{end},0\n")).collect();
        std::fs::write(folder.0.join("vms.csv"), format!("{head}{rows}")).unwrap();
        Source { name: "s.json", text }.scenario(&folder.0).unwrap()
    };
    let mut kill = Kill { after: 30, kept: None };
    assert!(run_from(&with(4), 0, None, &mut kill).unwrap().is_none());
    let checkpoint = kill.kept.unwrap();
    let mut go_on = |_: f64, _: u64| {};
    // This trace has as many tasks, but they run longer.
    let error = run_from(&with(6), 0, Some(&checkpoint), &mut go_on).unwrap_err().to_string();
    assert!(error.contains("another scenario"), "{error}");
    assert!(run_from(&with(4), 0, Some(&checkpoint), &mut go_on).unwrap().is_some());
}

#[test]
fn simulates_the_google_sample() {
    let Some(folder) = evenhand_testkit::data::data("google2011") else { return };
    let simulated = real(
        r#"{"kind": "scenario", "servers": {"google": "machine_configs_all_trace.csv"}, "draw_servers": 2000,
            "policy": {"server": "best-fit"}, "horizon": 5400,
            "trace": {"google": ["task_events.part-00000-of-00500.csv.gz"]}}"#,
        &folder,
    );
    let (problem, run) = &simulated.runs[0];
    let summary = Summary::new(problem, run);
    assert!(summary.tasks.submitted > 150_000 && summary.tasks.completed > 3_000, "{summary:?}");
    assert!(summary.utilisation.iter().flatten().all(|used| (0.5..=1.0).contains(used)), "{summary:?}");
    assert!(simulated.notes.iter().any(|note| note.contains("still ran at the end")));
}

#[test]
fn simulates_the_openb_pods() {
    let Some(folder) = evenhand_testkit::data::data("alibaba_gpu2023_openb") else { return };
    let simulated = real(
        r#"{"kind": "scenario", "servers": {"openb": "openb_node_list_all_node.csv.gz"},
            "policy": {"score": "ps-dsf", "server": "best-fit"},
            "trace": {"openb": "openb_pod_list_gpuspec33.csv.gz"}}"#,
        &folder,
    );
    let (_, run) = &simulated.runs[0];
    let done: u64 = run.tasks.iter().map(|tasks| tasks.completed).sum();
    assert!(done > 8_000 && run.jobs.len() as u64 == done, "{done}");
}

#[test]
fn simulates_the_azure_machines() {
    let Some(folder) = evenhand_testkit::data::data("azure_v1_flavours") else { return };
    let simulated = real(
        r#"{"kind": "scenario", "resources": ["vcpu", "memory"], "policy": {"server": "first-fit"},
            "servers": [{"name": "s", "count": 1000, "capacity": {"vcpu": 80, "memory": 640}}],
            "trace": {"azure": "derived_dev_test_vms.csv.zst"}, "horizon": 790000}"#,
        &folder,
    );
    let (_, run) = &simulated.runs[0];
    let submitted: u64 = run.tasks.iter().map(|tasks| tasks.submitted).sum();
    assert!(submitted > 660_000, "{submitted}");
    assert!(
        simulated.notes.iter().any(|note| note.starts_with("37628 tasks still ran")),
        "{:?}",
        simulated.notes
    );
}
