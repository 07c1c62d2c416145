//! Tests that run the sessions of the documentation: each command must print the same output as in the
//! documentation. A line `...` stands for lines that a page leaves out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the fenced blocks of a page, each with its language.
fn blocks(page: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    // Every second piece between the fences is the content of a block.
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.split_once('\n'))
        .map(|(word, text)| (word.to_owned(), text.to_owned()))
        .collect()
}

/// Returns the commands of a page in order, each with its output. The output consists of the lines after the
/// command up to the next command. A block that contains only commands states no output, and its commands
/// only have to succeed.
fn sessions(page: &str) -> Vec<(String, Option<String>)> {
    let mut runs = Vec::new();
    for (_, block) in blocks(page).into_iter().filter(|(language, _)| language.is_empty()) {
        if let Some(session) = block.strip_prefix("$ ") {
            for part in session.split("\n$ ") {
                let (command, printed) = part.split_once('\n').unwrap_or((part, ""));
                runs.push((command.to_owned(), Some(printed.to_owned())));
            }
        } else if block.lines().all(|line| line.starts_with("evenhand") && !is_pattern(line)) {
            let commands = block.lines().map(|line| line.split(" #").next().unwrap_or(line).trim_end());
            runs.extend(commands.map(|command| (command.to_owned(), None)));
        }
    }
    runs
}

/// Returns `true` if a command contains placeholders, as in `evenhand export CERT`.
fn is_pattern(command: &str) -> bool {
    let command = command.split(" #").next().unwrap_or(command);
    command.split_whitespace().any(|word| word.len() > 1 && word.chars().all(char::is_uppercase))
}

/// Returns lines without trailing spaces.
fn lines(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns `true` if a page shows the output of a command. A line `...` of the page stands for any number of
/// lines.
fn shows(page: &str, output_text: &str) -> bool {
    let (page, output_text): (Vec<&str>, Vec<&str>) = (page.lines().collect(), output_text.lines().collect());
    let parts: Vec<&[&str]> = page.split(|line| *line == "...").collect();
    let [first, between @ .., last] = parts.as_slice() else { return page == output_text };
    let Some(mut rest) = output_text.strip_prefix(*first) else { return false };
    for part in between.iter().filter(|part| !part.is_empty()) {
        let Some(at) = rest.windows(part.len()).position(|lines| lines == *part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Copies a folder with all its subfolders.
fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &copy);
        } else {
            fs::copy(&path, copy).unwrap();
        }
    }
}

#[track_caller]
fn run(page: &str, runs: Vec<(String, Option<String>)>) {
    let folder = tempfile::tempdir().unwrap();
    let examples = folder.path().join("examples");
    fs::create_dir(&examples).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| {
            ["csv", "json", "mps", "sol", "txt"].iter().any(|known| extension == *known)
        }) {
            fs::copy(&path, examples.join(path.file_name().unwrap())).unwrap();
        }
    }
    let dumps = examples.join("schedulers");
    copy_all(&root().join("examples/schedulers"), &dumps);
    copy_all(&root().join("examples/accelerators"), &examples.join("accelerators"));
    // Commands on `grid.json` are run in its folder.
    let sweeps = examples.join("sweeps");
    fs::create_dir_all(sweeps.join("out")).unwrap();
    fs::copy(root().join("examples/sweeps/grid.json"), sweeps.join("grid.json")).unwrap();
    // A scenario that the page shows is saved as `scenario.json`.
    let scenario = blocks(page).into_iter().find(|(_, block)| block.contains("\"kind\": \"scenario\""));
    if let Some((_, scenario)) = scenario {
        fs::write(folder.path().join("scenario.json"), scenario).unwrap();
    }
    for (command, printed) in runs {
        // The kernel program prints the same output as `evenhand check`.
        let command = command.replace("evenhand-check ", "evenhand check ");
        let mut words = command.split_whitespace();
        if words.next() != Some("evenhand") {
            // `make test-readme` runs these commands.
            assert!(
                ["make", "cargo"].iter().any(|program| command.starts_with(program)),
                "{page}: {command}"
            );
            continue;
        }
        let program = Path::new(env!("CARGO_BIN_EXE_evenhand"));
        // A pipe needs a shell. The shell searches for the program by its name.
        let mut call = if command.contains(" | ") { Command::new("sh") } else { Command::new(program) };
        if command.contains(" | ") {
            let path = std::env::var("PATH").unwrap_or_default();
            call.args(["-c", &command])
                .env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        } else {
            call.args(words);
        }
        let output = call
            .current_dir(if command.contains(" grid.json") { &sweeps } else { folder.path() })
            .output()
            .unwrap();
        let output_text =
            String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
        match printed {
            Some(printed) => assert!(
                shows(&lines(&printed), &lines(&output_text)),
                "{page}: {command} says\n{output_text}\nand the page shows\n{printed}"
            ),
            None => assert!(output.status.success(), "{page}: {command}: {output_text}"),
        }
    }
}

#[test]
fn dots_stand_for_omitted_lines() {
    let output_text = "a\nb\nc\nd";
    for page in [output_text, "a\n...\nd", "...\nc\nd", "a\nb\n...", "a\n...\nc\n...", "..."] {
        assert!(shows(page, output_text), "{page}");
    }
    for page in ["a\nb\nc", "b\n...", "...\nc", "a\n...\nx\n...\nd", "a\n...\nd\ne", "a\nb\nc\nd\n...\nd\ne"]
    {
        assert!(!shows(page, output_text), "{page}");
    }
}

#[test]
fn the_readme() {
    run("README.md", sessions("README.md"));
}

/// Runs the sessions of every page of docs/, and checks that pages with sessions still have sessions.
#[test]
fn the_pages_of_docs() {
    let mut seen = Vec::new();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let page = format!("docs/{name}");
        let runs = if name.ends_with(".md") { sessions(&page) } else { Vec::new() };
        if !runs.is_empty() {
            run(&page, runs);
            seen.push(name);
        }
    }
    for page in [
        "first-allocation.md",
        "fair-sharing.md",
        "judging.md",
        "queues.md",
        "schedulers.md",
        "verdict.md",
        "plan.md",
        "audit.md",
        "reservations.md",
        "usage.md",
    ] {
        assert!(seen.iter().any(|name| name == page), "{page} shows no command: {seen:?}");
    }
}

/// The problems and programs on pages are files of examples/ with the same text.
#[test]
fn shown_files_exist_in_examples() {
    for (page, file) in [
        ("README.md", "two-servers.json"),
        ("README.md", "first_allocation.rs"),
        ("docs/first-allocation.md", "one-server.json"),
        ("docs/judging.md", "spreadsheet.json"),
    ] {
        let text = fs::read_to_string(root().join("examples").join(file)).unwrap();
        let is_shown = blocks(page).iter().any(|(_, block)| text.trim_end().ends_with(block.trim()));
        assert!(is_shown, "{page} does not show {file} as it stands");
    }
}
