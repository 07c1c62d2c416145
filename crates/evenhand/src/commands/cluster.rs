//! The commands `verdict`, `what-if`, `moves` and `explain --task`: judge a running cluster from its
//! snapshot.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use evenhand::cluster::certificate::{of_moves, of_verdict, self_test};
use evenhand::cluster::reported::{compared, rule_of};
use evenhand::cluster::script::{named, script};
use evenhand::cluster::value::Values;
use evenhand::cluster::why_not::{Explanation, Subject};
use evenhand::cluster::{Changes, ClusterError, Due, Queues, TaskRules, Verdict, by_rule, moves};
use evenhand::mechanisms::tree::Rule;
use evenhand::problem::format::{Source, read_text, snapshot_to_json};
use evenhand::problem::snapshot::Snapshot;
use evenhand::problem::{Problem, Rational, User};
use evenhand::report;
use evenhand_watch::history::is_sqlite;

use crate::arguments::cluster::{Moves, RuleOption, Verdict as VerdictCall, WhatIf};
use crate::arguments::{Common, Compare, Format};
use crate::failure::{Failure, unknown};
use crate::{files, output};

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Mechanism(error) => error.into(),
            error if error.is_of_input() => Self::input(error),
            error => Self::solver(error),
        }
    }
}

/// Reads a snapshot, and stores the warnings about its problem.
pub fn snapshot(path: &Path, common: &Common) -> Result<Snapshot, Failure> {
    let snapshot = files::read(path, |source| source.snapshot())?;
    for warning in snapshot.problem.warnings() {
        output::warn(common, warning.to_string());
    }
    Ok(snapshot)
}

/// Returns the rule of the option. Without the option, returns the rule of the snapshot's scheduler.
pub(super) fn rule(option: &RuleOption, snapshot: &Snapshot, common: &Common) -> Option<Rule> {
    let rule = match option.rule.as_deref() {
        // The parser of the arguments accepts only names of rules.
        Some(name) => name.parse().ok(),
        None => rule_of(snapshot),
    };
    super::note_rule(rule, &snapshot.problem, common);
    rule
}

pub fn verdict(call: &VerdictCall, common: &Common) -> Result<ExitCode, Failure> {
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?.unwrap_or_default();
    if call.over.window.is_some() && !call.values.value.is_empty() {
        return Err(Failure::input("--value applies only to a snapshot: use --resource-weight for a window"));
    }
    if let Some(window) = &call.over.window {
        return super::window::run(call, window, tolerance, common);
    }
    if let Some(law) = call.rule.as_deref().filter(|name| *name != "tree" && name.parse::<Rule>().is_err()) {
        return Err(Failure::input(format!(
            "--rule {law} is a law of usage over time, which needs --window"
        )));
    }
    if is_sqlite(&call.snapshot) {
        return Err(Failure::input("a history of watch is judged over a window of time")
            .tip("--window 7d judges its last week"));
    }
    let snapshot = snapshot(&call.snapshot, common)?;
    let rule = rule(&RuleOption { rule: call.rule.clone() }, &snapshot, common);
    let values = Values::read(&call.values.value, &snapshot.problem)?;
    let (snapshot, own_rule) = values.apply_by_rule(&snapshot, rule)?;
    let mut found = Verdict::new(&snapshot, own_rule, &tolerance)?;
    found.rule = rule;
    let printed = match &call.output {
        Some(path) => certificate(path, &of_verdict(&found, &snapshot.sources)?, common)?,
        None => false,
    };
    if !printed {
        say(&snapshot, &found, &values, common)?;
    }
    status(&found)
}

/// Checks a certificate by the kernel, and writes it. Returns `true` if it went to standard output.
pub(super) fn certificate(path: &Path, text: &str, common: &Common) -> Result<bool, Failure> {
    output::unchecked(common, self_test(text)?.as_deref());
    files::write(path, text)
}

fn say(snapshot: &Snapshot, found: &Verdict, values: &Values, common: &Common) -> Result<(), Failure> {
    if common.format == Format::Prometheus {
        return output::text(&report::cluster::prometheus(snapshot, found));
    }
    let compared = compared(snapshot, &found.problem, found.rule)?;
    output::result(
        common,
        || report::json::by_value(values, report::json::cluster_verdict(snapshot, found, &compared)),
        || {
            let page = report::cluster::verdict(snapshot, found, &compared);
            report::cluster::by_value(values, &snapshot.problem, page)
        },
    )
    .map(drop)
}

/// Returns the exit status. It is 1 if a queue is below its fair share by a whole task, if a waiting task
/// could start, if a guarantee that can be met is missed, or if a limit is exceeded. It is 3 if this could
/// not be decided.
fn status(found: &Verdict) -> Result<ExitCode, Failure> {
    if !found.is_fair() {
        return Ok(ExitCode::from(1));
    }
    let mut undecided: Vec<String> = found
        .held
        .undecided
        .iter()
        .map(|(axiom, why)| format!("{} is not checked: {why}", axiom.name()))
        .collect();
    if !found.is_known() {
        undecided.push("whether every waiting task could start is not checked".to_owned());
    }
    match undecided {
        none if none.is_empty() => Ok(ExitCode::SUCCESS),
        undecided => Err(Failure::solver(undecided.join("; "))),
    }
}

