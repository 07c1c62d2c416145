//! Writes the results of runs as JSON, CSV and Parquet. In Parquet, measured numbers are doubles and counts are integers.

use std::fmt::Write;
use std::sync::Arc;

use evenhand_budget::{charge, room, table};
use evenhand_mechanisms::filling::{Policy, Statistic};
use evenhand_mechanisms::tree::TreePolicy;
use evenhand_problem::{Medium, Problem, Rational, number};
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::{Map, Value, json};

use crate::cost::CELL_OF_TEXT;
use crate::error::SimulateError;
use crate::jobs::FinishedJob;
use crate::record::{Row, Tasks};
use crate::replicate::Simulated;
use crate::run::Run;
use crate::summary::{Amounts, SIZES, Summary};

/// Returns all runs as one document of kind `simulation`.
#[must_use]
pub fn document(simulated: &Simulated) -> Value {
    let summaries: Vec<Summary> =
        simulated.runs.iter().map(|(problem, run)| Summary::new(problem, run)).collect();
    let runs = simulated.runs.iter().zip(&summaries);
    let runs: Vec<Value> = runs.map(|((problem, run), summary)| of_run(problem, run, summary)).collect();
    let mut document = json!({
        "kind": "simulation",
        "version": 1,
        "name": simulated.name,
        "policy": simulated.policy_words(),
        "servers": simulated.runs.first().map_or(0, |(problem, _)| problem.n_single_servers() as u64),
        "runs": runs,
        "notes": simulated.notes,
    });
    if summaries.len() > 1 {
        document["means"] = means(simulated, &summaries);
    }
    document
}

impl Simulated {
    /// Returns a description of the policy for people.
    #[must_use]
    pub fn policy_words(&self) -> String {
        match (&self.usage, self.policy) {
            (None, policy) => words(policy),
            (Some(usage), Policy::Fill(rule)) => format!("{usage}; {}", rule.server),
            (Some(usage), _) => format!("{usage}; gangs and limits of the tree"),
        }
    }
}

fn words(policy: Policy) -> String {
    match policy {
        Policy::Fill(rule) => format!("{} {} {}", rule.score, rule.server, rule.ties),
        Policy::Slots { slots, ties } => format!("slots {slots} {ties}"),
        Policy::Tree(TreePolicy { rule, preemption, ties }) => {
            let rule = rule.map_or(String::new(), |rule| format!(" {rule}"));
            format!("tree{rule}, preemption {preemption}, {ties}")
        }
    }
}

fn of_run(problem: &Problem, run: &Run, summary: &Summary) -> Value {
    let by_resource = problem.resources().iter().cloned().zip(summary.utilisation.iter().map(|u| json!(u)));
    let by_size = SIZES.iter().enumerate().zip(&summary.by_size).filter_map(|((class, from), times)| {
        let times = times.as_ref()?;
        let to = SIZES.get(class + 1).map(|next| next - 1);
        Some(json!({"from": from, "to": to, "jobs": times.jobs, "mean": times.mean}))
    });
    let by_size: Vec<Value> = by_size.collect();
    let of_user = |n: usize| {
        let tasks = &run.tasks[n];
        let mut value = json!({
            "tasks": of_tasks(tasks),
            "completion_ratio": completion_ratio(tasks),
            "dominant_share": summary.dominant_share[n],
        });
        if let Some(usage) = &run.usage {
            value["usage"] = json!(usage[n]);
        }
        (problem.users()[n].name().to_owned(), value)
    };
    let mut document = json!({
        "seed": run.seed,
        "end": run.end,
        "events": run.events,
        "placements": format!("{:016x}", run.placements),
        "utilisation": by_resource.collect::<Map<_, _>>(),
        "tasks": of_tasks(&summary.tasks),
        "jobs": {
            "submitted": run.jobs_submitted,
            "completed": run.jobs.len(),
            "completion_time": summary.completion,
            "by_size": by_size,
        },
        "users": (0..problem.n_users()).map(of_user).collect::<Map<_, _>>(),
    });
    if run.is_stopped {
        document["stopped_at"] = json!(run.end);
    }
    if let Some(there) = &run.there {
        document["servers"] = json!(there);
    }
    document
}

