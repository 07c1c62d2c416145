//! The commands and options of the command line.

pub mod audit;
pub mod cluster;
mod common;
mod examples;
mod explain;
mod flags;
pub mod import;
pub mod lp;
pub mod migrations;
pub mod names;
mod places;
pub mod plan;
pub mod usage;
pub mod waits;
pub mod watch;
pub mod window;

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use evenhand_budget::Limits;

use evenhand_accuracy::case::Kind;
use evenhand_accuracy::outside::Outside;
use evenhand_accuracy::suite::Suite;

pub use common::{Common, Format};
pub use explain::Explain;
pub use import::{Import, ImportSource};
pub use names::{Part, Range};

/// Fair allocations of several resources, computed and proven in exact arithmetic.
#[derive(Debug, Parser)]
#[command(name = "evenhand", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = examples::ROOT)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

// Options are built only for the command that is run: building those of all commands takes longer than solving a small problem.
// Structs that several commands flatten carry ordinary comments: a doc comment would replace the description of the command.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Compute an allocation
    #[command(after_help = examples::SOLVE)]
    Solve(Solve),
    /// Examine the axioms of an allocation and write a certificate
    #[command(after_help = examples::CERTIFY)]
    Certify(Certify),
    /// Verify a certificate with rational arithmetic alone
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Write a certificate for other checkers, or a problem for other solvers
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Explain why a user has no more, or why a waiting task of a cluster does not start
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Judge a running cluster, or its history: which queues are below their fair share
    #[command(after_help = examples::VERDICT)]
    Verdict(cluster::Verdict),
    /// Show how changes to a running cluster would affect its queues
    #[command(after_help = examples::WHAT_IF)]
    WhatIf(cluster::WhatIf),
    /// Choose tasks of a running cluster to stop and start, so that shares become fair
    #[command(after_help = examples::MOVES)]
    Moves(cluster::Moves),
    /// Find the cheapest servers to add to a running cluster, or the servers that can go
    #[command(after_help = examples::PLAN)]
    Plan(plan::Plan),
    /// Judge a running cluster again and again, with a history and metrics
    #[command(after_help = examples::WATCH)]
    Watch(watch::Watch),
    /// Compute the decayed usage of queues by the law of a scheduler, and who is served next
    #[command(after_help = examples::USAGE)]
    Usage(usage::Usage),
    /// Compare mechanisms side by side
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Write a comparison, the verdict on a snapshot or a history of watch as an HTML page
    #[command(after_help = examples::REPORT)]
    Report(Compare),
    /// Solve and judge many problems under many mechanisms, one line of JSON for each result
    #[command(after_help = examples::SWEEP)]
    Sweep(Sweep),
    /// Search for small problems on which a mechanism violates an axiom
    #[command(after_help = examples::AUDIT)]
    Audit(audit::Audit),
    /// Compare greedy with the optimum for a reservation problem, exactly and with a proof
    #[command(after_help = examples::RATIO)]
    Ratio(Ratio),
    /// Search for job types with which greedy earns much less than the optimum
    #[command(after_help = examples::HUNT)]
    Hunt(Hunt),
    /// Simulate a scheduler: tasks arrive, run and finish
    #[command(after_help = examples::SIMULATE)]
    Simulate(Simulate),
    /// Show tables, figures and examples of the papers next to the values computed here
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(Reproduce),
    /// Measure solvers: their distance from the exact answer and their running time
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
    /// Solve a linear programme exactly, or judge the answer of any solver
    #[command(after_help = examples::LP)]
    Lp(lp::Lp),
    /// Read a trace or a scheduler's dump and write it as a problem or snapshot
    #[command(after_help = examples::IMPORT)]
    Import(Import),
    /// Print the JSON Schema of a format
    #[command(after_help = examples::SCHEMA)]
    Schema(Schema),
    /// Print the completions of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write the manual pages
    #[command(after_help = examples::MAN)]
    Man(Man),
}

