//! Examination of an allocation: solvers search for evidence, and `evenhand-exact` computes the margins that the
//! evidence proves.
//!
//! The allocation is repaired before it is judged. If it is infeasible beyond the tolerance, the only claim is that it
//! is infeasible (docs/theory.md, section 7). Pareto optimality and max-min are decided for every allocation: linear
//! programming duality gives either prices that prove them or an allocation that refutes them.

mod integer_pareto;
mod max_min;
mod optima;
mod optimal;
mod packings;
mod pareto;
mod parties;
mod proportional;
mod supports;
mod timed;
mod tree;
mod undecided;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use evenhand_budget::{Exceeded, Kind, Limits, exceeded, handle, within, work_left};
use evenhand_exact::{
    Axiom, Certificate, Claim, Instance, InstanceError, Parameters, Share, ShareCoefficients, Tasks,
    is_feasible,
};
use evenhand_mechanisms::registry;
use evenhand_problem::format::{AllocationFile, problem_sha256};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};
use thiserror::Error;

use crate::explain;
use crate::self_test::{Refused, Tested, self_test_of_text};
pub use optima::Optima;
use optima::{Duals, Solved};
pub use timed::certify_within;
pub use undecided::Undecided;

/// The default tolerance for allocations in floating point: a billionth of a user's solo tasks. It
/// is far above the rounding errors of double precision, and far below any difference that matters in practice.
pub(crate) const FLOAT_TOLERANCE: (u32, u32) = (1, 1_000_000_000);

/// The number of pairs of a user and a class on which it can run, up to which the exact optimum is computed first. For
/// so few pairs it takes some milliseconds, and its margin is closer to the truth than a margin from prices in floating
/// point. For 6,000 pairs the exact optimum takes ten times as long as these prices, and with long numbers it may take
/// too long.
const FEW: usize = 1_000;

/// An axiom to examine, with its parameters: a share for max-min, an exponent for proportional.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The axiom.
    pub axiom: Axiom,
    /// The parameters of the axiom. Missing parameters are taken from the allocation's mechanism.
    pub parameters: Parameters,
}

impl Request {
    /// Returns a request for the axiom with the parameters of the allocation's mechanism.
    #[must_use]
    pub fn of(axiom: Axiom) -> Self {
        Self { axiom, parameters: Parameters::default() }
    }
}

/// The result of an examination.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The claims with their evidence, ready to be written and checked independently.
    pub certificate: Certificate,
    /// The margin of each claim, in tasks of the user that has this margin.
    pub in_tasks: Vec<Option<Rational>>,
    /// The repair of the allocation: the largest `|x_ni - stated x_ni| / g_n`.
    pub repair: Rational,
    /// True if the allocation is infeasible beyond the tolerance, so that there are no other claims.
    pub infeasible: bool,
    /// The undecided axioms, with the reasons.
    pub undecided: Vec<(Axiom, Undecided)>,
    /// The reason why the kernel gave no verdict on the certificate: checking it would exceed the kernel's limits.
    pub unchecked: Option<String>,
    /// The text of the certificate that the kernel judged. `None` if the kernel was not asked.
    pub text: Option<String>,
    /// The least tolerance at which each violated claim would hold, if it is below 1 and known. Empty unless
    /// [`look_for_least_tolerances`](Self::look_for_least_tolerances) was called.
    pub least_tolerances: Vec<Option<Rational>>,
}

impl Examination {
    /// Asks the kernel about the certificate, if it has claims, and stores the result.
    fn tested(
        mut self,
        ask: impl FnOnce(String, Sharing) -> Result<Tested, Refused>,
    ) -> Result<Self, Refused> {
        if !self.certificate.claims.is_empty() {
            let Tested { text, unchecked } =
                ask(self.certificate.to_json(), self.certificate.allocation.sharing)?;
            (self.text, self.unchecked) = (Some(text), unchecked);
        }
        Ok(self)
    }