fn of_tasks(tasks: &Tasks) -> Value {
    let mut of = json!(tasks);
    (of["running"], of["waiting"]) = (json!(tasks.running()), json!(tasks.waiting()));
    of
}

/// Returns the completed tasks as a fraction of the submitted tasks, or `None` if no task was submitted.
fn completion_ratio(tasks: &Tasks) -> Option<f64> {
    (tasks.submitted > 0).then(|| tasks.completed as f64 / tasks.submitted as f64)
}

fn means(simulated: &Simulated, summaries: &[Summary]) -> Value {
    let over = |values: &mut dyn Iterator<Item = Option<f64>>| -> Value {
        let mut statistic = Statistic::default();
        let mut is_empty = true;
        for value in values.flatten() {
            statistic.add(value);
            is_empty = false;
        }
        if is_empty {
            return Value::Null;
        }
        json!({"mean": statistic.mean, "half_width": statistic.half_width()})
    };
    let resources = simulated.runs.first().map_or(&[][..], |(problem, _)| problem.resources());
    let utilisation = resources
        .iter()
        .enumerate()
        .map(|(r, name)| (name.clone(), over(&mut summaries.iter().map(|summary| summary.utilisation[r]))));
    let utilisation: Map<String, Value> = utilisation.filter(|(_, value)| !value.is_null()).collect();
    json!({
        "utilisation": utilisation,
        "completion_time": over(&mut summaries.iter().map(|s| s.completion.as_ref().map(|times| times.mean))),
        "completed_tasks": over(&mut summaries.iter().map(|s| Some(s.tasks.completed as f64))),
    })
}

/// Returns the series of a run as CSV.
///
/// The columns are `time`, the utilisation of every resource, the numbers of running and waiting tasks, the number of
/// servers (only if servers come and go), the global dominant share of every user, and the decayed past usage of every user
/// (only if the policy orders users by past usage).
#[must_use]
pub fn series_csv(problem: &Problem, run: &Run) -> String {
    let cells = (2 * problem.n_users() + problem.n_resources() + 4) as u64 * run.rows.len() as u64;
    room(CELL_OF_TEXT * cells, "the table of the series");
    let columns = columns(problem, run);
    let names: Vec<_> = columns.iter().map(|(name, _)| Medium::Csv.show(name)).collect();
    let mut out = names.join(",") + "\n";
    for row in 0..run.rows.len() {
        for (k, (_, column)) in columns.iter().enumerate() {
            let comma = if k > 0 { "," } else { "" };
            let _ = match column {
                Column::Numbers(numbers) => write!(out, "{comma}{}", numbers[row]),
                Column::Counts(counts) => write!(out, "{comma}{}", counts[row]),
            };
        }
        out.push('\n');
    }
    out
}