impl Command {
    /// Returns the number of threads if `--threads` is not given; 0 means one for each core.
    pub fn default_threads(&self) -> usize {
        // Users run the parts of a sweep as processes side by side, so one thread is enough for each.
        usize::from(matches!(self, Self::Sweep(_)))
    }

    /// Returns whether the command runs on a thread of the pool, which saves waking another thread for every piece of work. Such a
    /// command must never wait for a thread of its own that needs the pool: no other thread might be left to serve it.
    pub fn works_in_pool(&self) -> bool {
        matches!(self, Self::Solve(_))
    }

    /// Returns the limits on work and memory of the command.
    pub fn limits(&self, common: &Common) -> Limits {
        if let Self::Sweep(_) = self {
            // Each line of a sweep has its own limit on work. The limit on memory is that of the whole process.
            let memory = common.memory.or(Some(Limits::LARGE_MEMORY));
            return Limits { work: Some(u64::MAX), memory, ..Limits::default() };
        }
        if let Self::Watch(_) = self {
            // Each round has its own limits.
            let memory = common.memory.or(Some(Limits::LARGE_MEMORY));
            return Limits { work: Some(u64::MAX), memory, ..Limits::default() };
        }
        let work = match self {
            _ if common.work.is_some() => common.work,
            // Options of these commands state how long they take, and have defaults.
            Self::Audit(_) | Self::Bench(_) | Self::Hunt(_) | Self::Reproduce(_) => Some(u64::MAX),
            Self::Simulate(call) if call.seconds.is_some() => Some(u64::MAX),
            Self::Simulate(call) => {
                (call.replications > 1).then(|| Limits::A_MINUTE.saturating_mul(u64::from(call.replications)))
            }
            _ => None,
        };
        // `bench` generates its problems instead of reading them, and they may be large.
        let is_made = matches!(self, Self::Bench(call) if call.problem.is_none());
        let memory = common.memory.or(is_made.then_some(Limits::LARGE_MEMORY));
        Limits { work, memory, ..Limits::by_input() }
    }
}

#[derive(Debug, Args)]
pub struct Solve {
    /// Problem file (JSON), or - for standard input
    pub problem: PathBuf,
    /// Mechanism
    #[arg(long, short, value_name = "NAME", value_parser = names::mechanism())]
    pub mechanism: String,
    /// Solve in floating point: fast, but with rounding errors
    #[arg(long, conflicts_with = "exact")]
    pub float: bool,
    /// Solve in rational arithmetic: returns an exact optimum or an error (the default)
    #[arg(long)]
    pub exact: bool,
    /// Write the allocation (JSON) to this file, or - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add a summary to the allocation: tasks, dominant share and resources of each user
    #[arg(long)]
    pub summary: bool,
    /// Draw the users' shares of every server class into this file (SVG); njc with --method trajectory: the tasks over c
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub flags: flags::MechanismFlags,
    #[command(flatten)]
    pub series_output: SeriesOutput,
}

