//! Compares the configuration programme and the greedy placement with Python scripts on the same files.

use std::path::Path;

use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::format::reservation_to_json;
use evenhand_problem::{Integer, Rational, Reservation};
use serde_json::Value;

use crate::peers::Scripts;
use crate::reservation::{instance, timed};
use crate::table::{markdown, seconds};

/// The number of servers for the greedy placement.
const SERVERS: u32 = 1000;
/// The largest number of types for which a script enumerates all configurations.
const ENUMERATED: usize = 10;
/// The largest relative difference at which values in doubles agree with those of the engine.
const AGREEMENT: f64 = 1e-6;

/// Returns a table of the engine and the scripts on the same problems. Each time is the median of
/// `repetitions` runs.
///
/// # Errors
/// Returns a message if a solver of the engine fails or a value differs. A missing script is left out.
pub fn table(sizes: &[usize], scripts: &Scripts, repetitions: usize, seed: u64) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("evenhand-reservation-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let rows = rows(sizes, scripts, repetitions, seed, &folder);
    // An error is ignored, because a temporary folder that is left over does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(markdown(
        &["types", "question", "evenhand", "Python", "time", "times", "its value over ours"],
        &rows?,
        2,
    ))
}

fn rows(
    sizes: &[usize],
    scripts: &Scripts,
    repetitions: usize,
    seed: u64,
    folder: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let mut rows = Vec::new();
    for &n_types in sizes {
        let problem = instance(n_types, seed)?;
        let file = folder.join(format!("{n_types}.json"));
        std::fs::write(&file, reservation_to_json(&problem)).map_err(|error| error.to_string())?;
        let (optimal, optimum) = timed(repetitions, || {
            configuration_lp::solve(&MaxReward::new(&problem), &problem.loads(), &problem.fractions())
        })?;
        let (greedily, reward) = timed(repetitions, || placed(&problem))?;
        for (question, solver, ours, value) in [
            ("optimum, ours with its proof", "enumeration", optimal, &optimum.value),
            ("optimum, ours with its proof", "columns", optimal, &optimum.value),
            ("greedy on 1,000 servers", "greedy", greedily, &reward),
        ] {
            if solver == "enumeration" && n_types > ENUMERATED {
                continue;
            }
            let Some(line) = theirs(scripts, &file, solver, repetitions) else { continue };
            let field = |name: &str| line.get(name).and_then(Value::as_f64);
            let (Some(time), Some(found)) = (field("median"), field("value")) else { continue };
            let over_ours = found / value.to_f64();
            // If configurations are equally good, the greedy placement of the script may use a different
            // configuration and earn a different reward.
            if solver != "greedy" && (over_ours - 1.0).abs() > AGREEMENT {
                return Err(format!("{n_types} types, {solver}: {found}, ours {}", value.to_f64()));
            }
            rows.push(vec![
                n_types.to_string(),
                question.to_owned(),
                seconds(ours),
                solver.to_owned(),
                seconds(time),
                format!("{:.0}", time / ours),
                format!("{over_ours:.6}"),
            ]);
        }
    }
    Ok(rows)
}

/// Returns the reward of greedy packing per server, for whole jobs on whole servers. The best configurations
/// are included.
fn placed(problem: &Reservation) -> Result<Rational, String> {
    let jobs: Vec<Integer> = problem
        .loads()
        .iter()
        .map(|load| Rational::from(load * SERVERS).floor().into_numer_denom().0)
        .collect();
    let found = greedy::whole(&mut MaxReward::new(problem), &jobs, &[Integer::from(SERVERS)])
        .map_err(|error| error.to_string())?;
    Ok(found.reward / SERVERS)
}

fn theirs(scripts: &Scripts, file: &Path, solver: &str, repetitions: usize) -> Option<Value> {
    let mut command = scripts.command("reservation.py");
    command.arg(file).args(["--solver", solver, "--servers", &SERVERS.to_string()]);
    command.args(["--repetitions", &repetitions.to_string()]);
    let output = command.output().ok().filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}
