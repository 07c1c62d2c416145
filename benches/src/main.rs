//! The program `evenhand-benches`: tables of growth, comparisons with other programs, and the single
//! measurements of these tables.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use evenhand_benches::constrained::{Eligibility, Shape};
use evenhand_benches::continuous::once::{Once, Program};
use evenhand_benches::continuous::{self, Part, phases, pools};
use evenhand_benches::filling;
use evenhand_benches::growth::{self, Axis};
use evenhand_benches::instances::{self, Tasks};
use evenhand_benches::measure::{Measurement, Mechanism, Question};
use evenhand_benches::simulation::{self, Sizes};
use evenhand_benches::{
    answers, levels, machine, markets, peers, processes, ps_dsf, queues, reservation, reservation_peers,
    scale,
};
use evenhand_problem::format::problem_to_json;
use serde_json::{Value, json};

/// Measures the engine. Results are written to standard output as Markdown.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Growth of time and memory with users, classes and resources
    Growth {
        /// Tables to make (default: all)
        axes: Vec<Axis>,
        /// Leave out larger sizes
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        at_most: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Compare the engine with the Python peers on the same files
    Peers {
        /// Numbers of users
        #[arg(default_values_t = [300, 900])]
        users: Vec<usize>,
        /// Number of rounds over all programs
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[command(flatten)]
        scripts: ScriptFolders,
        #[command(flatten)]
        common: Common,
    },
    /// Compare the continuous solvers with the peers, and measure their growth
    Continuous {
        /// Groups of measurements (default: all)
        parts: Vec<Part>,
        /// Number of rounds over all programs
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[command(flatten)]
        scripts: ScriptFolders,
        #[command(flatten)]
        common: Common,
    },
    /// Progressive filling by every rule, compared with a scan of all users for every task
    Fill {
        #[arg(long, default_value_t = 300)]
        users: usize,
        #[arg(long, default_value_t = 2000)]
        servers: u64,
        /// Only rules whose name contains this text
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
    },
    /// PS-DSF: in doubles, exact answers, the time-shared form
    PsDsf {
        /// Numbers of users
        #[arg(default_values_t = [100, 300, 1000])]
        users: Vec<usize>,
        /// Number of instances of each size
        #[arg(long, default_value_t = 5)]
        seeds: u64,
        /// Seed of the first instance
        #[arg(long, default_value_t = 100)]
        first: u64,
        /// Use random classes instead of those of the openb trace
        #[arg(long)]
        random: bool,
        /// Use random classes, and users with unlimited tasks
        #[arg(long)]
        unlimited: bool,
        /// Also compute exact answers
        #[arg(long)]
        exact: bool,
        /// Folder of the openb data; without it, classes are random
        #[arg(long, default_value = "../shared/data/alibaba_gpu2023_openb")]
        data: PathBuf,
    },
    /// A million tasks that arrive and finish, one by one, compared with Python
    Simulate {
        #[arg(long, default_value_t = 12_583)]
        servers: u64,
        #[arg(long, default_value_t = 100)]
        users: usize,
        #[arg(long, default_value_t = 1_000_000)]
        tasks: u64,
        /// Number of rounds over both programs
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[arg(long, default_value_t = 3)]
        seed: u64,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Max-min on clusters with placement constraints: CPU times, levels, proofs
    Levels {
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Leave out problems with more placements of users on classes
        #[arg(long, default_value_t = 200_000)]
        at_most: usize,
        /// Write the problems to this folder
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Max-min on many classes, levels and users: CPU times of two builds of evenhand, and of highspy
    Scale {
        /// Program to measure (default: the one next to this program)
        #[arg(long)]
        now: Option<PathBuf>,
        /// Program of an earlier build
        #[arg(long)]
        before: Option<PathBuf>,
        /// Also measure HiGHS through highspy
        #[arg(long)]
        highspy: bool,
        /// Only instances whose name contains this text
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// Number of rounds over all programs; long programs run once
        #[arg(long, default_value_t = 3)]
        passes: usize,
        /// End a process after this many seconds of CPU time
        #[arg(long, default_value_t = 120)]
        limit: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Folder for the problems
        #[arg(long, default_value = "target/benches")]
        folder: PathBuf,
        /// Append the raw numbers to this file, one line of JSON each
        #[arg(long)]
        results: Option<PathBuf>,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// `solve`, `certify` and `check` as whole processes, from file to file: median and worst of several seeds
    Processes {
        /// Folder of the programs to measure (default: the folder of this program)
        #[arg(long)]
        programs: Option<PathBuf>,
        /// Also measure other programs: HiGHS through highspy, QSopt_ex, price discovery
        #[arg(long)]
        peers: bool,
        /// Also run `solve` with one thread and with two threads, and compare their wall times
        #[arg(long)]
        threads: bool,
        /// Only instances whose name contains this text
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// Number of seeds, from 1
        #[arg(long, default_value_t = 5)]
        seeds: u64,
        /// End a process after this many seconds of CPU time
        #[arg(long, default_value_t = 120)]
        limit: u32,
        /// Folder for the files
        #[arg(long, default_value = "target/benches")]
        folder: PathBuf,
        /// Append the raw numbers to this file, one line of JSON each
        #[arg(long)]
        results: Option<PathBuf>,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Queues on clusters: hierarchical filling, its certificate, the check
    Queues {
        /// Kinds of clusters: teams, deep, open, promised, anywhere, on-classes (default: all)
        kinds: Vec<String>,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Leave out the axiom `tree`
        #[arg(long)]
        without_axiom: bool,
        /// Leave out problems with more shapes of tasks
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        at_most: usize,
        /// Write the problems to this folder
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Time-shared classes as a market: exact answers, compared with price discovery
    Markets {
        /// Leave out larger numbers of users
        #[arg(long, default_value_t = 100_000)]
        at_most: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Python interpreter with numpy; without it, the peer is left out
        #[arg(long)]
        python: Option<PathBuf>,
        /// Folder of the peers
        #[arg(long, default_value = "benches/peers")]
        scripts: PathBuf,
    },
    /// How often there is no answer, by shape of problem, for max-min or for the other mechanisms
    Answers {
        /// Other mechanisms: `proportional`, `alpha`, `njc`, `ps-dsf`, `ps-dsf-tdm`; also large clusters, one seed for 200 problems
        #[arg(long)]
        others: bool,
        /// Number of problems of each shape
        #[arg(default_value_t = 1000)]
        problems: u64,
        /// Seed of the first problem
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Largest number of users of a problem
        #[arg(long, default_value_t = 12)]
        users: usize,
        /// Only shapes whose name contains this text
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// With --others: only mechanisms whose name contains this text
        #[arg(long, default_value = "", hide_default_value = true, requires = "others")]
        mechanism: String,
        /// Measure the widths of the proven bounds on max-min levels if there is no time for exact ones
        #[arg(long, conflicts_with = "others")]
        widths: bool,
    },
    /// The configuration programme for growing numbers of job types
    Reservation {
        /// Numbers of types
        #[arg(default_values_t = [6, 8, 10, 15, 20, 50, 100])]
        types: Vec<usize>,
        /// Enumerate all configurations up to this many types
        #[arg(long, default_value_t = 10)]
        enumerate: usize,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        #[arg(long, default_value_t = 11)]
        seed: u64,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Time one program on one pool; prints one line of JSON
    Pool {
        program: Program,
        /// Pool file, as `pool-file` writes it
        file: PathBuf,
        /// File for the answer, as doubles
        #[arg(long)]
        answer: Option<PathBuf>,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        /// Start no further run after this many seconds
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// Relative tolerance of the trajectory
        #[arg(long, default_value_t = 1e-8)]
        tolerance: f64,
        /// End of the trajectory
        #[arg(long, default_value_t = 1e6)]
        c_max: f64,
    },
    /// Write a random pool as doubles, for `pool` and peers/pool.py
    PoolFile {
        law: pools::Law,
        users: usize,
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Run a pool from numbers to a certified answer, step by step; prints one line of JSON
    Phases {
        law: pools::Law,
        users: usize,
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Time one question about one file; prints one line of JSON
    Measure {
        question: Question,
        /// Problem file, or certificate file for read-certificate and check
        file: PathBuf,
        #[arg(long)]
        allocation: Option<PathBuf>,
        #[command(flatten)]
        mechanism: Mechanism,
        /// File for the computed allocation or certificate
        #[arg(long)]
        output: Option<PathBuf>,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        /// Start no further run after this many seconds
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
    },
    /// Write a problem
    Instance {
        law: Law,
        users: usize,
        #[arg(long, default_value_t = 10)]
        classes: usize,
        #[arg(long, default_value_t = 2)]
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Users have unlimited tasks
        #[arg(long)]
        unlimited: bool,
        /// Number of kinds of users of a constrained cluster; users of one kind differ only in their weights
        #[arg(long)]
        kinds: Option<usize>,
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Law {
    /// The cluster of DRFH, Table I: 10 classes, 2 resources
    Google,
    /// Random classes
    General,
    /// Random classes with 3 resources; a user may run on 5 to 20 of them
    Constrained,
}

/// The percentage of users of [`Law::Constrained`] with a finite number of tasks. It is high, as in the
/// traces.
const MOSTLY_FINITE: u64 = 70;

#[derive(Args)]
struct ScriptFolders {
    /// Folder of the scripts
    #[arg(long, default_value = "benches/peers")]
    scripts: PathBuf,
    /// Python interpreter with highspy, cvxpy and the conic solvers
    #[arg(long, default_value = ".tools/peers/bin/python")]
    python: PathBuf,
}

impl From<ScriptFolders> for peers::Scripts {
    fn from(folders: ScriptFolders) -> Self {
        Self { python: folders.python, folder: folders.scripts }
    }
}

#[derive(Args)]
struct Common {
    /// Folder for the measured files
    #[arg(long, default_value = "target/benches")]
    folder: PathBuf,
    /// Largest number of runs of a question in one process
    #[arg(long, default_value_t = 7)]
    repetitions: usize,
    /// End a process after this many seconds
    #[arg(long, default_value_t = 60.0)]
    limit: f64,
    /// Append the raw numbers to this file, one line of JSON each
    #[arg(long)]
    results: Option<PathBuf>,
}

impl Common {
    fn settings(&self, threads: Option<usize>) -> Result<growth::Settings, String> {
        fs::create_dir_all(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        let (folder, repetitions, limit) = (self.folder.clone(), self.repetitions, self.limit);
        Ok(growth::Settings { folder, repetitions, limit, threads })
    }

    fn results(&self) -> Result<Option<File>, String> {
        open(self.results.as_ref())
    }
}

/// Opens the file for raw numbers, and appends a line that describes the machine.
fn open(path: Option<&PathBuf>) -> Result<Option<File>, String> {
    let open = |path: &PathBuf| {
        let file = File::options().create(true).append(true).open(path);
        file.map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut file = path.map(open).transpose()?;
    keep(&mut file, &json!({"machine": machine::description()}));
    Ok(file)
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Growth { axes, at_most, common } => {
            let axes = if axes.is_empty() { Axis::value_variants().to_vec() } else { axes };
            let settings = common.settings(None)?;
            let mut results = common.results()?;
            say(&heading())?;
            for axis in axes {
                say(&growth::table(axis, at_most, &settings, &mut |line| keep(&mut results, &line))?)?;
            }
            Ok(())
        }
        Command::Continuous { parts, passes, scripts, common } => {
            let parts = if parts.is_empty() { Part::value_variants().to_vec() } else { parts };
            let settings = common.settings(None)?;
            let mut results = common.results()?;
            let scripts = scripts.into();
            say(&heading())?;
            for part in parts {
                let mut keep = |line| keep(&mut results, &line);
                say(&continuous::measure(part, passes, &settings, &scripts, &mut keep)?)?;
            }
            Ok(())
        }
        Command::Fill { users, servers, only } => {
            say(&heading())?;
            say(&filling::large(users, servers, &only)?)?;
            say(&filling::best_fit_of_a_trace(&only)?)?;
            say(&filling::against_the_scan(&only)?)
        }
        Command::PsDsf { users, seeds, first, random, unlimited, exact, data } => {
            say(&heading())?;
            let finite = random.then_some(Tasks::Finite);
            let random = if unlimited { Some(Tasks::Unlimited) } else { finite };
            say(&ps_dsf::run(&ps_dsf::Settings { data, users, seeds, first, random, exact })?)
        }
        Command::Levels { seed, at_most, folder } => {
            say(&heading())?;
            say(&levels::table(seed, at_most, folder.as_deref())?)
        }
        Command::Markets { at_most, seed, python, scripts } => {
            say(&heading())?;
            say(&markets::table(at_most, seed, &scripts, python.as_deref())?)
        }
        Command::Scale { now, before, highspy, only, passes, limit, seed, folder, results, scripts } => {
            let beside = || Some(std::env::current_exe().ok()?.with_file_name("evenhand"));
            let now = now.or_else(beside).ok_or("the program to measure has to be named: --now")?;
            let settings = scale::Settings { now, before, folder, limit, passes, seed, only, highspy };
            let mut results = open(results.as_ref())?;
            say(&heading())?;
            say(&scale::tables(&settings, &scripts.into(), &mut |line| keep(&mut results, &line))?)
        }
        Command::Processes { programs, peers, threads, only, seeds, limit, folder, results, scripts } => {
            let own = || Some(std::env::current_exe().ok()?.parent()?.to_owned());
            let programs = programs.or_else(own).ok_or("the folder of the programs has to be named")?;
            let settings = processes::Settings { programs, folder, limit, seeds, only, peers, threads };
            let mut results = open(results.as_ref())?;
            say(&heading())?;
            say(&processes::table(&settings, &scripts.into(), &mut |line| keep(&mut results, &line))?)
        }
        Command::Queues { kinds, seed, without_axiom, at_most, folder } => {
            say(&heading())?;
            say(&queues::table(seed, at_most, &kinds, folder.as_deref())?)?;
            if without_axiom { Ok(()) } else { say(&queues::trees(seed, &kinds)?) }
        }
        Command::Answers { others, problems, first, users, only, mechanism, widths } => {
            say(&heading())?;
            let seeds = first..first + problems;
            say(&if others {
                let small = answers::mechanisms::table(&seeds, users, &only, &mechanism);
                format!("{small}\n\n{}", answers::large::table(&seeds, &only, &mechanism)?)
            } else if widths {
                answers::widths::table(&seeds, users, &only)
            } else {
                answers::table(&seeds, users, &only)
            })
        }
        Command::Pool { program, file, answer, repetitions, seconds, tolerance, c_max } => {
            let line = Once { program, file, answer, repetitions, seconds, tolerance, c_max }.run()?;
            say(&line.to_string())
        }
        Command::Reservation { types, enumerate, repetitions, seed, scripts } => {
            say(&heading())?;
            say(&reservation::table(&types, enumerate, repetitions, seed)?)?;
            say(&reservation::capacities(10, repetitions, seed)?)?;
            let named: Vec<usize> = types.into_iter().filter(|&n| n <= reservation::NAMED_TYPES).collect();
            say(&reservation_peers::table(&named, &scripts.into(), repetitions, seed)?)
        }
        Command::Simulate { servers, users, tasks, passes, seed, scripts } => {
            say(&heading())?;
            say(&simulation::table(&Sizes { servers, users, tasks }, &scripts.into(), passes, seed)?)
        }
        Command::PoolFile { law, users, resources, seed, output } => {
            pools::WholePool::random(law, users, resources, seed).write(&output)
        }
        Command::Phases { law, users, resources, seed } => {
            say(&phases::run(law, users, resources, seed)?.to_string())
        }
        Command::Peers { users, passes, scripts, common } => {
            let settings = common.settings(Some(1))?;
            let mut results = common.results()?;
            let scripts = scripts.into();
            say(&heading())?;
            for users in users {
                let mut keep = |line| keep(&mut results, &line);
                say(&peers::compare(users, passes, &settings, &scripts, &mut keep)?)?;
            }
            Ok(())
        }
        Command::Measure { question, file, allocation, mechanism, output, repetitions, seconds } => {
            let measurement =
                Measurement { question, file, allocation, mechanism, output, repetitions, seconds };
            let line = measurement.run()?;
            say(&line.to_string())
        }
        Command::Instance { law, users, classes, resources, seed, unlimited, kinds, output } => {
            let tasks = if unlimited { Tasks::Unlimited } else { Tasks::Finite };
            let problem = match law {
                Law::Google => instances::google(users, seed, tasks),
                Law::General => instances::general(classes, resources, users, seed, tasks),
                Law::Constrained => {
                    let finite = if unlimited { 0 } else { MOSTLY_FINITE };
                    Shape { finite, kinds, ..Shape::new(users, classes, Eligibility::Few(5, 20)) }
                        .problem(seed)
                }
            };
            let text = problem_to_json(&problem.map_err(|error| error.to_string())?);
            match output {
                Some(path) => fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display())),
                None => say(&text),
            }
        }
    }
}

fn say(text: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| error.to_string())
}

/// Returns the heading, which describes the machine.
fn heading() -> String {
    let machine = machine::description();
    let text = |name: &str| machine[name].as_str().unwrap_or("?").to_owned();
    format!(
        "{}, {} processors, commit {}, {}, load average {}\n",
        text("cpu"),
        machine["processors"],
        text("commit"),
        text("date"),
        machine["load"]
    )
}

fn keep(file: &mut Option<File>, line: &Value) {
    if let Some(file) = file {
        // An error is ignored, because an error such as a full disk must not lose the tables.
        let _ = writeln!(file, "{line}");
    }
}
