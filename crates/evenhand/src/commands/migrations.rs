//! The options `moves --for` and `moves --pack`: compute the tasks to migrate so that a waiting gang could
//! start.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use evenhand::cluster::certificate::of_migrations;
use evenhand::cluster::migrations::{
    Ages, Cluster, Cost, Defragmentation, Migrations, Obstacle, Outcome, Settings,
};
use evenhand::cluster::moves::Moves as Steps;
use evenhand::cluster::script::{named_steps, script};
use evenhand::cluster::{Changes, Verdict};
use evenhand::mechanisms::tree::Rule;
use evenhand::problem::format::{read_text, snapshot_to_json};
use evenhand::problem::snapshot::Snapshot;
use evenhand::problem::{Rational, User, number};
use evenhand::report;
use evenhand::report::migrations::Asked;
use serde_json::Value;

use super::cluster;
use crate::arguments::cluster::Moves;
use crate::arguments::{Common, Format};
use crate::failure::{Failure, unknown};
use crate::{files, output};

/// Computes the tasks to migrate. The exit status is 0 if the job could start, either now or after the
/// migrations.
pub fn run(call: &Moves, common: &Common) -> Result<ExitCode, Failure> {
    let mut snapshot = cluster::snapshot(&call.snapshot, common)?;
    let rule = cluster::rule(&call.rule_option, &snapshot, common);
    let mut job = None;
    if let Some(path) = &call.migrations.job {
        let (with_job, n) = job_of("--for", path, snapshot)?;
        (snapshot, job) = (with_job, Some(n));
    }
    let settings = Settings {
        pinned: cluster::pinned(&call.pinned, &snapshot.problem)?,
        strict_priority: call.priority.as_deref() == Some("strict"),
        cost: cost(call.migrations.cost.as_deref(), &snapshot)?,
    };
    let judged = Cluster::new(&snapshot, rule)?;
    let mut search = Defragmentation::new(&judged, &settings)?;
    let (found, pack) = match job {
        Some(n) => (Some(search.plan(n)?), None),
        None => {
            let pack = search.pack()?;
            (pack.found.clone(), Some(pack))
        }
    };
    if let Some(Migrations { outcome: Outcome::Never(Obstacle::Tasks), job, .. }) = &found {
        let user = snapshot.problem.users()[*job].name();
        return Err(Failure::input(format!("user `{user}` has no whole gang of tasks that waits"))
            .tip("`evenhand verdict SNAPSHOT` shows which queues have waiting tasks"));
    }
    let asked = Asked { pack: pack.as_ref(), cost: &settings.cost, is_rounded: judged.is_rounded };
    let plan = found.as_ref().and_then(Migrations::plan);
    let list = plan.map_or(&[][..], |plan| &plan.steps);
    let after = judged.after(list);
    let (steps, after_snapshot) = named_steps(&snapshot, &judged.rules, list, &after);
    let mut printed = false;
    match (&call.output, &found, plan) {
        (Some(path), Some(found), Some(_)) => {
            let text = certificate(&snapshot, rule, found, &mut search, after)?;
            printed = cluster::certificate(path, &text, common)?;
        }
        (Some(_), ..) => output::note(common, "no certificate is written, because no job could start"),
        (None, ..) => {}
    }
    if let Some(path) = call.after.as_ref().filter(|_| plan.is_some()) {
        printed |= files::write(path, &snapshot_to_json(&after_snapshot))?;
    }
    if common.format == Format::Script && !printed {
        output::text(&script(&snapshot, &steps))?;
    } else if !printed {
        output::result(
            common,
            || report::json::migrations(&snapshot, &judged, found.as_ref(), &steps, &asked),
            || report::migrations::page(&snapshot, &judged, found.as_ref(), &steps, &asked),
        )?;
    }
    Ok(ExitCode::from(u8::from(plan.is_none())))
}

