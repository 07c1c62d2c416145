//! The command `plan`: computes the cheapest servers to add to a running cluster, and the servers that can be
//! removed.

use std::path::Path;
use std::process::ExitCode;

use evenhand::cluster::plan::removable::Removable;
use evenhand::cluster::plan::{Goal, Offer, Outcome, Plan};
use evenhand::cluster::value::Values;
use evenhand::cluster::{Changes, gang};
use evenhand::mechanisms::tree::Rule;
use evenhand::problem::format::read_text;
use evenhand::problem::snapshot::Snapshot;
use evenhand::problem::{Problem, Rational, ServerClass, User, number};
use evenhand::report;
use evenhand::report::plan::Asked;

use super::cluster::{rule, snapshot};
use crate::arguments::Common;
use crate::arguments::plan::Plan as Call;
use crate::failure::{Failure, unknown};
use crate::output;

pub fn run(call: &Call, common: &Common) -> Result<ExitCode, Failure> {
    let snapshot = snapshot(&call.snapshot, common)?;
    let rule = rule(&call.rule_option, &snapshot, common);
    let values = Values::read(&call.values.value, &snapshot.problem)?;
    if call.removable {
        return removable(&snapshot, rule, &values, common);
    }
    let (asked, snapshot) = asked(call.until.as_deref().unwrap_or_default(), snapshot)?;
    let offers = offers(&call.offer, &snapshot.problem)?;
    let (snapshot, own_rule) = values.apply_by_rule(&snapshot, rule)?;
    let plan = Plan::new(&snapshot, own_rule, &offers, &asked.goal)?;
    output::result(
        common,
        || report::json::by_value(&values, report::json::plan(&snapshot, rule, &asked, &plan)),
        || {
            let page = report::plan::plan(&snapshot, &asked, &plan);
            report::cluster::by_value(&values, &snapshot.problem, page)
        },
    )?;
    match plan.outcome {
        Outcome::Found(_) => Ok(ExitCode::SUCCESS),
        Outcome::Impossible(_) => Ok(ExitCode::from(1)),
        Outcome::NotFound => {
            Err(Failure::solver("no set of servers was found before the search reached its limit"))
        }
    }
}

fn removable(
    snapshot: &Snapshot,
    rule: Option<Rule>,
    values: &Values,
    common: &Common,
) -> Result<ExitCode, Failure> {
    let (snapshot, own_rule) = &values.apply_by_rule(snapshot, rule)?;
    let removable = Removable::new(snapshot, *own_rule)?;
    output::result(
        common,
        || report::json::by_value(values, report::json::removable(snapshot, rule, &removable)),
        || {
            let page = report::plan::removable(snapshot, &removable);
            report::cluster::by_value(values, &snapshot.problem, page)
        },
    )?;
    if removable.alone.is_empty() && !removable.not_known.is_empty() {
        return Err(Failure::solver(
            "whether some servers can go is not known: the search reached its limit",
        ));
    }
    Ok(ExitCode::from(u8::from(removable.alone.is_empty())))
}

/// Parses the values of `--offer`: names of classes, each optionally followed by `=` and a price.
fn offers(texts: &[String], problem: &Problem) -> Result<Vec<Offer>, Failure> {
    let class = |name: &str| problem.servers().iter().position(|class| class.name() == name);
    let mut offers: Vec<Offer> = Vec::new();
    for text in texts {
        let (name, price) = match text.rsplit_once('=').filter(|_| class(text).is_none()) {
            Some((name, price)) => (name, Some(price)),
            None => (text.as_str(), None),
        };
        let Some(class) = class(name) else {
            return Err(unknown("server class", name, problem.servers().iter().map(ServerClass::name)));
        };
        let price = match price {
            None => Rational::from(1),
            Some(text) => {
                number::parse(text).map_err(|error| Failure::input(format!("--offer {name}: {error}")))?
            }
        };
        if price <= 0 {
            return Err(Failure::input(format!("--offer {name}: the price {price} is not above 0"))
                .tip("state the price of one server, such as --offer a100=8"));
        }
        if offers.iter().any(|offer| offer.class == class) {
            return Err(Failure::input(format!(
                "--offer {name}: the class is on offer twice: state one price"
            )));
        }
        offers.push(Offer { class, price });
    }
    Ok(offers)
}

/// Parses the value of `--until`. Returns the goal, and the snapshot with the tasks that a file adds.
fn asked(text: &str, snapshot: Snapshot) -> Result<(Asked, Snapshot), Failure> {
    let goal = |goal: Goal, job: Option<&str>| Asked { goal, job: job.map(str::to_owned) };
    let Some(job) = text.strip_prefix("starts=") else {
        return match text {
            "fair" => Ok((goal(Goal::Fair, None), snapshot)),
            "guarantees" => Ok((goal(Goal::Guarantees, None), snapshot)),
            _ => Err(Failure::input(format!("--until {text}: there is no goal of this name"))
                .tip("--until fair, guarantees, starts=all or starts=JOB")),
        };
    };
    if job == "all" {
        return Ok((goal(Goal::All, None), snapshot));
    }
    let problem = &snapshot.problem;
    if let Some(n) = problem.user_named(job) {
        return Ok((goal(Goal::Starts(vec![(n, None)]), Some(job)), snapshot));
    }
    let is_named = |of: &&evenhand::problem::snapshot::Waiting| of.names.iter().any(|name| name == job);
    if let Some(of) = snapshot.waiting.iter().find(is_named) {
        return Ok((goal(Goal::Starts(vec![(of.user, Some(1))]), Some(job)), snapshot));
    }
    if !Path::new(job).exists() {
        let tasks = snapshot.waiting.iter().flat_map(|of| &of.names).map(String::as_str);
        let known = problem.users().iter().map(User::name).chain(tasks);
        return Err(unknown("waiting user, waiting task or file", job, known));
    }
    let mut changes = Changes::default();
    changes.submit(job, &read_text(Path::new(job))?)?;
    let after = changes.apply(&snapshot)?;
    let mut users = Vec::new();
    for user in &changes.submit {
        // The changes were accepted, so the user exists and its tasks are a number.
        let Some(n) = user["name"].as_str().and_then(|name| after.problem.user_named(name)) else { continue };
        let tasks = match &user["tasks"] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let tasks = number::parse(&tasks).unwrap_or_default();
        let gangs = (tasks / gang(&after.problem, n)).floor();
        if gangs < 1 {
            return Err(Failure::input(format!(
                "--until starts={job}: user `{}` has less than a whole task or gang: state `tasks`",
                after.problem.users()[n].name()
            )));
        }
        users.push((n, Some(gangs.numer().to_u64().unwrap_or(u64::MAX))));
    }
    Ok((goal(Goal::Starts(users), Some(job)), after))
}
