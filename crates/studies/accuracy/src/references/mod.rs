//! The exact answer to a case, to which answers are compared.
//!
//! | kinds | how it is found | what proves it |
//! |---|---|---|
//! | max-min, utilitarian, market, PS-DSF | the exact mechanism | a certificate that the kernel reads |
//! | configurations | the exact configuration programme | a ratio certificate |
//! | sums of utilities that were planted | known beforehand | every optimality condition holds exactly ([`planted`]) |
//! | other sums of one pool, or of pools side by side | Newton's method in rationals ([`newton`]) | a gap below 1e-100 |
//! | other sums of a cluster | the exact mechanism | the gap that its prices prove, which may be larger |

pub mod newton;
pub mod planted;
mod rounding;

use evenhand_certify::{CertifyError, Request, certify, ratio};
use evenhand_exact::{Axiom, Certificate, Instance, Parameters, Prices, axiom::proportional};
use evenhand_mechanisms::{Flags, MechanismError, Status, registry};
use evenhand_packing::{MaxReward, PackingError, configuration_lp};
use evenhand_problem::number::{format, to_f64};
use evenhand_problem::{Allocation, Arithmetic, Integer, Problem, Rational};
use rug::ops::Pow;
use thiserror::Error;

use crate::case::{Case, Input, Kind, sha256};
use newton::PoolError;

/// The exact answer to a case.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    /// Tasks by user, of kinds whose answer determines them.
    pub levels: Option<Vec<Rational>>,
    /// The least share, the sum of tasks by weight, or the reward; none where the objective is a sum of utilities, which
    /// is a function of the levels.
    pub objective: Option<Rational>,
    /// No level is further from the truth than this part of itself: proven, rounded up; 0 where levels are exact.
    pub error_bound: f64,
    /// An allocation that is the answer, or one of several.
    pub allocation: Option<Allocation>,
    /// Prices that prove a sum of utilities, with the gap that they prove.
    pub proof: Option<(Prices, Rational)>,
}

/// Why there is no reference.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The mechanism has no exact answer.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The configuration programme has none.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// The pools have none.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// What was planted is not the optimum.
    #[error("what was planted is no optimum: {0}")]
    Planted(&'static str),
    /// There is no such mechanism, or its share is not defined.
    #[error("{0}")]
    Undefined(String),
    /// It could not be certified.
    #[error(transparent)]
    Certify(#[from] CertifyError),
    /// It could not be certified.
    #[error(transparent)]
    Ratio(#[from] ratio::RatioError),
    /// The certificate does not say what it has to.
    #[error("the certificate does not show the answer")]
    NotShown,
}

/// The reference of a case.
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
    };
    if let Some(planted) = &case.planted {
        planted::verify(problem, &case.alpha, planted).map_err(ReferenceError::Planted)?;
        let allocation = made(case, planted.tasks.clone());
        let proof = Some((planted.prices.clone(), Rational::new()));
        return Ok(Reference {
            levels: Some(allocation.totals()),
            allocation: Some(allocation),
            proof,
            ..Reference::default()
        });
    }
    if case.kind.is_sum() && case.kind != Kind::Market && case.alpha == 1 && newton::applies(problem) {
        let found = newton::solve(problem)?;
        let allocation = made(case, found.tasks);
        return Ok(Reference {
            levels: Some(allocation.totals()),
            error_bound: found.error_bound,
            allocation: Some(allocation),
            proof: Some((found.prices, found.gap)),
            ..Reference::default()
        });
    }
    of_mechanism(case, problem)
}

/// An exact allocation of the mechanism of a case.
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
    // Of PS-DSF there are several answers, and of the most tasks as well.
    if !matches!(case.kind, Kind::PsDsf | Kind::Utilitarian) {
        reference.levels = Some(allocation.totals());
    }
    if let (true, Some(prices), Some(gap)) = (case.kind.is_sum(), findings.prices, findings.gap) {
        reference.error_bound = distance(problem, &allocation, &case.alpha, &gap);
        reference.proof = Some((prices, gap));
    }
    reference.objective = objective(case, problem, &allocation.totals())?;
    Ok(reference)
}

/// The objective of a kind that is rational: the least share (over weight) of a user that can have one, or the sum of the
/// tasks by weight.
///
/// # Errors
/// [`ReferenceError::Undefined`] where the share is not defined for the problem.
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

/// How far a level is from that of the optimum at most, as a part of itself, where the gap is proven to be so small.
///
/// With `t` for the optimal level over the one that is there, and `c` for the gap over the least `w x^(1 - a)`, the gap and
/// the optimality of the other point together say `(1 - t^-a) (t - 1) <= c` for every user: each term of the sum is not
/// negative. For `a >= 1` it follows that `|t - 1| <= sqrt(c) + c`, and for `a < 1` the same with `c / a` for `c`.
#[must_use]
pub fn distance(problem: &Problem, allocation: &Allocation, alpha: &Rational, gap: &Rational) -> f64 {
    if gap.is_zero() {
        return 0.0;
    }
    let worth = |n: usize| {
        let weight = to_f64(problem.users()[n].weight());
        let exponent = 1.0 - to_f64(alpha);
        // Rounded down by more than these operations can be wrong by.
        weight * to_f64(&allocation.total(n)).powf(exponent) * (1.0 - 1e-12)
    };
    let least =
        (0..problem.n_users()).filter(|&n| problem.is_active(n)).map(worth).fold(f64::INFINITY, f64::min);
    // A gap may be below all doubles.
    let wide = gap * Rational::from(10).pow(400u32);
    let root = |value: f64| value.sqrt() * (1.0 + 1e-12);
    let scale = to_f64(alpha).min(1.0) * least;
    let small = to_f64(gap) / scale;
    let large = if small > 1e-290 { root(small) } else { root_of_wide(&wide, scale) };
    (large + small) * (1.0 + 1e-12) + f64::MIN_POSITIVE
}

