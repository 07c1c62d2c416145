//! Which files a command reads and writes.

use std::path::{Path, PathBuf};

use super::{Command, ExportForm};
use crate::files::Places;

impl Command {
    /// The files that the arguments name.
    pub fn places(&self) -> Places<'_> {
        match self {
            Self::Solve(call) => {
                let outputs = call.output.iter().chain(&call.way.series).chain(&call.plot);
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
            Self::Moves(call) => files([&call.snapshot], call.after.iter().chain(&call.output)),
            Self::Compare(call) => {
                let outputs = call.plot.iter().chain(&call.output);
                files([&call.problem].into_iter().chain(&call.allocations), outputs)
            }
            Self::Report(call) => {
                let inputs = [&call.problem].into_iter().chain(&call.allocations);
                let mut places = files(inputs, &call.plot);
                places.outputs.push(call.page());
                places
            }
            Self::Ratio(call) if call.monotone => {
                Places { inputs: vec![&call.problem], ..folder(call.output.as_deref()) }
            }
            Self::Ratio(call) => files([&call.problem], call.output.iter().chain(&call.plot)),
            Self::Hunt(call) => {
                let outputs = call.output.iter().chain(&call.certificate);
                let kept = call.resume.iter().map(PathBuf::as_path).collect();
                Places { kept, ..files(None, outputs) }
            }
            Self::Export(call) if call.to == ExportForm::Vipr => {
                Places { inputs: vec![&call.file], ..folder(call.output.as_deref()) }
            }
            Self::Export(call) => files([&call.file], &call.output),
            Self::Import(call) => files(&call.files, &call.output),
            Self::Simulate(call) => Places {
                inputs: vec![&call.scenario],
                kept: call.resume.iter().map(PathBuf::as_path).collect(),
                ..folder(call.output.as_deref())
            },
            Self::Sweep(call) => {
                let output = call.output.iter().map(PathBuf::as_path);
                Places { kept: output.collect(), ..files([&call.grid], None) }
            }
            Self::Audit(call) => {
                let kept = call.resume.iter().map(PathBuf::as_path).collect();
                Places { kept, ..folder(call.output.as_deref()) }
            }
            Self::Bench(call) => {
                let inputs = call.problem.iter().map(PathBuf::as_path).collect();
                Places { inputs, ..folder(call.output.as_deref()) }
            }
            Self::Man(call) => folder(call.output.as_deref()),
            Self::Reproduce(call) => folder(call.output.as_deref()),
            Self::Schema(_) | Self::Completions(_) => Places::default(),
        }
    }
}

fn files<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Places<'a> {
    let paths = |path: &'a PathBuf| path.as_path();
    Places {
        inputs: inputs.into_iter().map(paths).collect(),
        outputs: outputs.into_iter().map(paths).collect(),
        ..Places::default()
    }
}

fn folder(folder: Option<&Path>) -> Places<'_> {
    Places { folders: folder.into_iter().collect(), ..Places::default() }
}
