//! What the command line accepts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::ratio::sweep::Range;

/// Fair allocations of several resources, computed and proven in exact arithmetic.
#[derive(Debug, Parser)]
#[command(name = "evenhand", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit status:\n  0  done, and everything asked about holds\n  1  an examined axiom is \
violated, or a certificate is wrong\n  2  usage, or unreadable input\n  3  a solver failed or reached a \
limit\n\nAn input named - is standard input; an output named - is standard output."
)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// How results are written to standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Seed of everything random; the same seed gives the same result on every machine
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Threads to use (default: all cores)
    #[arg(long, global = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// No progress and no warnings on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// One JSON document and nothing else
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compute an allocation
    Solve(Solve),
    /// Examine the axioms of an allocation and write a certificate
    Certify(Certify),
    /// Verify a certificate with rational arithmetic alone
    Check(Check),
    /// Say why a user has what it has
    Explain(Explain),
    /// Show mechanisms side by side
    Compare(Compare),
    /// Greedy against optimal for a reservation problem, exact and proven
    Ratio(Ratio),
    /// Look for job types with which greedy does badly against the optimum
    Hunt(Hunt),
    /// Tables, figures and examples of the papers beside what the engine gets
    Reproduce(Reproduce),
    /// Measure solvers: how near they come to the exact answer, how long they take
    Bench(Bench),
    /// Make a problem of real cluster data
    Import(Import),
    /// Print the JSON Schema of a format
    Schema(Schema),
}

#[derive(Debug, Args)]
pub struct Solve {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Mechanism by name: drf, drfh (c-drfh), cdrf, tsf, asset, per-server-drf, generic, utilitarian,
    /// proportional, alpha, njc, ps-dsf, ps-dsf-tdm, fill, slots
    #[arg(long, short)]
    pub mechanism: String,
    /// alpha: the exponent, positive; 1 is proportional fairness, large is close to max-min
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// proportional, alpha: of the users' stated criterion in place of their tasks
    #[arg(long)]
    pub criterion: bool,
    /// njc: the allocation to prefer among all without justified complaints
    #[arg(long, value_name = "GOAL", value_enum)]
    pub select: Option<Goal>,
    /// proportional on one server: so many significant digits, 1 to 1000 (needs a build with the cargo
    /// feature `multiprecision`)
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub digits: Option<u32>,
    /// njc, ps-dsf: also find all answers, as polytopes with their vertices; small problems
    #[arg(long)]
    pub faces: bool,
    /// njc: first leave out what cannot matter (NJC, section 5.1); one server
    #[arg(long)]
    pub reduce: bool,
    #[command(flatten)]
    pub filling: Filling,
    /// ps-dsf: sweep (default) or algorithm-1; ps-dsf-tdm: market (default) or sweep
    #[arg(long, value_name = "METHOD", value_enum)]
    pub method: Option<Method>,
    /// ps-dsf, ps-dsf-tdm with --method sweep: server classes in the order in which they are swept,
    /// separated by commas; those that are not named follow in the order of the file
    #[arg(long, value_name = "SERVERS", value_delimiter = ',')]
    pub order: Option<Vec<String>>,
    /// Solve in rational arithmetic: an exact optimum, or an error
    #[arg(long)]
    pub exact: bool,
    /// Write the allocation to this file
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// Options of `solve --mechanism fill` and `slots`.
#[derive(Debug, Args)]
pub struct Filling {
    /// fill: whose turn it is (default: drf)
    #[arg(long, value_name = "SCORE", value_enum)]
    pub score: Option<Score>,
    /// fill: where a task goes (default: first-fit)
    #[arg(long, value_name = "RULE", value_enum)]
    pub server: Option<ServerRule>,
    /// fill, slots: who is preferred among equals, users first, then servers (default: low)
    #[arg(long, value_name = "TIES", value_enum)]
    pub ties: Option<Ties>,
    /// fill --server best-fit: compare only servers on which the task fits; without it a user whose
    /// task does not fit on its best server lets the next one go first, as in the table of Kesidis
    #[arg(long)]
    pub filter: bool,
    /// fill: place this part of a task at a time; towards 0 the divisible allocation (default: 1)
    #[arg(long, value_name = "EPS", allow_hyphen_values = true)]
    pub step: Option<String>,
    /// fill: compare with the divisible mechanism of the same score, solved exactly
    #[arg(long)]
    pub ideal: bool,
    /// slots: slots of the largest server
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub slots: Option<u64>,
}

/// `solve --score`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Score {
    /// Global dominant share by weight
    Drf,
    /// Tasks by weight and by the tasks that fit on all servers
    Tsf,
    /// Tasks by weight and by the tasks that fit on the empty server
    PsDsf,
    /// The same with what is left of the server
    RpsDsf,
}

/// `solve --server`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ServerRule {
    /// For every task a random one of the servers on which some task fits
    Iid,
    /// Rounds, every server once in random order
    Rrr,
    /// The first server that fits
    FirstFit,
    /// The server whose rest suits the task best
    BestFit,
    /// User and server together: the pair of least score
    Joint,
}