    /// Returns the claim of an axiom with these parameters.
    #[must_use]
    pub fn claim(&self, axiom: Axiom, parameters: &Parameters) -> Option<&Claim> {
        self.certificate.claims.iter().find(|c| c.axiom == axiom && c.parameters() == *parameters)
    }

    /// Returns the requests that were not examined because the allocation is infeasible.
    #[must_use]
    pub fn skipped(&self, asked: &[Request]) -> Vec<Request> {
        let is_answered = |request: &Request| {
            let claims = self.certificate.claims.iter().map(|claim| claim.axiom);
            let undecided = self.undecided.iter().map(|(axiom, _)| *axiom);
            claims.chain(undecided).any(|axiom| axiom == request.axiom)
        };
        asked.iter().filter(|request| self.infeasible && !is_answered(request)).cloned().collect()
    }
}

/// The reason why an allocation cannot be examined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A parameter belongs to another axiom, or is out of bounds.
    #[error("{0}")]
    Parameters(String),
    /// Max-min was requested without a share, and the allocation's mechanism implies none.
    #[error("max-min needs a share: name it (drfh, cdrf, tsf, asset, generic, resource:NAME)")]
    NoShare,
    /// The system cannot start a thread.
    #[error("no thread can be started: {0}")]
    Thread(String),
    /// The kernel refuses the certificate.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The tolerance is outside of the valid range.
    #[error("the tolerance is out of range: expected a number from 0 to below 1")]
    Tolerance,
}

/// Returns the axioms that are examined by default: the usual axioms, integer feasibility if tasks are placed on
/// servers, and the axiom that the allocation's mechanism is designed to satisfy.
#[must_use]
pub fn default_requests(problem: &Problem, allocation: &Allocation) -> Vec<Request> {
    let groups = problem.groups().list();
    let usual = if groups.is_empty() {
        vec![
            Axiom::Feasible,
            Axiom::WorkConserving,
            Axiom::ParetoOptimal,
            Axiom::EnvyFree,
            Axiom::SharingIncentive,
        ]
    } else {
        // A queue consists of many users, so axioms that compare single users say little. If groups keep capacity back,
        // releasing it may be better for some user, so Pareto optimality cannot be expected.
        let mut usual = vec![Axiom::Feasible, Axiom::Limits, Axiom::Guarantees, Axiom::WorkConserving];
        if !problem.groups().keep_back() {
            usual.push(Axiom::ParetoOptimal);
        }
        usual
    };
    let mut requests: Vec<Request> = usual.into_iter().map(Request::of).collect();
    if allocation.placements.is_some() {
        requests.insert(1, Request::of(Axiom::IntegerFeasible));
    }
    let known = allocation.mechanism.as_deref().and_then(registry::find);
    let own = known.and_then(|mechanism| (mechanism.axiom)(allocation));
    let is_asked = |axiom: Axiom| match axiom {
        Axiom::IntegerFeasible => false,
        Axiom::Tree => tree::is_short(problem),
        _ => true,
    };
    if let Some((axiom, parameters)) = own.filter(|(axiom, _)| is_asked(*axiom)) {
        requests.push(Request { axiom, parameters });
    }
    requests
}

/// Returns the default tolerance. It is 0 for an exact allocation with the status `solved` and without a gap or an
/// interval. Otherwise it is a billionth.
#[must_use]
pub fn default_tolerance(file: &AllocationFile) -> Rational {
    if file.allocation.arithmetic == Arithmetic::Exact && file.is_final {
        Rational::new()
    } else {
        Rational::from(FLOAT_TOLERANCE)
    }
}

