//! Runs programs in turn, so that a disturbance of the machine affects all of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::growth::{Outcome, field, run, with};
use crate::table::{median, seconds};

/// A program with its arguments.
pub struct Contender {
    /// The name in tables.
    pub name: String,
    /// The file for its answer.
    pub answer: PathBuf,
    /// A function that creates the command.
    pub command: Box<dyn Fn() -> Command>,
}

impl Contender {
    /// Returns a contender that writes its answer to a file in `folder`. The path of this file is passed to
    /// `command`.
    pub fn new(name: &str, folder: &Path, command: impl Fn(&Path) -> Command + 'static) -> Self {
        let file: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let answer = folder.join(format!("answer-{file}"));
        let told = answer.clone();
        Self { name: name.to_owned(), answer, command: Box::new(move || command(&told)) }
    }
}

/// Returns a command that runs this program with the given number of threads.
#[must_use]
pub fn own(arguments: &[&str], file: &Path, threads: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.args(arguments).arg(file).env("RAYON_NUM_THREADS", threads.to_string());
    command
}

/// All runs of a contender.
#[derive(Debug)]
pub struct Row {
    /// The name in tables.
    pub name: String,
    /// The last line of the program, or the reason why there is no line.
    pub line: Outcome,
    /// The wall seconds of every run.
    pub wall: Vec<f64>,
    /// The CPU seconds of each process.
    pub cpu: Vec<f64>,
}

impl Row {
    /// Returns the median of the wall times of all runs.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        median(&self.wall)
    }

    /// Returns the median of the CPU times of the processes.
    #[must_use]
    pub fn cpu(&self) -> Option<f64> {
        median(&self.cpu)
    }

    /// Returns the median of the wall times as a cell of a table. If there is no time, returns the reason.
    #[must_use]
    pub fn time(&self) -> String {
        match &self.line {
            Ok(line) => {
                let gave_up = if line["status"] == "limit" { ", then gave up" } else { "" };
                self.median().map_or("–".to_owned(), |time| micro(time) + gave_up)
            }
            Err(why) if why.starts_with("more than") => why.clone(),
            Err(_) => "failed".to_owned(),
        }
    }

    /// Returns the last line with the times of all runs.
    #[must_use]
    pub fn kept(&self, table: &str) -> Option<Value> {
        let line = self.line.as_ref().ok()?;
        let line = with(line, "table", json!(table));
        let line = with(&line, "contender", json!(self.name));
        let line = with(&line, "runs", json!(self.wall.len()));
        let mut sorted = self.wall.clone();
        sorted.sort_by(f64::total_cmp);
        let part = |p: usize| sorted.get((sorted.len().saturating_sub(1)) * p / 4).copied();
        let line = with(&line, "seconds", json!((0..=4).map(part).collect::<Vec<_>>()));
        let line = with(&line, "cpu_median", json!(self.cpu()));
        Some(with(&line, "median", json!(self.median())))
    }
}

/// Runs all contenders `passes` times in turn. A contender that has failed is not run again. Answers of
/// earlier races are removed.
pub fn race(title: &str, contenders: &[Contender], passes: usize, limit: f64) -> Vec<Row> {
    let row =
        |c: &Contender| Row { name: c.name.clone(), line: Err(String::new()), wall: vec![], cpu: vec![] };
    let mut rows: Vec<Row> = contenders.iter().map(row).collect();
    for contender in contenders {
        let _ = std::fs::remove_file(&contender.answer);
    }
    for pass in 0..passes {
        for (row, contender) in rows.iter_mut().zip(contenders) {
            if pass > 0 && row.line.is_err() {
                continue;
            }
            eprintln!("{title}: pass {}, {}", pass + 1, row.name);
            row.line = run((contender.command)(), limit);
            if let Err(why) = &row.line {
                eprintln!("{title}: {}: {why}", row.name);
            }
            if let Ok(line) = &row.line {
                row.wall.extend(line["seconds"].as_array().into_iter().flatten().filter_map(Value::as_f64));
                row.cpu.extend(field(&row.line, "cpu_mean").or(field(&row.line, "cpu_median")));
            }
        }
    }
    rows
}

/// Returns seconds as text. Times below a millisecond are in microseconds.
#[must_use]
pub fn micro(value: f64) -> String {
    if value < 1e-3 { format!("{:.1} µs", value * 1e6) } else { seconds(value) }
}

/// Returns the least value of all contenders whose names begin with `name`.
#[must_use]
pub fn best(rows: &[Row], name: &str, time: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    rows.iter().filter(|row| row.name.starts_with(name)).filter_map(time).min_by(f64::total_cmp)
}

/// Returns the quotient `above / below` as text.
#[must_use]
pub fn ratio(above: Option<f64>, below: Option<f64>) -> String {
    above.zip(below).map_or("–".to_owned(), |(a, b)| format!("{:.1}", a / b))
}
