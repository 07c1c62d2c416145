//! The command line `evenhand`.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod failure;
mod files;
mod output;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    match run() {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}

/// Status 0 or 1 is a verdict; everything else is a [`Failure`].
fn run() -> Result<ExitCode, Failure> {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::of_usage(&error),
    };
    let common = &arguments.common;
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| Failure::solver(error.to_string()))?;
    }
    match &arguments.command {
        Command::Solve(call) => commands::solve::run(call, common),
        Command::Certify(call) => commands::certify::run(call, common),
        Command::Check(call) => commands::check::run(call, common),
        Command::Explain(call) => commands::explain::run(call, common),
        Command::Compare(call) => commands::compare::run(call, common),
        Command::Ratio(call) => commands::ratio::run(call, common),
        Command::Hunt(call) => commands::hunt::run(call, common),
        Command::Reproduce(call) => commands::reproduce::run(call, common),
        Command::Bench(call) => commands::bench::run(call, common),
        Command::Import(call) => commands::import::run(call, common),
        Command::Schema(call) => commands::schema::run(call),
    }
}