/// Returns the columns of [`series_csv`] as the bytes of one uncompressed Parquet file.
///
/// # Errors
/// Returns an error if the Parquet writer fails. This should never happen, since the file is written to
/// memory.
pub fn series_parquet(problem: &Problem, run: &Run) -> Result<Vec<u8>, ParquetError> {
    let columns = columns(problem, run);
    let field = |(name, column): &(String, Column)| {
        let physical = match column {
            Column::Numbers(_) => Physical::DOUBLE,
            Column::Counts(_) => Physical::INT64,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("series").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_created_by("evenhand".to_owned()).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for (_, column) in columns {
        let Some(mut writer) = rows.next_column()? else { break };
        match column {
            Column::Numbers(values) => writer.typed::<DoubleType>().write_batch(&values, None, None)?,
            Column::Counts(values) => writer.typed::<Int64Type>().write_batch(&values, None, None)?,
        };
        writer.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(bytes)
}

/// A column of a table.
enum Column {
    Numbers(Vec<f64>),
    Counts(Vec<i64>),
}

/// Returns the columns of [`series_csv`], with their names.
fn columns(problem: &Problem, run: &Run) -> Vec<(String, Column)> {
    let series = series(problem, run);
    let counts = |count: fn(&Row) -> u64| {
        Column::Counts(run.rows.iter().map(|row| i64::try_from(count(row)).unwrap_or(i64::MAX)).collect())
    };
    let mut columns = vec![("time".to_owned(), Column::Numbers(series.times))];
    for (name, used) in problem.resources().iter().zip(series.utilisation) {
        columns.push((format!("utilisation of {name}"), Column::Numbers(used)));
    }
    columns.push(("running".to_owned(), counts(|row| row.running.iter().sum())));
    columns.push(("waiting".to_owned(), counts(|row| row.waiting)));
    if run.there.is_some() {
        let servers = counts(|row| row.there.as_ref().map_or(0, |there| there.servers));
        columns.push(("servers".to_owned(), servers));
    }
    for (user, shares) in problem.users().iter().zip(series.shares) {
        columns.push((format!("share of {}", user.name()), Column::Numbers(shares)));
    }
    for (user, usage) in problem.users().iter().zip(series.usage.into_iter().flatten()) {
        columns.push((format!("past usage of {}", user.name()), Column::Numbers(usage)));
    }
    columns
}

/// The series of a run, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesOfRun {
    /// The time of each row.
    pub times: Vec<f64>,
    /// The used fraction of the present capacity of a resource, indexed by resource and then by row. It is 0
    /// if no capacity is present.
    pub utilisation: Vec<Vec<f64>>,
    /// The global dominant share of a user, not divided by the weight, indexed by user and then by row.
    pub shares: Vec<Vec<f64>>,
    /// The decayed past usage of a user, indexed by user and then by row. `None` unless the policy orders users by past
    /// usage.
    pub usage: Option<Vec<Vec<f64>>>,
}

/// Returns the series of a run, column by column.
#[must_use]
pub fn series(problem: &Problem, run: &Run) -> SeriesOfRun {
    let amounts = Amounts::new(problem);
    let columns = problem.n_users() + problem.n_resources() + 1;
    table(run.rows.len(), columns, size_of::<f64>(), "the series");
    charge(amounts.cost_of_use() * run.rows.len() as u64, "the series");
    let mut series = SeriesOfRun {
        times: run.rows.iter().map(|row| row.time).collect(),
        utilisation: vec![Vec::with_capacity(run.rows.len()); problem.n_resources()],
        shares: vec![Vec::with_capacity(run.rows.len()); problem.n_users()],
        usage: run.usage.is_some().then(|| {
            let of_user =
                |n: usize| run.rows.iter().map(|row| row.usage.get(n).copied().unwrap_or(0.0)).collect();
            (0..problem.n_users()).map(of_user).collect()
        }),
    };
    for row in &run.rows {
        let used = amounts.used(row.running.iter().map(|tasks| *tasks as f64));
        let there = |r: usize| row.there.as_ref().map_or(1.0, |there| there.capacity[r]);
        for (r, (column, used)) in series.utilisation.iter_mut().zip(used).enumerate() {
            column.push(if there(r) > 0.0 { used / there(r) } else { 0.0 });
        }
        for (n, (column, tasks)) in series.shares.iter_mut().zip(&row.running).enumerate() {
            column.push(*tasks as f64 * amounts.dominant(n));
        }
    }
    series
}

/// Returns for each user the mean time for which a submitted task waited up to the end of the run, over all
/// runs. The runs must have their histories. The mean is `None` for a user without submitted tasks.
#[must_use]
pub fn mean_waiting_times(simulated: &Simulated) -> Vec<(String, Option<f64>)> {
    let Some((problem, _)) = simulated.runs.first() else { return Vec::new() };
    let mut waited = vec![0.0; problem.n_users()];
    for row in simulated.runs.iter().flat_map(|(_, run)| &run.history) {
        waited[row.user as usize] += row.waiting as f64 * (row.to - row.from);
    }
    let users = problem.users().iter().enumerate();
    let of_user = |(n, user): (usize, &evenhand_problem::User)| {
        let submitted: u64 = simulated.runs.iter().map(|(_, run)| run.tasks[n].submitted).sum();
        (user.name().to_owned(), (submitted > 0).then(|| waited[n] / submitted as f64))
    };
    users.map(of_user).collect()
}

/// Returns the history of a run as CSV: `queue,resource,from,to,amount,waiting`, as `usage` and
/// `verdict --window` read it. Users are queues. An amount is the amount that all running tasks of the user
/// take.
///
/// # Errors
/// Returns [`SimulateError::BeyondHistory`] if the run reaches a time beyond the times that a history can
/// state.
pub fn history_csv(problem: &Problem, run: &Run) -> Result<String, SimulateError> {
    let resources = problem.n_resources() as u64;
    room(6 * CELL_OF_TEXT * resources * run.history.len() as u64, "the history of the run");
    let mut out = String::from("queue,resource,from,to,amount,waiting\n");
    let names: Vec<_> = problem.users().iter().map(|user| Medium::Csv.show(user.name())).collect();
    for row in &run.history {
        let user = row.user as usize;
        let (from, to) = (nanoseconds(row.from)?, nanoseconds(row.to)?);
        if from == to {
            continue;
        }
        for (resource, demand) in problem.resources().iter().zip(problem.users()[user].base_demand().iter()) {
            let amount = number::format_stated(&Rational::from(demand * row.running));
            let resource = Medium::Csv.show(resource);
            let _ = writeln!(out, "{},{resource},{from},{to},{amount},{}", names[user], row.waiting);
        }
    }
    Ok(out)
}

/// Returns a time in seconds as text with whole nanoseconds, as histories state it.
fn nanoseconds(time: f64) -> Result<String, SimulateError> {
    /// The largest time of a history in seconds: about 139 years.
    const LATEST: f64 = 4.4e9;
    if time > LATEST {
        return Err(SimulateError::BeyondHistory { time, latest: LATEST });
    }
    let text = format!("{time:.9}");
    Ok(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// Returns all finished jobs as CSV, in the order in which they finished.
#[must_use]
pub fn jobs_csv(problem: &Problem, run: &Run) -> String {
    let name = |job: &FinishedJob| problem.users()[job.user as usize].name().len() as u64;
    let names: u64 = run.jobs.iter().map(name).sum();
    room(names + 3 * CELL_OF_TEXT * run.jobs.len() as u64, "the table of the jobs that are done");
    let mut out = String::from("user,tasks,arrival,completion_time\n");
    for job in &run.jobs {
        let user = Medium::Csv.show(problem.users()[job.user as usize].name());
        let _ = writeln!(out, "{user},{},{},{}", job.tasks, job.at, job.time);
    }
    out
}

/// Returns the distribution of completion times as CSV: for each time, the fraction of finished jobs that
/// took at most this time.
#[must_use]
pub fn completion_csv(run: &Run) -> String {
    let mut times: Vec<f64> = run.jobs.iter().map(|job| job.time).collect();
    times.sort_by(f64::total_cmp);
    let mut out = String::from("completion_time,part\n");
    for (before, time) in times.iter().enumerate() {
        // Equal times give one row. Only the last of the equal times has the complete count.
        if times.get(before + 1) != Some(time) {
            let _ = writeln!(out, "{time},{}", (before + 1) as f64 / times.len() as f64);
        }
    }
    out
}

/// Returns the task counts of every user as CSV.
#[must_use]
pub fn users_csv(problem: &Problem, run: &Run) -> String {
    let summary = Summary::new(problem, run);
    let mut out = String::from(
        "user,submitted,started,completed,withdrawn,running,waiting,completion_ratio,dominant_share,preempted,evicted\n",
    );
    for (n, (user, tasks)) in problem.users().iter().zip(&run.tasks).enumerate() {
        let Tasks { submitted, started, completed, withdrawn, preempted, evicted } = tasks;
        let ratio = completion_ratio(tasks).map_or(String::new(), |ratio| ratio.to_string());
        let _ = writeln!(
            out,
            "{},{submitted},{started},{completed},{withdrawn},{},{},{ratio},{},{preempted},{evicted}",
            Medium::Csv.show(user.name()),
            tasks.running(),
            tasks.waiting(),
            summary.dominant_share[n]
        );
    }
    out
}