// The output of a trajectory.
#[derive(Debug, Args)]
#[command(next_help_heading = flags::SINGLE)]
pub struct SeriesOutput {
    /// njc with --method trajectory: write c, the tasks and the free fractions of the resources to this file (CSV)
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Certify {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Allocation file (JSON)
    pub allocation: PathBuf,
    /// Axiom to examine; may be given several times (default: the usual axioms, and the axiom that the
    /// allocation's mechanism is made for)
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// Share that max-min equalises: drfh, cdrf, tsf, asset, generic or resource:NAME (default: the share
    /// of the allocation's mechanism)
    #[arg(long)]
    pub share: Option<String>,
    /// Exponent of the axiom proportional (default: the exponent of the allocation's mechanism, or 1)
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Margin by which an axiom may be missed and still hold, as a fraction of the amount that a user would
    /// have alone, from 0 to below 1 (default: 0 for exact allocations, 1e-9 for others)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Stop after this many seconds and write the axioms decided so far; the other axioms are then
    /// not checked, and the exit status is 3
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Also show the nearest exact answer of this mechanism that can be computed, and its distance from the allocation
    #[arg(long, value_name = "NAME", value_parser = names::mechanism())]
    pub polish: Option<String>,
    /// Write that exact answer (JSON) to this file, or - for standard output
    #[arg(long, value_name = "FILE", requires = "polish")]
    pub polish_output: Option<PathBuf>,
    /// Draw the users' shares of every server class into this file (SVG)
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    /// Write the certificate to this file
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Certificate file (JSON)
    pub certificate: PathBuf,
    /// Your own copy of the problem: the certificate must be about this problem; the order in the file does not matter
    #[arg(long)]
    pub problem: Option<PathBuf>,
    /// Your own copy of the allocation: the certificate must be about this allocation
    #[arg(long)]
    pub allocation: Option<PathBuf>,
    /// Axiom that the certificate must claim to hold; may be given several times. max-min and proportional need
    /// their parameter: max-min:drfh, proportional:1. For a verdict also rule:NAME, for a ratio exact or ratio:A
    #[arg(long, value_name = "AXIOM[:PARAMETER]", value_parser = names::required())]
    pub require: Vec<String>,
    /// Largest tolerance to accept (default: 1e-6)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub max_tolerance: Option<String>,
    /// How servers must be shared: rdm divides resources, tdm time (default: rdm; tdm only if the problem states times)
    #[arg(long, value_parser = ["rdm", "tdm"])]
    pub sharing: Option<String>,
    /// Write a page that contains the certificate and a checker for it that runs in a browser
    #[arg(long, requires = "output")]
    pub page: bool,
    /// File to write that page to
    #[arg(long, short, requires = "page")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Certificate of any kind (vipr), certificate of an allocation (coq), or problem (mps, lp)
    pub file: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    pub to: ExportForm,
    /// vipr: the folder to write to, created if it does not exist; coq, mps, lp: the file to write to (default:
    /// standard output)
    #[arg(long, short, value_name = "FOLDER|FILE", required_if_eq("to", "vipr"))]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Linear and integer programmes with their proofs, for verified checkers (docs/export.md)
    Vipr,
    /// A theorem for each claim, which Coq proves by computation (docs/proof.md)
    Coq,
    /// The problem as a linear programme with integer coefficients, in free MPS format
    Mps,
    /// The same linear programme in LP format
    Lp,
}

#[derive(Debug, Clone, Args)]
pub struct Compare {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Mechanism to show; may be given several times (default: all)
    #[arg(long = "mechanism", short, value_name = "NAME", value_parser = names::mechanism())]
    pub mechanisms: Vec<String>,
    /// Allocation file to show next to the mechanisms; may be given several times
    #[arg(long = "allocation", value_name = "FILE")]
    pub allocations: Vec<PathBuf>,
    /// Also show what every user would run alone on its own fraction of the servers, by weight (DRFH, section
    /// IV-D): `dedicated` in fractional tasks, `dedicated-whole` in whole tasks
    #[arg(long)]
    pub dedicated: bool,
    /// Axiom to examine in addition to the usual axioms and those of the mechanisms; may be given several times
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// Exponent of alpha; without it, alpha is left out
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Solve in floating point
    #[arg(long)]
    pub float: bool,
    /// Margin by which an axiom may be missed and still hold, for all columns (default: 1e-9)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Time limit for each mechanism, in seconds
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds)]
    pub seconds: f64,
    /// Show all users instead of only the first few
    #[arg(long, value_name = "WHICH", value_parser = ["all"])]
    pub users: Option<String>,
    /// Draw the dominant shares over the weights, in ascending order, into this file (SVG)
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    /// Also write the page (HTML) to this file, or - for standard output (`report` writes to report.html by
    /// default)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Compare {
    /// Returns the path that `report` writes its page to.
    pub fn page(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("report.html"))
    }
}

