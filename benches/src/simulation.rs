//! Simulation task by task. A million tasks wait from the beginning, run and finish. The engine is compared
//! with Python on the same instance, and the hashes of all placements must be equal.

use std::path::{Path, PathBuf};

use evenhand_mechanisms::filling::{Policy, Rule, ServerRule};
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use evenhand_simulate::workload::{Arrival, Source};
use evenhand_simulate::{Duration, Run, Settings, SimulateError, simulate};
use serde_json::Value;

use crate::instances::{Random, TABLE_I, UNIT};
use crate::machine::Clock;
use crate::peers::Scripts;
use crate::table::{markdown, median, seconds};

/// The least demand in units. Thousands of tasks with a smaller demand would fit on a server.
const LEAST: u64 = 20;
/// The mean running time.
const MEAN: f64 = 100.0;

/// The sizes of an instance.
#[derive(Debug, Clone)]
pub struct Sizes {
    /// The number of servers that are drawn from Table I.
    pub servers: u64,
    /// The number of users.
    pub users: usize,
    /// The number of tasks of all users together.
    pub tasks: u64,
}

struct Instance {
    problem: Problem,
    durations: Vec<f64>,
}

/// Returns servers drawn from Table I, and users with lognormal demands like those of the peers' instances.
fn instance(sizes: &Sizes, seed: u64) -> Result<Instance, String> {
    let mut random = Random::new(seed, sizes.servers << 32 | sizes.users as u64);
    let resources = vec!["cpu".to_owned(), "memory".to_owned()];
    let named = |amounts: [u64; 2]| resources.iter().cloned().zip(amounts.map(Rational::from)).collect();
    let all: u64 = TABLE_I.iter().map(|class| class.0).sum();
    let mut counts = [0_u64; TABLE_I.len()];
    for _ in 0..sizes.servers {
        let mut at = random.between(0, all - 1);
        for (class, count) in TABLE_I.iter().zip(&mut counts) {
            if at < class.0 {
                *count += 1;
                break;
            }
            at -= class.0;
        }
    }
    let there = TABLE_I.iter().zip(counts).filter(|(_, count)| *count > 0);
    let servers = there.map(|((_, cpu, memory), count)| ServerSpec {
        name: format!("cpu {cpu} memory {memory}"),
        count: Some(Rational::from(count)),
        capacity: named([cpu * UNIT, memory * UNIT]),
    });
    let servers = servers.collect();
    let each = sizes.tasks / sizes.users as u64;
    let users = (0..sizes.users).map(|n| {
        let demand = [random.demand(0), random.demand(1)];
        UserSpec {
            name: format!("user {}", n + 1),
            weight: Some(Rational::from(random.between(1, 5))),
            tasks: Some(Rational::from(each + u64::from((n as u64) < sizes.tasks % sizes.users as u64))),
            demand: named(demand.map(|d| d.max(LEAST))),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let problem = Problem::new(ProblemSpec { name: "simulation".to_owned(), resources, servers, users });
    let mut draw = evenhand_mechanisms::filling::Draw::new(seed, 1);
    let durations = (0..sizes.tasks).map(|_| Duration::Exponential(MEAN).draw(&mut draw)).collect();
    Ok(Instance { problem: problem.map_err(|error| error.to_string())?, durations })
}

/// An arrival process in which all tasks arrive at time 0.
struct AtOnce<'a> {
    problem: &'a Problem,
    next: usize,
}

impl Source for AtOnce<'_> {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        let Some(user) = self.problem.users().get(self.next) else { return Ok(None) };
        let tasks = user.tasks().and_then(|tasks| tasks.numer().to_u64()).unwrap_or(0);
        let arrival =
            Arrival { at: 0.0, user: self.next as u32, tasks, duration: Duration::Constant(0.0), of: None };
        self.next += 1;
        Ok(Some(arrival))
    }
}

fn ours(instance: &Instance, server: ServerRule) -> Result<(Run, f64), String> {
    let settings = Settings {
        usage: None,
        has_history: false,
        policy: Policy::Fill(Rule { server, ..Rule::default() }),
        horizon: None,
        every: None,
        seed: 0,
        leaves: Vec::new(),
        changing: None,
        durations: Some(instance.durations.clone()),
        stamp: 0,
    };
    let started = Clock::now();
    let mut source = AtOnce { problem: &instance.problem, next: 0 };
    let run = simulate(&instance.problem, &mut source, &settings, &mut |_, _| {});
    let (wall, cpu) = started.elapsed();
    Ok((run.map_err(|error| error.to_string())?, cpu.unwrap_or(wall)))
}

/// Runs the engine and the script with best fit and with first fit, one after the other in every pass.
/// Returns the medians of the CPU times with one thread each.
///
/// # Errors
/// If a file cannot be written, a run fails, or the placements differ. A script that does not run is left
/// out, and the table states this.
pub fn table(sizes: &Sizes, scripts: &Scripts, passes: usize, seed: u64) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("evenhand-simulation-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let rows = rows(sizes, scripts, passes, seed, &folder);
    // An error is ignored, because a temporary folder that is left over does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    let head = ["server rule", "tasks", "placements", "evenhand", "per task", "numba incremental", "times"];
    let Sizes { servers, users, tasks } = sizes;
    Ok(format!("{users} users, {servers} servers, {tasks} tasks\n\n{}", markdown(&head, &rows?, 1)))
}

fn rows(
    sizes: &Sizes,
    scripts: &Scripts,
    passes: usize,
    seed: u64,
    folder: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let instance = instance(sizes, seed)?;
    let (file, durations) = (folder.join("problem.json"), folder.join("durations.f64"));
    let bytes: Vec<u8> = instance.durations.iter().flat_map(|duration| duration.to_le_bytes()).collect();
    std::fs::write(&file, problem_to_json(&instance.problem)).map_err(|error| error.to_string())?;
    std::fs::write(&durations, bytes).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for server in [ServerRule::BestFit, ServerRule::FirstFit] {
        let (mut of_ours, mut of_theirs, mut last) = (Vec::new(), Vec::new(), None);
        for _ in 0..passes {
            let (run, time) = ours(&instance, server)?;
            of_ours.push(time);
            let placements = format!("{:016x}", run.placements);
            if let Some(line) = theirs(scripts, &file, &durations, server) {
                let found = line.get("placements").and_then(Value::as_str).unwrap_or_default().to_owned();
                if found != placements {
                    return Err(format!("{server}: placements {found}, ours {placements}"));
                }
                of_theirs.extend(line.get("cpu_median").and_then(Value::as_f64));
            }
            last = Some((run, placements));
        }
        let (Some((run, placements)), Some(time)) = (last, median(&of_ours)) else { continue };
        let placed: u64 = run.tasks.iter().map(|tasks| tasks.started).sum();
        let theirs = median(&of_theirs);
        rows.push(vec![
            server.to_string(),
            placed.to_string(),
            placements,
            seconds(time),
            format!("{:.0} ns", time * 1e9 / placed as f64),
            theirs.map_or("not run".to_owned(), seconds),
            theirs.map_or(String::new(), |theirs| format!("{:.1}", theirs / time)),
        ]);
    }
    Ok(rows)
}

fn theirs(scripts: &Scripts, file: &Path, durations: &Path, server: ServerRule) -> Option<Value> {
    let mut command = scripts.command("simulation.py");
    let files: [&PathBuf; 2] = [&file.to_path_buf(), &durations.to_path_buf()];
    command.args(files).args(["--server", server.name()]);
    let output = command.output().ok().filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}