/// Examines `requests` and creates a certificate. The kernel has accepted the certificate, unless it was too large for
/// the kernel ([`Examination::unchecked`]). The certificate also contains claims that axioms are violated, with
/// evidence. An axiom is violated if its margin is below `-tolerance`.
///
/// # Errors
/// [`CertifyError`] when the allocation does not fit the problem, a request is invalid, or the kernel refuses the
/// certificate. An axiom whose solver fails becomes undecided, never accepted.
pub fn certify(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
) -> Result<Examination, CertifyError> {
    Ok(certify_among(problem, allocation, requests, tolerance, &Optima::default())?
        .tested(self_test_of_text)?)
}

/// Examines one of several allocations of `problem` like [`certify`]. All of these allocations share `optima`. The
/// kernel is not asked: call [`self_test`](crate::self_test()) before the certificate is written.
///
/// # Errors
/// The same errors as [`certify`].
pub fn certify_among(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
    optima: &Optima,
) -> Result<Examination, CertifyError> {
    let found = Mutex::new(Results::default());
    examine(problem, allocation, requests, tolerance, optima, &found)?;
    Ok(certificate(
        problem,
        allocation,
        tolerance,
        found.into_inner().unwrap_or_else(PoisonError::into_inner),
    ))
}

/// The results of an examination so far.
#[derive(Default, Clone)]
struct Results {
    /// The answers, unordered. `undecided` is also unordered, and the first field of its entries is the position of the
    /// request.
    answers: Vec<Answer>,
    undecided: Vec<(usize, Axiom, Undecided)>,
    repair: Rational,
    infeasible: bool,
}

/// A claim, with the position of its request.
#[derive(Clone)]
struct Answer {
    position: usize,
    claim: Claim,
    in_tasks: Option<Rational>,
}

/// A request, with its position.
type Question = (usize, Axiom, Parameters);

/// Decides the requests, each with an equal share of the remaining work. On large problems, two kinds of claims are
/// decided in parallel: claims that follow from the allocation, and claims whose evidence must be searched for.
fn examine(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
    optima: &Optima,
    found: &Mutex<Results>,
) -> Result<(), CertifyError> {
    if *tolerance < 0 || *tolerance >= 1 {
        return Err(CertifyError::Tolerance);
    }
    let lock = || found.lock().unwrap_or_else(PoisonError::into_inner);
    let instance = Instance::new(problem, allocation)?;
    let infeasible = !is_feasible(&instance, tolerance);
    lock().repair.clone_from(instance.repair());
    lock().infeasible = infeasible;
    let prover = Prover {
        instance: &instance,
        tolerance,
        sharing: allocation.sharing,
        own: registry::axiom_of(allocation),
        stated: &allocation.tasks,
        optima,
    };
    let feasible = [Request::of(Axiom::Feasible)];
    let feasible = if infeasible { &feasible[..] } else { &[] };
    let mut asked: Vec<Question> = Vec::new();
    for request in feasible.iter().chain(requests) {
        let parameters = prover.parameters(request)?;
        let is_new = !asked.iter().any(|(_, axiom, of)| (*axiom, of) == (request.axiom, &parameters));
        if is_new && (!infeasible || is_about_limits(request.axiom)) {
            asked.push((asked.len(), request.axiom, parameters));
        }
    }
    // Answers a request. Returns true if it has to be tried again with more work.
    let ask = |(position, axiom, parameters): &Question, part: Option<u64>, is_last: bool| {
        match within_share(part, || prover.claim(*axiom, parameters.clone())) {
            Ok(claim) => {
                let in_tasks = explain::in_tasks(&instance, allocation, &claim);
                lock().answers.push(Answer { position: *position, claim, in_tasks });
            }
            Err(why) if why.needs_work() && !is_last => return true,
            Err(why) => lock().undecided.push((*position, *axiom, why)),
        }
        false
    };
    let part = work_left().map(|left| left / asked.len().max(1) as u64);
    let ask_all = |questions: Vec<Question>| -> Vec<Question> {
        questions.into_iter().filter(|question| ask(question, part, false)).collect()
    };
    let is_divided = prover.has_more_pairs(ENOUGH_FOR_TWO) && rayon::current_num_threads() > 1;
    let (computed, searched): (Vec<_>, Vec<_>) =
        asked.into_iter().partition(|(_, axiom, _)| is_divided && search_of(*axiom).is_none());
    let limits = handle();
    let mut again = std::thread::scope(|scope| {
        let computing = (!computed.is_empty()).then(|| scope.spawn(|| limits.enter(|| ask_all(computed))));
        let mut again = ask_all(searched);
        if let Some(computing) = computing {
            again.extend(computing.join().unwrap_or_else(|payload| resume_unwind(payload)));
        }
        again
    });
    // Requests that need more than their share of the work are tried again with the work that other requests did not
    // use.
    again.sort_by_key(|(position, ..)| *position);
    for (at, question) in again.iter().enumerate() {
        let others = (again.len() - at) as u64;
        ask(question, work_left().map(|left| left / others), true);
    }
    Ok(())
}

