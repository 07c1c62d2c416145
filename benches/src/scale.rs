//! Measures max-min on many classes, levels and users. Two builds of the program, and HiGHS through highspy,
//! use the same files in one run.
//!
//! The tables compare the CPU times of processes (`peers/child.py`) for `evenhand solve` in doubles and in
//! rationals, including reading and printing, and for the exact optimum with its certificate, in which every
//! claim is verified. The builds take turns. A run that exceeds the limit ends the measurement of its
//! question.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use evenhand_problem::Problem;
use serde_json::{Value, json};

use crate::constrained::{Eligibility, Shape};
use crate::growth::{Outcome, field, run, write_problem};
use crate::peers::Scripts;
use crate::table::{markdown, median, seconds};

mod intervals;

/// If a round of an instance takes more CPU seconds than this number, no further round starts.
const LONG: f64 = 10.0;
/// The limit on the wall time of a process as a multiple of its CPU limit. It is larger because other
/// processes share the machine.
pub(crate) const PATIENCE: f64 = 20.0;

/// The settings of the measurements.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The program of this build.
    pub now: PathBuf,
    /// The program of an earlier build. `None` if only one build is measured.
    pub before: Option<PathBuf>,
    /// The folder for problems.
    pub folder: PathBuf,
    /// The seconds of CPU time after which a process is ended.
    pub limit: u32,
    /// The number of rounds over all questions of an instance.
    pub passes: usize,
    /// The seed of the instances.
    pub seed: u64,
    /// Only instances whose names contain this text are measured.
    pub only: String,
    /// True if HiGHS is measured too, through highspy.
    pub highspy: bool,
}

/// The targets of an instance: for doubles, and for exact numbers with the certificate.
#[derive(Debug, Clone, Copy)]
enum Needed {
    Seconds(f64, f64),
    Times(f64, f64),
}

/// An instance and its targets.
struct Row {
    shape: Shape,
    needed: Needed,
    /// True if proven intervals are accepted as an answer.
    intervals: bool,
}

fn rows() -> Vec<Row> {
    use Eligibility::{Attributes, Everywhere, Few, Pools};
    use Needed::{Seconds, Times};
    [
        (400, 30, Few(1, 3), Seconds(0.3, 0.5), false),
        (1_000, 100, Everywhere, Times(10.0, 7.0), false),
        (1_000, 300, Attributes, Times(6.0, 5.0), false),
        (1_000, 1_000, Few(5, 20), Times(4.0, 3.0), false),
        (2_000, 1_000, Pools, Times(8.0, 20.0), false),
        (100_000, 10, Everywhere, Times(4.0, 3.0), false),
        (10_000, 1_000, Few(5, 20), Seconds(35.0, 70.0), true),
        (1_000, 1_000, Everywhere, Seconds(15.0, 40.0), true),
    ]
    .into_iter()
    .map(|(users, classes, eligibility, needed, intervals)| Row {
        shape: Shape::new(users, classes, eligibility),
        needed,
        intervals,
    })
    .collect()
}

/// A process that is measured, and its results.
struct Question {
    arguments: Vec<String>,
    program: PathBuf,
    outcomes: Vec<Outcome>,
}

impl Question {
    fn new(program: &Path, arguments: &[&str], file: &Path) -> Self {
        let mut arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        arguments.push(file.to_string_lossy().into_owned());
        Self { program: program.to_owned(), arguments, outcomes: Vec::new() }
    }

    /// Runs the process again. Does nothing if an earlier run has failed.
    fn ask(&mut self, settings: &Settings, scripts: &Scripts) -> f64 {
        if self.outcomes.last().is_some_and(|last| cpu(last).is_none()) {
            return 0.0;
        }
        let outcome = child(scripts, settings.limit, &self.program, &self.arguments);
        let taken = field(&outcome, "cpu").unwrap_or(0.0);
        self.outcomes.push(outcome);
        taken
    }

    /// Returns the median of the CPU times. Returns `None` if a run failed.
    fn cpu(&self) -> Option<f64> {
        let times: Option<Vec<f64>> = self.outcomes.iter().map(cpu).collect();
        median(&times?)
    }

    fn show(&self) -> String {
        match (self.cpu(), self.outcomes.last()) {
            (Some(time), _) => seconds(time),
            (None, None) => "–".to_owned(),
            (None, Some(Ok(line))) if line["over"].is_null() => format!("fails ({})", line["status"]),
            (None, Some(Ok(line))) => format!("over {} s", line["over"]),
            (None, Some(Err(why))) => why.clone(),
        }
    }

    fn peak_mib(&self) -> Option<f64> {
        self.outcomes.iter().filter_map(|outcome| field(outcome, "peak_mib")).max_by(f64::total_cmp)
    }
}

/// Returns the CPU time of a process. Returns `None` if the process failed.
fn cpu(outcome: &Outcome) -> Option<f64> {
    (field(outcome, "status") == Some(0.0)).then(|| field(outcome, "cpu")).flatten()
}

/// Runs a program through `peers/child.py`.
pub(crate) fn child(scripts: &Scripts, limit: u32, program: &Path, arguments: &[String]) -> Outcome {
    let mut command = scripts.command("child.py");
    command.arg(limit.to_string()).arg(program).args(arguments);
    run(command, f64::from(limit) * PATIENCE)
}

