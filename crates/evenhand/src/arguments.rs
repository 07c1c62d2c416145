//! What the command line accepts.

pub mod cluster;
mod common;
mod examples;
mod explain;
mod flags;
mod import;
pub mod names;
mod places;

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

// The options of a command are put together when it is asked for: those of all of them take longer than a small problem. What
// is said in doc comments of options that commands share would become the command's own description then.
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
    /// Say why a user has what it has, and what one more unit of a resource would bring
    #[command(after_help = examples::EXPLAIN)]
    Explain(Explain),
    /// Judge a running cluster: who is short, and whether a waiting task fits
    #[command(after_help = examples::VERDICT)]
    Verdict(cluster::Verdict),
    /// Say what changes bring to the queues of a running cluster
    #[command(after_help = examples::WHAT_IF)]
    WhatIf(cluster::WhatIf),
    /// Say which tasks of a running cluster to stop and to start, so that no queue is short
    #[command(after_help = examples::MOVES)]
    Moves(cluster::Moves),
    /// Show mechanisms side by side
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Write mechanisms side by side, or the verdict on a snapshot, as a page of HTML
    #[command(after_help = examples::REPORT)]
    Report(Compare),
    /// Solve and judge many problems under many mechanisms: a line of JSON for each
    #[command(after_help = examples::SWEEP)]
    Sweep(Sweep),
    /// Look for small problems on which a mechanism breaks an axiom
    #[command(after_help = examples::AUDIT)]
    Audit(Audit),
    /// Greedy against optimal for a reservation problem, exact and proven
    #[command(after_help = examples::RATIO)]
    Ratio(Ratio),
    /// Look for job types with which greedy does badly against the optimum
    #[command(after_help = examples::HUNT)]
    Hunt(Hunt),
    /// Simulate a scheduler: tasks come, run and finish
    #[command(after_help = examples::SIMULATE)]
    Simulate(Simulate),
    /// Tables, figures and examples of the papers beside what the engine gets
    #[command(after_help = examples::REPRODUCE)]
    Reproduce(Reproduce),
    /// Measure solvers: how near they come to the exact answer, how long they take
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
    /// Make a problem of real cluster data
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
    /// Threads where no number is stated; 0: as many as there are cores.
    pub fn default_threads(&self) -> usize {
        // The parts of a sweep are what runs at one time.
        usize::from(matches!(self, Self::Sweep(_)))
    }

    /// Whether the thread that runs it is one of its pool, so that none has to be woken for every part. It must never wait for
    /// a thread of its own that needs the pool: nobody might be left to serve it.
    pub fn works_in_pool(&self) -> bool {
        matches!(self, Self::Solve(_))
    }

    /// What it may cost.
    pub fn limits(&self, common: &Common) -> Limits {
        if let Self::Sweep(_) = self {
            // Every line has limits of its own; however large its problem is, it has no more memory.
            let memory = common.memory.or(Some(Limits::LARGE_MEMORY));
            return Limits { work: Some(u64::MAX), memory, ..Limits::default() };
        }
        let work = match self {
            _ if common.work.is_some() => common.work,
            // Their options say how long they take, and have defaults.
            Self::Audit(_) | Self::Bench(_) | Self::Hunt(_) | Self::Reproduce(_) => Some(u64::MAX),
            Self::Simulate(call) if call.seconds.is_some() => Some(u64::MAX),
            Self::Simulate(call) => {
                (call.replications > 1).then(|| Limits::A_MINUTE.saturating_mul(u64::from(call.replications)))
            }
            _ => None,
        };
        // What is measured is made and not read, and may be large.
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
    /// Solve in floating point: fast, and right but for rounding
    #[arg(long, conflicts_with = "exact")]
    pub float: bool,
    /// Solve in rational arithmetic: an exact optimum, or an error (the default)
    #[arg(long)]
    pub exact: bool,
    /// Write the allocation (JSON) to this file, or - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Add the summary to the allocation, which follows from it: tasks, dominant share and resources of each user
    #[arg(long)]
    pub summary: bool,
    /// Draw who holds what of every server class into this file (SVG); njc with --method trajectory: the tasks over c
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub flags: flags::MechanismFlags,
    #[command(flatten)]
    pub way: Way,
}