/// The number of pairs of a user and a class on which it can run, above which claims are decided in parallel. With
/// fewer pairs, all claims together take some hundredths of a second.
const ENOUGH_FOR_TWO: usize = 20_000;

/// A function that searches for the evidence of a claim.
type Search = fn(&Prover<'_>, Axiom, &Parameters) -> Result<Claim, Undecided>;

/// Returns the search for the evidence of an axiom, or `None` if the claim follows from the allocation.
fn search_of(axiom: Axiom) -> Option<Search> {
    Some(match axiom {
        Axiom::ParetoOptimal => |prover, _, _| prover.pareto_optimal(),
        Axiom::IntegerParetoOptimal => {
            |prover, _, _| integer_pareto::claim(prover.instance, prover.tolerance)
        }
        Axiom::MaxMin => |prover, _, of| prover.max_min(of.share.ok_or(Undecided::NoShare)?),
        Axiom::Proportional => |prover, _, of| proportional::claim(prover.instance, of, prover.tolerance),
        Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair => {
            |prover, axiom, _| prover.bottleneck(axiom)
        }
        Axiom::GroupSharingIncentive | Axiom::GroupEnvyFree => {
            |prover, axiom, _| parties::claim(prover.instance, axiom, prover.tolerance)
        }
        Axiom::MaxMinPackings => |prover, _, of| {
            let share = of.share.ok_or(Undecided::NoShare)?;
            packings::claim(prover.instance, share, prover.tolerance, prover.optima)
        },
        Axiom::OptimalEnvyFree | Axiom::OptimalEqual => {
            |prover, axiom, _| optimal::claim(prover.instance, axiom, prover.tolerance)
        }
        Axiom::Tree => |prover, _, _| tree::claim(prover.instance, prover.tolerance, prover.optima),
        _ => return None,
    })
}

/// Returns true if the axiom is examined even for an infeasible allocation.
fn is_about_limits(axiom: Axiom) -> bool {
    matches!(axiom, Axiom::Feasible | Axiom::IntegerFeasible)
}

/// Computes a claim within its share of the work. If the claim exceeds its share or needs too large a table, only the
/// axiom of this claim becomes undecided.
fn within_share(
    part: Option<u64>,
    claim: impl FnOnce() -> Result<Claim, Undecided>,
) -> Result<Claim, Undecided> {
    let part = Limits { work: part, ..Limits::default() };
    match catch_unwind(AssertUnwindSafe(|| within(&part, claim))) {
        Ok(found) => found.unwrap_or_else(|limit| Err(Undecided::TooLarge(limit))),
        // A table that was not created takes no memory, so the computation of other claims can continue.
        Err(payload) => match exceeded(&*payload) {
            Some(limit @ Exceeded { kind: Kind::Memory { .. }, .. }) => {
                Err(Undecided::TooLarge(limit.clone()))
            }
            _ => resume_unwind(payload),
        },
    }
}

/// Returns the certificate of the results.
fn certificate(
    problem: &Problem,
    allocation: &Allocation,
    tolerance: &Rational,
    found: Results,
) -> Examination {
    let Results { mut answers, mut undecided, repair, infeasible } = found;
    answers.sort_by_key(|answer| answer.position);
    undecided.sort_by_key(|(position, ..)| *position);
    let (claims, in_tasks): (Vec<_>, Vec<_>) =
        answers.into_iter().map(|answer| (answer.claim, answer.in_tasks)).unzip();
    let examined = |axiom: Axiom| claims.iter().any(|c| c.axiom == axiom);
    let left = Axiom::questions(problem).filter(|axiom| !examined(*axiom));
    let not_checked = left.map(|axiom| axiom.name().to_owned()).collect();
    Examination {
        in_tasks,
        repair,
        infeasible,
        certificate: Certificate {
            problem: problem.clone(),
            allocation: allocation.clone(),
            problem_sha256: Some(problem_sha256(problem)),
            tolerance: tolerance.clone(),
            claims,
            not_checked,
        },
        undecided: undecided.into_iter().map(|(_, axiom, why)| (axiom, why)).collect(),
        unchecked: None,
        text: None,
        least_tolerances: Vec::new(),
    }
}

struct Prover<'a> {
    instance: &'a Instance<'a>,
    tolerance: &'a Rational,
    /// The axiom that the allocation's mechanism is designed to satisfy.
    own: Option<(Axiom, Parameters)>,
    /// The tasks as the allocation states them, before its repair.
    stated: &'a Tasks,
    sharing: Sharing,
    optima: &'a Optima,
}

