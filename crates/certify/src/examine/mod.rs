//! Examining an allocation: solvers look for evidence, and `evenhand-exact` computes what it shows.
//!
//! What is judged is the allocation after its repair; of one that is infeasible beyond the tolerance
//! nothing is claimed but that (THEORY, section 7). Pareto optimality and max-min are decided for every
//! allocation: linear programming duality gives prices that prove them or an allocation that refutes them.

mod integer_pareto;
mod max_min;
mod optima;
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

/// What allocations in floating point are held to where nothing else is said: a billionth of what a user
/// would have alone, far above what double precision leaves and far below what anybody notices.
pub(crate) const FLOAT_TOLERANCE: (u32, u32) = (1, 1_000_000_000);

/// Pairs of a user and a class on which it can run, up to which the exact optimum is asked at once: it takes some milliseconds,
/// and its margin is nearer to the truth than that of prices of doubles. Of 6,000 pairs it takes ten times as long as those,
/// and where numbers are long it does not end.
const FEW: usize = 1_000;

/// An axiom to examine; max-min is about a share, proportional about an exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The axiom.
    pub axiom: Axiom,
    /// What it is about; what is absent is taken from the allocation's mechanism.
    pub parameters: Parameters,
}

impl Request {
    /// The axiom, about whatever the allocation's mechanism is about.
    #[must_use]
    pub fn of(axiom: Axiom) -> Self {
        Self { axiom, parameters: Parameters::default() }
    }
}

/// What came of an examination.
#[derive(Debug, Clone)]
pub struct Examination {
    /// The claims with their evidence, ready to be written and checked by anybody.
    pub certificate: Certificate,
    /// By claim: its margin in tasks of the user that it is about.
    pub in_tasks: Vec<Option<Rational>>,
    /// The largest `|x_ni - stated x_ni| / g_n` of the repair.
    pub repair: Rational,
    /// Whether the allocation is infeasible beyond the tolerance, so that nothing else is claimed.
    pub infeasible: bool,
    /// By axiom that was not decided: why.
    pub undecided: Vec<(Axiom, Undecided)>,
    /// Why the kernel gave no verdict on the certificate: judging it would take more than it is allowed.
    pub unchecked: Option<String>,
    /// The text of the certificate that the kernel was asked about; none where it was not asked.
    pub text: Option<String>,
    /// By claim: of one that is violated the least tolerance at which it holds, where that is below 1 and known; empty unless
    /// it was looked for.
    pub least_tolerances: Vec<Option<Rational>>,
}

impl Examination {
    /// The same after the kernel was asked, where there is something to ask it.
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

    /// The claim of an axiom about these parameters.
    #[must_use]
    pub fn claim(&self, axiom: Axiom, parameters: &Parameters) -> Option<&Claim> {
        self.certificate.claims.iter().find(|c| c.axiom == axiom && c.parameters() == *parameters)
    }

    /// Those of the requests that were not looked at, since the allocation is infeasible.
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

/// Why an allocation cannot be examined at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CertifyError {
    /// The allocation does not fit the problem.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// A parameter belongs to another axiom, or is out of bounds.
    #[error("{0}")]
    Parameters(String),
    /// Max-min was asked for without a share, and the allocation's mechanism implies none.
    #[error("max-min needs a share: name it (drfh, cdrf, tsf, asset, generic, resource:NAME)")]
    NoShare,
    /// The system makes no thread.
    #[error("no thread can be started: {0}")]
    Thread(String),
    /// The kernel refuses the certificate.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A tolerance that means nothing.
    #[error("the tolerance is a number from 0 to below 1")]
    Tolerance,
}

/// The axioms that are examined when none is named: the usual ones, whole tasks where they are placed, and
/// the one that the mechanism of the allocation is made to satisfy, if it names one.
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
        // A queue is many users, so that what compares users says little; and what groups keep back may be better for
        // somebody.
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

/// The tolerance where none is stated: 0 for an allocation that says it is exact and states neither a gap,
/// nor an interval, nor that it is not solved; a billionth for any other.
#[must_use]
pub fn default_tolerance(file: &AllocationFile) -> Rational {
    if file.allocation.arithmetic == Arithmetic::Exact && file.is_final {
        Rational::new()
    } else {
        Rational::from(FLOAT_TOLERANCE)
    }
}

/// Examines `requests` and makes a certificate, which the kernel has accepted unless it was too large for it
/// ([`Examination::unchecked`]); axioms that do not hold are in it as well, with evidence. A margin below
/// `-tolerance` violates.
///
/// # Errors
/// [`CertifyError`] when the allocation does not fit the problem, an axiom cannot be asked for, or the kernel refuses
/// the certificate. A solver that fails makes an axiom undecided, never passed.
pub fn certify(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
) -> Result<Examination, CertifyError> {
    Ok(certify_among(problem, allocation, requests, tolerance, &Optima::default())?
        .tested(self_test_of_text)?)
}

/// [`certify`] for one of several allocations of `problem`, which share the optima of its shares. The kernel is not
/// asked: [`self_test`](crate::self_test()) has to be, before the certificate is written.
///
/// # Errors
/// As [`certify`].
pub fn certify_among(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
    optima: &Optima,
) -> Result<Examination, CertifyError> {
    let found = Mutex::new(Found::default());
    examine(problem, allocation, requests, tolerance, optima, &found)?;
    Ok(certificate(
        problem,
        allocation,
        tolerance,
        found.into_inner().unwrap_or_else(PoisonError::into_inner),
    ))
}

