//! The command `import`: reads a problem from real cluster data, or a snapshot from the dump of a scheduler.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use evenhand::dumps::{self, Options};
use evenhand::import::{
    GavelOptions, GoogleOptions, GoogleUsers, Input, gavel, gavel_scenario, google, openb,
};
use evenhand::problem::Problem;
use evenhand::problem::format::{MAX_FILE_BYTES, problem_to_json, snapshot_to_json};
use evenhand::problem::snapshot::System;
use evenhand::report;

use crate::arguments::{Common, Import, ImportSource};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Import, common: &Common) -> Result<ExitCode, Failure> {
    refuse_options(call)?;
    match call.source.system() {
        Some(system) => dump(system, call, common),
        None => trace(call, common),
    }
}

/// Refuses options that would have no effect on this data source.
fn refuse_options(call: &Import) -> Result<(), Failure> {
    let of_google = call.source == ImportSource::Google;
    let given = [
        ("--time", call.time != 0 && !of_google),
        ("--by-shape", call.by_shape && !of_google),
        ("--accelerators", call.accelerators.is_some() && call.source != ImportSource::Gavel),
        ("--jobs", call.jobs.is_some() && call.source != ImportSource::Gavel),
        ("--scenario", call.scenario && call.source != ImportSource::Gavel),
        ("--merge", call.merge.is_some() && call.source.system().is_none()),
    ];
    match given.iter().find(|(_, refused)| *refused) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::input(format!("{flag} does not go with {}", call.source.name()))),
    }
}

fn open(path: &Path) -> Result<Input, Failure> {
    let opened = if path.as_os_str() == "-" { Input::new("-", std::io::stdin()) } else { Input::open(path) };
    opened.map_err(Failure::input)
}

fn dump(system: System, call: &Import, common: &Common) -> Result<ExitCode, Failure> {
    let inputs = call.files.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
    let options = call.merge.clone().map_or_else(Options::default, |merge| Options { merge });
    let snapshot = dumps::snapshot(system, inputs, &options).map_err(Failure::input)?;
    warn(&snapshot.problem, common);
    let text = snapshot_to_json(&snapshot);
    if text.len() as u64 > MAX_FILE_BYTES {
        let message =
            format!("the snapshot has more than {MAX_FILE_BYTES} bytes, the most that a file may have");
        return Err(Failure::input(message));
    }
    match &call.output {
        Some(path) => {
            files::write(path, &text)?;
            output::page(&report::imported(&snapshot), common)?;
        }
        None => output::document(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Stores each different warning about a problem once.
fn warn(problem: &Problem, common: &Common) {
    let mut seen = HashSet::new();
    for warning in problem.warnings() {
        let warning = warning.to_string();
        if seen.insert(warning.clone()) {
            output::warn(common, warning);
        }
    }
}

fn trace(call: &Import, common: &Common) -> Result<ExitCode, Failure> {
    let imported = match (call.source, call.files.as_slice()) {
        (ImportSource::Openb, [nodes, pods]) => openb(open(nodes)?, open(pods)?),
        (ImportSource::Openb, _) => {
            return Err(Failure::input("openb takes two files: the node list and a pod list"));
        }
        (ImportSource::Gavel, [table, lists @ ..]) if !lists.is_empty() => {
            let lists = lists.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
            let options = GavelOptions { jobs: call.jobs, ..GavelOptions::default() };
            let accelerators = call.accelerators.clone().unwrap_or(options.accelerators.clone());
            let options = GavelOptions { accelerators, ..options };
            if call.scenario {
                let text = gavel_scenario(open(table)?, lists, &options).map_err(Failure::input)?;
                return write(call, &text);
            }
            gavel(open(table)?, lists, &options)
        }
        (ImportSource::Gavel, _) => {
            return Err(Failure::input("gavel takes the table of throughputs, then lists of jobs"));
        }
        (_, [machines, tasks @ ..]) if !tasks.is_empty() => {
            let users = if call.by_shape { GoogleUsers::ByShape } else { GoogleUsers::ByUser };
            let tasks = tasks.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
            google(open(machines)?, tasks, GoogleOptions { time: call.time, users })
        }
        _ => {
            return Err(Failure::input("google takes a machine table or machine events, then task events"));
        }
    };
    let imported = imported.map_err(Failure::input)?;
    for note in &imported.notes {
        output::note(common, note.to_string());
    }
    warn(&imported.problem, common);
    write(call, &problem_to_json(&imported.problem))
}

/// Writes a problem or a scenario to the file of the command line, or to standard output.
fn write(call: &Import, text: &str) -> Result<ExitCode, Failure> {
    match &call.output {
        Some(path) => {
            files::write(path, text)?;
        }
        None => output::document(text)?,
    }
    Ok(ExitCode::SUCCESS)
}