#[derive(Debug, Args)]
pub struct Sweep {
    /// Grid file (JSON of kind `sweep`), or - for standard input; --work and --memory limit each line, and
    /// one thread is used unless --threads gives another number
    pub grid: PathBuf,
    /// Write only part I of N; the N parts in order are the whole sweep
    #[arg(long, value_name = "I/N", value_parser = names::part)]
    pub part: Option<Part>,
    /// Write the lines to this file, as Parquet if its name ends with .parquet. Lines are collected in FILE.part until
    /// the file is complete; run the same command again to resume (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop with status 3 before the lines exceed this many bytes in total, such as 500MiB or 200GiB
    #[arg(long, value_name = "BYTES", default_value = "64GiB", value_parser = common::bytes_of_lines)]
    pub most_bytes: u64,
}

#[derive(Debug, Args)]
pub struct Ratio {
    /// Reservation problem file (JSON)
    #[arg(value_name = "RESERVATION")]
    pub problem: PathBuf,
    /// Evaluate STEPS multiples of the loads from FROM to TO, both included, and also the critical multiples exactly
    #[arg(long, value_name = "FROM:TO:STEPS", value_parser = Range::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with = "worst_load")]
    pub sweep: Option<Range>,
    /// Draw the sweep into this file (SVG)
    #[arg(long, value_name = "FILE", requires = "sweep", conflicts_with = "worst_load")]
    #[arg(value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    /// Compute the smallest fraction of the optimum that greedy earns with these types, over all loads
    #[arg(long)]
    pub worst_load: bool,
    /// Decide whether more load never earns greedy less with these types (monotone greedy property); exit status 1 if it may
    #[arg(long, conflicts_with_all = ["sweep", "worst_load", "plot"])]
    pub monotone: bool,
    /// Write the certificate of the ratio or of the worst load to this file; with --sweep a page (HTML) with the curve; with
    /// --monotone a folder for the proof, and for the two ratio certificates if the property fails
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prove with branch trees alone, even if tables of a dynamic programme would be shorter
    #[arg(long, requires = "output", conflicts_with = "sweep")]
    pub trees: bool,
}

#[derive(Debug, Args)]
pub struct Hunt {
    /// Number of job types, 1 to 8
    #[arg(long, value_name = "J", default_value_t = 3)]
    pub types: usize,
    /// Number of resources, 1 to 10
    #[arg(long, value_name = "M", default_value_t = 3)]
    pub resources: usize,
    /// Units of every resource of a server; demands are whole numbers up to this
    #[arg(long, value_name = "C", default_value_t = 4)]
    pub capacity: u32,
    /// Largest reward; rewards are whole numbers from 1 to this
    #[arg(long, value_name = "U", default_value_t = 12)]
    pub rewards: u64,
    /// Examine all instances of this size up to symmetry, instead of a local search
    #[arg(long)]
    pub exhaustive: bool,
    /// Stop after this many steps, counted from the start of a resumed hunt (default for a local search: 200000)
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after this many seconds; the stopping point then depends on the machine
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Resume from this file if it exists, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Number of best instances to keep, each with a different ratio, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub keep: usize,
    /// Shrink the best instance as long as its ratio is at most this (default: its own ratio)
    #[arg(long, value_name = "RATIO", allow_hyphen_values = true)]
    pub at_most: Option<String>,
    /// Write the shrunk instance with its worst loads to this file, as a reservation problem
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Write the ratio certificate of the shrunk instance to this file
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// Scenario file (JSON, docs/simulation.md), or snapshot of a running cluster (docs/waiting.md)
    pub scenario: PathBuf,
    /// Number of independent runs, which run in parallel with the seeds SEED, SEED + 1 and so on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub replications: u32,
    /// Save the state of the run in this file, and resume from it if it exists; the result is the same as without an
    /// interruption
    #[arg(long, value_name = "FILE", conflicts_with = "replications")]
    pub resume: Option<PathBuf>,
    /// Number of events between two saves of that file
    #[arg(
        long,
        value_name = "EVENTS",
        requires = "resume",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub checkpoint_every: u64,
    /// Write a page (index.html), the summary, the tables and the plots into this folder, created if it does not exist
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Format of the series in that folder
    #[arg(long, value_name = "FORM", requires = "output", default_value = "csv", value_parser = names::one_of(SERIES))]
    pub series: String,
    /// Also write history.csv, the running and waiting tasks of users over time, into that folder; usage and verdict
    /// --window read it
    #[arg(long, requires = "output", conflicts_with = "resume")]
    pub history: bool,
    /// Compare half-lives of past usage, such as 1h,7d,none: the mean waiting time of tasks under each of them
    #[arg(
        long,
        value_name = "TIMES",
        value_delimiter = ',',
        conflicts_with_all = ["output", "resume", "series", "seconds"]
    )]
    pub half_life: Vec<String>,
    /// Stop unfinished runs after this many seconds and write their results so far (exit status 3); the stopping point
    /// depends on the machine
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    #[command(flatten)]
    pub waits: waits::WaitOptions,
}