pub fn what_if(call: &WhatIf, common: &Common) -> Result<ExitCode, Failure> {
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?.unwrap_or_default();
    let before = snapshot(&call.snapshot, common)?;
    let mut changes = match &call.from {
        Some(path) => Changes::read(&path.to_string_lossy(), &read_text(path)?)?,
        None => Changes::default(),
    };
    changes.set.extend(call.set.iter().cloned());
    changes.add.extend(call.add.iter().cloned());
    changes.remove.extend(call.remove.iter().cloned());
    for path in &call.submit {
        changes.submit(&path.to_string_lossy(), &read_text(path)?)?;
    }
    if changes.is_empty() {
        return Err(Failure::input("no option states a change")
            .tip("--set A.weight=2, --add CLASS=4, --remove SERVER, --submit FILE"));
    }
    let after = changes.apply(&before)?;
    for warning in after.problem.warnings() {
        output::warn(common, format!("after the changes: {warning}"));
    }
    let rule = rule(&call.rule_option, &before, common);
    let values = Values::read(&call.values.value, &before.problem)?;
    let by_value = |of: &Snapshot| Values::read(&call.values.value, &of.problem)?.apply_by_rule(of, rule);
    let judge = |(of, own_rule): &(Snapshot, Option<Rule>)| -> Result<Verdict, ClusterError> {
        Ok(Verdict { rule, ..Verdict::new(of, *own_rule, &tolerance)? })
    };
    let after_by_value = by_value(&after)?;
    let found = judge(&after_by_value)?;
    let printed = match &call.output {
        Some(path) => files::write(path, &snapshot_to_json(&after))?,
        None => false,
    };
    let after = after_by_value.0;
    if call.verdict {
        if !printed {
            say(&after, &found, &values, common)?;
        }
        return status(&found);
    }
    if !printed {
        let before_by_value = by_value(&before)?;
        let was = judge(&before_by_value)?;
        let before = before_by_value.0;
        let subject = Subject {
            snapshot: &after,
            problem: &found.problem,
            allocation: &found.allocation,
            rules: &found.rules,
            due: Some(&found.due),
        };
        let (explained, more) = submitted(subject, &changes);
        output::result(
            common,
            || {
                let of = report::json::what_if((&before, &was), (&after, &found), (subject, &explained));
                report::json::by_value(&values, of)
            },
            || {
                let page = report::cluster::what_if((&before, &was), (&after, &found));
                let page = report::cluster::by_value(&values, &after.problem, page);
                page.append(report::why_not::submitted(subject, &explained, more))
            },
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The largest number of submitted users whose starts are explained.
const MOST_EXPLAINED: usize = 8;

/// Explains whether the tasks of submitted users could start. Users that start together are explained once.
/// Also returns the number of users that are left out.
fn submitted(subject: Subject<'_>, changes: &Changes) -> (Vec<Explanation>, usize) {
    let users = changes.submit.iter().filter_map(|user| subject.problem.user_named(user["name"].as_str()?));
    let users: BTreeSet<usize> = users.map(|n| subject.rules.start(n)[0]).collect();
    let explained = users.iter().take(MOST_EXPLAINED).map(|n| Explanation::new(subject, *n)).collect();
    (explained, users.len().saturating_sub(MOST_EXPLAINED))
}

/// The largest product of the numbers of users and server classes for which `explain --task` computes fair shares.
const MOST_FOR_SHARES: usize = 20_000;

/// Explains whether a waiting task could start now, and which changes would let it start. The exit status is
/// 0 if it could start, 1 if it could not start, and 3 if this is not known.
pub fn explain_task(
    path: &Path,
    name: &str,
    rule: Option<&str>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    let snapshot = snapshot(path, common)
        .map_err(|failure| failure.tip("--task needs a snapshot; to explain an allocation, use --user"))?;
    let user = waiting_user(name, &snapshot)?;
    let option = RuleOption { rule: rule.map(str::to_owned) };
    let rule = self::rule(&option, &snapshot, common);
    let rules = TaskRules::new(&snapshot);
    let problem = by_rule(&snapshot.problem, rule)?.unwrap_or_else(|| snapshot.problem.clone());
    // For a large cluster, computing the fair shares would delay the explanation too much.
    let size = problem.n_users().saturating_mul(problem.n_servers());
    let is_fast = size <= MOST_FOR_SHARES || rule.and_then(Rule::per_resource).is_some();
    let due = is_fast.then(|| Due::new(&Queues::new(&problem, &rules), rule)).transpose()?;
    let subject = Subject {
        snapshot: &snapshot,
        problem: &problem,
        allocation: &snapshot.allocation,
        rules: &rules,
        due: due.as_ref(),
    };
    let explanation = Explanation::new(subject, user);
    output::result(
        common,
        || report::json::task_explanation(subject, &explanation),
        || report::why_not::why_not(subject, &explanation),
    )?;
    match explanation.could_start() {
        Some(true) => Ok(ExitCode::SUCCESS),
        Some(false) => Ok(ExitCode::from(1)),
        None => Err(Failure::solver(format!("whether `{name}` could start is not known"))),
    }
}

/// Returns the user with this name, or the user of the waiting task with this name.
fn waiting_user(name: &str, snapshot: &Snapshot) -> Result<usize, Failure> {
    if let Some(user) = snapshot.problem.user_named(name) {
        return Ok(user);
    }
    let has = |names: &[String]| names.iter().any(|of| of == name);
    if let Some(of) = snapshot.waiting.iter().find(|of| has(&of.names)) {
        return Ok(of.user);
    }
    if let Some(of) = snapshot.running.iter().find(|of| has(&of.names)) {
        let server = snapshot.server_name(of.server, of.index);
        return Err(Failure::input(format!("--task: `{name}` runs on {server}, so it does not wait")));
    }
    let waiting = snapshot.waiting.iter().flat_map(|of| &of.names).map(String::as_str);
    Err(unknown("user or waiting task", name, snapshot.problem.users().iter().map(User::name).chain(waiting)))
}

pub fn moves(call: &Moves, common: &Common) -> Result<ExitCode, Failure> {
    if call.migrations.are_asked_for() {
        return super::migrations::run(call, common);
    }
    if call.migrations.cost.is_some() {
        return Err(Failure::input("--cost applies only to migrations: add --for JOB or --pack"));
    }
    let snapshot = snapshot(&call.snapshot, common)?;
    let limits = moves::Limits {
        most: call.most,
        pinned: pinned(&call.pinned, &snapshot.problem)?,
        strict_priority: call.priority.as_deref() == Some("strict"),
    };
    let rule = rule(&call.rule_option, &snapshot, common);
    let found = Verdict::new(&snapshot, rule, &Rational::new())?;
    let moves = moves::Moves::new(&found, &limits)?;
    let (steps, after) = named(&snapshot, &found.rules, &moves);
    let mut printed = match &call.output {
        Some(path) => certificate(path, &of_moves(&found, &moves, &snapshot.sources)?, common)?,
        None => false,
    };
    if let Some(path) = &call.after {
        printed |= files::write(path, &snapshot_to_json(&after))?;
    }
    if common.format == Format::Script && !printed {
        output::text(&script(&snapshot, &steps))?;
    } else if !printed {
        output::result(
            common,
            || report::json::moves(&snapshot, &found, &moves, &steps),
            || report::cluster::moves(&snapshot, &found, &moves, &steps),
        )?;
    }
    Ok(ExitCode::from(u8::from(!moves.below[1].is_empty())))
}

/// Returns `true` if a file contains a snapshot. Returns `false` for a file that cannot be read, because the
/// function that reads it later reports the error.
pub fn is_snapshot(path: &Path) -> bool {
    let is_named = |text: &str| {
        let document = Source { name: "", text }.document().ok()?;
        let object = document.object(document.root()).ok()?;
        Some(object.get("kind")?.get() == "\"snapshot\"")
    };
    files::peek(path, |text| is_named(text) == Some(true)) == Some(true)
}

/// Returns `true` if no option of `report` needs a comparison of mechanisms.
pub fn is_plain(asked: &Compare) -> bool {
    asked.mechanisms.is_empty()
        && asked.allocations.is_empty()
        && asked.axioms.is_empty()
        && asked.alpha.is_none()
        && asked.plot.is_none()
        && asked.users.is_none()
        && !asked.dedicated
        && !asked.float
}

/// Writes the verdict on a snapshot as a page. The command `report` calls this function.
pub fn report(asked: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    if !is_plain(asked) {
        return Err(Failure::input("for a snapshot, `report` takes only --tolerance and --output"));
    }
    let tolerance = super::tolerance(asked.tolerance.as_deref(), "tolerance")?.unwrap_or_default();
    let snapshot = snapshot(&asked.problem, common)?;
    let rule = rule(&RuleOption { rule: None }, &snapshot, common);
    let found = Verdict::new(&snapshot, rule, &tolerance)?;
    let compared = compared(&snapshot, &found.problem, found.rule)?;
    if !files::write(asked.page(), &report::html::cluster(&snapshot, &found, &compared))? {
        output::note(common, format!("the page is in {}", asked.page().display()));
        say(&snapshot, &found, &Values::default(), common)?;
    }
    status(&found)
}

/// Returns the users with these names, and all users below the groups with these names.
pub(super) fn pinned(names: &[String], problem: &Problem) -> Result<BTreeSet<usize>, Failure> {
    let mut users = BTreeSet::new();
    let groups = problem.groups();
    for name in names {
        let group = groups.list().iter().position(|group| group.name == *name);
        let is_below =
            |n: &usize| group.is_some_and(|v| groups.above(groups.member(*n).group).any(|of| of == v));
        let user = problem.user_named(name);
        if user.is_none() && group.is_none() {
            let known = problem.users().iter().map(User::name);
            return Err(unknown(
                "user or group",
                name,
                known.chain(groups.list().iter().map(|of| of.name.as_str())),
            ));
        }
        users.extend(user.into_iter().chain((0..problem.n_users()).filter(is_below)));
    }
    Ok(users)
}
