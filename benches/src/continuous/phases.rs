//! Measures a very large number of users on one pool through the library: the time and the peak memory of
//! every step.

use std::process::Command;
use std::time::Instant;

use evenhand_exact::Instance;
use evenhand_exact::axiom::proportional::{gap, lift_prices};
use evenhand_exact::axiom::{feasible, njc};
use evenhand_ode::path::{PathSettings, PathStatus, follow};
use evenhand_ode::pool::Pool;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Rational};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::pools::{Law, WholePool};
use crate::growth::{Outcome, Settings, run as command_line, thousands, with};
use crate::machine;
use crate::measure::significant;
use crate::table::{markdown, median, seconds};

/// The factor that scales allocations down, so that they are exactly feasible. It compensates more than the
/// usual rounding errors of a usage. The reported margin shows whether it suffices.
const WITHIN: f64 = 1.0 - 2e-15;

/// The names of the steps in order.
pub const STEPS: [&str; 9] =
    ["numbers", "pool", "path", "problem", "allocation", "instance", "lift prices", "gap", "njc margin"];

struct Phases(Map<String, Value>);

impl Phases {
    fn run<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let step =
            json!({"seconds": significant(start.elapsed().as_secs_f64()), "peak_mib": machine::peak_mib()});
        self.0.insert(name.to_owned(), step);
        result
    }
}

/// Runs the steps in floating point, builds the exact problem, and proves the answer.
///
/// # Errors
/// A description of the error if a step fails.
pub fn run(law: Law, n_users: usize, n_resources: usize, seed: u64) -> Result<Value, String> {
    let mut phases = Phases(Map::new());
    let numbers = phases.run("numbers", || WholePool::random(law, n_users, n_resources, seed));
    let (requests, entitlements, caps) = numbers.in_doubles();
    let pool = phases.run("pool", || Pool::new(n_resources, requests, entitlements, caps)).map_err(text)?;
    let end = phases.run("path", || follow(&pool, &PathSettings::default()));
    drop(pool);
    if end.status != PathStatus::Solved {
        return Err(format!("the path ended with residual {:e}", end.residual));
    }
    let problem = phases.run("problem", || numbers.problem()).map_err(text)?;
    drop(numbers);
    let exact =
        |values: &[f64]| values.par_iter().map(|x| Rational::from_f64(*x)).collect::<Option<Vec<_>>>();
    let allocation = phases.run("allocation", || {
        let tasks = end.x.par_iter().map(|x| Rational::from_f64(x * WITHIN).map(|x| vec![(0, x)]));
        Some(Allocation { tasks: tasks.collect::<Option<_>>()?, ..Allocation::default() })
    });
    let allocation = allocation.ok_or("an allocation is no number")?;
    let capacity = problem.servers()[0].capacity();
    let prices: Vec<f64> = end.prices.iter().zip(capacity).map(|(price, c)| price / to_f64(c)).collect();
    let (row_prices, user_prices) =
        exact(&prices).zip(exact(&end.user_prices)).ok_or("a price is no number")?;
    let instance = phases.run("instance", || Instance::new(&problem, &allocation)).map_err(text)?;
    let one = Rational::from(1);
    let lifted = phases.run("lift prices", || lift_prices(&instance, &one, None, &row_prices, &user_prices));
    let lifted = lifted.ok_or("the prices cannot be lifted")?;
    let gap =
        phases.run("gap", || gap(&instance, &one, None, &lifted)).map_err(|refusal| refusal.to_string())?;
    let examined = phases.run("njc margin", || njc::examine(&instance)).ok_or("no user is active")?;
    let (_, feasible) = feasible::tightest(&instance).ok_or("no user is limited")?;
    let weights: Rational = problem.users().iter().map(|user| user.weight()).sum();
    Ok(json!({
        "users": n_users,
        "resources": n_resources,
        "law": law.name(),
        "steps": phases.0,
        "iterations": end.iterations,
        "residual": end.residual,
        "satisfied": end.user_prices.iter().filter(|price| **price > 0.0).count(),
        "bottlenecks": end.prices.iter().filter(|price| **price > 0.0).count(),
        "relative_gap": to_f64(&Rational::from(&gap / &weights)),
        "feasible_margin": to_f64(&feasible),
        "njc_margin": to_f64(&examined.margin),
        "peak_mib": machine::peak_mib(),
        "load": machine::load(),
    }))
}

/// The numbers of users that are measured.
const USERS: [usize; 3] = [10_000, 100_000, 1_000_000];
const RESOURCES: usize = 16;

/// Runs [`run`] in separate processes. Returns the medians over `passes` passes as Markdown.
///
/// # Errors
/// Never, because the table reports failures.
pub fn table(passes: usize, settings: &Settings, keep: &mut dyn FnMut(Value)) -> Result<String, String> {
    let mut lines: Vec<Vec<Outcome>> = USERS.iter().map(|_| Vec::new()).collect();
    for pass in 0..passes {
        for (users, lines) in USERS.iter().zip(&mut lines) {
            eprintln!("phases: pass {}, {users} users", pass + 1);
            let mut command = Command::new(std::env::current_exe().unwrap_or_default());
            let sizes = [users.to_string(), RESOURCES.to_string()];
            command.args(["phases", Law::Mixed.name()]).args(sizes);
            // Building the exact problem of a million users takes more than a second.
            let line = command_line(command, settings.limit.max(300.0));
            if let Ok(line) = &line {
                keep(with(line, "table", json!("phases")));
            }
            lines.push(line);
        }
    }
    let median_of = |lines: &[Outcome], step: &str, field: &str| {
        let values = lines.iter().filter_map(|line| line.as_ref().ok()?["steps"][step][field].as_f64());
        median(&values.collect::<Vec<_>>())
    };
    let mut head = vec!["step".to_owned()];
    for users in USERS {
        head.extend([format!("{} users", thousands(users)), "peak MiB".to_owned()]);
    }
    let mut rows = Vec::new();
    for step in STEPS {
        let mut row = vec![step.to_owned()];
        for lines in &lines {
            row.push(median_of(lines, step, "seconds").map_or("–".to_owned(), seconds));
            row.push(median_of(lines, step, "peak_mib").map_or("–".to_owned(), |mib| format!("{mib:.0}")));
        }
        rows.push(row);
    }
    for (name, steps) in [("pool and path", &STEPS[1..3]), ("all", &STEPS[..])] {
        let mut row = vec![name.to_owned()];
        for lines in &lines {
            let sums = lines.iter().filter_map(|line| {
                let line = line.as_ref().ok()?;
                steps.iter().map(|step| line["steps"][step]["seconds"].as_f64()).sum::<Option<f64>>()
            });
            row.push(median(&sums.collect::<Vec<_>>()).map_or("–".to_owned(), seconds));
            row.push(String::new());
        }
        rows.push(row);
    }
    let facts = ["relative_gap", "feasible_margin", "njc_margin", "residual", "satisfied", "bottlenecks"];
    for fact in facts {
        let mut row = vec![fact.replace('_', " ")];
        for lines in &lines {
            let value = lines.first().and_then(|line| line.as_ref().ok()?[fact].as_f64());
            row.push(value.map_or("–".to_owned(), |v| {
                if v.fract() == 0.0 { v.to_string() } else { format!("{v:.1e}") }
            }));
            row.push(String::new());
        }
        rows.push(row);
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut text = format!("### One pool, {RESOURCES} resources, from numbers to a certified answer\n\n");
    text += &markdown(&head, &rows, 1);
    for line in lines.iter().flatten() {
        if let Err(why) = line {
            text += &format!("\n- {why}");
        }
    }
    Ok(text + "\n")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