impl Prover<'_> {
    /// Returns the parameters of a request. Missing parameters are taken from the allocation's mechanism.
    fn parameters(&self, request: &Request) -> Result<Parameters, CertifyError> {
        let mut parameters = request.parameters.clone();
        if let Some((_, own)) = self.own.as_ref().filter(|(axiom, _)| *axiom == request.axiom) {
            parameters.share = parameters.share.or(own.share);
            parameters.alpha = parameters.alpha.or_else(|| own.alpha.clone());
        }
        if request.axiom == Axiom::MaxMin && parameters.share.is_none() {
            return Err(CertifyError::NoShare);
        }
        if request.axiom == Axiom::MaxMinPackings {
            parameters.share = parameters.share.or(Some(Share::Dominant));
        }
        parameters.of(request.axiom).map_err(|refusal| CertifyError::Parameters(refusal.to_string()))
    }

    fn claim(&self, axiom: Axiom, parameters: Parameters) -> Result<Claim, Undecided> {
        if let Err(why) = Claim::applies(axiom, parameters.clone(), self.instance.problem()) {
            return Ok(Claim::not_applicable(axiom, parameters, why));
        }
        if let Some(claim) = Claim::inapplicable(axiom, parameters.clone(), self.instance) {
            return Ok(claim);
        }
        match search_of(axiom) {
            Some(search) => search(self, axiom, &parameters),
            None => Ok(Claim::derive(axiom, self.instance, self.tolerance)?),
        }
    }

    fn optimum(&self, share: Share, coefficients: &ShareCoefficients) -> Solved {
        self.optima.exact(self.instance, self.sharing, share, coefficients)
    }

    /// Returns duals that nearly prove the optimum, if they may suffice and take less time than the optimum itself.
    fn duals_nearly(&self, share: Share, coefficients: &ShareCoefficients) -> Option<Duals> {
        let is_enough =
            *self.tolerance > 0 && self.has_more_pairs(FEW) && !self.optima.has(self.sharing, share);
        is_enough.then(|| self.optima.nearly(self.instance, self.stated, self.sharing, share, coefficients))
    }

    /// Returns true if there are more than `than` pairs of a user and a class on which it can run.
    fn has_more_pairs(&self, than: usize) -> bool {
        let problem = self.instance.problem();
        (0..problem.n_users()).flat_map(|n| problem.classes_of(n)).nth(than).is_some()
    }
}
