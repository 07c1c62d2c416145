//! Small files that would need much memory are refused with little memory.
//!
//! These tests have a process of their own, because they measure the largest memory of the process.

use std::io::{Cursor, Write};

use evenhand_import::{GoogleOptions, ImportError, Input, google, openb};
use evenhand_problem::format::Source;
use evenhand_testkit::data::not_run;

/// Returns the largest memory that this process has had, in MB, or `None` if the system does not report it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn assert_small() {
    let Some(peak) = peak() else {
        return not_run("/proc/self/status does not say how much memory the process had");
    };
    assert!(peak < 100, "{peak} MB");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn machines(bytes: Vec<u8>) -> Result<(), ImportError> {
    let machines = Input::new("machines", Cursor::new(bytes))?;
    google(machines, Vec::new(), GoogleOptions::default()).map(|_| ())
}

#[test]
fn refuses_an_endless_line() {
    for bytes in [gzip(&vec![b'1'; 1 << 22]), vec![b'1'; 1 << 22]] {
        let error = machines(bytes).unwrap_err();
        assert!(matches!(error, ImportError::TooLarge { line: 1, .. }), "{error}");
        let limit = "more than 1048576 bytes, the most that a line may have";
        assert!(error.to_string().contains(limit), "{error}");
    }
    let pods = || Input::new("pods", Cursor::new(Vec::new())).unwrap();
    // This file of 101 kB unpacks to 2 GB.
    let nodes = Input::new("nodes", Cursor::new(include_bytes!("bomb.zst"))).unwrap();
    let error = openb(nodes, pods()).unwrap_err();
    assert!(matches!(error, ImportError::TooLarge { .. }), "{error}");
    assert_small();
}

#[test]
fn refuses_a_compressed_file_of_many_short_lines() {
    // A zstd frame that repeats a line feed: 128 KiB for every 4 bytes.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for _ in 0..1_000 {
        // A run-length block of 128 KiB, which is not the last block of the frame.
        frame.extend([0x02, 0x00, 0x10, b'\n']);
    }
    let error = machines(frame).unwrap_err();
    assert!(matches!(error, ImportError::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("unpacks to more than 1000 times its"), "{error}");
    assert_small();
}

#[test]
fn unwritable_numbers_are_refused() {
    let read = |machines: &'static str, tasks: &'static str| {
        let input = |name, text: &'static str| Input::new(name, Cursor::new(text.as_bytes())).unwrap();
        google(input("machines", machines), vec![input("tasks", tasks)], GoogleOptions::default())
    };
    let exponents =
        read(include_str!("extreme/google-machine-exp.csv"), include_str!("extreme/google-task-2.csv"));
    let problem = exponents.unwrap().problem;
    let text = evenhand_problem::format::problem_to_json(&problem);
    assert_eq!(Source { name: "again", text: &text }.problem().unwrap(), problem);
    let mean =
        read(include_str!("extreme/google-machine-1.csv"), include_str!("extreme/google-task-mean.csv"));
    assert_eq!(
        mean.unwrap_err().to_string(),
        "user `user-0001`: demand of `cpu`: this number has more than 400 digits, the most that a problem file may state"
    );
    let counts = read("platform,cpu,memory,count\nA,1,1,999999999999\nA,1,1,2\n", "");
    let error = counts.unwrap_err().to_string();
    assert!(error.starts_with("machines:3: count: found `2`: expected at most 10^12"), "{error}");
}
