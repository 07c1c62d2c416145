//! `compare`: mechanisms, and allocations from files, side by side.

use std::process::ExitCode;
use std::time::Duration;

use evenhand::exact::Claim;
use evenhand::mechanisms::compare::{Column, Comparison, Judged, NoResult, compare};
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::{Arithmetic, Rational, number};
use evenhand::report::axiom_title;
use evenhand::{Problem, report};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use super::{alpha, mechanism, request};
use crate::arguments::{Common, Compare, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Compare, common: &Common) -> Result<ExitCode, Failure> {
    let mut mechanisms: Vec<&'static dyn Mechanism> = match call.mechanisms.as_slice() {
        [] => registry::ALL.to_vec(),
        names => names.iter().map(|name| mechanism(name)).collect::<Result<_, _>>()?,
    };
    let mut seen = std::collections::HashSet::new();
    mechanisms.retain(|mechanism| seen.insert(mechanism.info().id));
    let alpha = alpha(call.alpha.as_deref())?;
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?;
    let problem = files::problem(&call.problem, common)?;
    let allocations = call.allocations.iter().map(|path| {
        let name = path.file_stem().map_or_else(|| "-".into(), |stem| stem.to_string_lossy());
        Ok((name.into_owned(), files::allocation_file(path, &problem)?))
    });
    let comparison = Comparison {
        mechanisms,
        allocations: allocations.collect::<Result<_, Failure>>()?,
        axioms: call.axioms.iter().map(|text| request(text, &problem)).collect::<Result<_, _>>()?,
        alpha,
        arithmetic: if call.float { Arithmetic::Float } else { Arithmetic::Exact },
        tolerance,
        time: Duration::from_secs_f64(call.seconds),
    };
    // Draws on a terminal only, on standard error.
    let bar = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.enable_steady_tick(Duration::from_millis(120));
    let columns = compare(&problem, &comparison, |name| bar.set_message(name.to_owned()));
    bar.finish_and_clear();
    match common.format {
        Format::Json => output::json(&document(&problem, &columns))?,
        Format::Table => {
            output::page(&report::comparison(&problem, &columns, call.users.is_some()), common)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(value: Option<&Rational>) -> Value {
    json!(value.map(number::format))
}

fn document(problem: &Problem, columns: &[Column]) -> Value {
    let column = |column: &Column| match &column.result {
        Ok(judged) => of_judged(problem, &column.name, judged),
        Err(NoResult::NotApplicable(why)) => json!({"name": column.name, "not_applicable": why}),
        Err(NoResult::Failed(why)) => json!({"name": column.name, "failed": why}),
        Err(NoResult::OutOfTime) => json!({"name": column.name, "failed": "out of time"}),
    };
    let mechanisms: Vec<Value> = columns.iter().map(column).collect();
    super::document("comparison", json!({"mechanisms": mechanisms}))
}

fn of_judged(problem: &Problem, name: &str, judged: &Judged) -> Value {
    let users = problem.users().iter().zip(&judged.tasks);
    let tasks: Map<String, Value> = users.map(|(user, x)| (user.name().to_owned(), text(Some(x)))).collect();
    let resources = problem.resources().iter().zip(&judged.utilisation);
    let utilisation: Map<String, Value> =
        resources.map(|(name, used)| (name.clone(), text(used.as_ref()))).collect();
    let examination = &judged.examination;
    let not_checked: Vec<&str> = examination.undecided.iter().map(|(axiom, _)| axiom.name()).collect();
    json!({
        "name": name,
        "status": judged.status.map(|status| status.name()),
        "tasks": tasks,
        "axioms": axioms(problem, judged),
        "not_checked": not_checked,
        "tolerance": number::format(&examination.certificate.tolerance),
        "repair": number::format(&examination.repair),
        "infeasible": examination.infeasible,
        "utilisation": utilisation,
        "least_weighted_share": text(judged.least_weighted_share.as_ref()),
        "price_of_fairness": text(judged.price_of_fairness.as_ref()),
    })
}

/// By axiom, those with a parameter as `max-min:tsf`; the one that the mechanism is made for also by its
/// name alone.
fn axioms(problem: &Problem, judged: &Judged) -> Map<String, Value> {
    let mut axioms = Map::new();
    for claim in &judged.examination.certificate.claims {
        axioms.insert(axiom_title(claim.axiom, &claim.parameters(), problem), of_claim(claim));
    }
    if let Some((axiom, parameters)) = &judged.own {
        let own = parameters.clone().of(*axiom).ok();
        if let Some(claim) = own.and_then(|parameters| judged.examination.claim(*axiom, &parameters)) {
            axioms.insert(axiom.name().to_owned(), of_claim(claim));
        }
    }
    axioms
}

fn of_claim(claim: &Claim) -> Value {
    let mut verdict = json!({
        "holds": claim.holds,
        "margin": text(claim.margin.as_ref()),
        "verdict": claim.outcome().name(),
    });
    if let Some(why) = &claim.why {
        verdict["why"] = json!(why);
    }
    verdict
}