// Where the way of a trajectory is written.
#[derive(Debug, Args)]
#[command(next_help_heading = flags::SINGLE)]
pub struct Way {
    /// njc with --method trajectory: write c, tasks and free parts of the resources to this file (CSV)
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Certify {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Allocation file (JSON)
    pub allocation: PathBuf,
    /// Axiom to examine; may be given several times (default: the usual ones, and the one that
    /// belongs to the allocation's mechanism)
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// Share that max-min is about: drfh, cdrf, tsf, asset, generic or resource:NAME (default: that
    /// of the allocation's mechanism)
    #[arg(long)]
    pub share: Option<String>,
    /// Exponent that proportional is about (default: that of the allocation's mechanism, or 1)
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Margin by which an axiom may be missed and still hold, without a unit: a part of what a user would
    /// have alone, from 0 to below 1 (default: 0 for exact allocations, 1e-9 for others)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Stop after this many seconds and write what has been decided; the other axioms are then
    /// not checked, and the status is 3
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Show beside it the nearest exact answer of this mechanism that can be found, and how far that is
    #[arg(long, value_name = "NAME", value_parser = names::mechanism())]
    pub polish: Option<String>,
    /// Write that answer (JSON) to this file, or - for standard output
    #[arg(long, value_name = "FILE", requires = "polish")]
    pub polish_output: Option<PathBuf>,
    /// Draw who holds what of every server class into this file (SVG)
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
    /// Your own copy of the problem: the certificate must be about it, whatever the order in the file
    #[arg(long)]
    pub problem: Option<PathBuf>,
    /// Your own copy of the allocation: the certificate must be about it
    #[arg(long)]
    pub allocation: Option<PathBuf>,
    /// Axiom that must be claimed to hold; may be given several times. max-min and proportional need
    /// their parameter: max-min:drfh, proportional:1. Of a verdict also rule:NAME, of a ratio exact or ratio:A
    #[arg(long, value_name = "AXIOM[:PARAMETER]", value_parser = names::required())]
    pub require: Vec<String>,
    /// Largest tolerance that is accepted (default: 1e-6)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub max_tolerance: Option<String>,
    /// How servers must be shared (default: resources divided; time only where the problem states times)
    #[arg(long, value_parser = ["rdm", "tdm"])]
    pub sharing: Option<String>,
    /// Write a page that carries the certificate, and a checker for it that runs in a browser
    #[arg(long, requires = "output")]
    pub page: bool,
    /// The file of that page
    #[arg(long, short, requires = "page")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Certificate file of any kind (vipr), certificate of an allocation (coq), or problem file (mps, lp)
    pub file: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    pub to: ExportForm,
    /// vipr: the folder to write into, which is made if need be; coq, mps, lp: the file (default: standard
    /// output)
    #[arg(long, short, value_name = "FOLDER|FILE", required_if_eq("to", "vipr"))]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Linear and integer programmes with their proofs, which verified checkers read (docs/export.md)
    Vipr,
    /// A theorem for each claim, which Coq proves by computation (docs/proof.md)
    Coq,
    /// The problem as a linear programme, in integers: MPS in free form
    Mps,
    /// The same in the LP format
    Lp,
}

#[derive(Debug, Clone, Args)]
pub struct Compare {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Mechanism to show; may be given several times (default: all)
    #[arg(long = "mechanism", short, value_name = "NAME", value_parser = names::mechanism())]
    pub mechanisms: Vec<String>,
    /// Allocation file to show beside them; may be given several times
    #[arg(long = "allocation", value_name = "FILE")]
    pub allocations: Vec<PathBuf>,
    /// Show beside them what every user would run alone on its own part of the servers, by weight (DRFH, section
    /// IV-D): `dedicated` in parts of tasks, `dedicated-whole` in whole ones
    #[arg(long)]
    pub dedicated: bool,
    /// Axiom to examine besides the usual ones and those of the mechanisms; may be given several times
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// The exponent of alpha, which is left out without one
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Solve in double precision
    #[arg(long)]
    pub float: bool,
    /// Margin by which an axiom may be missed and still hold within it, for all columns (default: 1e-9)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Seconds that each mechanism may take
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds)]
    pub seconds: f64,
    /// Show all users instead of the first few
    #[arg(long, value_name = "WHICH", value_parser = ["all"])]
    pub users: Option<String>,
    /// Draw the dominant shares over the weights, from the least to the greatest, into this file (SVG)
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    /// Write the page (HTML) to this file besides, which `report` writes to report.html if none is named; `-`: the page on
    /// standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl Compare {
    /// Where `report` writes its page.
    pub fn page(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("report.html"))
    }
}

