//! Measures the times for which users wait: `solve`, `certify` and `check` as whole processes, from file to
//! file, for several seeds. Also measures the commands for a running cluster.
//!
//! Every number is the CPU time of a process (`peers/child.py`), including its start, reading and writing.
//! Results for a single seed have been misleading, so each row has the median and the worst result of its
//! seeds. If the row has another program, the processes take turns with it. The time for the modelling and
//! solving of the other program alone is an additional row, relative to the time of `solve`.

use std::fs;
use std::path::{Path, PathBuf};

use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Problem, ProblemError};
use serde_json::{Value, json};

use crate::constrained::{Eligibility, Shape};
use crate::continuous::pools::{Law, WholePool};
use crate::growth::{Outcome, field, run};
use crate::instances::{Tasks, google};
use crate::markets::market;
use crate::peers::Scripts;
use crate::scale::{PATIENCE, child};
use crate::table::{markdown, median, seconds};
use crate::{queues, running};

/// The settings of the measurements.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the programs `evenhand` and `evenhand-check`.
    pub programs: PathBuf,
    /// The folder for problems, allocations and certificates.
    pub folder: PathBuf,
    /// The seconds of CPU time after which a process is ended.
    pub limit: u32,
    /// The number of seeds. The first seed is 1.
    pub seeds: u64,
    /// Only instances whose names contain this text are measured.
    pub only: String,
    /// True if the other programs are measured too.
    pub peers: bool,
    /// True if `solve` is also measured by wall time, with one thread and with two threads.
    pub threads: bool,
}

/// An instance, and the commands that are measured on it.
struct Row {
    name: &'static str,
    text: fn(u64) -> Result<String, String>,
    /// The arguments of `solve`.
    solve: &'static [&'static str],
    /// The arguments of `certify`. `None` if the row does not certify.
    certify: Option<&'static [&'static str]>,
    /// The other program for the same question. `None` if there is no other program.
    peer: Option<Peer>,
}

/// Another program for the same question.
#[derive(Clone, Copy)]
struct Peer {
    name: &'static str,
    script: &'static str,
    /// The arguments after the problem.
    options: &'static [&'static str],
    /// The name of the printed field with the time of modelling and solving alone.
    alone: &'static str,
    /// True if the answer of the other program corresponds to that of `solve` and `certify` together.
    proven: bool,
}

const fn highspy(variant: &'static [&'static str]) -> Option<Peer> {
    Some(Peer {
        name: "highspy",
        script: "drfh_highspy.py",
        options: variant,
        alone: "cpu_median",
        proven: false,
    })
}

const fn few(users: usize, classes: usize) -> Shape {
    Shape::new(users, classes, Eligibility::Few(5, 20))
}

fn constrained(shape: Shape, seed: u64) -> Result<String, String> {
    written(shape.problem(seed))
}

fn written(problem: Result<Problem, ProblemError>) -> Result<String, String> {
    Ok(problem_to_json(&problem.map_err(|error| error.to_string())?))
}

fn tree(kind: queues::Kind, seed: u64) -> Result<String, String> {
    Ok(queues::Shape { kind, queues: 200, shapes: 2_000, classes: 300 }.json(seed).to_string())
}

/// Returns a cluster whose servers are stated one by one. Each class becomes `each` servers.
fn one_by_one(shape: Shape, each: usize, seed: u64) -> Result<String, String> {
    let mut problem: Value =
        serde_json::from_str(&constrained(shape, seed)?).map_err(|error| error.to_string())?;
    let classes = problem["servers"].as_array().cloned().unwrap_or_default();
    let server = |(class, k): (&Value, usize)| {
        let name = format!("{}-{k}", class["name"].as_str().unwrap_or_default());
        json!({"name": name, "capacity": class["capacity"]})
    };
    let servers = classes.iter().flat_map(|class| (0..each).map(move |k| (class, k)));
    problem["servers"] = servers.map(server).collect();
    Ok(problem.to_string())
}

