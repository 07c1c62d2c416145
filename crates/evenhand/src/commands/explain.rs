//! The command `explain`: explains the allocation of a user, the fair shares of groups, and why a waiting
//! task does not start.

use std::process::ExitCode;

use evenhand::certify::explain::explain;
use evenhand::cluster::promises::Claims;
use evenhand::cluster::settings::Settings;
use evenhand::mechanisms::tree::{self, Rule};
use evenhand::problem::snapshot::System;
use evenhand::problem::{Allocation, Problem, User};
use evenhand::report;

use crate::arguments::cluster::RuleOption;
use crate::arguments::{Common, Explain};
use crate::failure::{Failure, unknown};
use crate::{files, output};

pub fn run(call: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    if let Some(name) = &call.task {
        return super::cluster::explain_task(&call.problem, name, call.rule.as_deref(), common);
    }
    if let Some(name) = &call.stopped {
        return stopped(call, name, common);
    }
    if call.promises {
        return promises(call, common);
    }
    if call.settings {
        return settings(call, common);
    }
    let (problem, allocation) = match &call.allocation {
        Some(path) => {
            let problem = files::problem(&call.problem, common)?;
            let allocation = files::allocation(path, &problem)?;
            (problem, allocation)
        }
        // A snapshot contains both a problem and an allocation.
        None => {
            let snapshot = super::cluster::snapshot(&call.problem, common).map_err(|failure| {
                failure
                    .tip("expected the file of an allocation after the problem; only a snapshot states both")
            })?;
            (snapshot.problem, snapshot.allocation)
        }
    };
    let Some(name) = &call.user else { return levels(call, &problem, &allocation, common) };
    let names = || problem.users().iter().map(User::name);
    let user = problem.user_named(name).ok_or_else(|| unknown("user", name, names()))?;
    let explanation = explain(&problem, &allocation, user).map_err(Failure::input)?;
    output::result(
        common,
        || report::json::explanation(&problem, allocation.sharing, &explanation),
        || report::explanation(&problem, allocation.sharing, &explanation),
    )
}

/// Explains why a task was stopped.
fn stopped(call: &Explain, name: &str, common: &Common) -> Result<ExitCode, Failure> {
    let snapshot = super::cluster::snapshot(&call.problem, common)?;
    let Some(found) = evenhand::cluster::stopped::explain(&snapshot, name) else {
        if snapshot.stopped.is_empty() {
            let why = format!("--stopped {name}: the snapshot names no stopped task");
            return Err(Failure::input(why).tip(match snapshot.system {
                Some(System::Kueue) => "conditions of workloads name them: kubectl get workloads -A -o json",
                Some(System::Kubernetes) => "events name them for an hour: kubectl get nodes,pods,events -A -o json",
                Some(System::Slurm) => "jobs in the state PREEMPTED name them: squeue -t all --json",
                _ => "the importers of Kueue, Kubernetes and Slurm read them; a snapshot states them in `stopped`",
            }));
        }
        let known = snapshot.stopped.iter().map(|of| of.task.as_str());
        return Err(unknown("stopped task", name, known));
    };
    output::result(
        common,
        || report::json::stopped_explanation(&snapshot, &found),
        || report::stopped::page(&snapshot, &found),
    )
}

/// Shows which promises can be kept. The exit status is 1 if a promise is in doubt.
fn promises(call: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    let snapshot = super::cluster::snapshot(&call.problem, common)?;
    let rule = super::cluster::rule(&RuleOption { rule: call.rule.clone() }, &snapshot, common);
    let claims = Claims::new(&snapshot, rule)?;
    output::result(
        common,
        || report::json::promises(&snapshot, &claims),
        || report::promises::page(&snapshot, &claims),
    )?;
    Ok(ExitCode::from(u8::from(claims.in_doubt().next().is_some())))
}

/// Shows the settings that reduce the fair shares of queues with waiting tasks. The exit status is 1 if such
/// settings exist.
fn settings(call: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    let snapshot = super::cluster::snapshot(&call.problem, common)?;
    let rule = super::cluster::rule(&RuleOption { rule: call.rule.clone() }, &snapshot, common);
    let groups = snapshot.problem.groups().list();
    let names = || groups.iter().map(|group| group.name.as_str());
    let only = match &call.group {
        Some(name) => Some(names().position(|of| of == name).ok_or_else(|| unknown("group", name, names()))?),
        None => None,
    };
    let found = Settings::new(&snapshot, rule, only)?;
    output::result(
        common,
        || report::json::settings(&snapshot, &found),
        || report::settings::page(&snapshot, &found),
    )?;
    Ok(ExitCode::from(u8::from(found.queues.iter().any(|of| !of.effects.is_empty()))))
}

fn levels(
    call: &Explain,
    problem: &Problem,
    allocation: &Allocation,
    common: &Common,
) -> Result<ExitCode, Failure> {
    // The parser of the arguments accepts only names of rules.
    let rule = call.rule.as_deref().and_then(|rule| rule.parse().ok());
    super::note_rule(rule, problem, common);
    let settings = tree::Settings { rule, no_nominal_first: call.no_nominal_first, whole: call.whole };
    if let Some(name) = &call.group {
        return group(name, problem, allocation, &settings, common);
    }
    if let Some((entitled, held)) = tree::held(problem, allocation, &settings)? {
        return output::result(
            common,
            || report::json::entitlements(problem, &settings, &entitled, Some(&held)),
            || report::entitlements(problem, &entitled, Some(&held)),
        );
    }
    let standings = tree::levels(problem, allocation, &settings)?;
    output::result(common, || report::json::levels(&standings), || report::levels(&standings))
}

fn group(
    name: &str,
    problem: &Problem,
    allocation: &Allocation,
    settings: &tree::Settings,
    common: &Common,
) -> Result<ExitCode, Failure> {
    let names = || problem.groups().list().iter().map(|group| group.name.as_str());
    let group = names().position(|of| of == name).ok_or_else(|| unknown("group", name, names()))?;
    if settings.rule.and_then(Rule::per_resource).is_some() {
        let why = "--group: this rule divides every resource on its own; use `--levels --rule` for the fair shares of groups";
        return Err(Failure::input(why.to_owned()));
    }
    let why = tree::why(problem, allocation, group, settings)?;
    output::result(common, || report::json::why(problem, &why), || report::why(problem, &why))
}
