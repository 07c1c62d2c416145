//! Importers of dumps of running clusters, which become snapshots.
//!
//! Each system has a file or folder. The documentation of its module names the supported versions of the
//! system. The importer fills a `Cluster` with servers, groups, tasks by shape, and rules on the servers that
//! tasks may use. All other steps are shared: `classes.rs` groups servers into classes, and `build.rs`
//! converts shapes to users. A list in the snapshot describes all data that a problem cannot express.

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

/// Options for the import of a dump.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The largest fraction by which the capacities of servers of one class may differ, at least 0 and below
    /// 1.
    pub merge: Rational,
}

impl Default for Options {
    /// Returns the fraction 1.5 %, because identical machines report slightly different amounts of memory.
    fn default() -> Self {
        Self { merge: Rational::from((3, 200)) }
    }
}

/// Reads the dumps of a cluster as one snapshot. The files may be in any order.
///
/// # Errors
/// [`ImportError`] if a file cannot be read, is cut off, is not a dump of the system or states an impossible amount, or if
/// the files do not belong together.
pub fn snapshot(system: System, inputs: Vec<Input>, options: &Options) -> Result<Snapshot, ImportError> {
    let part = &options.merge;
    if *part < 0 || *part >= 1 {
        return Err(ImportError::Dumps(format!(
            "merge: found {part}: expected a fraction of at least 0 and below 1"
        )));
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

/// Refuses dumps without objects that a verdict needs. The message names the missing `objects` and the
/// `command` that prints them.
fn lacks(is_absent: bool, objects: &str, command: &str) -> Result<(), ImportError> {
    match is_absent {
        true => Err(ImportError::Dumps(format!("no file has {objects}: add the output of {command}"))),
        false => Ok(()),
    }
}

/// Reads a dump in JSON or YAML, and passes its values to `receive`.
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
