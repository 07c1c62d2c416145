//! Audits search for small allocation problems on which a mechanism violates an axiom, and count how many
//! random problems violate it.
//!
//! The mechanism solves random problems in small whole numbers, and [`evenhand_certify`] examines every allocation. The
//! first problem that violates an axiom is reduced to the smallest problem that still violates it. The result has a
//! certificate, so the search need not be trusted. The result depends only on the settings, not on the number of
//! threads. An audit without violations proves nothing.
//!
//! # Examples
//! A rule that serves as many tasks as possible makes users envious, even if there are only two users:
//! ```
//! use evenhand_audit::{Settings, Size, audit};
//! use evenhand_mechanisms::registry;
//! let settings = Settings { instances: 40, ..Settings::of(registry::find("utilitarian").unwrap()) };
//! let audit = audit(&settings, |_| ())?;
//! let envy = audit.axioms.iter().find(|each| each.axiom.name() == "envy-free").unwrap();
//! assert!(envy.violated > 0 && envy.example.as_ref().unwrap().problem.n_users() == 2);
//! # Ok::<(), evenhand_audit::AuditError>(())
//! ```
#![forbid(unsafe_code)]

mod draw;
mod lies;
pub mod matrix;
pub mod preemption;
mod property;
mod render;
mod shrink;
mod stated;
mod subject;

use evenhand_certify::{CertifyError, Examination, Request, certify, default_requests};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::{Flags, Mechanism, MechanismError};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_report::axiom_title;
use matrix::Premises;
use rayon::prelude::*;
use stated::Stated;
use subject::Subject;
use thiserror::Error;

pub use draw::draw;
pub use property::{Property, Refutation};
pub use render::{document, page};

/// The number of problems of a batch. All threads together examine one batch at a time.
const BATCH: u64 = 64;
/// The largest number of users, classes and resources.
pub const MOST: usize = 6;
/// The largest number of problems.
pub const MOST_INSTANCES: u64 = 1_000_000_000;
/// The largest deviation that does not count as a violation, relative to users' solo tasks. It is
/// above 0, because some exact answers are rational numbers near an irrational optimum.
const TOLERANCE: (u32, u32) = (1, 1_000_000_000);

/// The largest size of the problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of users.
    pub users: usize,
    /// The number of server classes.
    pub classes: usize,
    /// The number of resources.
    pub resources: usize,
}

/// The settings of an audit.
#[derive(Clone)]
pub struct Settings {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// The other settings of the mechanism.
    pub flags: Flags,
    /// The axioms. If the list is empty, the audit uses the default axioms and the axiom that defines the mechanism.
    pub requests: Vec<Request>,
    /// The properties that are tested as well. To test a property, each problem must be solved many times.
    pub properties: Vec<Property>,
    /// The number of problems that are drawn.
    pub instances: u64,
    /// The seed of the random problems.
    pub seed: u64,
    /// The largest size of the problems.
    pub size: Size,
    /// The premises that every problem satisfies. Under [`Premises::NONE`] there may be users that can run on no
    /// server.
    pub premises: Premises,
}

impl Settings {
    /// Returns the settings for a thousand problems of at most 4 users, 3 classes and 3 resources.
    #[must_use]
    pub fn of(mechanism: &'static Mechanism) -> Self {
        Self {
            mechanism,
            flags: Flags::new(Arithmetic::Exact),
            requests: Vec::new(),
            properties: Vec::new(),
            instances: 1_000,
            seed: 0,
            size: Size { users: 4, classes: 3, resources: 3 },
            premises: Premises::NONE,
        }
    }

    /// Returns the random problem with this number, changed as little as necessary to satisfy the premises.
    fn drawn(&self, number: u64) -> Stated {
        let mut stated = Stated::from(draw(self.seed, number, self.size));
        self.premises.impose(&mut stated);
        stated
    }

    /// Converts the stated problem to a problem. Returns `None` if it is not valid or does not satisfy the
    /// premises.
    fn problem(&self, stated: &Stated) -> Option<Problem> {
        stated.problem().filter(|problem| self.premises.allow(problem))
    }

    fn subject(&self) -> Subject {
        Subject { mechanism: self.mechanism, flags: self.flags.clone(), tolerance: TOLERANCE }
    }
}

/// An error in the settings of an audit.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A setting is out of range.
    #[error("{what}: expected a number from {least} to {most}, found {found}")]
    Setting {
        /// The name of the setting.
        what: &'static str,
        /// The smallest value that is allowed.
        least: u64,
        /// The largest value that is allowed.
        most: u64,
        /// The stated value.
        found: u64,
    },
    /// The flags of the mechanism cannot be read, or a required flag is missing.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// An axiom cannot be requested.
    #[error(transparent)]
    Axiom(#[from] CertifyError),
    /// Max-min of one resource was requested. Random problems need not have this resource.
    #[error(
        "the problems of an audit have resources of their own: max-min of a named resource cannot be examined"
    )]
    Resource,
}

