//! Small files that ask for much: every command ends within a minute of processor time and 2 GiB, or says that the
//! file is too large.
//!
//! The table in SECURITY.md is made here; with `EVENHAND_WRITE_DOCS=1` it is written anew. The test holds its rows and
//! its ends. Times and sizes are those of the machine that wrote it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const EVENHAND: &str = env!("CARGO_BIN_EXE_evenhand");

/// Seconds of processor time, after which the system ends a command by a signal.
const MOST_SECONDS: u64 = 60;

/// Resident memory in MiB.
const MOST_MEMORY: u64 = 2048;

/// A small file, and what is asked of it.
struct Bomb {
    /// What is too much about it.
    what: &'static str,
    file: &'static str,
    text: String,
    /// Arguments, in which the file stands by its name.
    arguments: &'static [&'static str],
}

/// How a command ended.
struct End {
    status: i32,
    error: String,
    seconds: f64,
    memory: u64,
}

#[test]
fn every_command_ends() {
    let mut table = String::from("| what | command | ends with | seconds | MiB |\n|---|---|---|---|---|\n");
    for bomb in bombs() {
        let command = bomb.arguments.join(" ");
        assert!(bomb.text.len() < 1_000_000, "{}: {} bytes are no small file", bomb.what, bomb.text.len());
        let end = run(&bomb);
        let name = format!("{} ({command}): status {}: {}", bomb.what, end.status, end.error);
        assert!([0, 1, 2, 3].contains(&end.status), "{name}");
        assert!(end.memory <= MOST_MEMORY, "{name}: {} MiB", end.memory);
        assert!(end.status != 2, "{name}: nothing is wrong with it");
        if end.status == 3 {
            let says_what = ["--work", "--memory", "too large", "at most", "more than", "limit"];
            assert!(says_what.iter().any(|words| end.error.contains(words)), "{name}");
        }
        let ends = if end.status == 3 { "3, too large".to_owned() } else { end.status.to_string() };
        let (seconds, memory) = (end.seconds.ceil(), end.memory);
        writeln!(table, "| {} | `{command}` | {ends} | {seconds} | {memory} |", bomb.what).unwrap();
    }
    hold(&table);
}

/// The table in SECURITY.md has these rows, but for seconds and memory.
fn hold(table: &str) {
    const BEGIN: &str = "<!-- bombs -->\n";
    const END: &str = "<!-- end of bombs -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the place of the table");
    let (written, after) = rest.split_once(END).expect("the end of the table");
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    let without_measurements = |table: &str| -> Vec<String> {
        let row = |line: &str| line.split('|').take(4).collect::<Vec<_>>().join("|");
        table.lines().filter(|line| !line.is_empty()).map(row).collect()
    };
    let (written, made) = (without_measurements(written), without_measurements(table));
    assert_eq!(written, made, "EVENHAND_WRITE_DOCS=1 writes it anew");
}

