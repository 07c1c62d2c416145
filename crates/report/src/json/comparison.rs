//! Mechanisms side by side, as a document.

use evenhand_certify::compare::{Compared, Judged, NoResult};
use evenhand_exact::Claim;
use evenhand_problem::{Problem, Rational, number};
use serde_json::{Map, Value, json};

use super::document;
use crate::comparison::axiom_title;

fn text(value: Option<&Rational>) -> Value {
    json!(value.map(number::format))
}

/// Every column, with all verdicts.
#[must_use]
pub fn comparison(problem: &Problem, columns: &[Compared]) -> Value {
    let column = |column: &Compared| match &column.result {
        Ok(judged) => of_judged(problem, &column.name, judged),
        Err(NoResult::NotApplicable(why)) => json!({"name": column.name, "not_applicable": why}),
        Err(NoResult::Failed(why)) => json!({"name": column.name, "failed": why}),
        Err(NoResult::OutOfTime) => json!({"name": column.name, "failed": "out of time"}),
    };
    let mechanisms: Vec<Value> = columns.iter().map(column).collect();
    document("comparison", json!({"mechanisms": mechanisms}))
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
