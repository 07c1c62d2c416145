//! What a check found, and how it is said to programs.

use evenhand_problem::Rational;
use evenhand_problem::format::problem_sha256;
use evenhand_problem::number::format_stated;

use crate::certificate::Certificate;
use crate::names::write::{Json, Names, fields, string};
use crate::refusal::Refusal;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether everything that the certificate states is true.
    pub valid: bool,
    /// Number of claims in it.
    pub claims: usize,
    /// What is false, or why nothing was decided.
    pub reason: Option<String>,
    /// What its claims tolerate.
    pub tolerance: Rational,
    /// Whether nothing was found false: judging it would take more than it is allowed.
    pub too_large: bool,
}

impl Verdict {
    pub(crate) fn new(claims: usize, tolerance: Rational, found: Result<(), Refusal>) -> Self {
        let too_large = found.as_ref().is_err_and(Refusal::is_too_large);
        let reason = found.err().map(|refusal| refusal.to_string());
        Self { valid: reason.is_none(), claims, reason, tolerance, too_large }
    }
}

impl Verdict {
    /// `{"valid", "claims", "reason"}`, without a reason when there is none.
    #[must_use]
    pub fn to_json(&self) -> String {
        Json::Object(self.fields()).text()
    }

    /// The same, with what `certificate` is about: the problem with its hash, the way of sharing, and for
    /// every claim its parameters, verdict and margin.
    #[must_use]
    pub fn to_json_of(&self, certificate: &Certificate) -> String {
        let names = Names::new(&certificate.problem, certificate.allocation.sharing);
        let problem = &certificate.problem;
        let mut all = self.fields();
        all.push(("sharing".to_owned(), string(certificate.allocation.sharing.name())));
        let about = fields([
            ("name", string(problem.name())),
            ("users", Json::Count(problem.n_users())),
            ("classes", Json::Count(problem.n_servers())),
            ("sha256", Json::Text(problem_sha256(problem))),
        ]);
        all.push(("problem".to_owned(), about));
        let verdicts = certificate.claims.iter().map(|claim| names.verdict(claim));
        all.push(("verdicts".to_owned(), Json::List(verdicts.collect())));
        Json::Object(all).text()
    }

    fn fields(&self) -> Vec<(String, Json)> {
        let mut all = vec![
            ("kind".to_owned(), string("verdict")),
            ("version".to_owned(), Json::Count(1)),
            ("valid".to_owned(), Json::Bool(self.valid)),
            ("claims".to_owned(), Json::Count(self.claims)),
        ];
        all.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), string(reason))));
        all.push(("tolerance".to_owned(), string(&format_stated(&self.tolerance))));
        all
    }
}
