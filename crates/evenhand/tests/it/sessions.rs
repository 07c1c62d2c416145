//! Sessions in the documentation are run as they are printed: the same commands say the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `(command, what it prints)` of every block of a page that shows a session: lines after `$ ` up to the next one.
fn sessions(page: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    // What stands between fences is every second part.
    let blocks = text.split("\n```").skip(1).step_by(2);
    let mut runs = Vec::new();
    for block in blocks.filter_map(|block| block.strip_prefix("\n$ ")) {
        for part in block.split("\n$ ") {
            let (command, printed) = part.split_once('\n').unwrap_or((part, ""));
            runs.push((command.to_owned(), printed.to_owned()));
        }
    }
    runs
}

/// Lines without the spaces at their ends.
fn lines(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn run(page: &str, least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let examples = folder.path().join("examples");
    fs::create_dir(&examples).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            fs::copy(&path, examples.join(path.file_name().unwrap())).unwrap();
        }
    }
    let runs = sessions(page);
    assert!(runs.len() >= least, "{page} shows {} commands", runs.len());
    for (command, printed) in runs {
        // The kernel by itself says what `evenhand check` says.
        let command = command.replace("evenhand-check ", "evenhand check ");
        let mut words = command.split_whitespace();
        assert_eq!(words.next(), Some("evenhand"), "{command}");
        let output = Command::new(env!("CARGO_BIN_EXE_evenhand"))
            .args(words)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines(&said), lines(&printed), "{page}: {command}");
    }
}

#[test]
fn the_readme() {
    run("README.md", 3);
}

#[test]
fn the_page_about_audits() {
    run("docs/audit.md", 1);
}

#[test]
fn the_page_about_queues() {
    run("docs/queues.md", 6);
}
