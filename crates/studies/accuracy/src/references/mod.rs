//! References: the exact answers to cases, with which the answers of contenders are compared.
//!
//! | kinds | how it is computed | what proves it |
//! |---|---|---|
//! | max-min, utilitarian, market, PS-DSF | the exact mechanism | a certificate that the kernel reads |
//! | configurations | the exact configuration programme | a ratio certificate |
//! | linear programmes | exact prices of a basis, found by HiGHS and refinement | a certificate that the kernel reads |
//! | planted sums of utilities | known beforehand | every optimality condition holds exactly ([`planted`]) |
//! | other sums of utilities | the exact mechanism if they are rational, else Newton's method in rationals ([`newton`]) | prices, which prove every level to 100 digits ([`bound`]) |

pub mod bound;
pub mod newton;
pub mod planted;
mod rounding;

use std::time::Duration;

use evenhand_budget::{Exceeded, Kind as LimitKind, Limits};
use evenhand_certify::{CertifyError, Request, certify, ratio};
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance, Parameters, Prices, check_text};
use evenhand_lp::model::Model;
use evenhand_lp::solve::{Answer, Settings, Status as ProgrammeAnswer};
use evenhand_lp::{LpError, json as lp_json};
use evenhand_mechanisms::{Flags, MechanismError, Status, registry};
use evenhand_packing::{MaxReward, PackingError, configuration_lp};
use evenhand_problem::number::{format, to_f64};
use evenhand_problem::{Allocation, Arithmetic, Integer, Problem, Rational};
use rug::ops::Pow;
use serde_json::{Value, json};
use thiserror::Error;

use crate::case::{Case, Input, Kind, sha256};
use crate::programmes::ProgrammeStatus;
use crate::utility::{ln, power};
use bound::Bound;
use newton::NewtonError;

/// The exact answer to a case.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    /// The tasks by user, for kinds of cases in which they are unique.
    pub levels: Option<Vec<Rational>>,
    /// The least share, the weighted sum of tasks, or the reward. `None` if the objective is a sum of
    /// utilities, because such a sum is a function of the levels.
    pub objective: Option<Rational>,
    /// A proven bound on the relative error of every level, rounded up. It is 0 if levels are exact.
    pub error_bound: f64,
    /// An exact allocation. Other allocations may be equally good.
    pub allocation: Option<Allocation>,
    /// The prices of a sum of utilities, with the bounds that they prove.
    pub proof: Option<(Prices, Bound)>,
    /// The exact answer to a linear programme of any kind, with its proof.
    pub programme: Option<Answer>,
}

