//! A harness that runs the program in a temporary folder.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use evenhand::exact::Axiom;
use evenhand::mechanisms::guarantees::Guarantee;
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::format::Source;
use evenhand::problem::{Allocation, Arithmetic};
use serde_json::Value;

/// The problem of DRFH, Figure 1: each user gets 10 tasks and the dominant share 5/7.
pub const FIGURE_1: &str = r#"{
  "kind": "allocation-problem",
  "resources": ["cpu", "memory"],
  "servers": [{"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
              {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}}],
  "users": [{"name": "user 1", "demand": {"cpu": 0.2, "memory": 1}},
            {"name": "user 2", "demand": {"cpu": 1, "memory": "1/5"}}]
}"#;

/// The problem of [`FIGURE_1`] with other spellings of all numbers and defaults, and with the fields in
/// another order.
pub const FIGURE_1_RESPELLED: &str = r#"{"users": [
    {"demand": {"memory": "1.0", "cpu": "1/5"}, "name": "user 1", "weight": 1.0},
    {"demand": {"memory": 2e-1, "cpu": "2/2"}, "name": "user 2"}],
  "servers": [{"capacity": {"memory": 12.00, "cpu": "4/2"}, "name": "high-memory", "count": 1},
              {"capacity": {"memory": 0.2e1, "cpu": 1.2e1}, "name": "high-cpu", "count": "1"}],
  "resources": ["cpu", "memory"], "kind": "allocation-problem"}"#;

/// A problem with one server, weights and finite tasks. One user is blocked only by its own number of tasks.
pub const ONE_SERVER: &str = r#"{
  "kind": "allocation-problem",
  "resources": ["cpu", "memory"],
  "servers": [{"name": "pool", "capacity": {"cpu": 10, "memory": 20}}],
  "users": [{"name": "x", "demand": {"cpu": 1, "memory": "1/3"}},
            {"name": "y", "demand": {"cpu": "1/7", "memory": 1}, "weight": 3},
            {"name": "z", "demand": {"cpu": 0.1, "memory": 1}, "tasks": "10/3"}]
}"#;

/// A problem like that of PS-DSF, Figure 1: three classes, placement constraints, demands that depend on the
/// class, and a criterion.
pub const CONSTRAINED: &str = r#"{
  "kind": "allocation-problem",
  "resources": ["cpu", "memory", "gpu"],
  "servers": [{"name": "plain", "count": 40, "capacity": {"cpu": 16, "memory": 64}},
              {"name": "fast", "count": 7, "capacity": {"cpu": 32, "memory": 128, "gpu": 4}},
              {"name": "old", "count": 3, "capacity": {"cpu": 8, "memory": 16, "gpu": 1}}],
  "users": [
    {"name": "a", "demand": {"cpu": 1, "memory": 4}, "criterion": {"plain": 1, "fast": 2, "old": 1}},
    {"name": "b", "demand": {"cpu": 2, "memory": 3, "gpu": 1}, "weight": 2, "tasks": 20,
     "criterion": {"fast": "1/3", "old": "1/2"}},
    {"name": "c", "demand": {"cpu": "1/3", "memory": 6}, "servers": ["plain", "old"],
     "demand_on": {"old": {"cpu": "1/2", "memory": 6}}, "criterion": {"plain": 1, "old": 1}},
    {"name": "d", "demand": {"cpu": 3, "memory": 1}, "weight": "1/2",
     "criterion": {"plain": 1, "fast": 1, "old": 1}}]
}"#;

/// Returns the mechanisms that solve a problem without further options.
pub fn applicable(problem: &str) -> impl Iterator<Item = &'static Mechanism> {
    let problem = Source { name: "problem.json", text: problem }.problem().unwrap();
    let applies = move |of: &&Mechanism| of.allocate(&problem, Arithmetic::Float).is_ok();
    registry::ALL.iter().copied().filter(applies)
}