/// The formats of the series of a simulation, each with its help text.
const SERIES: &[(&str, &str)] = &[("csv", "series.csv"), ("parquet", "series.parquet, the same columns")];

#[derive(Debug, Args)]
pub struct Reproduce {
    /// What to reproduce: drfh, ps-dsf, njc, kesidis, reservation, snapshots, simulation, theorems, or one entry of
    /// these, such as drfh.figure-2 (default: all)
    pub ids: Vec<String>,
    /// List the tables and figures of the papers and what is reproduced of each, and compute nothing
    #[arg(long, conflicts_with_all = ["ids", "output"])]
    pub list: bool,
    /// Write every table (Markdown, CSV, LaTeX) and every picture (SVG) into this folder, created if it does not exist,
    /// and a page index.html that shows the papers' values next to the computed ones
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_enum)]
    pub what: BenchKind,
    /// Timed runs of each measurement after the warm-up (default: enough for a stable median, one if a run is long)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// accuracy: suite of problems
    #[arg(long, value_name = "SUITE", value_parser = names::one_of(Suite::NAMES), conflicts_with = "problem")]
    pub suite: Option<String>,
    /// accuracy: folder of the MPS or LP files (also .gz) of --suite netlib
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub data: Option<PathBuf>,
    /// accuracy: measure your own problem (JSON, .mps or .lp) with all questions that apply
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// accuracy: ask only questions of this kind; may be given several times
    #[arg(long = "kind", value_name = "KIND", value_parser = names::one_of(Kind::NAMES))]
    pub kinds: Vec<String>,
    /// accuracy: seconds for one run of one solver (default: 10)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// accuracy: seconds for each exact answer (default: --seconds; netlib: 60)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub exact_seconds: Option<f64>,
    /// accuracy: also measure an external program, which reads {problem} (or {mps}) and writes {answer}; {kind} and
    /// {alpha} give the question; may be given several times
    #[arg(long, value_name = "NAME=COMMAND")]
    pub solver: Vec<Outside>,
    /// Write the data, tables, plots and a page into this folder, created if it does not exist
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Run one solver on the case read from standard input, for another process
    #[arg(long, hide = true, conflicts_with_all = ["suite", "data", "problem", "kinds", "solver", "output"])]
    pub worker: bool,
    /// Run the command read from standard input for another process, and kill its children when that process ends
    #[arg(long, hide = true, conflicts_with_all = ["suite", "data", "problem", "solver", "output", "worker"])]
    pub keeper: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchKind {
    /// Compiled-in and external solvers against exact answers (accuracy.json, .md, .csv, .tex,
    /// work-precision.svg, profiles.svg, index.html, references)
    Accuracy,
    /// Running times of mechanisms on growing clusters, in floating point and exactly (speed.json, index.html)
    Speed,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Name of the format (default: list the names)
    #[arg(value_parser = names::schema_name())]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell to write completions for
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write a manual page for every command into this folder, created if it does not exist (default: print the page
    /// of the program on standard output)
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

/// The seconds in a year, the longest time limit that is accepted.
const MOST_SECONDS: f64 = 31_536_000.0;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= MOST_SECONDS => Ok(value),
        _ => Err("expected a number of seconds above 0, and at most a year (31536000)".to_owned()),
    }
}
