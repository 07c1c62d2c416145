//! The files that a command reads and writes, collected from its arguments.

use std::path::{Path, PathBuf};

use super::{Command, ExportForm};
use crate::files::CommandFiles;

impl Command {
    /// Returns the files that the arguments name.
    pub fn command_files(&self) -> CommandFiles<'_> {
        match self {
            Self::Solve(call) => {
                let outputs = call.output.iter().chain(&call.series_output.series).chain(&call.plot);
                files([&call.problem], outputs)
            }
            Self::Certify(call) => {
                let outputs = call.output.iter().chain(&call.polish_output).chain(&call.plot);
                files([&call.problem, &call.allocation], outputs)
            }
            Self::Check(call) => {
                let inputs = [&call.certificate].into_iter().chain(&call.problem).chain(&call.allocation);
                files(inputs, &call.output)
            }
            Self::Explain(call) => files([&call.problem].into_iter().chain(&call.allocation), None),
            Self::Verdict(call) => files([&call.snapshot], &call.output),
            Self::WhatIf(call) => {
                files([&call.snapshot].into_iter().chain(&call.submit).chain(&call.from), &call.output)
            }
            Self::Moves(call) => {
                let inputs = [&call.snapshot].into_iter().chain(call.migrations.files());
                files(inputs, call.after.iter().chain(&call.output))
            }
            Self::Plan(call) => files([&call.snapshot], None),
            Self::Usage(call) => files([&call.history], None),
            Self::Compare(call) => {
                let outputs = call.plot.iter().chain(&call.output);
                files([&call.problem].into_iter().chain(&call.allocations), outputs)
            }
            Self::Report(call) => {
                let inputs = [&call.problem].into_iter().chain(&call.allocations);
                let mut command_files = files(inputs, &call.plot);
                command_files.outputs.push(call.page());
                command_files
            }
            Self::Ratio(call) if call.monotone => {
                CommandFiles { inputs: vec![&call.problem], ..folder(call.output.as_deref()) }
            }
            Self::Ratio(call) => files([&call.problem], call.output.iter().chain(&call.plot)),
            Self::Hunt(call) => {
                let outputs = call.output.iter().chain(&call.certificate);
                let updated = call.resume.iter().map(PathBuf::as_path).collect();
                CommandFiles { updated, ..files(None, outputs) }
            }
            Self::Export(call) if call.to == ExportForm::Vipr => {
                CommandFiles { inputs: vec![&call.file], ..folder(call.output.as_deref()) }
            }
            Self::Export(call) => files([&call.file], &call.output),
            Self::Lp(call) => {
                let (inputs, outputs) = call.files();
                files(inputs, outputs)
            }
            Self::Import(call) => files(&call.files, &call.output),
            Self::Simulate(call) => CommandFiles {
                inputs: vec![&call.scenario],
                updated: call.resume.iter().map(PathBuf::as_path).collect(),
                ..folder(call.output.as_deref())
            },
            Self::Sweep(call) => {
                let output = call.output.iter().map(PathBuf::as_path);
                CommandFiles { updated: output.collect(), ..files([&call.grid], None) }
            }
            Self::Audit(call) => {
                let updated = call.resume().into_iter().collect();
                CommandFiles { updated, ..folder(call.output()) }
            }
            Self::Bench(call) => {
                let inputs = call.problem.iter().map(PathBuf::as_path).collect();
                CommandFiles { inputs, ..folder(call.output.as_deref()) }
            }
            Self::Man(call) => folder(call.output.as_deref()),
            Self::Reproduce(call) => folder(call.output.as_deref()),
            // The history is locked and kept by its own crate.
            Self::Watch(_) | Self::Schema(_) | Self::Completions(_) => CommandFiles::default(),
        }
    }
}

fn files<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> CommandFiles<'a> {
    let paths = |path: &'a PathBuf| path.as_path();
    CommandFiles {
        inputs: inputs.into_iter().map(paths).collect(),
        outputs: outputs.into_iter().map(paths).collect(),
        ..CommandFiles::default()
    }
}

fn folder(folder: Option<&Path>) -> CommandFiles<'_> {
    CommandFiles { folders: folder.into_iter().collect(), ..CommandFiles::default() }
}