/// The reason why there is no reference.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The mechanism has no exact answer.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The configuration programme has no exact answer.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// Newton's method found no answer.
    #[error(transparent)]
    Newton(#[from] NewtonError),
    /// The planted tasks are not the optimum.
    #[error("the planted answer is not an optimum: {0}")]
    Planted(&'static str),
    /// The mechanism does not exist, or its share is not defined.
    #[error("{0}")]
    Undefined(String),
    /// The answer cannot be certified.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// The ratio cannot be certified.
    #[error(transparent)]
    Ratio(#[from] ratio::RatioError),
    /// The reference needs more work, memory or time than allowed.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
    /// A linear programme of any kind has no exact answer.
    #[error(transparent)]
    Programme(#[from] LpError),
    /// The time was up before the optimality of the exact answer to a linear programme was proven.
    #[error("the time was up before the exact answer was proven (--exact-seconds raises the limit)")]
    Late,
    /// The certificate does not prove the answer.
    #[error("the certificate does not show the answer")]
    NotShown,
}

/// Computes the reference of a case within limits.
///
/// # Errors
/// [`ReferenceError`], also if the limits are exceeded.
pub fn within(case: &Case, limits: &Limits) -> Result<Reference, ReferenceError> {
    let done = evenhand_budget::within(limits, || match &case.input {
        Input::Programme(model) => of_programme(model, limits.time),
        Input::Allocation(_) | Input::Reservation(_) => of(case),
    });
    match done {
        Err(exceeded) if exceeded.kind == LimitKind::Time && case.programme().is_some() => {
            Err(ReferenceError::Late)
        }
        done => done?,
    }
}

/// Computes the reference of a case without limits.
///
/// # Errors
/// [`ReferenceError`]
pub fn of(case: &Case) -> Result<Reference, ReferenceError> {
    let problem = match &case.input {
        Input::Allocation(problem) => problem,
        Input::Reservation(problem) => {
            let best = MaxReward::new(problem);
            let optimum = configuration_lp::solve(&best, &problem.loads(), &problem.fractions())?;
            return Ok(Reference { objective: Some(optimum.value), ..Reference::default() });
        }
        Input::Programme(model) => return of_programme(model, None),
    };
    if let Some(planted) = &case.planted {
        planted::verify(problem, &case.alpha, planted).map_err(ReferenceError::Planted)?;
        let allocation = made(case, planted.tasks.clone());
        let levels = Some(allocation.totals());
        return Ok(Reference { levels, allocation: Some(allocation), ..Reference::default() });
    }
    if !case.kind.is_sum() || case.kind == Kind::Market {
        return of_mechanism(case, problem);
    }
    // An exact mechanism takes long for many users. It would rarely help, because random problems seldom have a
    // rational answer.
    let is_small = problem.n_users() <= MOST_USERS;
    let near = is_small.then(|| of_mechanism(case, problem)).and_then(Result::ok);
    if let Some(found) = near.as_ref().filter(|found| found.error_bound == 0.0) {
        return Ok(found.clone());
    }
    match newton::solve(problem, &case.alpha) {
        Ok(found) => Ok(of_proof(case, made(case, found.tasks), found.prices, found.bound)),
        // If Newton's method fails, an answer with a larger proven bound is better than no reference.
        Err(error) => near.ok_or_else(|| error.into()),
    }
}

/// Solves a linear programme of any kind exactly. Fails if this takes longer than `time`.
fn of_programme(model: &Model, time: Option<Duration>) -> Result<Reference, ReferenceError> {
    let answer = evenhand_lp::solve::solve(model, &Settings { time, ..Settings::default() })?;
    match answer.status {
        ProgrammeAnswer::Limit { .. } => Err(ReferenceError::Late),
        _ => Ok(Reference::of_programme(answer)),
    }
}

fn of_proof(case: &Case, allocation: Allocation, prices: Prices, bound: Bound) -> Reference {
    debug_assert!(case.kind.is_sum());
    Reference {
        levels: Some(allocation.totals()),
        objective: None,
        error_bound: bound.error,
        allocation: Some(allocation),
        proof: Some((prices, bound)),
        programme: None,
    }
}

/// Returns an exact allocation with these tasks and the mechanism of the case.
fn made(case: &Case, tasks: evenhand_exact::Tasks) -> Allocation {
    Allocation {
        mechanism: case.kind.mechanism().map(str::to_owned),
        alpha: (case.kind == Kind::Alpha).then(|| case.alpha.clone()),
        sharing: case.kind.sharing(),
        arithmetic: Arithmetic::Exact,
        tasks,
        ..Allocation::default()
    }
}

fn of_mechanism(case: &Case, problem: &Problem) -> Result<Reference, ReferenceError> {
    let name = case.kind.mechanism().unwrap_or_default();
    let mechanism = registry::find(name)
        .ok_or_else(|| ReferenceError::Undefined(format!("there is no mechanism `{name}`")))?;
    let mut flags = Flags::new(Arithmetic::Exact);
    if case.kind == Kind::Alpha {
        flags = flags.with("alpha", format(&case.alpha));
    }
    let outcome = mechanism.allocate_with(problem, &flags)?;
    let (allocation, findings) = (outcome.allocation, outcome.findings);
    if findings.status.is_some_and(|status| status != Status::Solved) {
        return Err(ReferenceError::NotShown);
    }
    let mut reference = Reference { allocation: Some(allocation.clone()), ..Reference::default() };
    // PS-DSF and the utilitarian mechanism have several answers.
    if !matches!(case.kind, Kind::PsDsf | Kind::Utilitarian) {
        reference.levels = Some(allocation.totals());
    }
    if let (true, Some(prices), Some(gap)) = (case.kind.is_sum(), findings.prices, findings.gap)
        && !gap.is_zero()
    {
        let sharing = case.kind.sharing();
        let bound = bound::prove(problem, sharing, &case.alpha, &allocation.tasks, &prices)
            .map_err(|why| ReferenceError::Undefined(why.to_owned()))?;
        return Ok(of_proof(case, allocation, prices, bound));
    }
    reference.objective = objective(case, problem, &allocation.totals())?;
    Ok(reference)
}

/// Returns the objective of kinds with a rational objective. It is the least weighted share of the users that can have
/// tasks, or the weighted sum of tasks.
///
/// # Errors
/// [`ReferenceError::Undefined`] if the share is not defined for the problem.
pub fn objective(
    case: &Case,
    problem: &Problem,
    totals: &[Rational],
) -> Result<Option<Rational>, ReferenceError> {
    let active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
    if case.kind == Kind::Utilitarian {
        return Ok(Some(active.map(|n| Rational::from(problem.users()[n].weight() * &totals[n])).sum()));
    }
    let Some(share) = case.kind.share() else { return Ok(None) };
    let shares = share.coefficients(problem).map_err(|error| ReferenceError::Undefined(error.to_string()))?;
    let level = |n: usize| {
        let unit = shares.uniform(n).cloned().unwrap_or_default();
        unit * &totals[n] / problem.users()[n].weight()
    };
    Ok(active.map(level).min())
}

/// The largest number of users for which the tasks by user are certified. For more users, an exact rational
/// answer is not searched for either.
const MOST_USERS: usize = 2_000;
/// The exponent of the tolerance of certificates for irrational answers, as a negative power of ten. The
/// tolerance bounds the gap. The error of a level is at most about the square root of the gap.
const IRRATIONAL: u32 = 2 * newton::DIGITS;
/// The exponent of the tolerance of certificates for rational answers with irrational values of tasks. The
/// kernel computes these values with 50 digits.
const ENCLOSED: u32 = 40;

/// Returns the certificate of a reference as text, or `None` if it would be too large.
///
/// # Errors
/// [`ReferenceError`] if the reference cannot be certified, or is wrong.
pub fn certificate(case: &Case, reference: &Reference) -> Result<Option<String>, ReferenceError> {
    let problem = match &case.input {
        Input::Allocation(problem) => problem,
        Input::Reservation(problem) => return Ok(Some(ratio::certificate(problem)?.to_json())),
        Input::Programme(model) => {
            return Ok(reference.programme.as_ref().and_then(|answer| lp_json::certificate(model, answer)));
        }
    };
    let Some(allocation) = reference.allocation.as_ref().filter(|_| problem.n_users() <= MOST_USERS) else {
        return Ok(None);
    };
    let own = own_axioms(case);
    let mut requests = vec![Request::of(Axiom::Feasible)];
    let Some((prices, bound)) = &reference.proof else {
        // A planted answer may have irrational utilities, so its certificate needs a tolerance.
        let tolerance = match case.alpha.is_integer() {
            true => Rational::new(),
            false => Rational::from((1, Integer::from(10).pow(ENCLOSED))),
        };
        requests.extend(own.into_iter().map(|(axiom, parameters)| Request { axiom, parameters }));
        let found = certify(problem, allocation, &requests, &tolerance)?;
        let shown = found.certificate.claims.iter().all(|claim| claim.holds == Some(true));
        return match shown && found.undecided.is_empty() {
            true => Ok(Some(found.certificate.to_json())),
            false => Err(ReferenceError::NotShown),
        };
    };
    let tolerance = Rational::from((1, Integer::from(10).pow(IRRATIONAL)));
    let mut found = certify(problem, allocation, &requests, &tolerance)?.certificate;
    let instance = Instance::new(problem, allocation).map_err(|_| ReferenceError::NotShown)?;
    for (axiom, parameters) in own {
        let evidence = Evidence::Prices(prices.clone());
        let evidence = match case.alpha == 1 {
            true => evidence,
            false => Evidence::Enclosed { evidence: Box::new(evidence), values: bound.worth.clone() },
        };
        let claim = Claim::with_evidence(axiom, parameters, evidence, &instance, &tolerance);
        found.not_checked.retain(|name| name != axiom.name());
        found.claims.push(claim.map_err(|refusal| ReferenceError::Undefined(refusal.to_string()))?);
    }
    let text = found.to_json();
    match check_text(&text, Some(case.kind.sharing())).valid {
        true => Ok(Some(text)),
        false => Err(ReferenceError::NotShown),
    }
}

/// Returns the axioms that define an allocation as the answer to a case.
#[must_use]
pub fn own_axioms(case: &Case) -> Vec<(Axiom, Parameters)> {
    match case.kind {
        Kind::MaxMinDrfh | Kind::MaxMinTsf | Kind::Whole => vec![(Axiom::MaxMin, case.kind.share().into())],
        Kind::Pool | Kind::Proportional | Kind::Alpha | Kind::Njc => {
            vec![(Axiom::Proportional, Parameters::alpha(case.alpha.clone()))]
        }
        Kind::Market | Kind::PsDsf => vec![(Axiom::PsDsf, Parameters::default())],
        Kind::Utilitarian => vec![(Axiom::ParetoOptimal, Parameters::default())],
        Kind::Configurations | Kind::LinearProgramme => Vec::new(),
    }
}

impl Reference {
    /// Creates the reference from the exact answer to a linear programme.
    #[must_use]
    pub fn of_programme(answer: Answer) -> Self {
        let objective = match &answer.status {
            ProgrammeAnswer::Optimal(optimum) => Some(optimum.objective.clone()),
            _ => None,
        };
        Self { objective, programme: Some(answer), ..Self::default() }
    }

    /// Returns the proven status of a linear programme.
    #[must_use]
    pub fn programme_status(&self) -> Option<ProgrammeStatus> {
        self.programme.as_ref().and_then(|answer| ProgrammeStatus::of_exact(&answer.status))
    }

    /// Returns the part of `references.json` about the answer to a case.
    #[must_use]
    pub fn summary(&self, case: &Case) -> Value {
        json!({
            "instance": case.name,
            "kind": case.kind.name(),
            "problem_sha256": case.sha256(),
            "reference_sha256": self.sha256(),
            "error_bound": self.error_bound,
            "objective": self.value(case),
            "status": self.programme_status().map_or("optimal", ProgrammeStatus::name),
        })
    }

    /// Returns the objective as text. A rational objective is exact, and any other objective has a hundred
    /// digits.
    fn value(&self, case: &Case) -> Option<String> {
        if let Some(objective) = &self.objective {
            return Some(format(objective));
        }
        let (problem, levels) = (case.problem()?, self.levels.as_ref().filter(|_| case.kind.is_sum())?);
        let exponent = Rational::from(1) - &case.alpha;
        let of_user = |n: usize| match exponent.is_zero() {
            true => ln(&levels[n]) * problem.users()[n].weight(),
            false => power(&levels[n], &exponent, rounding::BITS) * problem.users()[n].weight() / &exponent,
        };
        let sum: Rational = (0..problem.n_users()).filter(|n| problem.is_active(*n)).map(of_user).sum();
        Some(significant(&sum))
    }

    /// Returns a hash of levels and objective. The suite stores this hash and compares references with it.
    #[must_use]
    pub fn sha256(&self) -> String {
        let mut text = String::new();
        for level in self.levels.iter().flatten() {
            // Irrational levels are hashed with this number of digits. Every correct method gives the same
            // digits.
            text += &if self.error_bound == 0.0 { format(level) } else { significant(level) };
            text.push('\n');
        }
        text += "objective ";
        text += &self.objective.as_ref().map_or_else(String::new, format);
        let status = self.programme_status().filter(|status| *status != ProgrammeStatus::Optimal);
        text += status.map_or("", ProgrammeStatus::name);
        sha256(&text)
    }
}

/// The number of digits of an irrational level that are hashed. All of them are proven.
const DIGITS: u32 = newton::DIGITS;

/// Returns the leading digits of a number, as a whole number and a power of ten.
fn significant(value: &Rational) -> String {
    if value.is_zero() {
        return "0".to_owned();
    }
    let mut exponent = to_f64(value).abs().log10().floor() as i32 - DIGITS as i32;
    let power = |exponent: i32| {
        let power = Rational::from(Integer::from(10).pow(exponent.unsigned_abs()));
        if exponent < 0 { power } else { power.recip() }
    };
    let mut whole = (value * power(exponent)).round().into_numer_denom().0;
    // The logarithm may give an exponent that is wrong by one.
    let top = Integer::from(10).pow(DIGITS + 1);
    if *whole.as_abs() >= top {
        exponent += 1;
        whole = (value * power(exponent)).round().into_numer_denom().0;
    }
    format!("{whole}e{exponent}")
}

/// Returns the reference in a certificate, for kinds that a mechanism or Newton's method solves. The bounds
/// that the prices prove are computed again. The caller must check the hash of the reference.
#[must_use]
pub fn of_certificate(case: &Case, certificate: &Certificate) -> Option<Reference> {
    let problem = case.problem()?;
    let allocation = certificate.allocation.clone();
    if case.planted.is_some() || allocation.tasks.len() != problem.n_users() {
        return None;
    }
    let of_sum = certificate.claims.iter().find(|claim| claim.axiom == Axiom::Proportional);
    if let Some(Evidence::Prices(prices)) = of_sum.map(|claim| claim.evidence.bare()) {
        let sharing = case.kind.sharing();
        let bound = bound::prove(problem, sharing, &case.alpha, &allocation.tasks, prices).ok()?;
        if !bound.gap.is_zero() {
            return Some(of_proof(case, allocation, prices.clone(), bound));
        }
    }
    let is_unique = !matches!(case.kind, Kind::PsDsf | Kind::Utilitarian);
    let objective = objective(case, problem, &allocation.totals()).ok()?;
    let levels = is_unique.then(|| allocation.totals());
    Some(Reference { levels, objective, allocation: Some(allocation), ..Reference::default() })
}