/// The result of an audit.
#[derive(Debug, Clone)]
pub struct Audit {
    /// The number of problems that were drawn.
    pub tried: u64,
    /// The number of problems for which the mechanism is not defined.
    pub not_applicable: u64,
    /// The number of problems without an answer, because a solver failed or a limit was reached.
    pub failed: u64,
    /// The results by axiom, in the order of the requests.
    pub axioms: Vec<Audited>,
    /// The results by property.
    pub properties: Vec<Probed>,
}

/// The result for a property.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The property.
    pub property: Property,
    /// The number of problems on which the property was tested.
    pub tried: u64,
    /// The number of problems that refute the property.
    pub refuted: u64,
    /// The first problem that refutes the property, reduced to a small one.
    pub example: Option<Refutation>,
    /// The number of the first problem that refutes the property.
    first: Option<u64>,
}

/// The result for an axiom.
#[derive(Debug, Clone)]
pub struct Audited {
    /// The axiom.
    pub axiom: Axiom,
    /// The parameters of the axiom.
    pub parameters: Parameters,
    /// The name of the axiom with its parameters, such as `max-min:drfh`.
    pub name: String,
    /// The name of the share in the axiom.
    pub share: Option<String>,
    /// The number of allocations for which the axiom was decided.
    pub decided: u64,
    /// The number of allocations that violate the axiom.
    pub violated: u64,
    /// The number of allocations to which the axiom does not apply, or for which it was not decided.
    pub open: u64,
    /// The first problem that violates the axiom, reduced to a small one.
    pub example: Option<Example>,
    /// The number of the first problem that violates the axiom.
    first: Option<u64>,
}

/// A problem, the mechanism's allocation, and the certificate that the allocation violates the axiom.
#[derive(Debug, Clone)]
pub struct Example {
    /// The problem, reduced to a small one.
    pub problem: Problem,
    /// The allocation of the mechanism.
    pub allocation: Allocation,
    /// The amount by which the axiom is violated. `None` if no number measures it.
    pub margin: Option<Rational>,
    /// The claim that the axiom is violated, with its evidence.
    pub examination: Examination,
}

/// Draws problems. For each axiom, it reduces the first problem that violates the axiom to a small one. `progress` is
/// called with the number of problems examined so far.
///
/// # Errors
/// [`AuditError`] if a setting is out of range, or if an axiom or flag does not suit the mechanism.
pub fn audit(settings: &Settings, mut progress: impl FnMut(u64)) -> Result<Audit, AuditError> {
    check(settings)?;
    let probed = |property| Probed { property, tried: 0, refuted: 0, example: None, first: None };
    let properties = settings.properties.iter().copied().map(probed).collect();
    let mut audit = Audit { tried: 0, not_applicable: 0, failed: 0, axioms: Vec::new(), properties };
    while audit.tried < settings.instances {
        progress(audit.tried);
        let batch = audit.tried..settings.instances.min(audit.tried + BATCH);
        let results: Vec<_> =
            batch.into_par_iter().map(|number| (number, examine_drawn(settings, number))).collect();
        for (number, looked) in results {
            audit.tried += 1;
            match looked? {
                ProblemResult::NotApplicable => audit.not_applicable += 1,
                ProblemResult::Failed => audit.failed += 1,
                ProblemResult::Examined(examination, refuted) => {
                    audit.count(number, &examination);
                    audit.count_refuted(number, &refuted);
                }
            }
        }
    }
    for each in &mut audit.axioms {
        each.example = each.first.and_then(|number| smallest(settings, each, number));
    }
    for each in &mut audit.properties {
        each.example = each.first.and_then(|number| {
            let subject = settings.subject();
            let refuted = |stated: &Stated| each.property.refuted(&subject, stated);
            let shows = |stated: &Stated| settings.problem(stated).is_some() && refuted(stated).is_some();
            refuted(&shrink::shrink(settings.drawn(number), shows))
        });
    }
    Ok(audit)
}

fn check(settings: &Settings) -> Result<(), AuditError> {
    let within = |what, found: u64, most: u64| {
        let fits = (1..=most).contains(&found);
        fits.then_some(()).ok_or(AuditError::Setting { what, least: 1, most, found })
    };
    within("users", settings.size.users as u64, MOST as u64)?;
    within("servers", settings.size.classes as u64, MOST as u64)?;
    within("resources", settings.size.resources as u64, MOST as u64)?;
    within("instances", settings.instances, MOST_INSTANCES)?;
    if settings.requests.iter().any(|request| matches!(request.parameters.share, Some(Share::Resource(_)))) {
        return Err(AuditError::Resource);
    }
    Ok(settings.mechanism.check(&settings.flags)?)
}