/// The root of `wide / 10^400 / scale`, rounded up.
fn root_of_wide(wide: &Rational, scale: f64) -> f64 {
    let whole = wide.clone().ceil().into_numer_denom().0 + 1u32;
    let root: Integer = whole.sqrt() + 1u32;
    let root = Rational::from(root) / Rational::from(10).pow(200u32);
    (to_f64(&root) + f64::MIN_POSITIVE) / scale.sqrt() * (1.0 + 1e-12)
}

/// Levels of at most so many users are certified.
const MOST_USERS: usize = 2_000;
/// The tolerance of certificates of answers that are irrational.
const IRRATIONAL: u32 = 40;

/// The certificate of a reference, as text; `None` where there would be too much of it.
///
/// # Errors
/// [`ReferenceError`]: it cannot be certified, or does not hold.
pub fn certificate(case: &Case, reference: &Reference) -> Result<Option<String>, ReferenceError> {
    let problem = match &case.input {
        Input::Allocation(problem) => problem,
        Input::Reservation(problem) => return Ok(Some(ratio::certificate(problem)?.to_json())),
    };
    let Some(allocation) = reference.allocation.as_ref().filter(|_| problem.n_users() <= MOST_USERS) else {
        return Ok(None);
    };
    let is_exact = reference.proof.as_ref().is_none_or(|(_, gap)| gap.is_zero()) && case.alpha.is_integer();
    let tolerance =
        if is_exact { Rational::new() } else { Rational::from((1, Integer::from(10).pow(IRRATIONAL))) };
    let requests = own_axioms(case);
    let mut requests: Vec<Request> =
        requests.into_iter().map(|(axiom, parameters)| Request { axiom, parameters }).collect();
    requests.insert(0, Request::of(Axiom::Feasible));
    let found = certify(problem, allocation, &requests, &tolerance)?;
    let shown = found.certificate.claims.iter().all(|claim| claim.holds == Some(true));
    match shown && found.undecided.is_empty() {
        true => Ok(Some(found.certificate.to_json())),
        false => Err(ReferenceError::NotShown),
    }
}

/// The axioms that say that an allocation is the answer to a case.
#[must_use]
pub fn own_axioms(case: &Case) -> Vec<(Axiom, Parameters)> {
    match case.kind {
        Kind::MaxMinDrfh | Kind::MaxMinTsf | Kind::Whole => vec![(Axiom::MaxMin, case.kind.share().into())],
        Kind::Pool | Kind::Proportional | Kind::Alpha | Kind::Njc => {
            vec![(Axiom::Proportional, Parameters::alpha(case.alpha.clone()))]
        }
        Kind::Market | Kind::PsDsf => vec![(Axiom::PsDsf, Parameters::default())],
        Kind::Utilitarian => vec![(Axiom::ParetoOptimal, Parameters::default())],
        Kind::Configurations => Vec::new(),
    }
}

/// The gap that prices prove of an allocation.
///
/// # Errors
/// What is wrong with them, in words.
pub fn proven_gap(
    problem: &Problem,
    allocation: &Allocation,
    alpha: &Rational,
    prices: &Prices,
) -> Result<Rational, PoolError> {
    let refused = |error: &dyn std::fmt::Display| PoolError::Refused(error.to_string());
    let instance = Instance::new(problem, allocation).map_err(|error| refused(&error))?;
    proportional::gap(&instance, alpha, None, prices).map_err(|error| refused(&error))
}

impl Reference {
    /// A hash of levels and objective, by which a suite knows its references.
    #[must_use]
    pub fn sha256(&self) -> String {
        let mut text = String::new();
        for level in self.levels.iter().flatten() {
            // What is irrational agrees in so many digits whatever way it was found.
            text += &if self.error_bound == 0.0 { format(level) } else { significant(level) };
            text.push('\n');
        }
        text += "objective ";
        text += &self.objective.as_ref().map_or_else(String::new, format);
        sha256(&text)
    }
}

/// Digits of an irrational level that are hashed: fewer than are proven.
const DIGITS: u32 = 40;

/// The leading digits of a number, as a whole number and a power of ten.
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
    // The logarithm may be off by one.
    let top = Integer::from(10).pow(DIGITS + 1);
    if whole >= top {
        exponent += 1;
        whole = (value * power(exponent)).round().into_numer_denom().0;
    }
    format!("{whole}e{exponent}")
}

/// The reference that a certificate holds: of kinds whose levels are rational and that a mechanism has found. It is to
/// be believed for its hash.
#[must_use]
pub fn of_certificate(case: &Case, certificate: &Certificate) -> Option<Reference> {
    let problem = case.problem()?;
    let allocation = certificate.allocation.clone();
    if case.planted.is_some() || allocation.tasks.len() != problem.n_users() {
        return None;
    }
    let is_unique = !matches!(case.kind, Kind::PsDsf | Kind::Utilitarian);
    let objective = objective(case, problem, &allocation.totals()).ok()?;
    let levels = is_unique.then(|| allocation.totals());
    Some(Reference { levels, objective, allocation: Some(allocation), ..Reference::default() })
}
