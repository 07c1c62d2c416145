//! Small and random snapshots for tests, and the answers of the kernel to certificates.

use evenhand_check::{File, Options};
use evenhand_cluster::{Servers, Verdict};
use evenhand_problem::format::Source;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// Reads a snapshot from a text.
pub fn snapshot(text: &str) -> Snapshot {
    Source { name: "snapshot", text }.snapshot().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns a snapshot of a cluster with the class `node`. Each server has `gpus` GPUs and runs the tasks of
/// its entry in `servers`. The groups and users have the form of a problem file.
pub fn cluster(gpus: u32, groups: &Value, users: &Value, servers: &[Value]) -> Snapshot {
    let placements: Vec<Value> = servers
        .iter()
        .enumerate()
        .map(|(index, tasks)| json!({"server": "node", "index": index, "tasks": tasks}))
        .collect();
    let document = json!({
        "kind": "snapshot",
        "problem": {
            "kind": "allocation-problem", "resources": ["cpu", "gpu"],
            "servers": [{"name": "node", "count": servers.len(), "capacity": {"cpu": 64, "gpu": gpus}}],
            "groups": groups, "users": users,
        },
        "allocation": {"kind": "allocation", "placements": placements},
    });
    snapshot(&document.to_string())
}

/// Returns the verdict on a snapshot by the problem's own share, without tolerance.
pub fn judged(snapshot: &Snapshot) -> Verdict {
    Verdict::new(snapshot, None, &Rational::new()).unwrap()
}

/// Returns the reason why the kernel refuses a certificate. Returns `None` if the kernel accepts it.
pub fn refused(text: &str) -> Option<String> {
    let file = File { name: "certificate".to_owned(), text: text.to_owned() };
    let options = Options { max_tolerance: Some("0.99".to_owned()), ..Options::default() };
    match evenhand_check::check(&file, &options) {
        Ok(report) => report.reason,
        Err(unusable) => Some(unusable.what),
    }
}

/// Returns the amounts of a queue as texts, by resource.
pub fn amounts(vector: &[Rational]) -> Vec<String> {
    vector.iter().map(ToString::to_string).collect()
}

/// Returns a random problem with groups and whole tasks, and an allocation. Some tasks are in gangs and some
/// are pinned. In the allocation, tasks run on all servers on which they fit, as under a scheduler that
/// ignores fairness.
pub fn random(seed: u64) -> (Problem, Allocation) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let shape = Shape { groups: 6, users: 8, classes: 3 };
    let mut document = trees::json(&mut rng, shape);
    for server in document["servers"].as_array_mut().unwrap() {
        server["count"] = json!(rng.random_range(1..=4));
    }
    for user in document["users"].as_array_mut().unwrap() {
        let tasks = rng.random_range(0..=9_u32);
        user["tasks"] = json!(tasks);
        if rng.random_bool(0.2) {
            user["gang"] = json!(rng.random_range(1..=3));
        }
        if rng.random_bool(0.2) {
            user["pinned"] = json!(rng.random_range(0..=tasks.min(2)));
        }
    }
    if rng.random_bool(0.2) {
        trees::limit_classes(&mut rng, &mut document);
    }
    let text = document.to_string();
    let problem =
        Source { name: "random", text: &text }.problem().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut servers = Servers::new(&problem, &[], 3);
    let mut totals = vec![0_u64; problem.n_users()];
    for _ in 0..rng.random_range(0..40) {
        let n = rng.random_range(0..problem.n_users());
        let gang = evenhand_cluster::gang(&problem, n);
        let tasks = problem.users()[n].tasks().and_then(|tasks| tasks.numer().to_u64()).unwrap_or(0);
        if totals[n] + gang > tasks || problem.classes_of(n).next().is_none() {
            continue;
        }
        let mut trial = servers.clone();
        let mut placed = 0;
        for _ in 0..gang {
            let classes: Vec<usize> = problem.classes_of(n).collect();
            let class = classes[rng.random_range(0..classes.len())];
            let fit = trial.classes[class].iter().find(|server| server.fits(&problem, class, n));
            let Some(index) = fit.map(|server| server.index) else { break };
            trial.add(evenhand_cluster::Place { class, index }, n, &Rational::from(1));
            placed += 1;
        }
        if placed == gang {
            servers = trial;
            totals[n] += gang;
        }
    }
    let empty = Allocation::empty(problem.n_users(), evenhand_problem::Sharing::Rdm);
    let allocation = evenhand_cluster::placed(&empty, servers.placements());
    (problem, allocation)
}