/// The result for one problem.
enum ProblemResult {
    NotApplicable,
    Failed,
    /// The examination, and for each property whether the problem refutes it.
    Examined(Box<Examination>, Vec<bool>),
}

fn examine_drawn(settings: &Settings, number: u64) -> Result<ProblemResult, AuditError> {
    let stated = settings.drawn(number);
    // Random problems are valid in all other respects: every user demands a resource, and every name exists. A server
    // may be empty.
    let Some(problem) = settings.problem(&stated) else { return Ok(ProblemResult::NotApplicable) };
    let subject = settings.subject();
    let allocation = match subject.allocated(&problem) {
        Ok(Some(allocation)) => allocation,
        Ok(None) => return Ok(ProblemResult::Failed),
        Err(MechanismError::NotApplicable { .. }) => return Ok(ProblemResult::NotApplicable),
        Err(error) => return Err(error.into()),
    };
    let examination = examined(settings, &problem, &allocation, &settings.requests)?;
    let probes = match settings.properties.as_slice() {
        [] => Vec::new(),
        properties => property::probe(&subject, &stated, properties).unwrap_or_default(),
    };
    let refuted = probes.iter().map(|probe| probe.refuted.is_some());
    Ok(ProblemResult::Examined(Box::new(examination), refuted.collect()))
}

fn examined(
    settings: &Settings,
    problem: &Problem,
    allocation: &Allocation,
    requests: &[Request],
) -> Result<Examination, AuditError> {
    let usual = || {
        let mut usual = default_requests(problem, allocation);
        usual.extend([Axiom::BottleneckFair, Axiom::SingleResourceFair].map(Request::of));
        if settings.mechanism.is_of_whole_tasks() {
            usual.push(Request::of(Axiom::Ef1));
        }
        usual
    };
    let requests = if requests.is_empty() { usual() } else { requests.to_vec() };
    Ok(certify(problem, allocation, &requests, &Rational::from(TOLERANCE))?)
}

impl Audit {
    fn count_refuted(&mut self, number: u64, refuted: &[bool]) {
        for (each, refuted) in self.properties.iter_mut().zip(refuted) {
            each.tried += 1;
            if *refuted {
                each.refuted += 1;
                each.first.get_or_insert(number);
            }
        }
    }

    fn count(&mut self, number: u64, examination: &Examination) {
        for claim in &examination.certificate.claims {
            let each = self.of(claim.axiom, &claim.parameters(), &examination.certificate.problem);
            match claim.holds {
                Some(holds) => {
                    each.decided += 1;
                    if !holds {
                        each.violated += 1;
                        each.first.get_or_insert(number);
                    }
                }
                None => each.open += 1,
            }
        }
        for (axiom, _) in &examination.undecided {
            // An axiom that is not decided has the same parameters as one that is decided.
            let known = self.axioms.iter().find(|each| each.axiom == *axiom);
            let parameters = known.map(|each| each.parameters.clone()).unwrap_or_default();
            self.of(*axiom, &parameters, &examination.certificate.problem).open += 1;
        }
    }

    fn of(&mut self, axiom: Axiom, parameters: &Parameters, problem: &Problem) -> &mut Audited {
        let known = |each: &Audited| each.axiom == axiom && each.parameters == *parameters;
        let at = self.axioms.iter().position(known).unwrap_or_else(|| {
            self.axioms.push(Audited {
                axiom,
                parameters: parameters.clone(),
                name: axiom_title(axiom, parameters, problem),
                share: parameters.share.map(|share| share.name(problem)),
                decided: 0,
                violated: 0,
                open: 0,
                example: None,
                first: None,
            });
            self.axioms.len() - 1
        });
        &mut self.axioms[at]
    }
}

/// Reduces the problem with this number. Every smaller problem still violates the axiom.
fn smallest(settings: &Settings, of: &Audited, number: u64) -> Option<Example> {
    let stated = shrink::shrink(settings.drawn(number), |stated| example(settings, of, stated).is_some());
    example(settings, of, &stated)
}

/// Returns the allocation and the certificate if the mechanism violates the axiom on this problem.
fn example(settings: &Settings, of: &Audited, stated: &Stated) -> Option<Example> {
    let problem = settings.problem(stated)?;
    let allocation = settings.subject().solved(&problem)?;
    let request = Request { axiom: of.axiom, parameters: of.parameters.clone() };
    let examination = examined(settings, &problem, &allocation, &[request]).ok()?;
    let claim = examination.claim(of.axiom, &of.parameters).filter(|claim| claim.holds == Some(false))?;
    let margin = claim.margin.clone();
    Some(Example { problem, allocation, margin, examination })
}
