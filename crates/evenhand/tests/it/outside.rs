//! Tests of external programs that `bench accuracy` runs: no program outlives `bench`, and the output of
//! programs is bounded.
#![cfg(target_os = "linux")]

use crate::common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{FIGURE_1, Folder};
use serde_json::Value;

/// Returns a command that starts programs in every way in which programs can escape from a shell: in the
/// background, in a separate session, and from a shell that has ended. Each program sleeps for a different
/// number of seconds, which identifies it.
fn runaway(seconds: u32) -> String {
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|more| seconds + more);
    format!(
        "mine=setsid sleep {a} & sleep {b} & (setsid sh -c 'sleep {c} & trap \"\" TERM; sleep {d}' &); \
         sleep {e}; : {{problem}} {{answer}}"
    )
}

/// Returns the number of processes that sleep for `seconds` or one of the next four numbers of seconds.
fn sleepers(seconds: u32) -> usize {
    let is_one = |entry: std::io::Result<std::fs::DirEntry>| {
        let line = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let number: u32 = line.strip_prefix("sleep\0")?.trim_end_matches('\0').parse().ok()?;
        (seconds..seconds + 5).contains(&number).then_some(())
    };
    std::fs::read_dir("/proc").unwrap().filter_map(is_one).count()
}

/// Waits until exactly `count` of these processes run.
#[track_caller]
fn wait_for(seconds: u32, count: usize, limit: Duration) {
    let begun = Instant::now();
    while sleepers(seconds) != count {
        assert!(begun.elapsed() < limit, "{} and not {count} are there after {limit:?}", sleepers(seconds));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn bench(folder: &Folder, solver: &str, more: &[&str]) -> Command {
    let call = ["bench", "accuracy", "--runs", "1", "--problem", "problem.json", "--solver", solver];
    folder.command(&[&call[..], more].concat())
}

#[test]
fn no_external_program_outlives_the_bench() {
    let folder = Folder::with(FIGURE_1);
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    for (signal, seconds) in [("TERM", 40_010), ("INT", 40_020), ("HUP", 40_030), ("KILL", 40_040)] {
        let mut bench = bench(&folder, &runaway(seconds), &["--seconds", "600"]);
        bench.env("TMPDIR", &temporary);
        let mut bench: Child = bench.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(seconds, 5, Duration::from_secs(100));
        let sent = Command::new("kill").args(["-s", signal, &bench.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{signal}");
        assert!(!bench.wait().unwrap().success(), "{signal}");
        wait_for(seconds, 0, Duration::from_secs(10));
        // The keeper first ends the processes and then removes the folder.
        let begun = Instant::now();
        while std::fs::read_dir(&temporary).unwrap().count() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "{signal}: its folder is left");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn no_external_program_outlives_its_time_limit_or_shell() {
    let folder = Folder::with(FIGURE_1);
    // The time limit of the run ends the programs.
    let mut late = bench(&folder, &runaway(40_050), &["--seconds", "0.3", "--format", "json"]);
    assert!(late.stderr(Stdio::null()).output().unwrap().status.success());
    assert_eq!(sleepers(40_050), 0);
    // The shell ends by itself, and leaves programs behind.
    let left = "mine=setsid sleep 40060 & (setsid sleep 40061 &); : {problem} {answer}; exit 4";
    let output = bench(&folder, left, &["--format", "json"]).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let records = document["records"].as_array().unwrap();
    assert!(
        records.iter().any(|record| record["why"].as_str().unwrap_or_default().contains("exit status 4"))
    );
    assert_eq!(sleepers(40_060), 0);
}

/// Only the end of standard error is stored, and a program that fills its folder is ended.
#[test]
fn outputs_of_external_programs_are_bounded() {
    let folder = Folder::with(FIGURE_1);
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let run = |solver: &str| -> Vec<String> {
        let mut bench = bench(&folder, solver, &["--seconds", "60", "--format", "json"]);
        let output = bench.env("TMPDIR", &temporary).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let records = document["records"].as_array().unwrap();
        let mine = records.iter().filter(|record| record["contender"] == "mine");
        mine.map(|record| record["why"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let loud = "mine=head -c 300000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; : {problem} {answer}; exit 5";
    let reasons = run(loud);
    assert!(!reasons.is_empty() && reasons.iter().all(|why| why == "exit status 5: the end"), "{reasons:?}");
    let most = std::sync::atomic::AtomicU64::new(0);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        use std::sync::atomic::Ordering::Relaxed;
        scope.spawn(|| {
            while !done.load(Relaxed) {
                most.fetch_max(bytes_in(&temporary), Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let reasons = run("mine=cat /dev/zero > {answer}; : {problem}");
        done.store(true, Relaxed);
        assert!(
            !reasons.is_empty() && reasons.iter().all(|why| why.contains("more than 512 MiB")),
            "{reasons:?}"
        );
    });
    let most = most.into_inner();
    assert!(most < 2 << 30, "{} MiB", most >> 20);
    assert_eq!(bytes_in(&temporary), 0);
}

fn bytes_in(folder: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(found) = entry.metadata() else { continue };
        bytes += if found.is_dir() { bytes_in(&entry.path()) } else { found.blocks() * 512 };
    }
    bytes
}
