//! What was found about an allocation, as a document.

use evenhand_certify::Examination;
use evenhand_problem::{Rational, number};
use serde_json::{Map, Value, json};

use super::document;

/// The claims with their verdicts.
#[must_use]
pub fn examination(examination: &Examination) -> Value {
    let problem = &examination.certificate.problem;
    let certificate = &examination.certificate;
    // As the certificate states them: evidence by name.
    let written: Value = serde_json::from_str(&certificate.to_json()).unwrap_or_default();
    let text = |value: &Option<Rational>| json!(value.as_ref().map(number::format));
    let claims: Vec<Value> = certificate
        .claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            let mut fields = written["claims"][at].as_object().cloned().unwrap_or_default();
            fields.insert("verdict".to_owned(), json!(claim.outcome().name()));
            fields.insert("tasks".to_owned(), text(&examination.in_tasks[at]));
            fields.insert("bound".to_owned(), json!(claim.is_bound()));
            Value::Object(fields)
        })
        .collect();
    let mut summary = json!({
        "problem": {
            "name": problem.name(),
            "users": problem.n_users(),
            "classes": problem.n_servers(),
            "sha256": certificate.problem_sha256,
        },
        "sharing": certificate.allocation.sharing.name(),
        "tolerance": number::format(&certificate.tolerance),
        "repair": number::format(&examination.repair),
        "infeasible": examination.infeasible,
        "claims": claims,
        "not_checked": certificate.not_checked,
    });
    if !examination.undecided.is_empty() {
        let undecided: Map<String, Value> = examination
            .undecided
            .iter()
            .map(|(axiom, why)| (axiom.name().to_owned(), json!(why.to_string())))
            .collect();
        summary["undecided"] = Value::Object(undecided);
    }
    document("examination", summary)
}