#[derive(Debug, Args)]
pub struct Sweep {
    /// Grid file (JSON of kind `sweep`), or - for standard input; --work and --memory are limits of every line, and
    /// there is one thread unless --threads says more
    pub grid: PathBuf,
    /// Write the lines of the I-th of N parts alone; one after the other, the parts are the whole
    #[arg(long, value_name = "I/N", value_parser = names::part)]
    pub part: Option<Part>,
    /// Write the lines to this file, as Parquet where it ends with .parquet; until it is complete they stand in
    /// FILE.part, from where the same command goes on (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop with status 3 before the lines have more bytes together than this, such as 500MiB or 200GiB
    #[arg(long, value_name = "BYTES", default_value = "64GiB", value_parser = common::bytes_of_lines)]
    pub most_bytes: u64,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// Mechanism
    #[arg(long, short, value_name = "NAME", value_parser = names::mechanism(),
          required_unless_present_any = ["matrix", "preemption"])]
    pub mechanism: Option<String>,
    /// With --rule kueue, in place of a mechanism: cases in which its preemption by shares goes round without end, all
    /// within these bounds if there are at most --instances
    #[arg(long, conflicts_with_all = ["matrix", "mechanism", "axioms", "properties", "users", "servers"])]
    pub preemption: bool,
    /// With --preemption: queues, at most; 2 to 4
    #[arg(long, value_name = "N", default_value_t = 2, requires = "preemption")]
    pub queues: u64,
    /// With --preemption: workloads, at most; 2 to 8
    #[arg(long, value_name = "N", default_value_t = 4, requires = "preemption")]
    pub workloads: u64,
    /// With --preemption: units of a resource that a workload asks for, at most; 1 to 16
    #[arg(long, value_name = "N", default_value_t = 3, requires = "preemption")]
    pub amount: u64,
    /// With --preemption: units of a resource that the cohort lends, at most; 1 to 32
    #[arg(long, value_name = "N", default_value_t = 6, requires = "preemption")]
    pub lendable: u64,
    /// With --preemption: weight of a queue, at most; 1 to 8
    #[arg(long, value_name = "N", default_value_t = 2, requires = "preemption")]
    pub weight: u64,
    /// Every mechanism by every axiom and property: proven, refuted by a small problem, open or not applicable
    #[arg(long, conflicts_with_all = ["mechanism", "axioms", "properties", "users", "servers", "resources"])]
    pub matrix: bool,
    /// Only problems in which every user demands some of every resource
    #[arg(long, conflicts_with = "preemption")]
    pub positive: bool,
    /// Only problems in which every user has unlimited tasks
    #[arg(long, conflicts_with = "preemption")]
    pub unlimited: bool,
    /// Only problems in which every user may run on every server class
    #[arg(long, conflicts_with = "preemption")]
    pub everywhere: bool,
    /// With --matrix: go on from this file if it is there, and keep it up to date
    #[arg(long, value_name = "FILE", requires = "matrix")]
    pub resume: Option<PathBuf>,
    /// Axiom to examine; may be given several times (default: the usual ones, and the one that the mechanism is
    /// made for)
    #[arg(long = "axiom", value_name = "AXIOM", value_parser = names::axiom())]
    pub axioms: Vec<String>,
    /// Property of the mechanism to examine as well; may be given several times
    #[arg(long = "property", value_name = "PROPERTY", value_parser = names::property())]
    pub properties: Vec<String>,
    /// Random problems that are tried (default: 1000); with --matrix for each mechanism, after all small ones; with
    /// --preemption cases (default: 200000)
    #[arg(long, value_name = "N")]
    pub instances: Option<u64>,
    /// Users of a problem, at most; 1 to 6
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub users: usize,
    /// Server classes of a problem, at most; 1 to 6
    #[arg(long, value_name = "I", default_value_t = 3)]
    pub servers: usize,
    /// Resources of a problem, at most; 1 to 6 (default: 3); with --preemption 1 to 4 (default: 1)
    #[arg(long, value_name = "M")]
    pub resources: Option<usize>,
    /// Write a page (index.html) into this folder, which is made if need be, and the smallest problem for each axiom that is
    /// violated, its allocation and its certificate; with --matrix a page, the matrix (JSON) and the certificates
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub flags: flags::MechanismFlags,
}

