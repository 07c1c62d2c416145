//! Measures how times grow with the numbers of users and classes: proportional and alpha fairness with their
//! proven gaps, exact NJC and PS-DSF, and the checks of their certificates.

use std::path::{Path, PathBuf};

use evenhand_problem::Problem;
use serde_json::{Value, json};

use super::pools::{Law, WholePool};
use crate::growth::{Outcome, Settings, field, measuring, run, thousands, with, write_problem};
use crate::instances::{Tasks, general};
use crate::measure::Question;
use crate::table::{markdown, seconds};

/// A column: its title, and the arguments of the mechanism.
struct Column {
    title: &'static str,
    arguments: &'static [&'static str],
    /// True if the check of the certificate is measured too.
    checked: bool,
}

const COLUMNS: [Column; 5] = [
    Column { title: "proportional", arguments: &["--mechanism", "proportional"], checked: false },
    Column { title: "alpha 2", arguments: &["--mechanism", "alpha", "--alpha", "2"], checked: false },
    Column { title: "alpha 1/2", arguments: &["--mechanism", "alpha", "--alpha", "1/2"], checked: false },
    Column { title: "njc exact", arguments: &["--mechanism", "njc", "--exact"], checked: true },
    Column { title: "ps-dsf-tdm exact", arguments: &["--mechanism", "ps-dsf-tdm", "--exact"], checked: true },
];

enum Axis {
    /// The number of users grows, with 10 classes and 3 resources.
    Users,
    /// The number of classes grows, with 300 users and 3 resources.
    Classes,
    /// The number of users grows on one pool of 16 resources. Each user has one task.
    Pool,
}

impl Axis {
    fn title(&self) -> &'static str {
        match self {
            Self::Users => "Users (10 classes, 3 resources)",
            Self::Classes => "Classes (300 users, 3 resources)",
            Self::Pool => "Users of one pool (16 resources)",
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Users => "cluster-users",
            Self::Classes => "cluster-classes",
            Self::Pool => "pool-users",
        }
    }

    fn sizes(&self) -> &'static [usize] {
        match self {
            Self::Users => &[10, 100, 1000, 10_000],
            Self::Classes => &[1, 3, 10, 27, 81],
            Self::Pool => &[100, 1000, 10_000, 100_000],
        }
    }

    fn problem(&self, size: usize) -> Result<Problem, String> {
        let problem = match self {
            Self::Users => general(10, 3, size, 1, Tasks::Finite),
            Self::Classes => general(size, 3, 300, 1, Tasks::Finite),
            Self::Pool => WholePool::random(Law::Mixed, size, 16, 1).problem(),
        };
        problem.map_err(|error| error.to_string())
    }
}

/// Returns all tables as Markdown.
///
/// # Errors
/// If a file cannot be written.
pub fn tables(settings: &Settings, keep: &mut dyn FnMut(Value)) -> Result<String, String> {
    let tables = [Axis::Users, Axis::Classes, Axis::Pool].map(|axis| table(&axis, settings, keep));
    tables.into_iter().collect()
}

fn table(axis: &Axis, settings: &Settings, keep: &mut dyn FnMut(Value)) -> Result<String, String> {
    let (mut times, mut rest, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for &size in axis.sizes() {
        let problem = axis.problem(size)?;
        let file = settings.folder.join(format!("{}-{size}.json", axis.name()));
        write_problem(&problem, &file)?;
        let (mut time, mut other) = (vec![thousands(size)], vec![thousands(size)]);
        for column in &COLUMNS {
            eprintln!("growth: {} = {size}, {}", axis.name(), column.title);
            let outcomes = measure(axis, size, &file, column, settings);
            for (outcome, what) in outcomes.iter().zip(["allocate", "check"]) {
                time.push(match outcome {
                    // The time of a run that reached its limit has no meaning.
                    Ok(line) if line["status"] == "limit" => "limit".to_owned(),
                    Ok(_) => field(outcome, "median").map_or("–".to_owned(), seconds),
                    Err(why) if why.starts_with("more than") => why.clone(),
                    Err(why) => {
                        notes.push(format!(
                            "{} = {}, {}, {what}: {why}",
                            axis.name(),
                            thousands(size),
                            column.title
                        ));
                        "–".to_owned()
                    }
                });
                if let Ok(line) = outcome {
                    let line = with(line, "table", json!(axis.name()));
                    keep(with(&line, "what", json!(format!("{}, {what}", column.title))));
                }
            }
            other.push(match column.arguments.contains(&"--exact") {
                true => field(&outcomes[0], "bits")
                    .map_or("–".to_owned(), |bits| format!("{} bits", thousands(bits as usize))),
                false => {
                    field(&outcomes[0], "relative_gap").map_or("–".to_owned(), |gap| format!("{gap:.1e}"))
                }
            });
            other.push(field(&outcomes[0], "peak_mib").map_or("–".to_owned(), |mib| format!("{mib:.0}")));
        }
        times.push(time);
        rest.push(other);
    }
    let head = COLUMNS.iter().flat_map(|column| match column.checked {
        true => vec![column.title, "its check"],
        false => vec![column.title],
    });
    let head: Vec<&str> = ["size"].into_iter().chain(head).collect();
    let others: Vec<&str> =
        ["size"].into_iter().chain(COLUMNS.iter().flat_map(|c| [c.title, "MiB"])).collect();
    let mut text = format!("### {}\n\nTime, median:\n\n{}", axis.title(), markdown(&head, &times, 0));
    text += "\nProven gap relative to the sum of `w_n x_n^(1 - alpha)`, or the widest exact number; peak memory:\n\n";
    text += &markdown(&others, &rest, 0);
    for note in notes {
        text += &format!("\n- {note}");
    }
    Ok(text + "\n")
}

/// Measures the allocation. If the column has a certificate, also measures its check.
fn measure(axis: &Axis, size: usize, file: &Path, column: &Column, settings: &Settings) -> Vec<Outcome> {
    let path = |kind: &str| -> PathBuf {
        settings.folder.join(format!(
            "{}-{size}-{}-{kind}.json",
            axis.name(),
            column.title.replace([' ', '/'], "-")
        ))
    };
    let (allocation, certificate) = (path("allocation"), path("certificate"));
    for old in [&allocation, &certificate] {
        let _ = std::fs::remove_file(old);
    }
    let output = |path| [Path::new("--output"), path];
    let limited = |mut command: std::process::Command| {
        command.args(["--seconds", "3"]);
        command
    };
    let mut command = limited(measuring(Question::Allocate, file, &output(&allocation), settings));
    command.args(column.arguments);
    let mut allocated = run(command, settings.limit);
    if let Ok(line) = &mut allocated
        && let Some(gap) = line["gap"].as_f64()
        && let Some(unit) = line["sum"].as_f64()
    {
        line["relative_gap"] = json!(gap / unit);
    }
    if !column.checked {
        return vec![allocated];
    }
    let checked = if allocated.is_ok() {
        let [flag, path] = output(&certificate);
        let arguments = [Path::new("--allocation"), &allocation, flag, path];
        let once = Settings { repetitions: 1, ..settings.clone() };
        run(measuring(Question::CertifyOwn, file, &arguments, &once), settings.limit).and_then(|_| {
            run(limited(measuring(Question::Check, &certificate, &[], settings)), settings.limit)
        })
    } else {
        Err("there is no allocation to check".to_owned())
    };
    vec![allocated, checked]
}
