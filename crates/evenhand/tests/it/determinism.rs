//! Tests that the same input gives the same bytes, and that a reader that closes the pipe causes no crash.

use crate::common;

use std::process::Stdio;
use std::time::Duration;

use common::{CONSTRAINED, FIGURE_1, Folder, of_programmes, wait};

/// Removes the lines with the running time.
fn timeless(text: &str) -> String {
    text.lines().filter(|line| !line.contains("\"seconds\"")).collect::<Vec<_>>().join("\n")
}

#[test]
fn outputs_do_not_depend_on_threads() {
    for text in [FIGURE_1, CONSTRAINED] {
        let mut first: Option<Vec<String>> = None;
        for threads in ["1", "2", "2", "1"] {
            let folder = Folder::with(text);
            let run = |arguments: &[&str]| {
                let output = folder.run(&[arguments, &["--threads", threads]].concat());
                assert!(output.status <= 1, "{output:?}");
                timeless(&output.stdout)
            };
            let mut bytes = Vec::new();
            for mechanism in of_programmes(text) {
                for exact in [&["--float"][..], &["--exact"]] {
                    let solve =
                        ["solve", "problem.json", "-m", mechanism, "-o", "a.json", "--format", "json"];
                    bytes.push(run(&[&solve, exact].concat()));
                    bytes.push(timeless(&folder.read("a.json")));
                    bytes.push(run(&[
                        "certify",
                        "problem.json",
                        "a.json",
                        "-o",
                        "c.json",
                        "--format",
                        "json",
                    ]));
                    bytes.push(folder.read("c.json"));
                    bytes.push(run(&["check", "c.json"]));
                }
            }
            bytes.push(run(&["compare", "problem.json"]));
            bytes.push(run(&["compare", "problem.json", "--format", "json"]));
            match &first {
                None => first = Some(bytes),
                Some(first) => assert_eq!(first, &bytes, "--threads {threads}"),
            }
        }
    }
}

#[test]
fn minus_names_standard_input() {
    let folder = Folder::with(CONSTRAINED);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
    let (allocation, certificate) = (folder.read("a.json"), folder.read("c.json"));
    for (named, piped, stdin) in [
        (
            &["solve", "problem.json", "-m", "drfh", "--exact", "--format", "json"][..],
            "problem.json",
            CONSTRAINED,
        ),
        (&["compare", "problem.json"], "problem.json", CONSTRAINED),
        (&["certify", "problem.json", "a.json"], "problem.json", CONSTRAINED),
        (&["certify", "problem.json", "a.json"], "a.json", &allocation),
        (&["explain", "problem.json", "a.json", "--user", "a"], "problem.json", CONSTRAINED),
        (&["explain", "problem.json", "a.json", "--user", "a"], "a.json", &allocation),
        (&["check", "c.json"], "c.json", &certificate),
        (&["check", "c.json", "--problem", "problem.json"], "problem.json", CONSTRAINED),
    ] {
        let with_minus: Vec<&str> = named.iter().map(|a| if *a == piped { "-" } else { *a }).collect();
        let (by_name, by_pipe) = (folder.run(named), folder.run_with(&with_minus, stdin));
        assert_eq!(by_name.status, by_pipe.status, "{with_minus:?}: {by_pipe:?}");
        assert_eq!(timeless(&by_name.stdout), timeless(&by_pipe.stdout), "{with_minus:?}");
        assert!(by_pipe.status <= 1, "{with_minus:?}: {by_pipe:?}");
    }
}

fn every_output(folder: &Folder) -> Vec<Vec<&'static str>> {
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    vec![
        vec!["--help"],
        vec!["help", "solve"],
        vec!["--version"],
        vec!["solve", "problem.json", "-m", "drfh"],
        vec!["solve", "problem.json", "-m", "drfh", "--format", "json"],
        vec!["certify", "problem.json", "a.json"],
        vec!["check", "c.json"],
        vec!["compare", "problem.json"],
        vec!["explain", "problem.json", "a.json", "--user", "user 1"],
        vec!["schema", "problem"],
        vec!["reproduce", "drfh"],
        vec!["schema"],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["solve", "problem.json", "-m", "drfh", "-o", "-"],
        vec!["solve", "problem.json", "-m", "drfh", "--format", "csv"],
    ]
}

#[test]
fn a_closed_pipe_causes_no_crash() {
    let folder = Folder::with(FIGURE_1);
    for arguments in every_output(&folder) {
        let mut command = folder.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let status = wait(&mut child, Duration::from_secs(60));
        let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert_eq!(status, 0, "{arguments:?}: {stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let folder = Folder::with(FIGURE_1);
    for arguments in every_output(&folder) {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = folder.command(&arguments).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let status = wait(&mut child, Duration::from_secs(60));
        let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert_eq!(status, 3, "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(stderr.lines().next().unwrap_or_default().starts_with("error: "), "{arguments:?}: {stderr}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = folder.command(&["solve", "nowhere", "-m", "drfh"]).stderr(full).spawn().unwrap();
    assert_eq!(wait(&mut child, Duration::from_secs(60)), 2, "the status survives a closed standard error");
}
