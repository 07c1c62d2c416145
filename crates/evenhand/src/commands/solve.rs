//! `solve`: an allocation.

use std::process::ExitCode;
use std::time::Instant;

use evenhand::lp::njc::Goal;
use evenhand::mechanisms::{Mechanism, Method, Options, Status};
use evenhand::problem::Arithmetic;
use evenhand::problem::format::AllocationDocument;
use evenhand::report;
use serde_json::json;

use super::{alpha, filling, findings, mechanism};
use crate::arguments::{self, Common, Format, Solve};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Solve, common: &Common) -> Result<ExitCode, Failure> {
    let mechanism = mechanism(&call.mechanism)?;
    let options = options(call, common, mechanism)?;
    let problem = files::problem(&call.problem, common)?;
    let started = Instant::now();
    let outcome = mechanism.allocate(&problem, &options)?;
    let mut document = AllocationDocument::new(&problem, &outcome.allocation);
    document.seconds = Some(started.elapsed().as_secs_f64());
    document.extra = findings::fields(&problem, &outcome);
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        document.extra.insert("warnings".to_owned(), json!(warnings));
    }
    let text = document.to_json().map_err(|error| Failure::solver(error.to_string()))?;
    let printed = match &call.output {
        Some(path) => files::write(path, &text, &[&call.problem])?,
        None => false,
    };
    match common.format {
        _ if printed => {}
        Format::Json => output::text(&text)?,
        Format::Table => output::text(&report::outcome(&problem, &outcome))?,
    }
    match outcome.findings.status {
        None | Some(Status::Solved) => Ok(ExitCode::SUCCESS),
        Some(status) => Err(Failure::solver(format!(
            "{} ended with the status `{}`: what was written is its last point{}",
            mechanism.info().id,
            status.name(),
            if outcome.findings.gap.is_some() { ", with the gap that is proven for it" } else { "" }
        ))),
    }
}

fn goal(named: arguments::Goal) -> Goal {
    match named {
        arguments::Goal::Utilisation => Goal::MaxUtilisation,
        arguments::Goal::MinShare => Goal::MaxMinShare,
        arguments::Goal::Tasks => Goal::MaxTasks,
    }
}

fn method(named: arguments::Method) -> Method {
    match named {
        arguments::Method::Sweep => Method::Sweep,
        arguments::Method::Algorithm1 => Method::Algorithm1,
        arguments::Method::Market => Method::Market,
    }
}

fn options(call: &Solve, common: &Common, mechanism: &dyn Mechanism) -> Result<Options, Failure> {
    let options = Options {
        arithmetic: if call.exact { Arithmetic::Exact } else { Arithmetic::Float },
        alpha: alpha(call.alpha.as_deref())?,
        criterion: call.criterion,
        select: call.select.map(goal),
        reduce: call.reduce,
        faces: call.faces,
        digits: call.digits,
        score: call.filling.score.map(filling::score),
        server: call.filling.server.map(filling::server),
        ties: call.filling.ties.map(filling::ties),
        filter: call.filling.filter,
        step: filling::step(call.filling.step.as_deref())?,
        ideal: call.filling.ideal,
        slots: call.filling.slots,
        seed: common.seed,
        method: call.method.map(method),
        order: call.order.as_ref().map(|names| names.iter().map(|name| name.trim().to_owned()).collect()),
    };
    match options.stated().into_iter().find(|option| !mechanism.options().contains(option)) {
        None => Ok(options),
        Some(option) => {
            let (option, id) = (option.name(), mechanism.info().id);
            Err(Failure::input(format!("--{option} does not go with the mechanism `{id}`")))
        }
    }
}
