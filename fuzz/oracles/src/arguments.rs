//! The oracle for command lines. Each line of the input is an argument.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::grammar::{bounded, random_queues, random_reservation, random_scenario};
use crate::outside::{Limits, fault, run, shown};
use crate::random_problem;

/// The files outside of the folder of the program that arguments may name.
const OUTSIDE: [&str; 2] = ["/dev/null", "/dev/full"];

/// Runs the program in a folder with one file of every kind. Checks that the program ends as docs/formats.md
/// states.
///
/// # Panics
/// Panics if the program ends in a different way, or cannot be run.
pub fn command_line(bytes: &[u8], program: &Path) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut arguments: Vec<String> = text.lines().map(|line| line.replace('\0', "")).collect();
    let leads_out =
        |word: &String| (word.contains('/') || word.contains("..")) && !OUTSIDE.contains(&word.as_str());
    if arguments.iter().any(leads_out) || runs_a_program(&arguments) {
        return;
    }
    bounded(&mut arguments);
    let folder = Folder::new();
    let end = run(program, &arguments, &folder.0, Limits { seconds: 20, ..Limits::default() });
    let end = end.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    if let Some(why) = fault(&arguments, &end) {
        panic!("{}: {why}", shown(program, &arguments));
    }
}

/// Returns `true` if `watch` would run a command that a fuzzer generated.
fn runs_a_program(arguments: &[String]) -> bool {
    let is_made_up = |pair: &[String]| pair[0] == "--command" && ![" ", "'"].contains(&pair[1].as_str());
    arguments.iter().any(|word| word == "watch")
        && (arguments.windows(2).any(is_made_up)
            || arguments.iter().any(|word| word.starts_with("--command=")))
}

/// A folder with files of every kind. It is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("evenhand-arguments-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        let files = [
            ("problem.json", random_problem(1)),
            ("input.json", random_queues(1)),
            ("reservation.json", random_reservation(1)),
            ("scenario.json", random_scenario(1)),
            ("allocation.json", br#"{"kind": "allocation", "tasks": {"u0": {"s0": "1/9"}}}"#.to_vec()),
        ];
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes).expect("a file");
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An error is ignored, because the folder may have been removed already.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
