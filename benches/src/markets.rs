//! Time-shared classes as a linear Fisher market. Exact answers of `ps-dsf-tdm` are compared with price
//! discovery by best responses, whose answers are correct to two or three digits.
//!
//! The instances are drawn as follows. User `n` runs `a_nk` tasks in a unit of time of class `k`. These
//! numbers have six random digits, between a tenth of the best number of the class and the best number.
//! Better classes are scarcer, and class `k` has `R_k` units of time. All classes together have about a tenth
//! of a unit for each user. Weights are 1, and tasks are unlimited.

use std::path::Path;
use std::process::Command;

use evenhand_mechanisms::registry;
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use serde_json::Value;

use crate::instances::Random;
use crate::machine::Clock;
use crate::table::{markdown, seconds};

/// The numbers of users and classes in ascending order.
pub const SIZES: &[(usize, usize)] =
    &[(1_000, 50), (10_000, 10), (10_000, 50), (100_000, 4), (100_000, 10), (1_000_000, 4), (1_000_000, 10)];

/// Returns an instance.
///
/// # Errors
/// Never, because the generated numbers are valid.
pub fn market(n_users: usize, n_classes: usize, seed: u64) -> Result<Problem, String> {
    let mut random = Random::new(seed, (n_users * n_classes) as u64);
    let names: Vec<String> = (0..n_classes).map(|k| format!("c{k}")).collect();
    let best = |k: usize| 300_000 + 700_000 * k as u64 / (n_classes as u64 - 1).max(1);
    let units: Vec<u64> = (0..n_classes)
        .map(|_| (random.between(400, 1600) * n_users as u64 / (10_000 * n_classes as u64)).max(1))
        .collect();
    let servers =
        names.iter().map(|name| ServerSpec { name: name.clone(), ..ServerSpec::default() }).collect();
    let users = (0..n_users).map(|n| {
        let rate = |(k, name): (usize, &String)| {
            (name.clone(), Rational::from(random.between(100_000, best(k)) * units[k]))
        };
        let gamma = names.iter().enumerate().map(rate).collect();
        UserSpec { name: format!("u{n}"), gamma, servers: Some(names.clone()), ..UserSpec::default() }
    });
    let users = users.collect();
    let name = format!("market-{n_users}-{n_classes}");
    let spec = ProblemSpec { name, resources: vec!["time".to_owned()], servers, users };
    Problem::new(spec).map_err(|error| error.to_string())
}

/// Returns a table of the sizes with at most `most_users` users. If there is a Python interpreter, the peer
/// in `scripts` runs on the same instances.
///
/// # Errors
/// If an instance has no exact answer, or a file cannot be written.
pub fn table(most_users: usize, seed: u64, scripts: &Path, python: Option<&Path>) -> Result<String, String> {
    let mechanism = registry::find("ps-dsf-tdm").ok_or("there is no ps-dsf-tdm")?;
    let mut rows = Vec::new();
    for &(n_users, n_classes) in SIZES.iter().filter(|(n_users, _)| *n_users <= most_users) {
        let problem = market(n_users, n_classes, seed)?;
        let start = Clock::now();
        let outcome = mechanism.allocate(&problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
        let (wall, cpu) = start.elapsed();
        let totals =
            outcome.allocation.tasks.iter().map(|list| list.iter().map(|(_, x)| x).sum::<Rational>());
        let totals: Vec<f64> = totals.map(|total| total.to_f64()).collect();
        let peer = match python {
            Some(python) => discovered(&problem, &totals, scripts, python)?,
            None => ["".to_owned(), "".to_owned()],
        };
        let steps = outcome.findings.iterations.unwrap_or_default();
        let [time, error] = peer;
        rows.push(vec![
            format!("{n_users} x {n_classes}"),
            steps.to_string(),
            seconds(cpu.unwrap_or(wall)),
            time,
            error,
        ]);
    }
    let head =
        ["users x classes", "Newton steps", "exact, CPU", "price discovery, CPU", "its error in tasks"];
    Ok(markdown(&head, &rows, 1))
}

/// Returns the CPU time of the peer, and the largest relative error of a user's number of tasks.
fn discovered(
    problem: &Problem,
    totals: &[f64],
    scripts: &Path,
    python: &Path,
) -> Result<[String; 2], String> {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("{}-{}.json", problem.name(), std::process::id()));
    let text = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::write(&file, problem_to_json(problem)).map_err(text)?;
    let output = Command::new(python).arg(scripts.join("market.py")).arg(&file).output().map_err(text)?;
    std::fs::remove_file(&file).map_err(text)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let line: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let tasks = line["tasks"].as_array().ok_or("the peer states no tasks")?;
    let errors = tasks.iter().zip(totals).map(|(x, right)| (x.as_f64().unwrap_or(0.0) / right - 1.0).abs());
    let worst = errors.fold(0.0, f64::max);
    Ok([seconds(line["cpu"].as_f64().unwrap_or(f64::NAN)), format!("{worst:.0e}")])
}
