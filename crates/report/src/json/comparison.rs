//! Mechanisms next to each other, as a JSON document.

use evenhand_certify::compare::{Compared, Judged, NoResult};
use evenhand_exact::Claim;
use evenhand_problem::{Problem, Rational};
use serde_json::{Map, Value, json};

use super::{by_name, document, exact, list};
use crate::comparison::axiom_title;

fn text(value: Option<&Rational>) -> Option<String> {
    value.map(exact)
}

/// Returns every column with all verdicts on its allocation.
#[must_use]
pub fn comparison(problem: &Problem, columns: &[Compared]) -> Value {
    let column = |column: &Compared| match &column.result {
        Ok(judged) => of_judged(problem, &column.name, judged),
        Err(NoResult::NotApplicable(why)) => json!({"name": column.name, "not_applicable": why}),
        Err(NoResult::Failed(why) | NoResult::TooLarge(why)) => json!({"name": column.name, "failed": why}),
        Err(NoResult::OutOfTime) => json!({"name": column.name, "failed": "out of time"}),
    };
    document("comparison", json!({"mechanisms": list(columns, column)}))
}

fn of_judged(problem: &Problem, name: &str, judged: &Judged) -> Value {
    let users = problem.users().iter().zip(&judged.tasks);
    let resources = problem.resources().iter().zip(&judged.utilisation);
    let examination = &judged.examination;
    json!({
        "name": name,
        "status": judged.status.map(|status| status.name()),
        "tasks": by_name(users.map(|(user, x)| (user.name(), exact(x)))),
        "axioms": axioms(problem, judged),
        "not_checked": list(&examination.undecided, |(axiom, _)| axiom.name()),
        "tolerance": exact(&examination.certificate.tolerance),
        "repair": exact(&examination.repair),
        "infeasible": examination.infeasible,
        "utilisation": by_name(resources.map(|(name, used)| (name.as_str(), text(used.as_ref())))),
        "least_weighted_share": text(judged.least_weighted_share.as_ref()),
        "price_of_fairness": text(judged.price_of_fairness.as_ref()),
    })
}

/// Returns the verdicts by axiom. The name of an axiom includes its parameter, as in `max-min:tsf`. The axiom
/// for which the mechanism is designed is also listed without its parameter.
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
