//! Writes the results of runs of admission as JSON and as CSV.

use std::fmt::Write;

use evenhand_budget::room;
use evenhand_mechanisms::filling::Statistic;
use evenhand_problem::Medium;
use serde_json::{Map, Value, json};

use super::bound::Beside;
use super::run::{Admission, Admitted};
use crate::cost::CELL_OF_TEXT;

/// Returns all runs as one document of kind `admission`.
#[must_use]
pub fn document(admitted: &Admitted) -> Value {
    let Admitted { scenario, optimum, runs, unrejected, .. } = admitted;
    let of_run = |(seed, run): &(u64, Admission)| {
        let of_type = |j: usize| {
            let counts = json!({
                "admitted": run.admitted[j],
                "rejected": run.rejected[j],
                "preempted": run.preempted[j],
            });
            (scenario.problem.jobs()[j].name().to_owned(), counts)
        };
        let mut value = json!({
            "seed": seed,
            "reward": run.reward,
            "part_of_optimum": optimum.map(|optimum| run.reward / optimum).filter(|part| part.is_finite()),
            "migrations": run.migrations,
            "types": (0..scenario.problem.n_types()).map(of_type).collect::<Map<_, _>>(),
        });
        if let Some(time) = run.stopped_at {
            value["stopped_at"] = json!(time);
        }
        value
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
    if let (Some(unrejected), Some((_, first))) = (unrejected, runs.first()) {
        document["beside"] = json!({
            "greedy": unrejected.greedy,
            "bound": unrejected.bound,
            "part_of_bound": Some(first.reward / unrejected.bound).filter(|part| part.is_finite()),
        });
    }
    if runs.len() > 1 {
        let mut reward = Statistic::default();
        runs.iter().for_each(|(_, run)| reward.add(run.reward));
        document["means"] = json!({"reward": {"mean": reward.mean, "half_width": reward.half_width()}});
    }
    document
}

/// Returns the series of a run as CSV.
///
/// The columns are `time`, `reward` (per server and unit of time), the running jobs of each type, and the
/// slots of each type if the policy has slots.
#[must_use]
pub fn series_csv(admitted: &Admitted, run: &Admission) -> String {
    let jobs = admitted.scenario.problem.jobs();
    let has_slots = run.slots.iter().any(|slots| !slots.is_empty());
    let cells = (2 + 2 * jobs.len()) * run.series.len();
    room(CELL_OF_TEXT * cells as u64, "the table of the series");
    let mut text = "time,reward".to_owned();
    for what in ["jobs", "slots"].iter().take(1 + usize::from(has_slots)) {
        for job in jobs {
            let _ = write!(text, ",{}", Medium::Csv.show(&format!("{what} of {}", job.name())));
        }
    }
    text.push('\n');
    for (((time, reward), jobs), slots) in run.series.iter().zip(&run.jobs).zip(&run.slots) {
        // Writing to a string never fails.
        let _ = write!(text, "{time},{reward}");
        for count in jobs.iter().chain(slots) {
            let _ = write!(text, ",{count}");
        }
        text.push('\n');
    }
    text
}

/// Returns the table `time,greedy,bound` of the first run as CSV. The rewards are per server and unit of time.
#[must_use]
pub fn beside_csv(admitted: &Admitted) -> String {
    let mut text = "time,greedy,bound\n".to_owned();
    for Beside { time, greedy, bound } in &admitted.beside {
        let _ = writeln!(text, "{time},{greedy},{bound}");
    }
    text
}
