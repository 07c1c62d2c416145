//! The command line `evenhand`.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod failure;
mod files;
#[cfg(unix)]
mod guard;
mod output;
mod watch;

#[cfg(unix)]
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use evenhand_budget::{handle, within};

use arguments::{Arguments, Command, Common};
use failure::Failure;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(status) = guard::run() {
        return status;
    }
    let status = match contained(run) {
        Ok(status) => status,
        Err(failure) => failure.report(),
    };
    output::say_remarks();
    end(status)
}

/// Ends the process at once if the command succeeded. The system then frees the memory as a whole. The usual
/// exit handlers free it piece by piece, which takes a sixth of the running time for a problem with three
/// users.
#[cfg(unix)]
fn end(status: ExitCode) -> ExitCode {
    if status == ExitCode::SUCCESS && std::io::stdout().flush().is_ok() {
        signal_hook::low_level::exit(0);
    }
    status
}

#[cfg(not(unix))]
fn end(status: ExitCode) -> ExitCode {
    status
}

/// Runs the program. A panic is a defect, and is reported in the same way as every other failure.
fn contained(run: fn() -> Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    static WHERE: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        let mut text = WHERE.lock().unwrap_or_else(PoisonError::into_inner);
        *text = panic.to_string();
    }));
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        let text = WHERE.lock().unwrap_or_else(PoisonError::into_inner);
        Err(Failure::solver(format!("this is a defect of evenhand, please report it: {text}")))
    })
}

/// Runs the command. The statuses 0 and 1 are verdicts, and every other end of the command is a [`Failure`].
fn run() -> Result<ExitCode, Failure> {
    let arguments = match Arguments::try_parse_from(arguments::audit::with_subcommand(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(error) => return failure::of_usage(&error),
    };
    let common = &arguments.common;
    if let Command::Bench(call) = &arguments.command
        && call.keeper
    {
        // A keeper starts before every run of an external program, so it must start fast. It needs none of
        // the threads below.
        return commands::bench::run(call, common);
    }
    let _locks = files::examine(&arguments.command.command_files())?;
    let limits = arguments.command.limits(common);
    within(&limits, || {
        let handle = handle();
        watch::start(handle.clone())?;
        // Only this command uses the thread pool.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(common.threads.unwrap_or(arguments.command.default_threads()))
            .start_handler(move |_| handle.adopt());
        let pool = if arguments.command.works_in_pool() { pool.use_current_thread() } else { pool };
        pool.build_global().map_err(Failure::solver)?;
        dispatch(&arguments.command, common)
    })
    .unwrap_or_else(|exceeded| Err(Failure::solver(exceeded.to_string())))
}

fn dispatch(command: &Command, common: &Common) -> Result<ExitCode, Failure> {
    match command {
        Command::Solve(call) => commands::solve::run(call, common),
        Command::Certify(call) => commands::certify::run(call, common),
        Command::Check(call) => commands::check::run(call, common),
        Command::Export(call) => commands::export::run(call, common),
        Command::Explain(call) => commands::explain::run(call, common),
        Command::Verdict(call) => commands::cluster::verdict(call, common),
        Command::WhatIf(call) => commands::cluster::what_if(call, common),
        Command::Moves(call) => commands::cluster::moves(call, common),
        Command::Plan(call) => commands::plan::run(call, common),
        Command::Watch(call) => commands::watch::run(call, common),
        Command::Usage(call) => commands::usage::run(call, common),
        Command::Compare(call) => commands::compare::run(call, common),
        Command::Report(call) => commands::compare::report(call, common),
        Command::Ratio(call) => commands::ratio::run(call, common),
        Command::Sweep(call) => commands::sweep::run(call, common),
        Command::Audit(call) => commands::audit::run(call, common),
        Command::Hunt(call) => commands::hunt::run(call, common),
        Command::Simulate(call) => commands::simulate::run(call, common),
        Command::Reproduce(call) => commands::reproduce::run(call, common),
        Command::Bench(call) => commands::bench::run(call, common),
        Command::Lp(call) => commands::lp::run(call, common),
        Command::Import(call) => commands::import::run(call, common),
        Command::Schema(call) => commands::shell::schema(call, common),
        Command::Completions(call) => commands::shell::completions(call),
        Command::Man(call) => commands::shell::man(call),
    }
}
