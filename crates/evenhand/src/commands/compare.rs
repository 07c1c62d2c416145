//! `compare`: mechanisms side by side.

use std::process::ExitCode;
use std::time::Duration;

use evenhand::mechanisms::compare::{Column, NoResult, compare};
use evenhand::mechanisms::{Mechanism, registry};
use evenhand::problem::{Rational, number};
use evenhand::{Problem, report};
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use super::{alpha, mechanism};
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
    let problem = files::problem(&call.problem, common)?;
    // Draws on a terminal only, on standard error.
    let bar = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    bar.enable_steady_tick(Duration::from_millis(120));
    let columns = compare(&problem, &mechanisms, alpha.as_ref(), |name| bar.set_message(name));
    bar.finish_and_clear();
    match common.format {
        Format::Json => output::json(&document(&problem, &columns))?,
        Format::Table => output::text(&report::comparison(&problem, &columns))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn document(problem: &Problem, columns: &[Column]) -> Value {
    let text = |value: Option<&Rational>| json!(value.map(number::format));
    let mechanisms: Vec<Value> = columns
        .iter()
        .map(|column| {
            let judged = match &column.result {
                Ok(judged) => judged,
                Err(NoResult::NotApplicable(why)) => {
                    return json!({"name": column.name, "not_applicable": why});
                }
                Err(NoResult::Failed(why)) => return json!({"name": column.name, "failed": why}),
            };
            let tasks: Map<String, Value> = problem
                .users()
                .iter()
                .zip(&judged.tasks)
                .map(|(user, x)| (user.name().to_owned(), text(Some(x))))
                .collect();
            let axioms: Map<String, Value> = judged
                .claims
                .iter()
                .map(|claim| {
                    let margin = text(claim.margin.as_ref());
                    let mut verdict = json!({"holds": claim.holds, "margin": margin});
                    if let Some(why) = &claim.why {
                        verdict["why"] = json!(why);
                    }
                    (claim.axiom.name().to_owned(), verdict)
                })
                .collect();
            let utilisation: Map<String, Value> = problem
                .resources()
                .iter()
                .zip(&judged.utilisation)
                .map(|(name, used)| (name.clone(), text(used.as_ref())))
                .collect();
            let not_checked: Vec<&str> = judged.undecided.iter().map(|(axiom, _)| axiom.name()).collect();
            json!({
                "name": column.name,
                "tasks": tasks,
                "axioms": axioms,
                "not_checked": not_checked,
                "utilisation": utilisation,
                "least_weighted_share": text(judged.least_weighted_share.as_ref()),
                "price_of_fairness": text(judged.price_of_fairness.as_ref()),
            })
        })
        .collect();
    json!({"mechanisms": mechanisms})
}
