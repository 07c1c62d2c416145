//! What runs of admission come to, as JSON and as a table.

use std::fmt::Write;

use evenhand_mechanisms::filling::Statistic;
use serde_json::{Map, Value, json};

use super::{Admission, Admitted, Policy};

impl Policy {
    /// In a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Dra { reserve } => format!("dra, reserve {reserve}"),
            Self::Preempting { reserve, .. } => format!("dra with preemption, reserve {reserve}"),
            Self::Static => "static slots".to_owned(),
            Self::PowerOfD { d } => format!("power of {d} choices"),
        }
    }
}

/// All runs as one document of kind `admission`.
#[must_use]
pub fn document(admitted: &Admitted) -> Value {
    let Admitted { scenario, optimum, runs } = admitted;
    let of_run = |(seed, run): &(u64, Admission)| {
        let of_type = |j: usize| {
            let counts = json!({
                "admitted": run.admitted[j],
                "rejected": run.rejected[j],
                "preempted": run.preempted[j],
            });
            (scenario.problem.jobs()[j].name().to_owned(), counts)
        };
        json!({
            "seed": seed,
            "reward": run.reward,
            "part_of_optimum": (*optimum > 0.0).then(|| run.reward / optimum),
            "migrations": run.migrations,
            "types": (0..scenario.problem.n_types()).map(of_type).collect::<Map<_, _>>(),
        })
    };
    let mut document = json!({
        "kind": "admission",
        "version": 1,
        "name": scenario.name,
        "policy": scenario.policy.words(),
        "servers": scenario.servers,
        "optimum": optimum,
        "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
    });
    if runs.len() > 1 {
        let mut reward = Statistic::default();
        runs.iter().for_each(|(_, run)| reward.add(run.reward));
        document["means"] = json!({"reward": {"mean": reward.mean, "half_width": reward.half_width()}});
    }
    document
}

/// `time,reward`: the reward per server and unit of time, over time.
#[must_use]
pub fn series_csv(run: &Admission) -> String {
    let mut text = "time,reward\n".to_owned();
    for (time, reward) in &run.series {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{time},{reward}");
    }
    text
}
