//! The options of `lp`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Lp {
    #[command(subcommand)]
    pub command: LpCommand,
}

#[derive(Debug, Subcommand)]
pub enum LpCommand {
    /// Solve a linear programme exactly, with a proof
    Solve(LpSolve),
    /// Judge an answer that any solver printed, in exact numbers
    Check(LpCheck),
}

#[derive(Debug, Args)]
pub struct LpSolve {
    /// Programme: MPS (fixed or free), LP or JSON, also packed (gzip, zstd)
    pub file: PathBuf,
    /// Write the exact answer (JSON) to this file, or - for standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the certificate to this file; evenhand-check verifies it
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Write the proof as a VIPR file, which the checker of its authors reads
    #[arg(long, value_name = "FILE")]
    pub vipr: Option<PathBuf>,
    /// Stop after this many seconds; the best proven bounds are then written
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub struct LpCheck {
    /// Programme: MPS (fixed or free), LP or JSON, also packed (gzip, zstd)
    pub file: PathBuf,
    /// Answer: a solution file of HiGHS, SCIP, Gurobi, CPLEX, glpsol, Clp or MIPLIB, JSON or text
    pub answer: PathBuf,
    /// Only print the bound on the optimum that the stated prices prove; nothing is solved
    #[arg(long, conflicts_with = "exact")]
    pub bounds: bool,
    /// Also solve the programme exactly, and compare the objective
    #[arg(long)]
    pub exact: bool,
    /// Largest violation and relative gap that are taken for rounding
    #[arg(long, value_name = "T", default_value = "1e-6")]
    pub tolerance: String,
}

impl Lp {
    /// Returns the files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&PathBuf>, Vec<&PathBuf>) {
        match &self.command {
            LpCommand::Solve(call) => {
                let written = call.output.iter().chain(&call.certificate).chain(&call.vipr);
                (vec![&call.file], written.collect())
            }
            LpCommand::Check(call) => (vec![&call.file, &call.answer], Vec::new()),
        }
    }
}