const ROWS: &[Row] = &[
    Row {
        name: "900 x 10, exact",
        text: |seed| written(google(900, seed, Tasks::Finite)),
        solve: &["-m", "drfh"],
        certify: Some(&[]),
        peer: highspy(&["--variant", "default", "--repetitions", "1"]),
    },
    Row {
        name: "900 x 10, unlimited tasks, exact",
        text: |seed| written(google(900, seed, Tasks::Unlimited)),
        solve: &["-m", "drfh"],
        certify: Some(&["--axiom", "max-min"]),
        peer: Some(Peer {
            name: "QSopt_ex",
            script: "drfh_exact.py",
            options: &["--repetitions", "1"],
            alone: "cpu_median",
            proven: true,
        }),
    },
    Row {
        name: "100,000 x 10, exact",
        text: |seed| constrained(Shape::new(100_000, 10, Eligibility::Everywhere), seed),
        solve: &["-m", "drfh"],
        certify: Some(&["--axiom", "envy-free"]),
        peer: None,
    },
    Row {
        name: "100,000 on Google's classes, exact",
        text: |seed| written(google(100_000, seed, Tasks::Unlimited)),
        solve: &["-m", "drfh"],
        certify: None,
        peer: None,
    },
    Row {
        name: "1,000 x 1,000, 5 to 20 classes each, exact",
        text: |seed| constrained(few(1_000, 1_000), seed),
        solve: &["-m", "drfh"],
        certify: None,
        peer: highspy(&["--variant", "ipm", "--repetitions", "1"]),
    },
    Row {
        name: "1,000 x 100, 5 to 20 classes each, proportional",
        text: |seed| constrained(few(1_000, 100), seed),
        solve: &["-m", "proportional"],
        certify: None,
        peer: None,
    },
    Row {
        name: "10,000 x 100, 5 to 20 classes each, float",
        text: |seed| constrained(few(10_000, 100), seed),
        solve: &["-m", "drfh", "--float"],
        certify: Some(&["--tolerance", "1e-9"]),
        peer: None,
    },
    Row {
        name: "2,000 x 100, 5 to 20 classes each, a fifth with so many tasks, float",
        text: |seed| constrained(Shape { finite: 20, ..few(2_000, 100) }, seed),
        solve: &["-m", "drfh", "--float"],
        certify: Some(&["--tolerance", "1e-9"]),
        peer: None,
    },
    Row {
        name: "900 users on 300 servers of 10 kinds, one by one, exact",
        text: |seed| one_by_one(Shape::new(900, 10, Eligibility::Everywhere), 30, seed),
        solve: &["-m", "drfh"],
        certify: None,
        peer: None,
    },
    Row {
        name: "pool 10,000 x 16, proportional",
        text: |seed| written(WholePool::random(Law::Mixed, 10_000, 16, seed).problem()),
        solve: &["-m", "proportional"],
        certify: None,
        peer: None,
    },
    Row {
        name: "market 100,000 x 10, exact",
        text: |seed| Ok(problem_to_json(&market(100_000, 10, seed)?)),
        solve: &["-m", "ps-dsf-tdm"],
        certify: None,
        peer: Some(Peer {
            name: "price discovery",
            script: "market.py",
            options: &[],
            alone: "cpu",
            proven: false,
        }),
    },
    Row {
        name: "20,000 users of 50 kinds x 10, exact",
        text: |seed| {
            let everywhere = Shape::new(20_000, 10, Eligibility::Everywhere);
            constrained(Shape { kinds: Some(50), ..everywhere }, seed)
        },
        solve: &["-m", "drfh"],
        certify: Some(&[]),
        peer: None,
    },
    Row {
        name: "1,000,000 users of 10,000 kinds x 1,000, float",
        text: |seed| constrained(Shape { kinds: Some(10_000), ..few(1_000_000, 1_000) }, seed),
        solve: &["-m", "drfh", "--float"],
        certify: Some(&["--tolerance", "1e-9"]),
        peer: None,
    },
    Row {
        name: "tree: 200 queues, 2,000 kinds x 300, teams",
        text: |seed| tree(queues::Kind::Teams, seed),
        solve: &["-m", "tree"],
        certify: Some(&[]),
        peer: None,
    },
    Row {
        name: "tree: the same, deep",
        text: |seed| tree(queues::Kind::Deep, seed),
        solve: &["-m", "tree"],
        certify: Some(&[]),
        peer: None,
    },
    Row {
        name: "tree: the same, open",
        text: |seed| tree(queues::Kind::Open, seed),
        solve: &["-m", "tree"],
        certify: Some(&[]),
        peer: None,
    },
    Row {
        name: "tree: the same, anywhere",
        text: |seed| tree(queues::Kind::Anywhere, seed),
        solve: &["-m", "tree"],
        certify: Some(&[]),
        peer: None,
    },
    Row {
        name: "tree: 200 queues, 10,000 kinds on one class, teams",
        text: |seed| {
            let kind = queues::Kind::Teams;
            Ok(queues::Shape { kind, queues: 200, shapes: 10_000, classes: 1 }.json(seed).to_string())
        },
        solve: &["-m", "tree"],
        certify: None,
        peer: None,
    },
];

