//! Tests of limits that the shell sets (`ulimit`). A command that exceeds a limit ends with a message and
//! status 3, and not by a signal.
#![cfg(target_os = "linux")]

use crate::common;

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{FIGURE_1, Folder, Output, finish};

const EVENHAND: &str = env!("CARGO_BIN_EXE_evenhand");

/// Returns a problem with these numbers of users and classes, in which users have different demands.
fn large(users: usize, classes: usize) -> String {
    let server =
        |i: usize| format!(r#"{{"name": "s{i}", "capacity": {{"a": {}, "b": {}}}}}"#, 10 + i, 17 + i % 7);
    let user =
        |n: usize| format!(r#"{{"name": "u{n}", "demand": {{"a": {}, "b": {}}}}}"#, 1 + n % 13, 1 + n % 7);
    let servers = (0..classes).map(server).collect::<Vec<_>>().join(", ");
    let users = (0..users).map(user).collect::<Vec<_>>().join(", ");
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["a", "b"], "servers": [{servers}], "users": [{users}]}}"#
    )
}

/// Returns a shell command that sets a limit and then runs the program.
fn command(folder: &Folder, limit: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    let line = format!("ulimit {limit}; exec '{EVENHAND}' {arguments}");
    command.args(["-c", &line]).current_dir(folder.path());
    command
}

fn limited(folder: &Folder, limit: &str, arguments: &str) -> Output {
    finish(command(folder, limit, arguments), b"", Duration::from_secs(120))
}

#[test]
fn errors_name_files_that_exceed_the_size_limit() {
    let folder = Folder::with(FIGURE_1);
    folder.write("grid.json", r#"{"kind": "sweep", "problems": ["problem.json"], "mechanisms": ["drfh"]}"#);
    for (arguments, file) in [
        ("solve problem.json -m drfh -o a.json", "a.json: cannot be written: "),
        ("solve problem.json -m drfh --plot a.svg", "a.svg: cannot be written: "),
        ("report problem.json -m drfh -o a.html", "a.html: cannot be written: "),
        ("sweep grid.json -o a.jsonl", "a.jsonl.part: cannot be written: "),
        ("audit mechanism drfh --instances 10 -o out", "out/"),
    ] {
        limited(&folder, "-f 0", arguments).fails_with(3, file);
    }
    let to_a_file = |arguments: &str| limited(&folder, "-f 0", &format!("{arguments} > out.txt"));
    to_a_file("solve problem.json -m drfh").fails_with(3, "standard output cannot be written to");
    to_a_file("sweep grid.json").fails_with(3, "the lines cannot be written");
}

#[test]
fn too_little_memory_to_start_is_reported() {
    let folder = Folder::with(FIGURE_1);
    for kibibytes in [100_000, 163_000] {
        let output = limited(&folder, &format!("-v {kibibytes}"), "solve problem.json -m drfh");
        output.fails_with(3, "160 MiB");
    }
}

/// A command runs out of memory at a different point in every run: an allocation fails, or a thread cannot be
/// started.
#[test]
fn running_out_of_memory_is_reported() {
    let folder = Folder::with(&large(3000, 300));
    let mut by_a_signal = 0;
    for kibibytes in [166_000, 180_000, 200_000] {
        for arguments in ["solve problem.json -m utilitarian", "compare problem.json"] {
            let output = limited(&folder, &format!("-v {kibibytes}"), arguments);
            assert!([0, 3].contains(&output.status), "{arguments}: {output:?}");
            let errors = output.stderr.lines().filter(|line| line.starts_with("error: ")).count();
            assert_eq!(errors, usize::from(output.status == 3), "{arguments}: {output:?}");
            if output.stderr.contains("(ulimit -v)") {
                let expected_message = format!(
                    "error: this takes more memory than the {} MiB that the shell allows",
                    kibibytes >> 10
                );
                assert!(output.error_line().starts_with(&expected_message), "{arguments}: {output:?}");
                by_a_signal += 1;
            }
        }
    }
    assert!(by_a_signal > 0);
}

#[test]
fn sufficient_limits_do_not_change_results() {
    let folder = Folder::with(FIGURE_1);
    folder.write("none.json", r#"{"kind": "allocation", "tasks": {"nobody": {"high-cpu": 1}}}"#);
    folder.write("little.json", r#"{"kind": "allocation", "tasks": {"user 1": {"high-memory": 1}}}"#);
    for arguments in [
        "solve problem.json -m drfh --format json",
        "certify problem.json little.json",
        "certify problem.json none.json",
        "solve problem.json -m drhf",
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let (within, without) = (limited(&folder, "-v 4000000", arguments), folder.run(&words));
        assert_eq!((within.status, &within.stderr), (without.status, &without.stderr), "{arguments}");
        // The document contains the running time, which differs between runs.
        let timeless = |output: &Output| -> Vec<String> {
            let lines = output.stdout.lines().filter(|line| !line.contains("\"seconds\""));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(timeless(&within), timeless(&without), "{arguments}");
    }
}

/// TERM and INT also end the process that does the work, and the processes leave no file.
#[test]
fn signals_are_passed_on() {
    let folder = Folder::new();
    let arguments = "hunt --types 6 --steps 100000000 --resume h.json --threads 1 --quiet";
    for signal in [15, 2] {
        let mut command = command(&folder, "-v 4000000", arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        let below = || children(child.id());
        while (below().is_empty() || folder.names().is_empty()) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let worker = below();
        assert_eq!(worker.len(), 1);
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        assert!(!is_alive(worker[0]), "it goes on");
        let names = folder.names();
        assert!(!names.iter().any(|name| name.ends_with(".part") || name.ends_with(".lock")), "{names:?}");
    }
}

/// Returns the children of a process.
fn children(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
