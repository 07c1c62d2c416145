//! Dumps of running clusters as snapshots.
//!
//! Each system is a file or folder that says what it follows. It fills a [`Cluster`](cluster::Cluster): servers, groups,
//! and tasks by shape with the rules of where they may run. The rest is shared: servers become
//! [classes](classes::classes), shapes [users](build::build), and what a problem cannot say is named.

mod build;
mod classes;
mod cluster;
mod json;
mod kai;
mod kube;
mod kubernetes;
mod kueue;
mod mesos;
mod slurm;
mod source;
mod tables;
mod tree;
mod volcano;
mod yaml;
mod yunikorn;

use evenhand_problem::Snapshot;
use evenhand_problem::snapshot::System;
use rug::Rational;

use evenhand_import::{ImportError, Input, writable_snapshot};
use source::{Bytes, Feed, Receive};

/// How a dump is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Servers become one class where each amount of each of them is at most this part above that of the class: from 0 to
    /// below 1.
    pub merge: Rational,
}

impl Default for Options {
    /// 1.5 %: equal machines report slightly different amounts of memory.
    fn default() -> Self {
        Self { merge: Rational::from((3, 200)) }
    }
}

/// The snapshot that the dumps of a cluster hold together, in any order.
///
/// # Errors
/// [`ImportError`] when a file cannot be read, is cut off, is no dump of the system, states an impossible amount, or the
/// files do not belong together.
pub fn snapshot(system: System, inputs: Vec<Input>, options: &Options) -> Result<Snapshot, ImportError> {
    let part = &options.merge;
    if *part < 0 || *part >= 1 {
        return Err(ImportError::Dumps(format!("a part of {part}: expected at least 0 and below 1")));
    }
    let inputs = inputs.into_iter().map(Bytes::new).collect();
    let snapshot = match system {
        System::Slurm => slurm::read(inputs, part),
        System::Csv => tables::read(inputs, part),
        System::Kubernetes => kubernetes::read(inputs, part),
        System::Kueue => kueue::read(inputs, part),
        System::Mesos => mesos::read(inputs, part),
        System::Kai => kai::read(inputs, part),
        System::Volcano => volcano::read(inputs, part),
        System::Yunikorn => yunikorn::read(inputs, part),
    }?;
    writable_snapshot(&snapshot)?;
    Ok(snapshot)
}

/// Refuses dumps without what decides a verdict; `command` adds it.
fn lacks(is_absent: bool, what: &str, command: &str) -> Result<(), ImportError> {
    match is_absent {
        true => Err(ImportError::Dumps(format!("no file has {what}: add the output of {command}"))),
        false => Ok(()),
    }
}

/// Reads all values of a dump in JSON or YAML.
fn values<'f>(
    bytes: &'f mut Bytes,
    lists: &'static [&'static [&'static str]],
    skip: &'static [&'static str],
    receive: &'f mut Receive<'f>,
) -> Result<(), ImportError> {
    let file = bytes.file.clone();
    let is_json = matches!(bytes.first()?, Some(b'{' | b'['));
    let mut feed = Feed { file: &file, lists, skip, receive, kind: String::new(), failure: None };
    if is_json { json::read(bytes, &mut feed) } else { yaml::read(bytes, &mut feed) }
}
