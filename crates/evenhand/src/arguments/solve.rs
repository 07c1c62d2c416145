//! The options of `solve`.

use std::path::PathBuf;

use clap::Args;
use evenhand::lp::njc::Goal;
use evenhand::mechanisms::Method;
use evenhand::mechanisms::filling::{Score, ServerRule, Ties};

use super::names;

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
    #[command(flatten)]
    pub particular: Particular,
    #[command(flatten)]
    pub filling: Filling,
}

/// Options of single mechanisms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of single mechanisms")]
pub struct Particular {
    /// alpha: the exponent, positive; 1 is proportional fairness, large is close to max-min
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// proportional, alpha: of the users' stated criterion in place of their tasks
    #[arg(long)]
    pub criterion: bool,
    /// njc: the allocation to prefer among all without justified complaints
    #[arg(long, value_name = "GOAL", value_parser = names::one_of::<Goal>())]
    pub select: Option<Goal>,
    /// njc, ps-dsf: also find all answers, as polytopes with their vertices; small problems
    #[arg(long)]
    pub faces: bool,
    /// njc: first leave out what cannot matter (NJC, section 5.1); one server
    #[arg(long)]
    pub reduce: bool,
    /// ps-dsf: sweep (default) or algorithm-1; ps-dsf-tdm: market (default) or sweep; njc: trajectory
    #[arg(long, value_name = "METHOD", value_parser = names::one_of::<Method>())]
    pub method: Option<Method>,
    /// ps-dsf, ps-dsf-tdm with --method sweep: server classes in the order in which they are swept,
    /// separated by commas; those that are not named follow in the order of the file
    #[arg(long, value_name = "SERVERS", value_delimiter = ',')]
    pub order: Option<Vec<String>>,
    /// njc with --method trajectory: integrate up to this c (default: 1e13, or until nobody complains)
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub c_max: Option<String>,
    /// njc with --method trajectory: write c, tasks and free parts of the resources to this file (CSV)
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
    /// njc with --method trajectory: draw the tasks over c into this file (SVG)
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
}

/// Options of `solve --mechanism fill` and `slots`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of whole tasks (fill, slots)")]
pub struct Filling {
    /// fill: whose turn it is (default: drf)
    #[arg(long, value_name = "SCORE", value_parser = names::one_of::<Score>())]
    pub score: Option<Score>,
    /// fill: where a task goes (default: first-fit)
    #[arg(long, value_name = "RULE", value_parser = names::one_of::<ServerRule>())]
    pub server: Option<ServerRule>,
    /// fill, slots: who is preferred among equals, users first, then servers (default: low)
    #[arg(long, value_name = "TIES", value_parser = names::one_of::<Ties>())]
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