/// Returns the applicable mechanisms whose answers are optima of linear programmes. These are the mechanisms
/// with the axiom max-min, and the mechanisms without an axiom.
pub fn of_programmes(problem: &str) -> Vec<&'static str> {
    let axiom = |of: &Mechanism| (of.axiom)(&Allocation::default()).map(|(axiom, _)| axiom);
    let is_linear = |of: &&Mechanism| matches!(axiom(of), None | Some(Axiom::MaxMin));
    applicable(problem).filter(is_linear).map(|of| of.info.id).collect()
}

/// Returns `true` if a mechanism is proven to satisfy an axiom, at least on some problems.
pub fn is_proven(mechanism: &str, axiom: Axiom) -> bool {
    matches!(registry::find(mechanism).unwrap().guarantee(axiom), Guarantee::When(_))
}

/// Returns the mechanisms of [`of_programmes`] whose answers are Pareto optimal.
pub fn efficient(problem: &str) -> Vec<&'static str> {
    let all = of_programmes(problem).into_iter();
    all.filter(|mechanism| is_proven(mechanism, Axiom::ParetoOptimal)).collect()
}

/// The result of a run of the program.
#[derive(Debug)]
pub struct Output {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// Parses standard output as one JSON document, and returns it.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the first line on standard error.
    pub fn error_line(&self) -> &str {
        self.stderr.lines().next().unwrap_or_default()
    }

    #[track_caller]
    pub fn ends_with(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Asserts that the program ends without a verdict. Standard output must be empty, and standard error
    /// must begin with one error line.
    #[track_caller]
    pub fn fails(self, status: i32) -> Self {
        let output = self.ends_with(status);
        assert_eq!(output.stdout, "", "stdout of a failure");
        let stderr = &output.stderr;
        assert!(output.error_line().starts_with("error: "), "{stderr}");
        assert!(stderr.ends_with('\n'), "{stderr}");
        assert_eq!(stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{stderr}");
        assert!(!stderr.contains('\u{1b}'), "colours where no terminal is: {stderr:?}");
        output
    }

    /// Asserts that the program fails, and that the first line of its message contains `message`.
    #[track_caller]
    pub fn fails_with(self, status: i32, message: &str) -> Self {
        let output = self.fails(status);
        assert!(output.error_line().contains(message), "`{message}` is not in `{}`", output.error_line());
        output
    }
}

/// A folder in which the program runs, so that messages contain the same file names as the tests.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a folder that contains `problem.json`.
    pub fn with(problem: &str) -> Self {
        let folder = Self::new();
        folder.write("problem.json", problem);
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names of all files, including hidden files.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evenhand"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Output {
        finish(self.command(arguments), b"", Duration::from_secs(120))
    }

    pub fn run_with(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        finish(self.command(arguments), stdin.as_ref(), Duration::from_secs(120))
    }

    /// Solves `problem.json`, and writes the allocation to `file`.
    #[track_caller]
    pub fn solve(&self, mechanism: &str, exact: bool, file: &str) -> Output {
        let mut arguments = vec!["solve", "problem.json", "--mechanism", mechanism, "-o", file];
        arguments.push(if exact { "--exact" } else { "--float" });
        self.run(&arguments).ends_with(0)
    }
}

/// Runs a command until it ends. Panics if it takes longer than `limit`.
#[track_caller]
pub fn finish(mut command: Command, stdin: &[u8], limit: Duration) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    // The program may end without reading its input.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let stdout = drain(child.stdout.take().unwrap());
    let stderr = drain(child.stderr.take().unwrap());
    let status = wait(&mut child, limit);
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Output { status, stdout: text(stdout.join().unwrap()), stderr: text(stderr.join().unwrap()) }
}

/// Waits for the process to end, and returns its exit status. Panics if it takes longer than `limit`.
#[track_caller]
pub fn wait(child: &mut Child, limit: Duration) -> i32 {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().expect("ended by itself, not by a signal");
        }
        if started.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("not done after {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
