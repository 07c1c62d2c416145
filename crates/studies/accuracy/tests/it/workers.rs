//! Tests of the processes that run contenders. A process that misbehaves is ended, and its contender is
//! named.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evenhand_accuracy::Effort;
use evenhand_accuracy::accuracy::Settings;
use evenhand_accuracy::case::Kind;
use evenhand_accuracy::contenders;
use evenhand_accuracy::record::Status;
use evenhand_accuracy::worker::{Question, Worker};

use crate::contenders::{case, measured};

fn settings(program: &str, script: &str) -> Settings {
    let inside = contenders::all().into_iter().find(|one| one.name() == "microlp").map(Arc::from);
    let worker = Worker { program: PathBuf::from(program), arguments: vec!["-c".into(), script.into()] };
    let limit = Duration::from_millis(300);
    let effort = Some(Effort::of_runs(1));
    Settings { inside: inside.into_iter().collect(), worker: Some(worker), effort, ..Settings::new(limit) }
}

#[test]
fn failing_processes_are_ended_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let never = format!("echo $$ > '{}'; echo '\"Ready\"'; exec sleep 1000", number.display());
    let garbled = r#"echo '"Ready"'; echo '{"Ran": {"answer": {"Ok": {"tasks": [[[0, 1'"#;
    for (program, script, status, words) in [
        ("sh", never.as_str(), Status::Timeout, "time was up"),
        ("sh", "echo rubbish", Status::Failed, "ended without an answer: exit status: 0"),
        ("sh", garbled, Status::Failed, "ended without an answer: exit status: 0"),
        ("sh", "kill -9 $$", Status::Failed, "signal: 9"),
        ("/no/such/program", "", Status::Failed, "cannot be started"),
    ] {
        let measured = measured(case(Kind::Utilitarian, "random-5x2"), &settings(program, script));
        let record = &measured.records[0];
        assert_eq!(record.status, status, "{record:?}");
        assert!(record.why.as_ref().unwrap().contains(words), "{record:?}");
    }
    let number = std::fs::read_to_string(number).unwrap();
    assert!(!PathBuf::from(format!("/proc/{}", number.trim())).exists(), "it goes on");
}

#[test]
fn malformed_questions_are_refused() {
    for text in ["", "{}\n", "[]", "\"Ready\""] {
        assert!(Question::read(&mut text.as_bytes()).is_err(), "{text}");
    }
}
