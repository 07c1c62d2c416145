//! Certificates: a problem, an allocation of it, and claims about it, written and read as JSON.
//!
//! The table shows the evidence by axiom. Zeros are omitted, and users, servers and resources appear by name.
//!
//! | axiom | evidence that it holds | evidence that it is violated |
//! |---|---|---|
//! | feasible | `{"server", "resource", "slack"}`, `{"user", "slack"}` (its tasks) or `{"user", "server", "slack"}` (an entry) | the same |
//! | integer-feasible | `{"server", "index", "resource", "slack"}`, `{"user", "slack"}` or `{"user", "server", "index", "slack"}` | the same |
//! | non-wasteful | `{}` | |
//! | work-conserving | `{"short": {user: {server: resource}}}` for every user with pending tasks (of users that differ only in name, weight and tasks, the first); with placements `[resources]`, of which every server lacks at least one for the next task, once it has the tasks of the gang that fit on it | `{"user", "server"}`; with placements also `"index"`; for a gang of several tasks also `{"gang": {server: tasks}}` |
//! | envy-free | `{"tightest": {"user", "envied"}}` | `{"user", "envied", "gain"}` |
//! | ef1 | `{"tightest": {"user", "envied", "server"}}`, without a server when no task is worth anything | `{"user", "envied", "server", "gain"}` |
//! | sharing-incentive | `{"tightest": {"user"}}` | `{"user", "loss"}` |
//! | pareto-optimal | `{"user_weights": {user: l}, "prices": {server: {resource: p}}, "user_prices": {user: q}}` | `{"dominating": {user: {server: y}}}` |
//! | integer-pareto-optimal | as pareto-optimal | `{"dominating": [{"server", "index", "tasks": {user: y}}]}` |
//! | max-min | `{"levels": [{"covers": [users], "user_weights", "prices", "user_prices"}]}` | `{"user", "allocation": {user: {server: y}}}` |
//! | njc | `{"witness": {user: {"server", "resource"} or "satisfied"}}` | `{"user", "entitlement", "shares": {server: {resource: share}}}`, zeros included |
//! | ps-dsf | `{"bottlenecks": {user: {server: resource} or "satisfied"}}` | `{"user", "server", "lacks": {resource: tasks}}` |
//! | proportional | `{"prices", "user_prices"}` | `{"better": {user: {server: y}}}`, or `{"user"}`, which has nothing |
//! | the bottleneck axioms | `{"resources": {resource: levels}}`, for every resource that they are about | as max-min, with `"resource"` |
//!
//! The row of a class whose time is shared is the resource `time`. Slacks are in the units of the row or in tasks,
//! gains and losses in tasks, prices per unit of the resource (or of time). All numbers are written as exact strings,
//! also for an allocation in floating point. So reading them back gives the same number.

mod read;

use evenhand_problem::format::{FormatError, Source, problem_to_json};
use evenhand_problem::number::format_stated;
use evenhand_problem::{Allocation, Place, Problem, Rational};

use crate::axiom::Axiom;
use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields, number, string};

/// The version of the format that is written. Only this version is read.
pub const VERSION: u32 = 2;

/// The fields that an allocation in a certificate may have. Each of them is judged, printed or compared.
const ALLOCATION_FIELDS: [&str; 7] =
    ["kind", "mechanism", "sharing", "arithmetic", "problem_sha256", "tasks", "placements"];

/// A problem, an allocation of it, and claims about the allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The problem.
    pub problem: Problem,
    /// The allocation.
    pub allocation: Allocation,
    /// The hash of its problem that the allocation states.
    pub problem_sha256: Option<String>,
    /// The tolerance of the claims, from 0 to below 1, without a unit.
    pub tolerance: Rational,
    /// The axioms that were examined.
    pub claims: Vec<Claim>,
    /// The names of the axioms that were not examined.
    pub not_checked: Vec<String>,
}

