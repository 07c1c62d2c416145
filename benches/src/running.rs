//! Measures the commands for a running cluster as whole processes: the import of its dump, the verdict with
//! its certificate, the check, and the page.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use evenhand_testkit::clusters::{ClusterSize, write_cluster};
use serde_json::json;

use crate::growth::{Outcome, field, with};
use crate::peers::Scripts;
use crate::processes::Settings;
use crate::scale::child;

/// The name of the instance.
pub const NAME: &str = "Kueue, 5,000 nodes, 40,000 pods, 300 queues";
const SIZE: ClusterSize =
    ClusterSize { nodes: 5_000, pods: 40_000, queues: 300, kueue: Some("v1beta2"), odd: false };

/// Runs the processes for a seed, one after the other.
///
/// # Errors
/// If the dump cannot be written.
pub fn measured(seed: u64, settings: &Settings, scripts: &Scripts) -> Result<Vec<(String, Outcome)>, String> {
    let path = |name: &str| settings.folder.join(name).to_string_lossy().into_owned();
    let (dump, snapshot) = (path("running-dump.json"), path("running-snapshot.json"));
    let (certificate, page) = (path("running-certificate.json"), path("running.html"));
    write(&dump, seed).map_err(|error| format!("{dump}: {error}"))?;
    let steps: [(&str, &str, &[&str]); 4] = [
        ("`import kueue`", "evenhand", &["import", "kueue", &dump, "-o", &snapshot]),
        ("`verdict`", "evenhand", &["verdict", &snapshot, "-o", &certificate]),
        ("`evenhand-check`", "evenhand-check", &[&certificate]),
        ("`report`", "evenhand", &["report", &snapshot, "-o", &page]),
    ];
    let mut found = Vec::new();
    for (name, program, arguments) in steps {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let outcome = child(scripts, settings.limit, &settings.programs.join(program), &arguments);
        if let Err(why) = &outcome {
            return Err(format!("{name}: {why}"));
        }
        let status = field(&outcome, "status");
        // The status 1 of a verdict states that a queue is below its fair share. It is not a failure.
        let is_answer = status == Some(0.0) || name == "`verdict`" && status == Some(1.0);
        let outcome = if is_answer { outcome.map(|line| with(&line, "status", json!(0))) } else { outcome };
        found.push((name.to_owned(), outcome));
        if !is_answer {
            break;
        }
    }
    Ok(found)
}

fn write(path: &str, seed: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(Path::new(path))?);
    write_cluster(&mut out, SIZE, seed)?;
    out.flush()
}
