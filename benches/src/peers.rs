//! Compares the engine with the programs that people would use instead, on the same files in one run.
//!
//! Each pass runs all programs in turn, so that a disturbance of the machine affects all of them. The median
//! is over all runs of all passes. Every program uses one thread. A missing peer is reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use crate::growth::{Outcome, Settings, field, measured, run, with, write_problem};
use crate::instances::{Tasks, google};
use crate::measure::Question;
use crate::table::{markdown, median, seconds};

/// The largest relative difference at which shares and levels of solvers in doubles agree with those of the
/// engine.
const AGREEMENT: f64 = 1e-6;

/// A question that several programs answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// The weighted lexicographic optimum with finite tasks.
    Lexicographic,
    /// The largest common level with unlimited tasks, which is a single linear programme.
    OneShot,
    /// Exact envy-freeness of the exact lexicographic optimum.
    EnvyFree,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Lexicographic => "lexicographic",
            Self::OneShot => "one-shot",
            Self::EnvyFree => "envy-free",
        }
    }
}

/// A program for a question.
struct Contender {
    task: Task,
    name: &'static str,
    how: How,
}

enum How {
    Ours(Question),
    /// A Python script and its arguments.
    Python(&'static str, &'static [&'static str]),
}

fn contenders(users: usize) -> Vec<Contender> {
    use How::{Ours, Python};
    use Task::{EnvyFree, Lexicographic, OneShot};
    let all = [
        (Lexicographic, "evenhand float", Ours(Question::Float)),
        (Lexicographic, "evenhand exact", Ours(Question::Exact)),
        (Lexicographic, "evenhand exact + certificate", Ours(Question::Proven)),
        (Lexicographic, "highspy default", Python("drfh_highspy.py", &["--variant", "default"])),
        (Lexicographic, "highspy primal", Python("drfh_highspy.py", &["--variant", "primal"])),
        (Lexicographic, "highspy ipm", Python("drfh_highspy.py", &["--variant", "ipm"])),
        (Lexicographic, "cvxpy parameters", Python("drfh_cvxpy.py", &["--variant", "parameters"])),
        (Lexicographic, "cvxpy rebuild", Python("drfh_cvxpy.py", &["--variant", "rebuild"])),
        (Lexicographic, "cvxpy primal", Python("drfh_cvxpy.py", &["--variant", "primal"])),
        (OneShot, "evenhand float", Ours(Question::Float)),
        (OneShot, "evenhand exact", Ours(Question::Exact)),
        (OneShot, "evenhand exact + certificate", Ours(Question::Proven)),
        (OneShot, "highspy default", Python("drfh_highspy.py", &["--mode", "one"])),
        (OneShot, "highspy primal", Python("drfh_highspy.py", &["--mode", "one", "--variant", "primal"])),
        (OneShot, "highspy ipm", Python("drfh_highspy.py", &["--mode", "one", "--variant", "ipm"])),
        (OneShot, "QSopt_ex", Python("drfh_exact.py", &[])),
        (OneShot, "glpsol --exact", Python("drfh_exact.py", &["--solver", "glpsol"])),
        (EnvyFree, "evenhand", Ours(Question::Envy)),
        (EnvyFree, "Python integers", Python("envy.py", &[])),
    ];
    let slow = |name: &str| name == "glpsol --exact" && users > 300;
    let kept = all.into_iter().filter(|(_, name, _)| !slow(name));
    kept.map(|(task, name, how)| Contender { task, name, how }).collect()
}

/// The files of a size.
struct Files {
    finite: PathBuf,
    unlimited: PathBuf,
    allocation: PathBuf,
    /// The sum of the weights. A level times this sum is the sum of the shares.
    weights: f64,
}

impl Files {
    fn new(users: usize, folder: &Path) -> Result<Self, String> {
        let path = |kind: &str| folder.join(format!("google-{users}{kind}.json"));
        let make = |tasks: Tasks, path: &Path| -> Result<Problem, String> {
            let problem = google(users, 1, tasks).map_err(|error| error.to_string())?;
            write_problem(&problem, path)?;
            Ok(problem)
        };
        let (finite, unlimited) = (path(""), path("-unlimited"));
        let problem = make(Tasks::Finite, &finite)?;
        make(Tasks::Unlimited, &unlimited)?;
        let weights: Rational = problem.users().iter().map(|user| user.weight()).sum();
        Ok(Self { finite, unlimited, allocation: path("-allocation"), weights: weights.to_f64() })
    }
}

/// The locations of the Python scripts and of their environment.
#[derive(Debug, Clone)]
pub struct Scripts {
    /// The Python interpreter.
    pub python: PathBuf,
    /// The folder of the scripts.
    pub folder: PathBuf,
}

impl Scripts {
    /// Returns a command that runs a script.
    #[must_use]
    pub fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.env("PYTHONDONTWRITEBYTECODE", "1").arg(self.folder.join(script));
        command
    }

    fn missing(&self) -> Option<String> {
        let why = || format!("{} is not there: run benches/peers/setup.sh", self.python.display());
        (!self.python.exists()).then(why)
    }
}

/// All runs of a contender.
struct Row {
    task: Task,
    name: &'static str,
    line: Outcome,
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Row {
    fn median(&self) -> Option<f64> {
        median(&self.wall)
    }
}

/// Runs all programs for `users` users. Returns the table and the values for the targets as Markdown.
///
/// # Errors
/// If a file cannot be written, or two programs give different answers.
pub fn compare(
    users: usize,
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let files = Files::new(users, &settings.folder)?;
    let allocation: [&Path; 2] = [Path::new("--output"), &files.allocation];
    measured(Question::Exact, &files.finite, &allocation, settings)?;
    let mut rows: Vec<Row> = contenders(users)
        .iter()
        .map(|c| Row { task: c.task, name: c.name, line: Err(String::new()), wall: vec![], cpu: vec![] })
        .collect();
    for pass in 0..passes {
        for (row, contender) in rows.iter_mut().zip(contenders(users)) {
            if pass > 0 && row.line.is_err() {
                continue;
            }
            eprintln!("peers: {users} users, pass {}, {}, {}", pass + 1, row.task.name(), row.name);
            row.line = contest(&contender, &files, settings, scripts);
            if let Ok(line) = &row.line {
                let runs = |name: &str| line[name].as_array().into_iter().flatten().filter_map(Value::as_f64);
                row.wall.extend(runs("seconds"));
                row.cpu.extend(field(&row.line, "cpu_mean").or(field(&row.line, "cpu_median")));
            }
        }
    }
    for row in &rows {
        if let Ok(line) = &row.line {
            let line = with(line, "peer", json!(row.name));
            let line = with(&line, "question", json!(row.task.name()));
            let line = with(&line, "seconds", json!(row.wall));
            keep(with(&line, "median", json!(row.median())));
        }
    }
    agree(&rows, files.weights)?;
    Ok(format!("### {users} users\n\n{}\n{}", show(&rows), targets(users, &rows)))
}

fn contest(contender: &Contender, files: &Files, settings: &Settings, scripts: &Scripts) -> Outcome {
    let problem = if contender.task == Task::OneShot { &files.unlimited } else { &files.finite };
    match contender.how {
        How::Ours(question) => {
            let allocation: [&Path; 2] = [Path::new("--allocation"), &files.allocation];
            let arguments: &[&Path] = if contender.task == Task::EnvyFree { &allocation } else { &[] };
            measured(question, problem, arguments, settings)
        }
        How::Python(script, arguments) => {
            if let Some(why) = scripts.missing() {
                return Err(why);
            }
            let mut command = scripts.command(script);
            command.arg(problem);
            if contender.task == Task::EnvyFree {
                command.arg(&files.allocation);
            }
            // A single run of an exact solver takes several seconds.
            let repetitions =
                settings.repetitions.min(if contender.name.starts_with("glpsol") { 2 } else { usize::MAX });
            command.args(arguments).arg("--repetitions").arg(repetitions.to_string());
            run(command, settings.limit)
        }
    }
}

/// Checks that all answers to the same question agree.
fn agree(rows: &[Row], weights: f64) -> Result<(), String> {
    let mut known: BTreeMap<Task, (&str, f64)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.task != Task::EnvyFree) {
        let level = field(&row.line, "objective").map(|level| level * weights);
        let Some(shares) = field(&row.line, "shares").or(level) else { continue };
        let (first, expected) = *known.entry(row.task).or_insert((row.name, shares));
        // The program glpsol prints only six digits.
        let tolerance = if row.name.starts_with("glpsol") { 1e-4 } else { AGREEMENT };
        if (shares / expected - 1.0).abs() > tolerance {
            return Err(format!("{}: {first} has {expected}, {} has {shares}", row.task.name(), row.name));
        }
    }
    let mut margins = rows.iter().filter(|row| row.task == Task::EnvyFree).filter_map(|row| {
        let line = row.line.as_ref().ok()?;
        Some((line["holds"].clone(), line["margin"].clone()))
    });
    match (margins.next(), margins.next()) {
        (Some(ours), Some(theirs)) if ours != theirs => {
            Err(format!("envy-free: {ours:?} against {theirs:?}"))
        }
        _ => Ok(()),
    }
}

fn show(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        let first = rows.iter().find(|other| other.task == row.task);
        let ratio = row.median().zip(first.and_then(Row::median)).map(|(own, first)| own / first);
        let time = match &row.line {
            Ok(_) => row.median().map_or("–".to_owned(), seconds),
            Err(why) => why.clone(),
        };
        vec![
            row.task.name().to_owned(),
            row.name.to_owned(),
            time,
            median(&row.cpu).map_or("–".to_owned(), seconds),
            field(&row.line, "peak_mib").map_or("–".to_owned(), |mib| format!("{mib:.0}")),
            ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
        ]
    });
    let head = ["question", "program", "median", "CPU", "MiB", "times the first"];
    markdown(&head, &cells.collect::<Vec<_>>(), 2)
}