impl Certificate {
    /// Returns the certificate as JSON. The same certificate gives the same bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        let names = Names::new(&self.problem, self.allocation.sharing);
        let mut out = format!("{{\"kind\": \"certificate\", \"version\": {VERSION},\n\"problem\": ");
        out.push_str(problem_to_json(&self.problem).trim_end());
        out.push_str(",\n\"allocation\": ");
        names.allocation(&self.allocation, self.problem_sha256.as_deref()).write(&mut out);
        out.push_str(",\n\"tolerance\": ");
        string(&format_stated(&self.tolerance)).write(&mut out);
        out.push_str(",\n\"claims\": [");
        for (position, claim) in self.claims.iter().enumerate() {
            out.push_str(if position == 0 { "\n" } else { ",\n" });
            names.claim(claim).write(&mut out);
        }
        out.push_str("\n],\n\"not_checked\": ");
        Json::List(self.not_checked.iter().map(|name| string(name)).collect()).write(&mut out);
        out.push_str("\n}\n");
        out
    }

    /// Reads a certificate. This function does not check its statements; [`check`](crate::check) does.
    ///
    /// # Errors
    /// Returns [`FormatError`] if the text is not a certificate. Examples are unknown fields, names or axioms, and
    /// evidence that does not have the form that the axiom needs.
    pub fn parse(source: &Source<'_>) -> Result<Self, FormatError> {
        let document = source.document()?;
        let object = document.object(document.root())?;
        object.of_kind(&document, "certificate")?;
        let fields = ["kind", "version", "problem", "allocation", "tolerance", "claims", "not_checked"];
        object.only(&document, &fields)?;
        let version = object.need(&document, "version")?;
        if document.number(version)? == 1 {
            let message =
                "found version 1, with margins in tasks: run `evenhand certify` again to convert it";
            return Err(document.error(version, message));
        }
        if document.number(version)? != VERSION {
            return Err(document.error(version, format!("expected version {VERSION}")));
        }
        let at = |name: &str| Place::root().key(name);
        let problem = source.problem_in(object.need(&document, "problem")?, &at("problem"))?;
        let raw = object.need(&document, "allocation")?;
        let stated = document.object(raw)?;
        stated.only(&document, &ALLOCATION_FIELDS)?;
        let file = source.allocation_in(raw, &at("allocation"), &problem)?;
        let (allocation, problem_sha256) = (file.allocation, file.problem_sha256);
        let tolerance = match object.get("tolerance") {
            None => Rational::new(),
            Some(raw) => {
                let value = document.number(raw)?;
                if !(0..1).contains(&value) {
                    return Err(document.error(raw, "expected a number of at least 0 and below 1"));
                }
                value
            }
        };
        let reader = Reader::new(&document, &problem, allocation.sharing);
        let raw = object.need(&document, "claims")?;
        let claims = document.list(raw)?;
        let claims =
            claims.into_iter().map(|raw| read::claim(&reader, raw)).collect::<Result<Vec<_>, _>>()?;
        for axiom in Axiom::ALL {
            let most = axiom.rule().most_claims();
            if claims.iter().filter(|claim| claim.axiom == axiom).count() > most {
                let message = format!(
                    "found more than {most} claims of `{}`, the most that are accepted",
                    axiom.name()
                );
                return Err(document.error(raw, message));
            }
        }
        let not_checked = read::not_checked(&reader, object.need(&document, "not_checked")?)?;
        Ok(Self { problem, allocation, problem_sha256, tolerance, claims, not_checked })
    }
}

impl Names<'_> {
    /// Returns a claim with its evidence as JSON. If the evidence has the form for another axiom, it is written as an
    /// object that no checker reads.
    pub fn claim(&self, claim: &Claim) -> Json {
        let mut all = vec![("axiom".to_owned(), string(claim.axiom.name()))];
        if let Some(share) = claim.share {
            all.push(("share".to_owned(), Json::Text(share.name(self.problem))));
        }
        if let Some(alpha) = &claim.alpha {
            all.push(("alpha".to_owned(), number(alpha)));
        }
        all.push(("holds".to_owned(), claim.holds.map_or(Json::Null, Json::Bool)));
        all.push(("margin".to_owned(), claim.margin.as_ref().map_or(Json::Null, number)));
        let evidence = match &claim.evidence {
            Evidence::None => fields([]),
            evidence => {
                let written = claim.axiom.rule().write(self, evidence);
                written.unwrap_or_else(|| fields([("of another axiom", Json::Bool(true))]))
            }
        };
        all.push(("evidence".to_owned(), evidence));
        if let Some(why) = &claim.why {
            all.push(("why".to_owned(), string(why)));
        }
        Json::Object(all)
    }
}