/// Returns the tables. Each line of numbers is also passed to `keep`.
///
/// # Errors
/// If a problem cannot be written, or the generated numbers are not valid.
pub fn tables(settings: &Settings, scripts: &Scripts, keep: &mut dyn FnMut(Value)) -> Result<String, String> {
    let mut cells = Vec::new();
    let mut intervals = Vec::new();
    for row in rows().iter().filter(|row| row.shape.name().contains(&settings.only)) {
        let name = row.shape.name();
        eprintln!("scale: {name}");
        let problem = row.shape.problem(settings.seed).map_err(|error| error.to_string())?;
        let file = file(settings, &name, &problem)?;
        cells.push(measured(row, &name, &file, settings, scripts, keep));
        if row.intervals {
            intervals.push(intervals::row(&name, &file, settings, scripts, keep));
        }
    }
    let head = [
        "users x classes",
        "before, float",
        "now",
        "times",
        "before, exact",
        "now",
        "with certificate",
        "times",
        "needed, float / certificate",
        "MiB",
        "highspy",
    ];
    let mut text = markdown(&head, &cells, 1);
    if !intervals.is_empty() {
        text += "\nProven intervals (`--seconds 0`):\n\n";
        text += &markdown(intervals::HEAD, &intervals, 1);
    }
    Ok(text)
}

fn file(settings: &Settings, name: &str, problem: &Problem) -> Result<PathBuf, String> {
    fs::create_dir_all(&settings.folder)
        .map_err(|error| format!("{}: {error}", settings.folder.display()))?;
    let path = settings.folder.join(format!("scale-{}.json", name.replace([' ', ',', '%'], "-")));
    write_problem(problem, &path)?;
    Ok(path)
}

fn measured(
    row: &Row,
    name: &str,
    file: &Path,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Vec<String> {
    let solve =
        |program: &Path, arithmetic: &str| Question::new(program, &["solve", "-m", "drfh", arithmetic], file);
    let prove = ["measure", "proven", "--repetitions", "1"];
    let own = std::env::current_exe().unwrap_or_default();
    let before = settings.before.as_deref();
    let mut questions: Vec<(&str, Question)> = Vec::new();
    questions.extend(before.map(|program| ("before, float", solve(program, "--float"))));
    questions.push(("now, float", solve(&settings.now, "--float")));
    questions.extend(before.map(|program| ("before, exact", solve(program, "--exact"))));
    questions.push(("now, exact", solve(&settings.now, "--exact")));
    questions.push(("now, with certificate", Question::new(&own, &prove, file)));
    for _ in 0..settings.passes {
        let mut taken = 0.0;
        for (what, question) in &mut questions {
            eprintln!("scale: {name}: {what}");
            taken += question.ask(settings, scripts);
        }
        if taken > LONG {
            break;
        }
    }
    for (what, question) in &questions {
        let lines: Vec<&Value> =
            question.outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        keep(json!({"instance": name, "question": what, "cpu_median": question.cpu(), "runs": lines}));
    }
    let of = |what: &str| questions.iter().find(|(name, _)| *name == what).map(|(_, question)| question);
    let show = |what: &str| of(what).map_or("–".to_owned(), Question::show);
    let times = |above: &str, below: &str| {
        let ratio = of(above).and_then(Question::cpu).zip(of(below).and_then(Question::cpu));
        ratio.map_or("–".to_owned(), |(above, below)| format!("{:.1}", above / below))
    };
    let most = questions.iter().filter(|(what, _)| what.starts_with("now"));
    let most = most.filter_map(|(_, question)| question.peak_mib()).max_by(f64::total_cmp);
    let needed = match row.needed {
        Needed::Seconds(float, exact) => format!("{float} s / {exact} s"),
        Needed::Times(float, exact) => format!("{float} / {exact} times"),
    };
    vec![
        name.to_owned(),
        show("before, float"),
        show("now, float"),
        times("before, float", "now, float"),
        show("before, exact"),
        show("now, exact"),
        show("now, with certificate"),
        times("before, exact", "now, with certificate"),
        needed,
        most.map_or("–".to_owned(), |mib| format!("{mib:.0}")),
        if settings.highspy { highspy(name, file, settings, scripts, keep) } else { "–".to_owned() },
    ]
}

/// Runs all rounds in HiGHS with a warm model. Returns the CPU seconds by variant, without the time for
/// reading. The limit applies to the wall time.
fn highspy(
    name: &str,
    file: &Path,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> String {
    let cell = |variant: &str| {
        eprintln!("scale: {name}: highspy {variant}");
        let mut command: Command = scripts.command("drfh_highspy.py");
        command.arg(file).args(["--variant", variant, "--repetitions", "1"]);
        let outcome = run(command, f64::from(settings.limit));
        let text = match &outcome {
            Ok(line) => {
                keep(json!({"instance": name, "question": format!("highspy {variant}"), "line": line}));
                field(&outcome, "cpu_median").map_or("–".to_owned(), seconds)
            }
            Err(why) => why.clone(),
        };
        format!("{variant} {text}")
    };
    ["default", "primal", "ipm"].map(cell).join(", ")
}