/// A step, and its results by seed.
struct Step {
    name: String,
    outcomes: Vec<Outcome>,
}

/// Returns the table. Each line of numbers is also passed to `keep`.
///
/// # Errors
/// If a problem cannot be written.
pub fn table(settings: &Settings, scripts: &Scripts, keep: &mut dyn FnMut(Value)) -> Result<String, String> {
    fs::create_dir_all(&settings.folder)
        .map_err(|error| format!("{}: {error}", settings.folder.display()))?;
    let mut cells = Vec::new();
    let rows = ROWS.iter().map(|row| (row.name, Some(row))).chain([(running::NAME, None)]);
    for (instance, row) in rows.filter(|(name, _)| name.contains(&settings.only)) {
        let mut steps: Vec<Step> = Vec::new();
        for seed in 1..=settings.seeds {
            eprintln!("processes: {instance}, seed {seed}");
            let found = match row {
                Some(row) => measured(row, seed, settings, scripts),
                None => running::measured(seed, settings, scripts),
            };
            for (name, outcome) in found? {
                if let Ok(line) = &outcome {
                    keep(json!({"instance": instance, "question": name, "seed": seed, "line": line}));
                }
                match steps.iter_mut().find(|step| step.name == name) {
                    Some(step) => step.outcomes.push(outcome),
                    None => steps.push(Step { name, outcomes: vec![outcome] }),
                }
            }
        }
        cells.extend(steps.iter().map(|step| cells_of(instance, step)));
        cells.extend(gain(instance, &steps));
        if let (Some(row), [.., process, alone]) = (row, steps.as_slice())
            && settings.peers
        {
            cells.extend(times(row, &steps, [process, alone]));
        }
    }
    Ok(markdown(&["instance", "process", "CPU time, median", "worst", "MiB", "without answer"], &cells, 2))
}

/// Runs the processes for a seed, one after the other.
fn measured(
    row: &Row,
    seed: u64,
    settings: &Settings,
    scripts: &Scripts,
) -> Result<Vec<(String, Outcome)>, String> {
    let path = |what: &str| settings.folder.join(format!("process-{what}.json"));
    let (problem, allocation, certificate) = (path("problem"), path("allocation"), path("certificate"));
    fs::write(&problem, (row.text)(seed)?).map_err(|error| format!("{}: {error}", problem.display()))?;
    let mut found = Vec::new();
    let mut ask = |name: &str, program: &str, arguments: Vec<String>| {
        let outcome = child(scripts, settings.limit, &settings.programs.join(program), &arguments);
        let is_well = field(&outcome, "status") == Some(0.0);
        match &outcome {
            // A program that did not start has no time.
            Err(why) => eprintln!("processes: {name}, seed {seed}: not measured: {why}"),
            Ok(line) if !is_well => {
                let complaint = line["complaint"].as_str().unwrap_or_default();
                eprintln!("processes: {name}, seed {seed}: no answer after {} s: {complaint}", line["cpu"]);
            }
            Ok(_) => {}
        }
        found.push((name.to_owned(), outcome));
        is_well
    };
    let of = |verb: &str, options: &[&str], files: &[&Path], output: Option<&Path>| -> Vec<String> {
        let files = files.iter().map(|file| file.to_string_lossy().into_owned());
        let all = std::iter::once(&verb).chain(options).map(|&text| text.to_owned()).chain(files);
        let output = output.map(|file| ["-o".to_owned(), file.to_string_lossy().into_owned()]);
        all.chain(output.into_iter().flatten()).collect()
    };
    let solved = ask("`solve`", "evenhand", of("solve", row.solve, &[&problem], Some(&allocation)));
    for (name, threads) in THREADS.iter().filter(|_| settings.threads && solved) {
        let options = [row.solve, &["--threads", threads]].concat();
        ask(name, "evenhand", of("solve", &options, &[&problem], Some(&allocation)));
    }
    if let Some(options) = row.certify.filter(|_| solved) {
        let arguments = of("certify", options, &[&problem, &allocation], Some(&certificate));
        if ask("`certify`", "evenhand", arguments) {
            let arguments = vec![certificate.to_string_lossy().into_owned()];
            ask("`evenhand-check`", "evenhand-check", arguments);
        }
    }
    if let Some(peer) = row.peer.filter(|_| settings.peers) {
        let mut arguments = of(&scripts.folder.join(peer.script).to_string_lossy(), &[], &[&problem], None);
        arguments.extend(peer.options.iter().map(|&option| option.to_owned()));
        let as_process = child(scripts, settings.limit, &scripts.python, &arguments);
        let mut command = scripts.command(peer.script);
        command.arg(&problem).args(peer.options);
        let alone = run(command, f64::from(settings.limit) * PATIENCE);
        let line = alone.as_ref().map(|_| json!({"cpu": field(&alone, peer.alone), "status": 0}));
        found.push((peer.name.to_owned(), as_process));
        found.push((format!("{}, modelling and solving alone", peer.name), line.map_err(Clone::clone)));
    }
    Ok(found)
}

