//! Solves, certifies and checks the problems of two real clusters, if their data is available. A cluster
//! whose data is missing is not checked.

use std::path::Path;
use std::time::Instant;

use crate::data::Data;
use crate::entry::Entry;
use crate::error::PaperError;
use evenhand_certify::certify;
use evenhand_certify::default_requests;
use evenhand_exact::check;
use evenhand_import::{GoogleOptions, Import, Input, google, openb};
use evenhand_mechanisms::registry;
use evenhand_problem::{Arithmetic, Problem, Rational};

const SOURCE_OPENB: &str = "Alibaba cluster-trace-gpu-v2023 (openb)";
const SOURCE_GOOGLE: &str = "Google clusterdata-2011-2 at time 0";

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = Vec::new();
    for (id, source, data, load) in [
        ("openb", SOURCE_OPENB, Data::Openb, openb_default as fn(&Path) -> Result<Import, PaperError>),
        ("openb-gpuspec33", SOURCE_OPENB, Data::Openb, openb_gpuspec33),
        ("google", SOURCE_GOOGLE, Data::Google, google_at_zero),
    ] {
        let folder = match data.folder() {
            Ok(folder) => folder,
            Err(missing) => {
                entries.extend(missing.entries(source, &[&format!("snapshots.{id}")]));
                continue;
            }
        };
        let problem = load(&folder)?.problem;
        for mechanism in ["drfh", "tsf"] {
            entries.push(entry(id, source, &problem, mechanism)?);
        }
    }
    Ok(entries)
}

fn entry(id: &str, source: &'static str, problem: &Problem, mechanism: &str) -> Result<Entry, PaperError> {
    let solver = registry::find(mechanism).ok_or("no such mechanism")?;
    let started = Instant::now();
    let outcome = solver.allocate(problem, Arithmetic::Exact)?;
    let solved = started.elapsed();
    let started = Instant::now();
    let requests = default_requests(problem, &outcome.allocation);
    let examination = certify(problem, &outcome.allocation, &requests, &Rational::new())?;
    let certified = started.elapsed();
    let started = Instant::now();
    let verdict = check(&examination.certificate);
    let checked = started.elapsed();
    let claims = &examination.certificate.claims;
    let held = claims.iter().filter(|claim| claim.holds == Some(true)).count();
    Ok(Entry {
        id: format!("snapshots.{id}.{mechanism}"),
        source,
        paper: String::new(),
        ours: format!(
            "{} users on {} servers: {held} of {} axioms hold, certificate {}",
            problem.n_users(),
            problem.n_single_servers(),
            claims.len() + examination.undecided.len(),
            if verdict.valid { "valid" } else { "REFUSED" },
        ),
        agrees: None,
        note: format!(
            "solved in {:.0} ms, certified in {:.0} ms, checked in {:.0} ms; rounds: {}",
            solved.as_secs_f64() * 1e3,
            certified.as_secs_f64() * 1e3,
            checked.as_secs_f64() * 1e3,
            outcome.rounds,
        ),
    })
}

fn open(path: &Path) -> Result<Input, PaperError> {
    Input::open(path).map_err(PaperError::from)
}

fn openb_pods(folder: &Path, pods: &str) -> Result<Import, PaperError> {
    let nodes = open(&folder.join("openb_node_list_all_node.csv.gz"))?;
    openb(nodes, open(&folder.join(pods))?).map_err(PaperError::from)
}

fn openb_default(folder: &Path) -> Result<Import, PaperError> {
    openb_pods(folder, "openb_pod_list_default.csv.gz")
}

fn openb_gpuspec33(folder: &Path) -> Result<Import, PaperError> {
    openb_pods(folder, "openb_pod_list_gpuspec33.csv.gz")
}

fn google_at_zero(folder: &Path) -> Result<Import, PaperError> {
    let machines = open(&folder.join("machine_configs_t0.csv"))?;
    let tasks = vec![open(&folder.join("task_events.part-00000-of-00500.csv.gz"))?];
    google(machines, tasks, GoogleOptions::default()).map_err(PaperError::from)
}
