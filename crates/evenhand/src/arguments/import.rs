//! Arguments of `import`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Command, Error, ValueEnum};
use evenhand::problem::Rational;
use evenhand::problem::snapshot::System;

#[derive(Debug, Args)]
pub struct Import {
    /// Kind of the data
    #[arg(value_parser = SourceParser)]
    pub source: ImportSource,
    /// openb: the node list and a pod list; google: the machine table or machine events, then task events; gavel: the table
    /// of throughputs, then lists of jobs; schedulers: their dumps, in any order. Plain, .gz or .zst; one file may be - for standard input
    pub files: Vec<PathBuf>,
    /// google: trace time in microseconds; tasks that run at this time are imported
    #[arg(long, default_value_t = 0)]
    pub time: u64,
    /// google: make one user for each request shape instead of one for each user id
    #[arg(long)]
    pub by_shape: bool,
    /// schedulers: merge servers whose amounts differ by at most this fraction into one class, rounded down; 0 merges only
    /// identical servers (default: 1.5%)
    #[arg(long, value_name = "PART", value_parser = part)]
    pub merge: Option<Rational>,
    /// gavel: number of GPUs of each type (default: v100=36,p100=36,k80=36, the simulated cluster of the paper)
    #[arg(long, value_name = "TYPE=NUMBER", value_delimiter = ',', value_parser = accelerators)]
    pub accelerators: Option<Vec<(String, u64)>>,
    /// gavel: take only this many jobs from the beginning of the lists
    #[arg(long, value_name = "NUMBER")]
    pub jobs: Option<u64>,
    /// gavel: write a scenario for simulate, with arrivals and steps of jobs, instead of a problem
    #[arg(long)]
    pub scenario: bool,
    /// Write the problem, scenario or snapshot to this file (default: standard output)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// Reads a fraction such as `1.5%` or `0.015`.
pub fn part(text: &str) -> Result<Rational, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1), |number| (number, 100u32));
    let part = evenhand::problem::number::parse(number).ok().map(|part| part / of);
    let part = part.filter(|part| *part >= 0 && *part < 1);
    part.ok_or_else(|| "expected a fraction of at least 0 and below 1, such as 1.5%".to_owned())
}

/// Reads a type of accelerator and its number, such as `v100=8`.
pub fn accelerators(text: &str) -> Result<(String, u64), String> {
    let (name, number) = text.split_once('=').ok_or("expected TYPE=NUMBER, such as v100=8")?;
    let number = number.parse().ok().filter(|number| *number > 0);
    Ok((name.to_owned(), number.ok_or("expected a whole number of GPUs above 0, such as v100=8")?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportSource {
    /// Alibaba cluster-trace-gpu-v2023
    Openb,
    /// Google clusterdata-2011-2
    Google,
    /// Jobs and throughputs of Gavel (OSDI 2020)
    Gavel,
    /// Three tables: servers, teams, tasks
    Csv,
    /// Kubernetes: kubectl get nodes,pods -A -o json
    Kubernetes,
    /// Kueue: kubectl get nodes,pods,clusterqueues,cohorts,localqueues,resourceflavors,workloads -A -o json
    Kueue,
    /// KAI: the scheduler's snapshot, or kubectl get nodes,pods,queues,podgroups -A -o json
    Kai,
    /// Volcano: kubectl get nodes,pods,queues,podgroups,jobs.batch.volcano.sh -A -o json
    Volcano,
    /// YuniKorn: /ws/v1/fullstatedump
    Yunikorn,
    /// Slurm: what scontrol, squeue, sshare and sacctmgr print
    Slurm,
    /// Mesos: /state, /roles
    Mesos,
}

impl ImportSource {
    /// Returns the scheduler that wrote the dump, or `None` for a trace.
    pub fn system(self) -> Option<System> {
        match self {
            Self::Openb | Self::Google | Self::Gavel => None,
            Self::Csv => Some(System::Csv),
            Self::Kubernetes => Some(System::Kubernetes),
            Self::Kueue => Some(System::Kueue),
            Self::Kai => Some(System::Kai),
            Self::Volcano => Some(System::Volcano),
            Self::Yunikorn => Some(System::Yunikorn),
            Self::Slurm => Some(System::Slurm),
            Self::Mesos => Some(System::Mesos),
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openb => "openb",
            Self::Google => "google",
            Self::Gavel => "gavel",
            _ => self.system().map_or("", System::name),
        }
    }
}

/// Other words that people type for a kind of data.
const OTHER_WORDS: [(&str, ImportSource); 8] = [
    ("k8s", ImportSource::Kubernetes),
    ("k3s", ImportSource::Kubernetes),
    ("kube", ImportSource::Kubernetes),
    ("kubectl", ImportSource::Kubernetes),
    ("alibaba", ImportSource::Openb),
    ("borg", ImportSource::Google),
    ("scontrol", ImportSource::Slurm),
    ("squeue", ImportSource::Slurm),
];

/// Parses an [`ImportSource`] and suggests the right name for [`OTHER_WORDS`].
#[derive(Debug, Clone)]
struct SourceParser;

impl TypedValueParser for SourceParser {
    type Value = ImportSource;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<ImportSource, Error> {
        let parsed = EnumValueParser::<ImportSource>::new().parse_ref(command, arg, value);
        parsed.map_err(|mut error| {
            let word = value.to_string_lossy().to_lowercase();
            if let Some((_, source)) = OTHER_WORDS.iter().find(|(other, _)| *other == word) {
                let name = ContextValue::String(source.name().to_owned());
                error.insert(ContextKind::SuggestedValue, name);
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = ImportSource::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(values))
    }
}
