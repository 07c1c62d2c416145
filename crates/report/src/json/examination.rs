//! What was found about an allocation, as a document.

use evenhand_certify::Examination;
use serde_json::{Value, json};

use super::value::{by_name, document, exact, list};

/// The claims with their verdicts.
#[must_use]
pub fn examination(examination: &Examination) -> Value {
    let problem = &examination.certificate.problem;
    let certificate = &examination.certificate;
    // As the certificate states them: evidence by name.
    let written: Value = serde_json::from_str(&certificate.to_json()).unwrap_or_default();
    let claims = list(certificate.claims.iter().enumerate(), |(at, claim)| {
        let mut fields = written["claims"][at].clone();
        fields["verdict"] = json!(claim.outcome().name());
        fields["tasks"] = json!(examination.in_tasks[at].as_ref().map(exact));
        fields["bound"] = json!(claim.is_bound());
        fields
    });
    let mut summary = json!({
        "problem": {
            "name": problem.name(),
            "users": problem.n_users(),
            "classes": problem.n_servers(),
            "sha256": certificate.problem_sha256,
        },
        "sharing": certificate.allocation.sharing.name(),
        "tolerance": exact(&certificate.tolerance),
        "repair": exact(&examination.repair),
        "infeasible": examination.infeasible,
        "claims": claims,
        "not_checked": certificate.not_checked,
    });
    if !examination.undecided.is_empty() {
        let undecided = examination.undecided.iter();
        summary["undecided"] = by_name(undecided.map(|(axiom, why)| (axiom.name(), why.to_string())));
    }
    document("examination", summary)
}
