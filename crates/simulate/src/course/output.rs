//! Writes the results of runs in which users come and go, as JSON and as CSV.

use std::fmt::Write;

use evenhand_budget::room;
use evenhand_mechanisms::Mechanism;
use evenhand_problem::Medium;
use serde_json::{Map, Value, json};

use super::run::{Course, CoursePolicy, CourseScenario, Moment};
use crate::cost::CELL_OF_TEXT;

impl CoursePolicy {
    /// Returns a description of the policy for people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Mechanism { mechanism, flags, .. } => mechanism_words(mechanism, flags),
            Self::Distributed(_) => "ps-dsf, servers on their own clocks".to_owned(),
            Self::LeastGap { .. } => "the least gap on any bottleneck".to_owned(),
        }
    }
}

/// Returns a mechanism and its flags as on the command line.
pub(crate) fn mechanism_words(mechanism: &Mechanism, flags: &[(&str, String)]) -> String {
    let flags = flags.iter().map(|(name, text)| match text.as_str() {
        "" => format!(" --{name}"),
        text => format!(" --{name} {text}"),
    });
    mechanism.info.id.to_owned() + &flags.collect::<String>()
}

impl Course {
    /// Returns whether all numbers of the run are finite. A file can state only finite numbers.
    pub(super) fn is_finite(&self) -> bool {
        let moments = self.moments.iter().flat_map(|moment| {
            let used = moment.utilisation.iter().flatten().map(|(_, part)| *part);
            moment.tasks.iter().flatten().copied().chain(moment.shares.iter().copied()).chain(used)
        });
        let users = self.tasks.iter().flatten().copied().chain(self.present.iter().copied());
        let distance = self.distance.iter().flatten().copied();
        moments.chain(users).chain(distance).chain(self.mean_shares()).all(f64::is_finite)
    }

    /// Returns the mean dominant share of each user over the series.
    #[must_use]
    pub fn mean_shares(&self) -> Vec<f64> {
        let rows = self.moments.len().max(1) as f64;
        let of = |n: usize| self.moments.iter().map(|moment| moment.shares[n]).sum::<f64>() / rows;
        (0..self.tasks.len()).map(of).collect()
    }
}

/// Returns all runs as one document of kind `course`.
#[must_use]
pub fn course_document(scenario: &CourseScenario, courses: &[Course]) -> Value {
    let of_run = |course: &Course| {
        let shares = course.mean_shares();
        let of_user = |(n, user): (usize, &evenhand_problem::UserSpec)| {
            let value =
                json!({"present": course.present[n], "tasks": course.tasks[n], "dominant_share": shares[n]});
            (user.name.clone(), value)
        };
        let users: Map<String, Value> = scenario.spec.users.iter().enumerate().map(of_user).collect();
        let mut run = json!({"seed": course.seed, "users": users});
        if course.end < scenario.horizon {
            run["stopped_at"] = json!(course.end);
        }
        if let Some(distance) = &course.distance {
            run["distance"] = json!({
                "end": distance.last(),
                "most": distance.iter().copied().reduce(f64::max),
            });
        }
        run
    };
    json!({
        "kind": "course",
        "version": 1,
        "name": scenario.spec.name,
        "policy": scenario.policy.words(),
        "end": scenario.horizon,
        "runs": courses.iter().map(of_run).collect::<Vec<_>>(),
    })
}

/// Returns the tasks and shares of users over time as CSV: `time,user,tasks,dominant_share`, with a row for
/// every present user.
#[must_use]
pub fn course_tasks_csv(scenario: &CourseScenario, course: &Course) -> String {
    let names: usize = scenario.spec.users.iter().map(|user| user.name.len()).sum();
    let row = names as u64 + 3 * CELL_OF_TEXT * scenario.spec.users.len() as u64;
    room(row.saturating_mul(course.moments.len() as u64), "the table of the series");
    let mut out = String::from("time,user,tasks,dominant_share\n");
    for moment in &course.moments {
        for ((user, tasks), share) in scenario.spec.users.iter().zip(&moment.tasks).zip(&moment.shares) {
            if let Some(tasks) = tasks {
                let _ = writeln!(out, "{},{},{tasks},{share}", moment.time, Medium::Csv.show(&user.name));
            }
        }
    }
    out
}

/// Returns the used fractions of server classes over time as CSV: `time,server,resource,utilisation`.
#[must_use]
pub fn course_utilisation_csv(scenario: &CourseScenario, course: &Course) -> String {
    let row = |(server, resource): (&str, &str)| (server.len() + resource.len()) as u64 + 2 * CELL_OF_TEXT;
    let rows = |moment: &Moment| -> u64 {
        let servers = scenario.spec.servers.iter().zip(&moment.utilisation);
        servers.flat_map(|(server, rows)| rows.iter().map(|(name, _)| row((&server.name, name)))).sum()
    };
    // All moments have the same rows.
    let each = course.moments.first().map_or(0, rows);
    room(each.saturating_mul(course.moments.len() as u64), "the table of the utilisation");
    let mut out = String::from("time,server,resource,utilisation\n");
    for moment in &course.moments {
        for (server, rows) in scenario.spec.servers.iter().zip(&moment.utilisation) {
            for (resource, part) in rows {
                let (server, resource) = (Medium::Csv.show(&server.name), Medium::Csv.show(resource));
                let _ = writeln!(out, "{},{server},{resource},{part}", moment.time);
            }
        }
    }
    out
}
