//! The command `simulate SNAPSHOT`: computes how long the waiting jobs of a running cluster will wait.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use evenhand::cluster::waits::{Asked, Durations, Entry, Law, MOST_RUNS, Policy, Settings, Waits};
use evenhand::problem::format::read_text;
use evenhand::problem::snapshot::Snapshot;
use evenhand::report;
use evenhand::usage::parse_duration;
use serde_json::Value;

use super::{cluster, migrations};
use crate::arguments::{Common, Simulate};
use crate::failure::{Failure, unknown};
use crate::output;

/// The default number of runs.
const RUNS: u64 = 1000;
/// The name that stands for all tasks without their own entry.
const OTHERS: &str = "*";

/// Prints how long jobs will wait. The exit status is 1 if the command line names one job and this job
/// started in no run.
pub fn run(call: &Simulate, mut snapshot: Snapshot, common: &Common) -> Result<ExitCode, Failure> {
    let options = &call.waits;
    let Some(stated) = &options.durations else {
        return Err(Failure::input("a snapshot needs --durations, which says how long tasks run").tip(
            "--durations limits, --durations fixed:30m, --durations exponential:2h, or a file of durations",
        ));
    };
    let mut asked = Asked::All;
    if let Some(job) = &options.job {
        let task = |snapshot: &Snapshot| {
            let is_named = snapshot.waiting.iter().find(|of| of.names.contains(job));
            is_named.filter(|_| snapshot.problem.user_named(job).is_none()).map(|of| of.user)
        };
        asked = match task(&snapshot) {
            Some(user) => Asked::Task(user, job.clone()),
            None => {
                let (with_job, user) = migrations::job_of("--job", Path::new(job), snapshot)?;
                snapshot = with_job;
                Asked::User(user)
            }
        };
    }
    let durations = durations(stated, &snapshot)?;
    let horizon = options.horizon.as_deref().map(|text| time("--horizon", text)).transpose()?;
    let rule = cluster::rule(&options.rule_option, &snapshot, common);
    let is_rule_asked = options.rule_option.rule.is_some();
    let settings = Settings {
        durations,
        runs: options.runs.unwrap_or(RUNS).min(MOST_RUNS),
        seed: common.seed,
        horizon,
        rule,
        policy: Policy::new(snapshot.system, rule, is_rule_asked),
        asked,
    };
    let waits = Waits::new(&snapshot, &settings)?;
    let asked = report::waits::Asked {
        durations: stated,
        are_limits: settings.durations.others == Some(Entry::of(Law::Limits)),
        horizon,
        seed: common.seed,
        rule,
        is_job: options.job.is_some(),
    };
    output::result(
        common,
        || report::json::waits(&snapshot, &waits, &asked),
        || report::waits::page(&snapshot, &waits, &asked),
    )?;
    let never = asked.is_job && waits.rows.iter().all(|row| row.starts.is_empty());
    Ok(ExitCode::from(u8::from(never)))
}

/// Parses a time such as `30m`, and returns it in nanoseconds.
fn time(option: &str, text: &str) -> Result<u64, Failure> {
    let time = parse_duration(text).map_err(|error| Failure::input(format!("{option}: {error}")))?;
    Ok(time.unsigned_abs())
}

/// Parses a law such as `fixed:30m`. A time without a law means a fixed time. Returns `None` if the text is
/// not a law.
fn law(option: &str, text: &str) -> Result<Option<Law>, Failure> {
    let text = text.trim();
    if text == "limits" {
        return Ok(Some(Law::Limits));
    }
    if let Some(mean) = text.strip_prefix("exponential:") {
        return Ok(Some(Law::Exponential(time(option, mean)?)));
    }
    if let Some(fixed) = text.strip_prefix("fixed:") {
        return Ok(Some(Law::Fixed(time(option, fixed)?)));
    }
    Ok(parse_duration(text).ok().map(|time| Law::Fixed(time.unsigned_abs())))
}