/// The names of `solve` with one and two threads, each with its number of threads.
const THREADS: [(&str, &str); 2] = [("`solve`, one thread", "1"), ("`solve`, two threads", "2")];

/// Returns the ratios of the wall times of `solve` with one thread and with two threads. Returns `None` if
/// one of them did not run.
fn gain(instance: &str, steps: &[Step]) -> Option<Vec<String>> {
    let [one, two] = THREADS.map(|(name, _)| steps.iter().find(|step| step.name == name));
    let (one, two) = (&one?.outcomes, &two?.outcomes);
    let wall = |outcome| field(outcome, "wall").filter(|_| field(outcome, "status") == Some(0.0));
    let ratios: Vec<f64> =
        one.iter().zip(two).filter_map(|(one, two)| Some(wall(one)? / wall(two)?)).collect();
    Some(row_of_ratios(instance, "on the clock: one thread / two".to_owned(), &ratios))
}

/// Returns a row with the median of the ratios and the least ratio.
fn row_of_ratios(instance: &str, name: String, ratios: &[f64]) -> Vec<String> {
    let worst = ratios.iter().copied().min_by(f64::total_cmp);
    let show = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2} times"));
    vec![instance.to_owned(), name, show(median(ratios)), show(worst), String::new(), String::new()]
}

/// Returns by seed how many times as long the peer takes. The first row compares the process, and the second
/// row only its modelling and solving.
fn times(row: &Row, steps: &[Step], [process, alone]: [&Step; 2]) -> Vec<Vec<String>> {
    let Some(peer) = row.peer else { return Vec::new() };
    let ours: &[&str] = if peer.proven { &["`solve`", "`certify`"] } else { &["`solve`"] };
    let cpu = |step: &Step, seed: usize| {
        let outcome = step.outcomes.get(seed)?;
        field(outcome, "cpu").filter(|_| field(outcome, "status") == Some(0.0))
    };
    let own = |seed: usize| {
        let of = |name: &&str| cpu(steps.iter().find(|step| step.name == **name)?, seed);
        ours.iter().map(of).sum::<Option<f64>>()
    };
    let row_of = |step: &Step| {
        let ratios = (0..step.outcomes.len()).filter_map(|seed| Some(cpu(step, seed)? / own(seed)?));
        let name = format!("{} / {}", step.name, ours.join(" and "));
        row_of_ratios(row.name, name, &ratios.collect::<Vec<_>>())
    };
    [process, alone].map(row_of).into()
}

fn cells_of(instance: &str, step: &Step) -> Vec<String> {
    let is_well = |outcome: &&Outcome| field(outcome, "status") == Some(0.0);
    let well: Vec<&Outcome> = step.outcomes.iter().filter(is_well).collect();
    let times: Vec<f64> = well.iter().filter_map(|outcome| field(outcome, "cpu")).collect();
    let peak = well.iter().filter_map(|outcome| field(outcome, "peak_mib")).max_by(f64::total_cmp);
    let worst = times.iter().copied().max_by(f64::total_cmp);
    let show = |time: Option<f64>| time.map_or("–".to_owned(), seconds);
    vec![
        instance.to_owned(),
        step.name.clone(),
        show(median(&times)),
        show(worst),
        peak.map_or("–".to_owned(), |mib| format!("{mib:.0}")),
        format!("{} / {}", step.outcomes.len() - well.len(), step.outcomes.len()),
    ]
}