/// Returns the certificate of the steps of a plan. It includes the verdict on the cluster before the steps.
fn certificate(
    snapshot: &Snapshot,
    rule: Option<Rule>,
    found: &Migrations,
    search: &mut Defragmentation<'_>,
    after: evenhand::problem::Allocation,
) -> Result<String, Failure> {
    let verdict = Verdict::new(snapshot, rule, &Rational::new())?;
    let list = found.plan().map(|plan| plan.steps.clone()).unwrap_or_default();
    let moves = Steps::of_steps(&verdict, list, after)?;
    let least = search.least_of_certificate(found.job)?;
    Ok(of_migrations(&verdict, &moves, found.job, least, &snapshot.sources)?)
}

/// Returns the user that an option names, by the name of the user or by the name of a waiting task of the
/// user. If there is no such user, the argument must be a file with a user, which is then submitted. Also
/// returns the snapshot, including the submitted user.
pub(super) fn job_of(option: &str, path: &Path, snapshot: Snapshot) -> Result<(Snapshot, usize), Failure> {
    let name = path.to_string_lossy();
    let of_task = || {
        let mut waiting = snapshot.waiting.iter();
        waiting.find(|of| of.names.iter().any(|task| *task == name)).map(|of| of.user)
    };
    if let Some(n) = snapshot.problem.user_named(&name).or_else(of_task) {
        return Ok((snapshot, n));
    }
    if !path.is_file() {
        let mut waiting: Vec<&str> =
            snapshot.waiting.iter().map(|of| snapshot.problem.users()[of.user].name()).collect();
        waiting.dedup();
        let all = || snapshot.problem.users().iter().map(User::name).collect();
        let known: Vec<&str> = if waiting.is_empty() { all() } else { waiting };
        return Err(unknown("user, waiting task or file", &name, known));
    }
    let mut changes = Changes::default();
    changes.submit(&name, &read_text(path)?)?;
    let names: Vec<String> =
        changes.submit.iter().filter_map(|user| Some(user["name"].as_str()?.to_owned())).collect();
    let after = changes.apply(&snapshot)?;
    let [only] = &names[..] else {
        return Err(Failure::input(format!("{option} {name}: the file states {} users", names.len()))
            .tip("state one user; `what-if --submit` adds several"));
    };
    let n = after.problem.user_named(only);
    let n = n.ok_or_else(|| {
        Failure::input(format!("{option} {name}: the changed snapshot has no user `{only}`"))
    })?;
    Ok((after, n))
}

/// Returns the cost of a migration that `--cost` states.
fn cost(path: Option<&Path>, snapshot: &Snapshot) -> Result<Cost, Failure> {
    let problem = &snapshot.problem;
    let Some(path) = path else { return Ok(Cost::Count) };
    if path == Path::new("priority") {
        return Ok(Cost::Priority);
    }
    if path == Path::new("age") {
        return Ages::new(snapshot).map(Cost::Age).ok_or_else(|| {
            Failure::input("--cost age: the snapshot does not state for how long tasks have run (`times`)")
                .tip("--cost priority, or --cost FILE with a cost for each user")
        });
    }
    let name = path.to_string_lossy();
    let wrong = |what: String| {
        Failure::input(format!("--cost {name}: {what}"))
            .tip(r#"state costs of at least 0 by user, such as {"training": 5, "batch": "1/2"}"#)
    };
    let document: Value =
        serde_json::from_str(&read_text(path)?).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(fields) = document else {
        return Err(wrong("expected an object with a cost for each user".to_owned()));
    };
    let mut costs = BTreeMap::new();
    for (user, value) in fields {
        let Some(n) = problem.user_named(&user) else {
            return Err(unknown("user", &user, problem.users().iter().map(User::name)));
        };
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => return Err(wrong(format!("`{user}`: expected a number"))),
        };
        let cost: Rational = number::parse(&text).map_err(|error| wrong(format!("`{user}`: {error}")))?;
        if cost < 0 {
            return Err(wrong(format!("`{user}`: {text} is negative; costs must be at least 0")));
        }
        costs.insert(n, cost);
    }
    Ok(Cost::Users(costs))
}
