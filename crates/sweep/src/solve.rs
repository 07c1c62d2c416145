//! Runs a mechanism on a problem and summarises the result.

use std::sync::Arc;

use evenhand_budget::{Limits, read};
use evenhand_certify::{Request, certify, default_requests, default_tolerance};
use evenhand_mechanisms::{Flags, Mechanism};
use evenhand_problem::format::{AllocationFile, Source, problem_sha256, problem_to_json};
use evenhand_problem::utilisation::{by_resource, dominant_share};
use evenhand_problem::{Problem, Rational};
use evenhand_report::{axiom_title, json};
use serde_json::value::RawValue;

use crate::fault::{Fault, attempt};
use crate::line::{Found, Verdict};

/// A problem, with the name, hash and size that lines need.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The problem.
    pub problem: Arc<Problem>,
    /// The hash of the problem.
    pub sha256: String,
    bytes: u64,
}

impl Subject {
    /// Creates a subject from a problem.
    #[must_use]
    pub fn new(problem: Arc<Problem>) -> Self {
        let (sha256, bytes) = (problem_sha256(&problem), problem_to_json(&problem).len() as u64);
        Self { problem, sha256, bytes }
    }

    /// Returns the size in bytes of the canonical form of the problem. The default limits grow with this
    /// size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A mechanism with its settings.
#[derive(Debug, Clone)]
pub struct Task {
    /// The name of the mechanism in the lines.
    pub name: String,
    /// The settings in the form that lines state.
    pub settings: Box<RawValue>,
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// The settings as flags.
    pub flags: Flags,
}

/// The settings for examining allocations.
#[derive(Debug, Clone, Default)]
pub struct Judging {
    /// True if axioms are examined.
    pub certify: bool,
    /// The names of the axioms. `None` stands for the default axioms.
    pub axioms: Option<Vec<String>>,
    /// The tolerance. `None` stands for 0 for exact allocations, and for 1e-9 for other allocations.
    pub tolerance: Option<Rational>,
}

/// Solves a problem and examines the result.
///
/// # Errors
/// [`Fault`] if there is no result.
pub fn solved(
    subject: &Subject,
    mechanism: &Mechanism,
    flags: &Flags,
    judging: &Judging,
    limits: &Limits,
) -> Result<Found, Fault> {
    attempt(limits, || {
        read(subject.bytes);
        let outcome = mechanism.allocate_with(&subject.problem, flags)?;
        if outcome.findings.entitlements.is_some() {
            return Err(Fault::not_applicable("its answer is what groups are entitled to, and no tasks"));
        }
        // The allocation is written and read before it is examined. Floating-point numbers are thereby the
        // decimals that a file would contain.
        let text = json::allocation(&subject.problem, &outcome).to_json().map_err(Fault::defect)?;
        let file = Source { name: "allocation", text: &text }.allocation(&subject.problem)?;
        let status = outcome.findings.status.map_or("solved", |status| status.name());
        found(&subject.problem, &file, status, &[], judging)
    })
}

/// Examines an allocation of a mechanism outside of this library. `also` contains axioms that are examined in
/// addition to the default axioms.
///
/// # Errors
/// [`Fault`] if the examination fails.
pub fn judged(
    subject: &Subject,
    file: &AllocationFile,
    also: &[String],
    judging: &Judging,
    limits: &Limits,
) -> Result<Found, Fault> {
    attempt(limits, || {
        read(subject.bytes);
        found(&subject.problem, file, "solved", also, judging)
    })
}

fn found(
    problem: &Problem,
    file: &AllocationFile,
    status: &'static str,
    also: &[String],
    judging: &Judging,
) -> Result<Found, Fault> {
    let allocation = &file.allocation;
    let totals = allocation.totals();
    let shares: Vec<Rational> =
        (0..problem.n_users()).map(|n| dominant_share(problem, allocation, n)).collect();
    let (sum, squares) = (
        shares.iter().sum::<Rational>(),
        shares.iter().map(|share| Rational::from(share.square_ref())).sum::<Rational>(),
    );
    let jain =
        (!squares.is_zero()).then(|| Rational::from(sum.square_ref()) / (squares * shares.len() as u64));
    let total = totals.iter().sum();
    let of_users = problem.users().iter().map(|user| user.name().to_owned()).zip(totals);
    let names = problem.resources().iter().cloned();
    Ok(Found {
        status,
        tasks: of_users.filter(|(_, tasks)| !tasks.is_zero()).collect(),
        total,
        least: shares.into_iter().min().unwrap_or_default(),
        jain,
        utilisation: names.zip(by_resource(problem, allocation)).collect(),
        axioms: judging.certify.then(|| verdicts(problem, file, also, judging)).transpose()?,
    })
}

fn verdicts(
    problem: &Problem,
    file: &AllocationFile,
    also: &[String],
    judging: &Judging,
) -> Result<Vec<Verdict>, Fault> {
    let named = |names: &[String]| -> Result<Vec<Request>, Fault> {
        names.iter().map(|name| Ok(Request::parse(name, problem)?)).collect()
    };
    let requests = match &judging.axioms {
        Some(names) => named(names)?,
        None => {
            let usual = default_requests(problem, &file.allocation).into_iter();
            usual.chain(named(also)?).collect()
        }
    };
    let tolerance = judging.tolerance.clone().unwrap_or_else(|| default_tolerance(file));
    let found = certify(problem, &file.allocation, &requests, &tolerance)?;
    let open = |name: String| Verdict { name, holds: None, verdict: "not-checked", margin: None };
    let claims = found.certificate.claims.iter().map(|claim| Verdict {
        name: axiom_title(claim.axiom, &claim.parameters(), problem),
        holds: claim.holds,
        verdict: claim.outcome().name(),
        margin: claim.margin.clone(),
    });
    let undecided = found.undecided.iter().map(|(axiom, _)| open(axiom.name().to_owned()));
    let skipped = found.skipped(&requests);
    let skipped =
        skipped.iter().map(|request| open(axiom_title(request.axiom, &request.parameters, problem)));
    // An axiom that is requested twice gets one verdict.
    let mut all: Vec<Verdict> = Vec::new();
    for verdict in claims.chain(undecided).chain(skipped) {
        match all.iter_mut().find(|other| other.name == verdict.name) {
            Some(other) => *other = verdict,
            None => all.push(verdict),
        }
    }
    Ok(all)
}