fn run(bomb: &Bomb) -> End {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(bomb.file), &bomb.text).unwrap();
    let words: Vec<String> = bomb.arguments.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("ulimit -t {MOST_SECONDS}; exec '{EVENHAND}' {}", words.join(" "));
    let errors = folder.path().join("stderr");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut seconds, mut memory) = (0.0, 0);
    // A process that has ended keeps its clock until somebody waits for it.
    loop {
        let Some((state, clock)) = clock(&process) else { break };
        seconds = clock;
        memory = u64::max(memory, peak(&process).unwrap_or_default());
        if state == 'Z' {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let status = child.wait().unwrap();
    let text = std::fs::read_to_string(errors).unwrap();
    assert!(!text.contains("defect of evenhand"), "{}: {text}", bomb.what);
    let status = status.code().unwrap_or_else(|| panic!("{}: ended by a signal: {status}", bomb.what));
    End { status, error: text.lines().next().unwrap_or_default().to_owned(), seconds, memory }
}

/// State and processor time in seconds, where the system says them.
fn clock(process: &Path) -> Option<(char, f64)> {
    let text = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // Linux counts hundredths of a second for whoever asks.
    Some((fields.first()?.chars().next()?, ticks as f64 / 100.0))
}

/// The most resident memory so far, in MiB.
fn peak(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn bombs() -> Vec<Bomb> {
    let mut all = Vec::new();
    let mut add = |what, file, text: &str, commands: &[&'static [&'static str]]| {
        all.extend(commands.iter().map(|arguments| Bomb { what, file, text: text.to_owned(), arguments }));
    };
    let stored = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bombs").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    add("arrivals denser than doubles", "s.json", &stored("stuck1.json"), &[&["simulate", "s.json"]]);
    add("arrivals later than doubles count", "s.json", &stored("stuck3.json"), &[&["simulate", "s.json"]]);
    add("gangs of 10^7", "s.json", &stored("gang.json"), &[&["simulate", "s.json"]]);
    add("a series of 10^12 points", "s.json", &series(), &[&["simulate", "s.json"]]);
    add("4,000,000 jobs in a line", "s.json", &jobs(), &[&["simulate", "s.json"]]);
    add("a capacity of 1e308", "p.json", &stored("asset-slow.json"), &[&["solve", "-m", "asset", "p.json"]]);
    add("near ties", "p.json", &stored("slow-njc.json"), &[&["solve", "-m", "njc", "p.json"]]);
    let fills: &[&[&str]] = &[&["solve", "-m", "fill", "--rule", "armada", "p.json"]];
    add("counts of 10^6", "p.json", &stored("slow-fill.json"), fills);
    add("numbers of 300 digits", "p.json", &stored("slow-tree.json"), &[&["solve", "-m", "tree", "p.json"]]);
    add("ratio tables of 10^7 units", "c.json", &stored("rc.json"), &[&["check", "c.json"]]);
    let wide = square(4_000);
    add(
        "4,000 users and 4,000 classes",
        "p.json",
        &wide,
        &[
            &["solve", "-m", "ps-dsf", "p.json"],
            &["solve", "-m", "ps-dsf-tdm", "p.json"],
            &["solve", "-m", "drfh", "p.json"],
            &["solve", "-m", "tsf", "p.json"],
            &["solve", "-m", "tree", "p.json"],
            &["solve", "-m", "proportional", "p.json"],
            &["solve", "-m", "njc", "p.json"],
            &["solve", "-m", "utilitarian", "p.json"],
            &["solve", "-m", "fill", "p.json"],
            &["solve", "-m", "per-server-drf", "p.json"],
            &["compare", "p.json"],
            &["export", "--to", "mps", "p.json"],
        ],
    );
    let many = problem(3_000, 100);
    add("3,000 users and 100 classes", "p.json", &many, &[&["compare", "p.json"], &["report", "p.json"]]);
    all
}

/// A scenario of one job whose series has 10^12 points.
fn series() -> String {
    r#"{"kind": "scenario", "resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 1}}], "policy": {},
        "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 0, "tasks": 1, "duration": 1}]}],
        "horizon": 1000000, "every": 0.000001}"#
        .to_owned()
}

/// A scenario of 1,000 lines that stand for 4,000 jobs each.
fn jobs() -> String {
    let job = |at: usize| format!(r#"{{"at": {at}, "tasks": 4000, "duration": 1}}"#);
    let jobs: Vec<String> = (0..1_000).map(job).collect();
    format!(
        r#"{{"kind": "scenario", "resources": ["cpu"], "servers": [{{"name": "s", "capacity": {{"cpu": 1}}}}],
            "policy": {{}}, "users": [{{"name": "u", "demand": {{"cpu": 1}}, "jobs": [{}]}}], "horizon": 5000000}}"#,
        jobs.join(",")
    )
}

/// Everybody may run everywhere.
fn square(size: usize) -> String {
    problem(size, size)
}

/// Users with demands of two resources on classes with capacities of both.
fn problem(users: usize, classes: usize) -> String {
    let users: Vec<String> = (0..users)
        .map(|n| format!(r#"{{"name": "u{n}", "demand": {{"a": {}, "b": {}}}}}"#, n % 7 + 1, n % 11 + 1))
        .collect();
    let servers: Vec<String> = (0..classes)
        .map(|i| format!(r#"{{"name": "s{i}", "capacity": {{"a": {}, "b": {}}}}}"#, i % 13 + 1, i % 17 + 1))
        .collect();
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["a", "b"], "servers": [{}], "users": [{}]}}"#,
        servers.join(","),
        users.join(",")
    )
}
