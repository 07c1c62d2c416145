//! Tests of single rounds. If a client hangs, fails or prints half a dump, the round gives no verdict, and
//! the latest verdict stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use evenhand_problem::snapshot::System;
use evenhand_watch::client::CommandLine;
use evenhand_watch::{Failure, Outcome, Source, system};

use crate::common::{CLUSTER, Watch, command, script, settings};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/schedulers").canonicalize().unwrap()
}

/// Returns commands that print the files of the Slurm example.
fn slurm() -> Vec<CommandLine> {
    let folder = examples().join("slurm");
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    ["nodes.txt", "squeue.json.gz", "sshare.txt", "associations.txt"]
        .map(|name| command(&["cat", &file(name)]))
        .to_vec()
}

/// Runs one round, and returns its failure.
#[track_caller]
fn failure(source: Source, timeout: Duration) -> Failure {
    let mut watch = Watch::new(settings(source), None);
    watch.settings.timeout = timeout;
    match watch.run(1) {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn the_dumps_of_systems_are_judged() {
    let example = |name: &str| command(&["cat", &examples().join(name).to_string_lossy()]);
    for (system, commands) in [
        (System::Slurm, slurm()),
        (System::Kubernetes, vec![example("kubernetes/dump.json.gz")]),
        (System::Kueue, vec![example("kueue/dump.json.gz")]),
        (System::Mesos, vec![example("mesos/state.json")]),
    ] {
        let mut watch = Watch::new(settings(Source::Dump(system, commands)), None);
        let Outcome::Judged(judged) = watch.run(1) else { panic!("{system}: {:?}", watch.lines) };
        assert!(!judged.queues.is_empty() && judged.sha256.len() == 64, "{system}");
        assert_eq!(watch.metric("evenhand_up"), Some(1.0));
        assert_eq!(watch.metric("evenhand_fair"), Some(f64::from(u8::from(judged.is_fair))));
        // The same dump gives the same snapshot and the same answer again.
        let Outcome::Judged(again) = watch.run(1) else { panic!("{system}") };
        assert_eq!((&again.sha256, &again.queues), (&judged.sha256, &judged.queues));
    }
}

#[test]
fn a_hanging_client_is_ended_with_its_child_processes() {
    let folder = tempfile::tempdir().unwrap();
    // The child process of the script writes a file after one second unless it is ended together with the
    // script.
    let source = script(folder.path(), "(sleep 1; touch late) & sleep 600");
    let started = Instant::now();
    let failed = failure(source, Duration::from_millis(200));
    assert!(matches!(failed, Failure::Timeout { .. }), "{failed}");
    assert!(failed.to_string().contains("took longer than 0.2 seconds"), "{failed}");
    assert!(started.elapsed() < Duration::from_secs(60));
    std::thread::sleep(Duration::from_millis(1_500));
    assert!(!folder.path().join("late").exists());
}

#[test]
fn a_failing_client_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("echo 'error: \u{1b}[31mforbidden' >&2; exit 3", "exit status: 3: error: "),
        ("exit 1", "exit status: 1"),
        ("kill -9 $$", "signal: 9"),
        ("true", "it printed nothing"),
    ];
    for (text, expected) in cases {
        let failed = failure(script(folder.path(), text), LONG);
        let said = failed.to_string();
        assert!(matches!(failed, Failure::Client { .. }) && said.contains(expected), "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    let failed = failure(Source::Snapshot(command(&["no-such-client-here"])), LONG);
    assert!(failed.to_string().contains("cannot be started"), "{failed}");
    // If a client fails, its output is not used, even if the output is complete.
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    let failed = failure(script(folder.path(), "cat snap.json; exit 1"), LONG);
    assert_eq!(failed.reason(), "client");
}

/// A dump that is cut off is refused.
#[test]
fn half_a_dump_gives_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    for length in [1, 10, 100, 1_000, CLUSTER.trim_end().len() - 1] {
        let failed = failure(script(folder.path(), &format!("head -c {length} snap.json")), LONG);
        assert_eq!(failed.reason(), "dump", "{length}: {failed}");
    }
    // Each file of Slurm is cut off: half of a JSON document, half of a compressed file, and half a line of a
    // text.
    for cut in 0..4 {
        let mut commands = slurm();
        let file = commands[cut].words()[1].clone();
        let length = fs::metadata(&file).unwrap().len();
        commands[cut] = command(&["head", "-c", &(length / 2).to_string(), &file]);
        let failed = failure(Source::Dump(System::Slurm, commands), LONG);
        assert_eq!(failed.reason(), "dump", "{file}: {failed}");
    }
    // If one of its files is missing, the dump is refused with the message of `import`.
    let failed = failure(Source::Dump(System::Slurm, slurm().split_off(1)), LONG);
    assert!(failed.to_string().contains("scontrol"), "{failed}");
}

#[test]
fn an_exceeded_limit_fails_the_round() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    let mut watch = Watch::new(settings(script(folder.path(), "cat snap.json")), None);
    watch.settings.limits.work = Some(10);
    let Outcome::Failed(failed) = watch.run(1) else { panic!() };
    assert_eq!(failed.reason(), "limit", "{failed}");
    // The next round starts with its own limits.
    watch.settings.limits.work = None;
    assert!(matches!(watch.run(1), Outcome::Judged(_)));
}

#[test]
fn the_last_verdict_is_shown_with_its_age_after_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snap.json"), CLUSTER).unwrap();
    let mut watch = Watch::new(settings(script(folder.path(), "cat snap.json")), None);
    watch.run(1);
    let before = watch.board.state().judged.unwrap();
    fs::remove_file(folder.path().join("snap.json")).unwrap();
    watch.run(3);
    let state = watch.board.state();
    assert_eq!(state.judged.unwrap().sha256, before.sha256);
    assert_eq!(watch.metric("evenhand_up"), Some(0.0));
    assert_eq!(watch.metric("evenhand_snapshot_age_seconds"), Some(240.0));
    assert_eq!(watch.metric("evenhand_queue_short{queue=\"research\",resource=\"gpu\"}"), Some(12.0));
    let notice = watch.board.notice(evenhand_watch::Clock::now(&*watch.clock)).join(" ");
    assert!(notice.contains("gave no verdict") && notice.contains("4 min ago"), "{notice}");
    assert_eq!(watch.failures().len(), 3);
}

#[test]
fn commands_of_systems_only_read() {
    for (name, _) in System::NAMES {
        let system: System = name.parse().unwrap();
        match system::commands(system) {
            Ok(commands) => {
                for command in commands {
                    let words = command.words();
                    let reads = match words[0].as_str() {
                        "kubectl" => words[1] == "get",
                        "scontrol" => words[1] == "show",
                        "sacctmgr" => words.contains(&"show".to_owned()),
                        program => ["squeue", "sshare"].contains(&program),
                    };
                    assert!(reads, "{command}");
                    assert_eq!(CommandLine::parse(&command.to_string()).unwrap(), command);
                }
            }
            Err(error) => assert!(["mesos", "csv"].contains(name), "{error}"),
        }
    }
}
