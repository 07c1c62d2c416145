//! Tests of `watch` on the command line: one round, signals, a kill at any moment, a full disk, and the page
//! of its history.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Folder, finish, wait};

const CLUSTER: &str = include_str!("../../../../examples/cluster.json");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("snap.json", CLUSTER);
    folder
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// Returns the numbers of rounds of a history with a verdict and without a verdict.
fn rounds(folder: &Folder, file: &str) -> (u64, u64) {
    let found =
        folder.run(&["report", file, "-o", "page.html", "--format", "json", "--quiet"]).ends_with(0).json();
    assert_eq!(found["kind"], "cluster-history");
    (found["verdicts"].as_u64().unwrap(), found["failures"].as_u64().unwrap())
}

#[test]
fn one_round_ends_with_the_status_of_verdict() {
    let folder = folder();
    let call = ["watch", "--command", "cat snap.json", "--once", "--history", "h.sqlite"];
    let output = folder.run(&call).ends_with(1);
    assert_eq!(output.stdout, "One queue is below its fair share by a whole task: research.\n");
    assert!(output.stderr.contains(" UTC: One queue is below"), "{}", output.stderr);
    let status = folder.run(&[&call[..], &["--format", "json", "--quiet"]].concat()).ends_with(1);
    assert_eq!((&status.json()["fair"], &status.json()["rounds"]), (&false.into(), &1.into()));
    assert_eq!(status.stderr, "");
    // A fair cluster.
    let mut calm: Value = serde_json::from_str(CLUSTER).unwrap();
    calm["problem"]["users"][0]["tasks"] = 2.into();
    calm["problem"]["users"][2]["tasks"] = 11.into();
    calm.as_object_mut().unwrap().remove("waiting");
    folder.write("calm.json", calm.to_string());
    folder.run(&["watch", "--command", "cat calm.json", "--once"]).ends_with(0);
    // The first client fails, the second client prints half a dump, and the third client hangs.
    folder.run(&["watch", "--command", "cat none.json", "--once", "--history", "h.sqlite"]).ends_with(2);
    folder
        .run(&["watch", "--command", "head -c 99 snap.json", "--once", "--history", "h.sqlite"])
        .ends_with(2);
    let hangs = ["watch", "--command", "sleep 600", "--timeout", "100ms", "--once", "--history", "h.sqlite"];
    let output = folder.run(&hangs).ends_with(3);
    assert!(output.stderr.contains("took longer than 0.1 seconds"), "{}", output.stderr);
    // The program that wrote the history leaves a single file. SQLite creates two more files for programs
    // that only read the history.
    assert!(folder.names().iter().all(|name| !name.ends_with("-wal")), "{:?}", folder.names());
    assert_eq!(rounds(&folder, "h.sqlite"), (2, 3));
    let page = folder.read("page.html");
    assert!(page.contains("Usage against fair share") && page.contains("research"));
}

#[test]
fn wrong_usage_is_refused() {
    let folder = folder();
    folder.write("text.sqlite", "no database");
    for (call, expected) in [
        ("watch", "expected a system or a command to watch"),
        ("watch mesos --once", "--command"),
        ("watch borg", "borg"),
        ("watch --command ' --once", "is not a command line"),
        ("watch slurm --every 0s", "60s"),
        ("watch slurm --every 5", "60s"),
        ("watch slurm --listen localhost", "127.0.0.1:9464"),
        ("watch slurm --once --listen 0.0.0.0:0", "--insecure"),
        ("watch slurm --once --insecure", "--listen"),
        ("watch slurm --once --keep 1d", "--history"),
        ("watch slurm --once --tolerance 2", "--tolerance"),
        ("watch slurm --once --history text.sqlite", "not an SQLite file"),
        ("watch slurm --once --history no/folder/h", "cannot be written"),
        ("report text.sqlite", "text.sqlite"),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        let output = folder.run(&words).fails(2);
        assert!(output.stderr.contains(expected), "{call}: {}", output.stderr);
    }
    folder.run(&["watch", "--command", "cat snap.json", "--once", "--history", "h"]).ends_with(1);
    folder.run(&["report", "h", "-m", "drfh"]).fails_with(2, "for a history, `report` takes only --output");
}