/// Returns a table of the ratios to other programs: the target of each ratio and the value of this run.
fn targets(users: usize, rows: &[Row]) -> String {
    let of = |task: Task, name: &str| {
        let matching = rows.iter().filter(|row| row.task == task && row.name.starts_with(name));
        matching.filter_map(Row::median).min_by(f64::total_cmp)
    };
    let exactly = |task: Task, name: &str| {
        rows.iter().find(|row| row.task == task && row.name == name).and_then(Row::median)
    };
    let lex = exactly(Task::Lexicographic, "evenhand float");
    let one = exactly(Task::OneShot, "evenhand float");
    let proven = exactly(Task::OneShot, "evenhand exact + certificate");
    let asked = [
        ("lexicographic: best highspy / float", "> 1 at 900", of(Task::Lexicographic, "highspy"), lex),
        ("lexicographic: best cvxpy / float", ">= 3 at 900", of(Task::Lexicographic, "cvxpy"), lex),
        ("one-shot: exact + certificate / float", "<= 1.25 at 300", proven, one),
        ("one-shot: exact + certificate / best highspy", "", proven, of(Task::OneShot, "highspy")),
        ("one-shot: QSopt_ex / exact + certificate", ">= 10 at 900", of(Task::OneShot, "QSopt_ex"), proven),
        ("one-shot: glpsol --exact / exact + certificate", "", of(Task::OneShot, "glpsol"), proven),
        (
            "envy-free: Python integers / ours",
            ">= 50 at 900",
            of(Task::EnvyFree, "Python"),
            of(Task::EnvyFree, "evenhand"),
        ),
    ];
    let rows: Vec<Vec<String>> = asked
        .into_iter()
        .map(|(what, asked, above, below)| {
            let reached =
                above.zip(below).map_or("not measured".to_owned(), |(a, b)| format!("{:.2}", a / b));
            vec![what.to_owned(), asked.to_owned(), reached]
        })
        .collect();
    markdown(&["ratio", "asked for", &format!("{users} users")], &rows, 2)
}
