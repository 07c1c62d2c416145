//! Measures how time and memory grow with the numbers of users, classes and resources.
//!
//! Each measurement is a separate process, so that its peak memory is measured separately. A process that
//! exceeds the time limit is ended, and the table states this.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io::Read, thread};

use clap::ValueEnum;
use evenhand_problem::Problem;
use evenhand_problem::format::problem_to_json;
use serde_json::{Value, json};

use crate::constrained::{Eligibility, Shape};
use crate::instances::{Tasks, general, google};
use crate::measure::Question;
use crate::table::{markdown, seconds};

/// The result of a measurement in another process: its line, or the reason why there is no line.
pub type Outcome = Result<Value, String>;

const TOO_LONG: &str = "more than";
const NO_INPUT: &str = "not measured: an earlier step has no result";

/// The settings of measurements.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder for problems, allocations and certificates.
    pub folder: PathBuf,
    /// The largest number of runs of each question.
    pub repetitions: usize,
    /// The time in seconds after which a process is ended.
    pub limit: f64,
    /// The number of threads of each process. `None` if the process decides.
    pub threads: Option<usize>,
}

/// The questions of a row. Their order matters, because later questions need the output of earlier questions.
const QUESTIONS: [Question; 7] = [
    Question::Parse,
    Question::Float,
    Question::Exact,
    Question::Proven,
    Question::Certify,
    Question::ReadCertificate,
    Question::Check,
];

/// A size of a problem.
struct Row {
    size: usize,
    problem: Problem,
}

/// The tables to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Axis {
    /// 10, 100, 1,000, 10,000 users of the Google table.
    Users,
    /// 1, 10, 100, 1,000 classes with 2 resources, 1,000 users.
    Classes,
    /// 1, 2, 4, 8 resources on 10 classes, 1,000 users.
    Resources,
    /// 2 to 200 pools of 5 classes and 10 users, and with them the levels.
    Levels,
    /// 1 to 100 of 300 classes for each of 1,000 users.
    Eligible,
    /// 10 to 1,000 classes, 5 to 20 of them for each of 1,000 users.
    Constrained,
}

impl Axis {
    /// Returns the title of the table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Users => "Users (Google table: 10 classes, 2 resources)",
            Self::Classes => "Classes (1,000 users, 2 resources)",
            Self::Resources => "Resources (1,000 users, 10 classes)",
            Self::Levels => "Levels (pools of 5 classes and 10 users, one user in twenty in two pools)",
            Self::Eligible => "Eligible classes (1,000 users, 300 classes, 3 resources)",
            Self::Constrained => "Classes with constraints (1,000 users, 5 to 20 classes each, 3 resources)",
        }
    }

    fn rows(self, at_most: usize) -> Result<Vec<Row>, String> {
        let sizes: &[usize] = match self {
            Self::Users => &[10, 100, 1000, 10_000],
            Self::Classes => &[1, 10, 100, 1000],
            Self::Resources => &[1, 2, 4, 8],
            Self::Levels => &[10, 100, 300, 1000],
            Self::Eligible => &[1, 3, 10, 30, 100],
            Self::Constrained => &[20, 100, 300, 1000],
        };
        let problem = |size: usize| match self {
            Self::Users => google(size, 1, Tasks::Finite),
            Self::Classes => general(size, 2, 1000, 1, Tasks::Finite),
            Self::Resources => general(10, size, 1000, 1, Tasks::Finite),
            Self::Levels => Shape::new(2 * size, size, Eligibility::Pools).problem(1),
            Self::Eligible => Shape::new(1000, 300, Eligibility::Few(size, size)).problem(1),
            Self::Constrained => Shape::new(1000, size, Eligibility::Few(5, 20)).problem(1),
        };
        let rows = sizes.iter().filter(|&&size| size <= at_most).map(|&size| {
            problem(size).map(|problem| Row { size, problem }).map_err(|error| error.to_string())
        });
        rows.collect()
    }

    fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}

/// Measures a table, and returns it as Markdown. Each line of numbers is also passed to `keep`.
///
/// # Errors
/// If a file cannot be written, or an answer is wrong. The table reports failures and timeouts of processes.
pub fn table(
    axis: Axis,
    at_most: usize,
    settings: &Settings,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let mut times = Vec::new();
    let mut memory = Vec::new();
    let mut notes = Vec::new();
    for row in axis.rows(at_most)? {
        let label = thousands(row.size);
        eprintln!("growth: {} = {label}", axis.name());
        let outcomes = measure_row(axis, &row, settings)?;
        for (question, outcome) in QUESTIONS.iter().zip(&outcomes) {
            match outcome {
                Ok(line) => keep(with(line, "table", json!(axis.name()))),
                Err(why) if is_told(why) => {}
                Err(why) => notes.push(format!("{label}, {}: {why}", name_of(*question))),
            }
        }
        times.push(cells(&label, &outcomes, "median", &|s| seconds(s)));
        let mut cells = cells(&label, &outcomes, "peak_mib", &|mib| format!("{mib:.0}"));
        cells.push(field(&outcomes[2], "bits").map_or("–".to_owned(), |bits| thousands(bits as usize)));
        cells.push(field(&outcomes[4], "bytes").map_or("–".to_owned(), |b| format!("{:.2}", b / 1048576.0)));
        cells.push(field(&outcomes[2], "levels").map_or("–".to_owned(), |levels| levels.to_string()));
        memory.push(cells);
    }
    let name = axis.name();
    let questions = ["parse", "float", "exact", "exact + proof", "certify", "read certificate", "check"]
        .map(str::to_owned);
    let mut head: Vec<String> = vec![name];
    head.extend(questions);
    let mut text = format!("### {}\n\nTime, median:\n\n", axis.title());
    text += &markdown(&head.iter().map(String::as_str).collect::<Vec<_>>(), &times, 0);
    head.extend(["bits", "certificate MiB", "levels"].map(str::to_owned));
    text += "\nPeak memory of the process in MiB; the widest exact number, the certificate:\n\n";
    text += &markdown(&head.iter().map(String::as_str).collect::<Vec<_>>(), &memory, 0);
    for note in notes {
        text += &format!("\n- {note}");
    }
    text.push('\n');
    Ok(text)
}

