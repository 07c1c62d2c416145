//! The options of `solve`.

use std::path::PathBuf;

use clap::Args;

use super::flags::{MechanismFlags, SINGLE};
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
    pub flags: MechanismFlags,
    #[command(flatten)]
    pub way: Way,
}

/// Where the way of a trajectory is written.
#[derive(Debug, Args)]
#[command(next_help_heading = SINGLE)]
pub struct Way {
    /// njc with --method trajectory: write c, tasks and free parts of the resources to this file (CSV)
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
    /// njc with --method trajectory: draw the tasks over c into this file (SVG)
    #[arg(long, value_name = "FILE", value_parser = names::picture)]
    pub plot: Option<PathBuf>,
}