/// What has been found so far.
#[derive(Default, Clone)]
struct Found {
    /// In any order, as those that are undecided, which have their place first.
    answers: Vec<Answer>,
    undecided: Vec<(usize, Axiom, Undecided)>,
    repair: Rational,
    infeasible: bool,
}

/// A claim, with its place among the questions.
#[derive(Clone)]
struct Answer {
    place: usize,
    claim: Claim,
    in_tasks: Option<Rational>,
}

/// A question, with its place.
type Question = (usize, Axiom, Parameters);

/// Decides the requests, each with an equal part of the work that is left; what is only computed beside what is searched for,
/// where there is much of both.
fn examine(
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
    tolerance: &Rational,
    optima: &Optima,
    found: &Mutex<Found>,
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
    // Whether the question is to be asked again, with more work.
    let ask = |(place, axiom, parameters): &Question, part: Option<u64>, is_last: bool| {
        match in_its_part(part, || prover.claim(*axiom, parameters.clone())) {
            Ok(claim) => {
                let in_tasks = explain::in_tasks(&instance, allocation, &claim);
                lock().answers.push(Answer { place: *place, claim, in_tasks });
            }
            Err(why) if why.needs_work() && !is_last => return true,
            Err(why) => lock().undecided.push((*place, *axiom, why)),
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
        let beside = (!computed.is_empty()).then(|| scope.spawn(|| limits.enter(|| ask_all(computed))));
        let mut again = ask_all(searched);
        if let Some(beside) = beside {
            again.extend(beside.join().unwrap_or_else(|payload| resume_unwind(payload)));
        }
        again
    });
    // What needs more than its part of the work is asked again with what the others have left.
    again.sort_by_key(|(place, ..)| *place);
    for (at, question) in again.iter().enumerate() {
        let others = (again.len() - at) as u64;
        ask(question, work_left().map(|left| left / others), true);
    }
    Ok(())
}

/// Pairs of a user and a class on which it can run, above which claims are decided beside each other: of fewer all take some
/// hundredths of a second.
const ENOUGH_FOR_TWO: usize = 20_000;

/// How the evidence of a claim is found.
type Search = fn(&Prover<'_>, Axiom, &Parameters) -> Result<Claim, Undecided>;

/// The search for the evidence of an axiom; `None` where it follows from the allocation.
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
        Axiom::Tree => |prover, _, _| tree::claim(prover.instance, prover.tolerance, prover.optima),
        _ => return None,
    })
}

/// Whether an axiom is examined of an allocation that is infeasible.
fn is_about_limits(axiom: Axiom) -> bool {
    matches!(axiom, Axiom::Feasible | Axiom::IntegerFeasible)
}

/// A claim that may take so much work; what is too expensive, or would need too large a table, leaves one axiom undecided, and
/// not all.
fn in_its_part(
    part: Option<u64>,
    claim: impl FnOnce() -> Result<Claim, Undecided>,
) -> Result<Claim, Undecided> {
    let part = Limits { work: part, ..Limits::default() };
    match catch_unwind(AssertUnwindSafe(|| within(&part, claim))) {
        Ok(found) => found.unwrap_or_else(|limit| Err(Undecided::TooLarge(limit))),
        // Memory is free again after a table that was not made.
        Err(payload) => match exceeded(&*payload) {
            Some(limit @ Exceeded { kind: Kind::Memory { .. }, .. }) => {
                Err(Undecided::TooLarge(limit.clone()))
            }
            _ => resume_unwind(payload),
        },
    }
}

/// The certificate of what was found.
fn certificate(
    problem: &Problem,
    allocation: &Allocation,
    tolerance: &Rational,
    found: Found,
) -> Examination {
    let Found { mut answers, mut undecided, repair, infeasible } = found;
    answers.sort_by_key(|answer| answer.place);
    undecided.sort_by_key(|(place, ..)| *place);
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
    /// What the allocation's mechanism is made to satisfy.
    own: Option<(Axiom, Parameters)>,
    /// The tasks as the allocation states them.
    stated: &'a Tasks,
    sharing: Sharing,
    optima: &'a Optima,
}

impl Prover<'_> {
    /// The parameters of a request, those of the allocation's mechanism where none are stated.
    fn parameters(&self, request: &Request) -> Result<Parameters, CertifyError> {
        let mut parameters = request.parameters.clone();
        if let Some((_, own)) = self.own.as_ref().filter(|(axiom, _)| *axiom == request.axiom) {
            parameters.share = parameters.share.or(own.share);
            parameters.alpha = parameters.alpha.or_else(|| own.alpha.clone());
        }
        if request.axiom == Axiom::MaxMin && parameters.share.is_none() {
            return Err(CertifyError::NoShare);
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

    /// What nearly proves the optimum, where that may be enough and takes less time than the optimum itself.
    fn duals_nearly(&self, share: Share, coefficients: &ShareCoefficients) -> Option<Duals> {
        let is_enough =
            *self.tolerance > 0 && self.has_more_pairs(FEW) && !self.optima.has(self.sharing, share);
        is_enough.then(|| self.optima.nearly(self.instance, self.stated, self.sharing, share, coefficients))
    }

    /// Whether there are more pairs of a user and a class on which it can run.
    fn has_more_pairs(&self, than: usize) -> bool {
        let problem = self.instance.problem();
        (0..problem.n_users()).flat_map(|n| problem.classes_of(n)).nth(than).is_some()
    }
}