fn measure_row(axis: Axis, row: &Row, settings: &Settings) -> Result<Vec<Outcome>, String> {
    let path = |kind: &str| settings.folder.join(format!("{}-{}-{kind}.json", axis.name(), row.size));
    let (problem, allocation, certificate) = (path("problem"), path("allocation"), path("certificate"));
    for old in [&allocation, &certificate] {
        let _ = fs::remove_file(old);
    }
    write_problem(&row.problem, &problem)?;
    let mut outcomes = Vec::new();
    for question in QUESTIONS {
        let file = match question {
            Question::ReadCertificate | Question::Check => &certificate,
            _ => &problem,
        };
        let mut arguments: Vec<&Path> = vec![];
        match question {
            Question::Exact => arguments.extend([Path::new("--output"), &allocation]),
            Question::Certify => {
                let these = [Path::new("--allocation"), &allocation, Path::new("--output"), &certificate];
                arguments.extend(these);
            }
            _ => {}
        }
        outcomes.push(measured(question, file, &arguments, settings));
    }
    Ok(outcomes)
}

/// Writes `problem` to a file for use by other processes.
///
/// # Errors
/// If the file cannot be written.
pub fn write_problem(problem: &Problem, path: &Path) -> Result<(), String> {
    fs::write(path, problem_to_json(problem)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs `evenhand-benches measure`, and reads the line that it prints.
pub fn measured(question: Question, file: &Path, arguments: &[&Path], settings: &Settings) -> Outcome {
    let needed = arguments.windows(2).find(|pair| pair[0] == Path::new("--allocation")).map(|pair| pair[1]);
    if !file.exists() || needed.is_some_and(|path| !path.exists()) {
        return Err(NO_INPUT.to_owned());
    }
    run(measuring(question, file, arguments, settings), settings.limit)
}

/// Returns the command that [`measured`] runs.
#[must_use]
pub fn measuring(question: Question, file: &Path, arguments: &[&Path], settings: &Settings) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.arg("measure").arg(name_of(question)).arg(file).args(arguments);
    command.arg("--repetitions").arg(settings.repetitions.to_string());
    if let Some(threads) = settings.threads {
        command.env("RAYON_NUM_THREADS", threads.to_string());
    }
    command
}

/// Runs `command` for at most `limit` seconds, and reads the last line of its output as JSON.
pub fn run(mut command: Command, limit: f64) -> Outcome {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let readers = (collect(child.stdout.take()), collect(child.stderr.take()));
    let in_time = wait(&mut child, limit)?;
    let output = readers.0.join().unwrap_or_default();
    let complaint = readers.1.join().unwrap_or_default();
    match in_time {
        None => Err(format!("{TOO_LONG} {limit} s")),
        Some(true) => {
            let line = output.lines().last().unwrap_or_default();
            serde_json::from_str(line).map_err(|error| format!("no line of numbers: {error}"))
        }
        Some(false) => Err(complaint.lines().last().unwrap_or("failed").to_owned()),
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_string(&mut text);
        }
        text
    })
}

/// Returns `true` if the process succeeded. Returns `None` if the process had to be ended.
fn wait(child: &mut Child, limit: f64) -> Result<Option<bool>, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(Some(status.success()));
        }
        if start.elapsed().as_secs_f64() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns `true` if the table itself shows this reason.
fn is_told(why: &str) -> bool {
    why.starts_with(TOO_LONG) || why == NO_INPUT
}

fn cells(label: &str, outcomes: &[Outcome], name: &str, show: &dyn Fn(f64) -> String) -> Vec<String> {
    let mut cells = vec![label.to_owned()];
    cells.extend(outcomes.iter().map(|outcome| match outcome {
        Ok(_) => field(outcome, name).map_or("–".to_owned(), show),
        Err(why) if why.starts_with(TOO_LONG) && name == "median" => why.clone(),
        Err(_) => "–".to_owned(),
    }));
    cells
}

/// Returns a number of the line.
#[must_use]
pub fn field(outcome: &Outcome, name: &str) -> Option<f64> {
    outcome.as_ref().ok()?.get(name)?.as_f64()
}

/// Returns `line` with an additional field.
#[must_use]
pub fn with(line: &Value, name: &str, value: Value) -> Value {
    let mut line = line.clone();
    line[name] = value;
    line
}

/// Returns the name of a question on the command line.
#[must_use]
pub fn name_of(question: Question) -> String {
    question.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// Returns a number with commas between thousands.
#[must_use]
pub fn thousands(value: usize) -> String {
    if value < 1000 { value.to_string() } else { format!("{},{:03}", thousands(value / 1000), value % 1000) }
}