#[derive(Debug, Args)]
pub struct Ratio {
    /// Reservation problem file (JSON)
    #[arg(value_name = "RESERVATION")]
    pub problem: PathBuf,
    /// STEPS multiples of the loads, FROM and TO included, and the critical ones exactly
    #[arg(long, value_name = "FROM:TO:STEPS", value_parser = Range::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with = "worst_load")]
    pub sweep: Option<Range>,
    /// Draw the sweep into this file (SVG)
    #[arg(long, value_name = "FILE", requires = "sweep", conflicts_with = "worst_load")]
    #[arg(value_parser = names::picture)]
    pub plot: Option<PathBuf>,
    /// The smallest part of the optimum that greedy earns with these types, over all loads
    #[arg(long)]
    pub worst_load: bool,
    /// Whether more load never earns greedy less with these types (monotone greedy property); status 1 if it may
    #[arg(long, conflicts_with_all = ["sweep", "worst_load", "plot"])]
    pub monotone: bool,
    /// Write the certificate to this file: of the ratio, or of the worst load; with --sweep a page (HTML) with the curve; with
    /// --monotone a folder, for the proof and the two ratio certificates of a no
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prove with branch trees alone, even where tables of a dynamic programme would be shorter
    #[arg(long, requires = "output", conflicts_with = "sweep")]
    pub trees: bool,
}

#[derive(Debug, Args)]
pub struct Hunt {
    /// Job types, 1 to 8
    #[arg(long, value_name = "J", default_value_t = 3)]
    pub types: usize,
    /// Resources, 1 to 10
    #[arg(long, value_name = "M", default_value_t = 3)]
    pub resources: usize,
    /// Units of every resource that a server has; demands are whole numbers up to this
    #[arg(long, value_name = "C", default_value_t = 4)]
    pub capacity: u32,
    /// Largest reward; rewards are whole numbers from 1
    #[arg(long, value_name = "U", default_value_t = 12)]
    pub rewards: u64,
    /// All instances of this size up to symmetry, in place of a local search
    #[arg(long)]
    pub exhaustive: bool,
    /// Stop after this many steps, counted from the start of a resumed hunt (local search: default 200000)
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after this many seconds; where a hunt stops then depends on the machine
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Go on from this file if it is there, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Number of best instances to keep, each of another ratio, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub keep: usize,
    /// Shrink the best one as long as its ratio is at most this (default: its own)
    #[arg(long, value_name = "RATIO", allow_hyphen_values = true)]
    pub at_most: Option<String>,
    /// Write the shrunk instance, with its worst loads, to this file: a reservation problem
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Write the ratio certificate of that problem to this file
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// Scenario file (JSON, docs/simulation.md)
    pub scenario: PathBuf,
    /// Independent runs, with the seeds SEED, SEED + 1 and so on, in parallel
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub replications: u32,
    /// Keep in this file where the run stands, and go on from there if the file is there already, with the result that
    /// the run has without an interruption
    #[arg(long, value_name = "FILE", conflicts_with = "replications")]
    pub resume: Option<PathBuf>,
    /// Number of events between two writes of that file
    #[arg(
        long,
        value_name = "EVENTS",
        requires = "resume",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub checkpoint_every: u64,
    /// Write a page (index.html), the summary, the tables and the plots into this folder, which is made if need be
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Form of the series in that folder
    #[arg(long, value_name = "FORM", requires = "output", default_value = "csv", value_parser = names::one_of(SERIES))]
    pub series: String,
    /// Stop runs that are not done after so many seconds, and write what they come to until then (status 3); where they
    /// stop depends on the machine
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
}