/// Parses the value of `--durations`.
fn durations(stated: &str, snapshot: &Snapshot) -> Result<Durations, Failure> {
    if let Some(law) = law("--durations", stated)? {
        if law == Law::Limits && snapshot.times.iter().all(|of| of.limit.or(of.left).is_none()) {
            return Err(Failure::input("--durations limits: the snapshot states no time limits (`times`)")
                .tip("import writes them for Slurm; for other systems state --durations fixed:30m, exponential:2h, or a file"));
        }
        return Ok(Durations { others: Some(Entry::of(law)), by_name: BTreeMap::new() });
    }
    let path = Path::new(stated);
    if !path.exists() {
        return Err(Failure::input(format!(
            "--durations {stated}: there is neither a law nor a file of this name"
        ))
        .tip(
            "--durations limits, --durations fixed:30m, --durations exponential:2h, or a file of durations",
        ));
    }
    let entries = entries(stated, &read_text(path)?)?;
    let mut durations = Durations::default();
    for (name, entry) in entries {
        if name == OTHERS {
            durations.others = Some(entry);
            continue;
        }
        if snapshot.problem.user_named(&name).is_none() && !has_task(snapshot, &name) {
            let tasks = snapshot.waiting.iter().flat_map(|of| &of.names);
            let tasks = tasks.chain(snapshot.running.iter().flat_map(|of| &of.names)).map(String::as_str);
            let users = snapshot.problem.users().iter().map(evenhand::problem::User::name);
            return Err(unknown("user or task", &name, users.chain(tasks)));
        }
        durations.by_name.insert(name, entry);
    }
    Ok(durations)
}

fn has_task(snapshot: &Snapshot, name: &str) -> bool {
    let mut waiting = snapshot.waiting.iter().flat_map(|of| &of.names);
    let mut running = snapshot.running.iter().flat_map(|of| &of.names);
    waiting.any(|of| of == name) || running.any(|of| of == name)
}

/// Reads a file of durations: a JSON object, or a CSV table with the columns `name`, `duration` and
/// optionally `left`.
fn entries(stated: &str, text: &str) -> Result<Vec<(String, Entry)>, Failure> {
    let wrong = |what: String| {
        Failure::input(format!("--durations {stated}: {what}")).tip(
            r#"state durations by user or task, such as {"training": "2h", "*": {"duration": "1h", "left": "30m"}}, or a table name,duration,left"#,
        )
    };
    let one = |name: &str, text: &str| -> Result<Law, Failure> {
        let option = format!("--durations {stated}: `{name}`");
        law(&option, text)?.ok_or_else(|| {
            wrong(format!(
                "`{name}`: `{text}` is not a duration: expected one such as 30m, exponential:2h or limits"
            ))
        })
    };
    let mut entries: Vec<(String, Entry)> = Vec::new();
    if text.trim_start().starts_with('{') {
        let document: BTreeMap<String, Value> =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for (name, value) in document {
            let text_of = |value: &Value| match value {
                Value::String(text) => Ok(text.clone()),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err(wrong(format!(
                    "`{name}`: expected a duration, or an object with `duration` and `left`"
                ))),
            };
            let entry = match &value {
                Value::Object(fields) => {
                    let unknown = fields.keys().find(|key| !matches!(key.as_str(), "duration" | "left"));
                    if let Some(key) = unknown {
                        return Err(wrong(format!("`{name}`: unknown field `{key}`")));
                    }
                    let field = |key: &str| -> Result<Option<Law>, Failure> {
                        fields.get(key).map(|value| one(&name, &text_of(value)?)).transpose()
                    };
                    pair(field("duration")?, field("left")?)
                }
                value => Some(Entry::of(one(&name, &text_of(value)?)?)),
            };
            let entry = entry.ok_or_else(|| wrong(format!("`{name}`: state `duration` or `left`")))?;
            entries.push((name, entry));
        }
        return Ok(entries);
    }
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header: Vec<&str> = lines.next().map_or("", |(_, line)| line).split(',').map(str::trim).collect();
    if header != ["name", "duration"] && header != ["name", "duration", "left"] {
        return Err(wrong(
            "expected a JSON object, or a table with the header name,duration or name,duration,left"
                .to_owned(),
        ));
    }
    for (at, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != header.len() {
            let (found, expected) = (cells.len(), header.len());
            return Err(wrong(format!("line {}: found {found} columns: expected {expected}", at + 1)));
        }
        let name = cells[0];
        let cell = |at: usize| -> Result<Option<Law>, Failure> {
            cells.get(at).filter(|text| !text.is_empty()).map(|text| one(name, text)).transpose()
        };
        let entry = pair(cell(1)?, cell(2)?)
            .ok_or_else(|| wrong(format!("line {}: `{name}` has no duration", at + 1)))?;
        if entries.iter().any(|(known, _)| known == name) {
            return Err(wrong(format!("line {}: `{name}` has two lines: expected one", at + 1)));
        }
        entries.push((name.to_owned(), entry));
    }
    Ok(entries)
}

/// Returns the entry with the laws of durations and remaining times. If only one law is stated, it is used
/// for both.
fn pair(duration: Option<Law>, left: Option<Law>) -> Option<Entry> {
    let either = duration.or(left)?;
    Some(Entry { duration: duration.unwrap_or(either), left: left.unwrap_or(either) })
}
