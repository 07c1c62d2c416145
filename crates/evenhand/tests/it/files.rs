//! Tests of files that the program updates: their state after the program is asked to end, after it is
//! killed, and after it runs twice.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common;

use common::{FIGURE_1, Folder};

/// A scenario that runs for hours. The program writes a checkpoint after every event.
const LONG: &str = r#"{"kind": "scenario", "resources": ["cpu"],
    "servers": [{"name": "pool", "count": 100, "capacity": {"cpu": 4}}], "policy": {"server": "best-fit"},
    "users": [{"name": "u", "demand": {"cpu": 1}, "poisson": {"rate": 50, "tasks": 1, "duration": {"exponential": 4}}}],
    "horizon": 100000}"#;

const RUN: [&str; 6] = ["simulate", "s.json", "--resume", "run.json", "--checkpoint-every", "1"];

fn start(folder: &Folder) -> Child {
    begun(folder, folder.command(&RUN))
}

/// Starts the program so that INT ends it, even if these tests run in the background of a shell, for which
/// the shell ignores INT. (`--default-signal` is an option of GNU env. On other systems the tests have to run
/// in the foreground.)
fn in_the_foreground(folder: &Folder) -> Child {
    if !cfg!(target_os = "linux") {
        return start(folder);
    }
    let mut env = Command::new("env");
    env.args(["--default-signal=INT", env!("CARGO_BIN_EXE_evenhand")]).args(RUN);
    env.current_dir(folder.path()).stdin(Stdio::null());
    begun(folder, env)
}

/// Starts the program, waits for its first checkpoint, and returns the program.
fn begun(folder: &Folder, mut command: Command) -> Child {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path().join("run.json").exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Sends a signal, and checks that this signal ends the program.
fn end_by_signal(mut child: Child, signal: &str, number: i32) {
    send(&child, signal);
    assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
}

#[test]
fn signals_leave_no_temporary_file() {
    let folder = Folder::new();
    folder.write("s.json", LONG);
    for (signal, number) in [("TERM", 15), ("INT", 2)].repeat(4) {
        end_by_signal(in_the_foreground(&folder), signal, number);
        assert_eq!(folder.names(), ["run.json", "s.json"], "{signal}");
        // The file contains a complete document.
        serde_json::from_str::<serde_json::Value>(&folder.read("run.json")).unwrap();
        std::fs::remove_file(folder.path().join("run.json")).unwrap();
    }
}

/// A shell ignores INT for background jobs, so that Ctrl-C ends only the foreground job.
#[test]
fn a_signal_that_the_parent_ignores_ends_no_run() {
    let folder = Folder::new();
    folder.write("s.json", LONG);
    let mut shell = Command::new("sh");
    let line = format!("trap '' INT; exec '{}' {}", env!("CARGO_BIN_EXE_evenhand"), RUN.join(" "));
    shell.args(["-c", &line]).current_dir(folder.path()).stdin(Stdio::null());
    let mut child = begun(&folder, shell);
    send(&child, "INT");
    std::fs::remove_file(folder.path().join("run.json")).unwrap();
    // The program continues, and writes another checkpoint.
    while !folder.path().join("run.json").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(2));
    }
    end_by_signal(child, "TERM", 15);
}

#[test]
fn files_left_by_a_killed_run_are_removed() {
    let folder = Folder::new();
    folder.write("s.json", LONG);
    end_by_signal(start(&folder), "KILL", 9);
    folder.write(".evenhand-left.part", "half of");
    std::fs::create_dir(folder.path().join("out")).unwrap();
    folder.write("out/.evenhand-left.part", "half of");
    folder.write("s.json", LONG.replace("100000", "1"));
    std::fs::remove_file(folder.path().join("run.json")).unwrap();
    let again = ["simulate", "s.json", "--resume", "run.json", "--checkpoint-every", "1", "-o", "out"];
    folder.run(&again).ends_with(0);
    assert_eq!(folder.names(), ["out", "run.json", "s.json"]);
    assert!(!folder.path().join("out/.evenhand-left.part").exists());
}

#[test]
fn two_runs_do_not_share_a_checkpoint() {
    let folder = Folder::new();
    folder.write("s.json", LONG);
    let first = start(&folder);
    symlink("run.json", folder.path().join("link.json")).unwrap();
    for name in ["run.json", "./run.json", "link.json"] {
        folder
            .run(&["simulate", "s.json", "--resume", name])
            .fails_with(2, "run.json: another run keeps this file up to date");
        folder.run(&["hunt", "--steps", "1", "--resume", name]).fails_with(2, "another run");
    }
    end_by_signal(first, "TERM", 15);
    folder.run(&["hunt", "--steps", "1", "--resume", "run.json"]).fails_with(2, "not a saved hunt");
    folder.run(&["hunt", "--types", "2", "--steps", "1", "--resume", "hunt.json"]).ends_with(0);
    assert_eq!(folder.names(), ["hunt.json", "link.json", "run.json", "s.json"]);
}

#[test]
fn dangling_links_are_refused() {
    let folder = Folder::with(FIGURE_1);
    symlink("missing.json", folder.path().join("dangling.json")).unwrap();
    symlink("round.json", folder.path().join("round.json")).unwrap();
    symlink("missing", folder.path().join("out")).unwrap();
    for name in ["dangling.json", "round.json"] {
        folder
            .run(&["solve", "problem.json", "-m", "drfh", "-o", name])
            .fails_with(2, "a link that leads nowhere");
        folder.run(&["hunt", "--steps", "1", "--resume", name]).fails_with(2, "a link that leads nowhere");
        assert!(folder.path().join(name).is_symlink() && !folder.path().join("missing.json").exists());
    }
    folder.write("s.json", LONG.replace("100000", "1"));
    for name in ["out", "out/deeper"] {
        folder
            .run(&["simulate", "s.json", "-o", name])
            .fails_with(2, "one of its folders is a link that leads nowhere");
    }
    // The name of the file is known only when the file is written, so the error is reported late.
    std::fs::create_dir(folder.path().join("results")).unwrap();
    symlink("missing.csv", folder.path().join("results/jobs.csv")).unwrap();
    folder.run(&["simulate", "s.json", "-o", "results"]).fails_with(3, "a link that leads nowhere");
    assert!(!folder.path().join("results/missing.csv").exists());
}
