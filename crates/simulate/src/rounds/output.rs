//! Writes the results of runs in rounds, as JSON and as CSV.

use std::fmt::Write;

use evenhand_budget::room;
use evenhand_problem::{Medium, Rational, number};
use serde_json::{Map, Value, json};

use super::run::{RoundRun, RoundScenario};
use crate::cost::CELL_OF_TEXT;
use crate::course::mechanism_words;

impl RoundScenario {
    /// Returns a description of the policy for people.
    #[must_use]
    pub fn words(&self) -> String {
        let length = number::format(&self.length);
        format!("{} in rounds of {length}", mechanism_words(self.mechanism, &self.flags))
    }
}

/// Returns all runs as one document of kind `rounds`.
#[must_use]
pub fn rounds_document(scenario: &RoundScenario, runs: &[RoundRun]) -> Value {
    let double = |value: Option<Rational>| value.map(|value| value.to_f64());
    let of_run = |run: &RoundRun| {
        let of_job = |(n, user): (usize, &evenhand_problem::UserSpec)| {
            let classes = scenario.spec.servers.iter().zip(&run.received[n]);
            let rounds: Map<String, Value> =
                classes.map(|(class, rounds)| (class.name.clone(), json!(rounds))).collect();
            let value = json!({
                "finished": double(run.finished[n].clone()),
                "completion_time": double(run.completion_time(scenario, n)),
                "work_left": run.left[n].to_f64(),
                "rounds": rounds,
            });
            (user.name.clone(), value)
        };
        let jobs: Map<String, Value> = scenario.spec.users.iter().enumerate().map(of_job).collect();
        let times = run.completion_times(scenario);
        let times = times.map(|times| {
            json!({
                "mean": double(run.mean_completion_time(scenario)),
                "median": times.median,
                "p90": times.p90,
                "p99": times.p99,
                "max": times.max,
            })
        });
        let mut value = json!({
            "seed": run.seed,
            "rounds": run.rounds.len(),
            "targets": run.targets,
            "completed": run.finished.iter().flatten().count(),
            "completion_time": times,
            "makespan": double(run.makespan()),
            "jobs": jobs,
        });
        if let Some(time) = &run.stopped_at {
            value["stopped_at"] = json!(time.to_f64());
        }
        value
    };
    json!({
        "kind": "rounds",
        "version": 1,
        "name": scenario.spec.name,
        "policy": scenario.words(),
        "runs": runs.iter().map(of_run).collect::<Vec<_>>(),
    })
}

/// Returns the jobs of a run as CSV, with exact numbers.
///
/// The columns are `job`, `arrives`, `finished`, `completion_time`, `work_left`, and the number of rounds on
/// each server class. Cells of jobs that did not finish are empty.
#[must_use]
pub fn rounds_jobs_csv(scenario: &RoundScenario, run: &RoundRun) -> String {
    let cells = run.finished.len() * (5 + scenario.spec.servers.len());
    room(CELL_OF_TEXT * cells as u64, "the table of jobs");
    let mut out = "job,arrives,finished,completion_time,work_left".to_owned();
    for class in &scenario.spec.servers {
        let _ = write!(out, ",{}", Medium::Csv.show(&format!("rounds on {}", class.name)));
    }
    out.push('\n');
    let exact = |value: Option<&Rational>| value.map(number::format_stated).unwrap_or_default();
    for (n, (user, job)) in scenario.spec.users.iter().zip(&scenario.jobs).enumerate() {
        let completion_time = run.completion_time(scenario, n);
        // Writing to a string never fails.
        let _ = write!(
            out,
            "{},{},{},{},{}",
            Medium::Csv.show(&user.name),
            exact(Some(&job.arrives)),
            exact(run.finished[n].as_ref()),
            exact(completion_time.as_ref()),
            exact(Some(&run.left[n]))
        );
        for rounds in &run.received[n] {
            let _ = write!(out, ",{rounds}");
        }
        out.push('\n');
    }
    out
}

/// Returns the table `begins,job,server` of a run as CSV: the class on which each job runs in each round.
#[must_use]
pub fn rounds_csv(scenario: &RoundScenario, run: &RoundRun) -> String {
    let placed: usize = run.rounds.iter().map(|round| round.placed.len()).sum();
    room(3 * CELL_OF_TEXT * placed as u64, "the table of rounds");
    let mut out = "begins,job,server\n".to_owned();
    for round in &run.rounds {
        let begins = number::format_stated(&round.begins);
        for (job, class) in &round.placed {
            let job = Medium::Csv.show(&scenario.spec.users[*job].name);
            let _ = writeln!(out, "{begins},{job},{}", Medium::Csv.show(&scenario.spec.servers[*class].name));
        }
    }
    out
}