/// Starts a watch with a round every few milliseconds. Returns the process and the lines of its log.
fn started(folder: &Folder, more: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    let call = ["watch", "--command", "cat snap.json", "--every", "5ms", "--history", "h.sqlite"];
    let mut command = folder.command(&[&call[..], more].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap());
    (child, lines)
}

/// Every line of the log has a row in the history, and no kill removes a row.
#[test]
fn a_kill_loses_no_finished_round() {
    let folder = folder();
    let mut logged = 0;
    for kill in 0..8 {
        let (mut child, mut lines) = started(&folder, &[]);
        // Each watch is killed at a different moment of a round.
        for _ in 0..3 {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            assert!(line.contains("One queue is below"), "{line}");
        }
        std::thread::sleep(Duration::from_micros(1_700 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        logged += 3 + rest.lines().filter(|line| line.contains("One queue is below")).count() as u64;
        let (verdicts, failures) = rounds(&folder, "h.sqlite");
        assert!(verdicts >= logged && failures == 0, "{verdicts} rows, {logged} lines");
    }
}

#[test]
fn signals_end_the_watch_cleanly() {
    for name in ["TERM", "INT"] {
        let folder = folder();
        let (mut child, mut lines) = started(&folder, &["--listen", "127.0.0.1:0"]);
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving http://").unwrap().trim_end_matches('/').to_owned();
        lines.read_line(&mut line).unwrap();
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("evenhand_up 1.0"), "{answer}");
        let reader = std::thread::spawn(move || lines.read_to_string(&mut String::new()));
        signal(&child, name);
        assert_eq!(wait(&mut child, Duration::from_secs(60)), 0);
        reader.join().unwrap().unwrap();
        assert!(folder.names().iter().all(|name| !name.ends_with("-wal")), "{:?}", folder.names());
        assert!(rounds(&folder, "h.sqlite").0 > 0);
    }
    // A client that hangs does not delay the end of the watch.
    let folder = folder();
    let mut command = folder.command(&["watch", "--command", "sleep 600"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "TERM");
    let asked = Instant::now();
    assert_eq!(wait(&mut child, Duration::from_secs(60)), 0);
    assert!(asked.elapsed() < Duration::from_secs(30));
}

/// The shell limits the size of files, so that the history cannot grow, as on a full disk.
#[test]
fn the_watch_reports_a_full_disk_and_continues() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_evenhand");
    let script = format!(
        ": >log; ulimit -f 200; exec '{program}' watch --command 'cat snap.json' --every 1ms --history h.sqlite --quiet 2>log & \
         child=$!; n=0; while [ $n -lt 600 ] && [ $(grep -c 'not in the history' log) -lt 3 ]; do sleep 0.1; n=$((n+1)); done; \
         kill -TERM $child; wait $child; echo $?"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.path());
    let output = finish(command, b"", Duration::from_secs(120));
    let log = folder.read("log");
    assert!(
        log.lines().filter(|line| line.contains("this round is not in the history")).count() > 2,
        "{log}"
    );
    assert_eq!(output.stdout.trim(), "0", "{log}");
    // The history contains all rounds before the failure.
    assert!(rounds(&folder, "h.sqlite").0 > 3);
}

/// Two programs never write to the same history.
#[test]
fn a_history_has_one_writer() {
    let folder = folder();
    let (mut child, mut lines) = started(&folder, &[]);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let second = ["watch", "--command", "cat snap.json", "--once", "--history", "h.sqlite"];
    folder.run(&second).fails_with(2, "another watch writes to this history");
    // Other programs may read the history at the same time.
    assert!(rounds(&folder, "h.sqlite").0 > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.run(&second).ends_with(1);
}