/// `solve --ties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ties {
    /// The lowest index
    Low,
    /// The highest index
    High,
    /// One at random
    Random,
}

/// Methods of PS-DSF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Every server class filled in turn until nothing changes, accelerated where that is slow
    Sweep,
    /// Algorithm I of the paper, step by step; it often only approaches its limit
    #[value(name = "algorithm-1")]
    Algorithm1,
    /// The linear Fisher market
    Market,
}

/// What `solve --select` prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The most used parts of all resources of all servers together
    #[value(name = "max-utilisation")]
    Utilisation,
    /// The largest least dominant share by weight of the users that want more
    #[value(name = "max-min-share")]
    MinShare,
    /// The most tasks
    #[value(name = "max-tasks")]
    Tasks,
}

#[derive(Debug, Args)]
pub struct Certify {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Allocation file (JSON)
    pub allocation: PathBuf,
    /// Axiom to examine; may be given several times (default: the usual ones, and the one that
    /// belongs to the allocation's mechanism)
    #[arg(long = "axiom", value_name = "AXIOM")]
    pub axioms: Vec<String>,
    /// Share that max-min is about: drfh, cdrf, tsf, asset, generic or resource:NAME (default: that
    /// of the allocation's mechanism)
    #[arg(long)]
    pub share: Option<String>,
    /// Exponent that proportional is about (default: that of the allocation's mechanism, or 1)
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Margin by which an inequality may be violated, in tasks (feasible: of the capacity)
    #[arg(long, default_value = "0", allow_hyphen_values = true)]
    pub tolerance: String,
    /// Write the certificate to this file
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Certificate file (JSON)
    pub certificate: PathBuf,
    /// Your own copy of the problem: the certificate must be about it
    #[arg(long)]
    pub problem: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Allocation file (JSON)
    pub allocation: PathBuf,
    /// Name of the user
    #[arg(long)]
    pub user: String,
}

#[derive(Debug, Args)]
pub struct Compare {
    /// Problem file (JSON)
    pub problem: PathBuf,
    /// Mechanism to show; may be given several times (default: all)
    #[arg(long = "mechanism", short, value_name = "NAME")]
    pub mechanisms: Vec<String>,
    /// The exponent of alpha, which is left out without one
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
}

#[derive(Debug, Args)]
pub struct Ratio {
    /// Reservation problem file (JSON)
    #[arg(value_name = "RESERVATION")]
    pub problem: PathBuf,
    /// STEPS multiples of the loads, FROM and TO included, and the critical ones exactly
    #[arg(long, value_name = "FROM:TO:STEPS", value_parser = Range::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["worst_load", "output"])]
    pub sweep: Option<Range>,
    /// Draw the sweep into this file (SVG)
    #[arg(long, value_name = "FILE", requires = "sweep", conflicts_with = "worst_load")]
    pub plot: Option<PathBuf>,
    /// The least part of the optimum that greedy earns with these types, whatever the load
    #[arg(long)]
    pub worst_load: bool,
    /// Write the certificate to this file: of the ratio, or of the worst load
    #[arg(long, short, value_name = "CERT")]
    pub output: Option<PathBuf>,
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
    /// Stop after so many steps, counted from the start of a resumed hunt (local search: default 200000)
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after so many seconds; where a hunt stops then depends on the machine
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Go on from this file if it is there, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// So many of the best instances, of different ratios, 1 to 100
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
pub struct Reproduce {
    /// What to reproduce: drfh, ps-dsf, njc, kesidis, reservation, snapshots (default: all)
    pub ids: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_enum)]
    pub what: BenchKind,
    /// Timed runs of every measurement after the warm-up (default: as many as tell the median)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Write the data and the plots into this folder, which is made if need be
    #[arg(long, short, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchKind {
    /// Solvers of one pool against its exact answer, time against error (work-precision.json and
    /// .svg, trajectory.svg)
    Accuracy,
    /// Mechanisms on growing clusters, in floating point and exactly (speed.json)
    Speed,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Kind of the data
    #[arg(value_enum)]
    pub source: ImportSource,
    /// openb: the node list and a pod list; google: the machine table or machine events, then task
    /// events. Plain, .gz or .zst
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// google: the trace time in microseconds at which tasks run
    #[arg(long, default_value_t = 0)]
    pub time: u64,
    /// google: one user for each request shape in place of one for each user id
    #[arg(long)]
    pub by_shape: bool,
    /// Write the problem to this file (default: standard output)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportSource {
    /// Alibaba cluster-trace-gpu-v2023
    Openb,
    /// Google clusterdata-2011-2
    Google,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// problem, reservation, allocation or certificate
    pub name: String,
}

/// More threads than any machine has cores only cost time and memory.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (1..=MAX_THREADS).contains(&value) => Ok(value),
        _ => Err(format!("expected a number from 1 to {MAX_THREADS}")),
    }
}