/// Forms of the series of a simulation.
const SERIES: &[(&str, &str)] = &[("csv", "series.csv"), ("parquet", "series.parquet, the same columns")];

#[derive(Debug, Args)]
pub struct Reproduce {
    /// What to reproduce: drfh, ps-dsf, njc, kesidis, reservation, snapshots, simulation, theorems, or one entry of
    /// these, such as drfh.figure-2 (default: all)
    pub ids: Vec<String>,
    /// Only list the tables and figures of the papers, and what is reproduced of each
    #[arg(long, conflicts_with_all = ["ids", "output"])]
    pub list: bool,
    /// Write every table (Markdown, CSV, LaTeX) and every picture (SVG) into this folder, which is made if need be,
    /// and a page index.html that shows the papers' values and ours side by side
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_enum)]
    pub what: BenchKind,
    /// Timed runs of every measurement after the warm-up (default: as many as tell the median, one where that is long)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// accuracy: which problems
    #[arg(long, value_name = "SUITE", value_parser = names::one_of(Suite::NAMES), conflicts_with = "problem")]
    pub suite: Option<String>,
    /// accuracy: a problem of one's own in place of a suite, asked everything that applies to it
    #[arg(long, value_name = "FILE")]
    pub problem: Option<PathBuf>,
    /// accuracy: ask only questions of this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = names::one_of(Kind::NAMES))]
    pub kinds: Vec<String>,
    /// accuracy: seconds for one run of one contender, and with --problem for each exact answer (default: 10)
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// accuracy: a program from outside, which reads {problem} (or {mps}) and writes {answer}; {kind} and {alpha} say
    /// what is asked; may be repeated
    #[arg(long, value_name = "NAME=COMMAND")]
    pub solver: Vec<Outside>,
    /// Write the data, tables, plots and a page into this folder, which is made if need be
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// Run one contender on the case of standard input, for another process
    #[arg(long, hide = true, conflicts_with_all = ["suite", "problem", "kinds", "solver", "output"])]
    pub worker: bool,
    /// Run the command of standard input for another process, and kill what it has started when that process ends
    #[arg(long, hide = true, conflicts_with_all = ["suite", "problem", "solver", "output", "worker"])]
    pub keeper: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchKind {
    /// Solvers against exact answers, those compiled in and others (accuracy.json, .md, .csv, .tex,
    /// work-precision.svg, profiles.svg, index.html, references)
    Accuracy,
    /// Mechanisms on growing clusters, in floating point and exactly (speed.json, index.html)
    Speed,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Name of the format (default: the names are listed)
    #[arg(value_parser = names::schema_name())]
    pub name: Option<String>,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell that completes
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write a page for every command into this folder, which is made if need be (default: the page of
    /// the program to standard output)
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

/// Seconds in a year: longer limits are none.
const MOST_SECONDS: f64 = 31_536_000.0;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= MOST_SECONDS => Ok(value),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}
