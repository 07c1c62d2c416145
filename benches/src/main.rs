//! `evenhand-benches`: growth tables, the comparison with peers, and what they consist of.

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

/// Measures the engine. Numbers go to standard output as Markdown.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Time and memory against users, classes and resources.
    Growth {
        /// The tables to make; all of them when none is named.
        axes: Vec<Axis>,
        /// Leave larger sizes out.
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        at_most: usize,
        #[command(flatten)]
        common: Common,
    },
    /// Ours and the Python peers on the same files.
    Peers {
        /// Numbers of users.
        #[arg(default_values_t = [300, 900])]
        users: Vec<usize>,
        /// How often to go round all programs.
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[command(flatten)]
        scripts: ScriptFolders,
        #[command(flatten)]
        common: Common,
    },
    /// The continuous solvers, ours and the peers, and how they grow.
    Continuous {
        /// The parts to measure; all of them when none is named.
        parts: Vec<Part>,
        /// How often to go round all programs.
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[command(flatten)]
        scripts: ScriptFolders,
        #[command(flatten)]
        common: Common,
    },
    /// Progressive filling by every rule, and against the scan of everybody for every task.
    Fill {
        #[arg(long, default_value_t = 300)]
        users: usize,
        #[arg(long, default_value_t = 2000)]
        servers: u64,
        /// Only rules whose name contains this.
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
    },
    /// PS-DSF: in doubles, exact answers, the time-shared form.
    PsDsf {
        /// Numbers of users.
        #[arg(default_values_t = [100, 300, 1000])]
        users: Vec<usize>,
        /// Instances of each size.
        #[arg(long, default_value_t = 5)]
        seeds: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 100)]
        first: u64,
        /// Random classes instead of the openb ones.
        #[arg(long)]
        random: bool,
        /// The same, and users with unlimited tasks.
        #[arg(long)]
        unlimited: bool,
        /// Look for exact answers too.
        #[arg(long)]
        exact: bool,
        /// Folder of the openb data; random classes without it.
        #[arg(long, default_value = "../shared/data/alibaba_gpu2023_openb")]
        data: PathBuf,
    },
    /// A million tasks that come and finish, task by task, beside Python.
    Simulate {
        #[arg(long, default_value_t = 12_583)]
        servers: u64,
        #[arg(long, default_value_t = 100)]
        users: usize,
        #[arg(long, default_value_t = 1_000_000)]
        tasks: u64,
        /// How often to go round both programs.
        #[arg(long, default_value_t = 3)]
        passes: usize,
        #[arg(long, default_value_t = 3)]
        seed: u64,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Max-min on clusters with placement constraints: CPU time, levels, proofs.
    Levels {
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Leave out problems with more placements of users on classes.
        #[arg(long, default_value_t = 200_000)]
        at_most: usize,
        /// Write the problems to this folder.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Max-min on many classes, levels and users: CPU time of two builds of evenhand, and of highspy.
    Scale {
        /// The program to measure; the one beside this program when it is not named.
        #[arg(long)]
        now: Option<PathBuf>,
        /// The program of an earlier build.
        #[arg(long)]
        before: Option<PathBuf>,
        /// HiGHS through highspy as well.
        #[arg(long)]
        highspy: bool,
        /// Only instances whose name contains this.
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// How often to go round all programs; long ones once.
        #[arg(long, default_value_t = 3)]
        passes: usize,
        /// End a process after so many seconds of CPU time.
        #[arg(long, default_value_t = 120)]
        limit: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Where the problems go.
        #[arg(long, default_value = "target/benches")]
        folder: PathBuf,
        /// Add the raw numbers, a line of JSON each, to this file.
        #[arg(long)]
        results: Option<PathBuf>,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// `solve`, `certify` and `check` as whole processes, from file to file: medians and worst of several seeds.
    Processes {
        /// The folder of the programs to measure; that of this program when it is not named.
        #[arg(long)]
        programs: Option<PathBuf>,
        /// Other programs as well: HiGHS through highspy, QSopt_ex, price discovery.
        #[arg(long)]
        peers: bool,
        /// `solve` with one thread and with two as well, and how much faster two are on the clock.
        #[arg(long)]
        threads: bool,
        /// Only instances whose name contains this.
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// Seeds 1 to this.
        #[arg(long, default_value_t = 5)]
        seeds: u64,
        /// End a process after so many seconds of CPU time.
        #[arg(long, default_value_t = 120)]
        limit: u32,
        /// Where the files go.
        #[arg(long, default_value = "target/benches")]
        folder: PathBuf,
        /// Add the raw numbers, a line of JSON each, to this file.
        #[arg(long)]
        results: Option<PathBuf>,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Queues on clusters: hierarchical filling, its certificate, the check.
    Queues {
        /// What clusters are like: teams, deep, open, promised, anywhere, on-classes; all of them when none is named.
        kinds: Vec<String>,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Leave the axiom `tree` out.
        #[arg(long)]
        without_axiom: bool,
        /// Leave out problems with more shapes of tasks.
        #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
        at_most: usize,
        /// Write the problems to this folder.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Time-shared classes as a market: exact answers, beside price discovery.
    Markets {
        /// Leave larger numbers of users out.
        #[arg(long, default_value_t = 100_000)]
        at_most: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Python with numpy; without it the peer is left out.
        #[arg(long)]
        python: Option<PathBuf>,
        /// Folder of the peers.
        #[arg(long, default_value = "benches/peers")]
        scripts: PathBuf,
    },
    /// How often there is no answer, by shape of problem: of max-min, or of the other mechanisms.
    Answers {
        /// Not max-min: `proportional`, `alpha`, `njc`, `ps-dsf`, `ps-dsf-tdm`; and large clusters, one seed for 200 problems.
        #[arg(long)]
        others: bool,
        /// Problems of each shape.
        #[arg(default_value_t = 1000)]
        problems: u64,
        /// Seed of the first one.
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Most users of a problem.
        #[arg(long, default_value_t = 12)]
        users: usize,
        /// Only shapes whose name contains this.
        #[arg(long, default_value = "", hide_default_value = true)]
        only: String,
        /// Of the others, only mechanisms whose name contains this.
        #[arg(long, default_value = "", hide_default_value = true, requires = "others")]
        mechanism: String,
        /// How wide the proven bounds of max-min levels are where there is no time for exact ones.
        #[arg(long, conflicts_with = "others")]
        widths: bool,
    },
    /// The configuration programme against the number of job types.
    Reservation {
        /// Numbers of types.
        #[arg(default_values_t = [6, 8, 10, 15, 20, 50, 100])]
        types: Vec<usize>,
        /// Enumerate all configurations up to so many types.
        #[arg(long, default_value_t = 10)]
        enumerate: usize,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        #[arg(long, default_value_t = 11)]
        seed: u64,
        #[command(flatten)]
        scripts: ScriptFolders,
    },
    /// Time one program on one pool; prints one line of JSON.
    Pool {
        program: Program,
        /// What `pool-file` writes.
        file: PathBuf,
        /// Where the answer goes, as doubles.
        #[arg(long)]
        answer: Option<PathBuf>,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        /// Begin no further run after this many seconds.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// Relative tolerance of the trajectory.
        #[arg(long, default_value_t = 1e-8)]
        tolerance: f64,
        /// End of the trajectory.
        #[arg(long, default_value_t = 1e6)]
        c_max: f64,
    },
    /// Write a random pool as doubles, for `pool` and peers/pool.py.
    PoolFile {
        law: pools::Law,
        users: usize,
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(short, long)]
        output: PathBuf,
    },
    /// A pool from numbers to a certified answer, step by step; prints one line of JSON.
    Phases {
        law: pools::Law,
        users: usize,
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Time one question about one file; prints one line of JSON.
    Measure {
        question: Question,
        /// The problem; the certificate for read-certificate and check.
        file: PathBuf,
        #[arg(long)]
        allocation: Option<PathBuf>,
        #[command(flatten)]
        mechanism: Mechanism,
        /// Where the allocation or certificate that is found goes.
        #[arg(long)]
        output: Option<PathBuf>,
        #[arg(long, default_value_t = 5)]
        repetitions: usize,
        /// Begin no further run after this many seconds.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
    },
    /// Write a problem.
    Instance {
        law: Law,
        users: usize,
        #[arg(long, default_value_t = 10)]
        classes: usize,
        #[arg(long, default_value_t = 2)]
        resources: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Users without a number of tasks.
        #[arg(long)]
        unlimited: bool,
        /// Of how many kinds the users of a constrained cluster are, alike in all but their weights.
        #[arg(long)]
        kinds: Option<usize>,
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Law {
    /// The cluster of DRFH, Table I: 10 classes, 2 resources.
    Google,
    /// Random classes.
    General,
    /// Random classes, of which a user may run on 5 to 20; 3 resources.
    Constrained,
}

/// Percent of the users of [`Law::Constrained`] that have a number of tasks: most, as in the traces.
const MOSTLY_FINITE: u64 = 70;

#[derive(Args)]
struct ScriptFolders {
    /// Folder of the scripts.
    #[arg(long, default_value = "benches/peers")]
    scripts: PathBuf,
    /// The interpreter with highspy, cvxpy and the conic solvers.
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
    /// Where the files that are measured go.
    #[arg(long, default_value = "target/benches")]
    folder: PathBuf,
    /// Most runs of a question in one process.
    #[arg(long, default_value_t = 7)]
    repetitions: usize,
    /// End a process after this many seconds.
    #[arg(long, default_value_t = 60.0)]
    limit: f64,
    /// Add the raw numbers, a line of JSON each, to this file.
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

/// The file of raw numbers, with a line about the machine.
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

/// What it is measured on.
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
        // A full disk must not cost the tables.
        let _ = writeln!(file, "{line}");
    }
}
