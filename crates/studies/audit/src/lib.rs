//! Audits: small allocation problems on which a mechanism breaks an axiom, and how often random ones do.
//!
//! Random problems in small whole numbers are solved by the mechanism, and every allocation is examined by
//! [`evenhand_certify`]. The first problem on which an axiom is violated is made smaller as long as it still is; the
//! result comes with its certificate, so that the search need not be believed. It depends on the settings alone, not on
//! threads. Finding no violation proves nothing.
//!
//! # Examples
//! To serve the most tasks makes users envious of each other, already two of them:
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

/// Instances that are looked at in one go, on all threads.
const BATCH: u64 = 64;
/// Most users, classes and resources.
pub const MOST: usize = 6;
/// Most instances.
pub const MOST_INSTANCES: u64 = 1_000_000_000;
/// What is no violation yet, in what users would have alone: answers with a gap are rational numbers near the optimum.
const TOLERANCE: (u32, u32) = (1, 1_000_000_000);

/// How large problems are, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Users.
    pub users: usize,
    /// Server classes.
    pub classes: usize,
    /// Resources.
    pub resources: usize,
}

/// What is audited.
#[derive(Clone)]
pub struct Settings {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// What else is set of it.
    pub flags: Flags,
    /// The axioms; none: the usual ones, and that which the mechanism is made for.
    pub requests: Vec<Request>,
    /// Properties that are looked at as well: each costs many solutions of a problem.
    pub properties: Vec<Property>,
    /// How many problems are drawn.
    pub instances: u64,
    /// What they are drawn by.
    pub seed: u64,
    /// How large they are.
    pub size: Size,
    /// The premises that every problem satisfies. Under [`Premises::NONE`] users may also be unable to run.
    pub premises: Premises,
}

impl Settings {
    /// A thousand problems of at most 4 users, 3 classes and 3 resources.
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

    /// Returns the problem of this number, changed as little as the premises need.
    fn drawn(&self, number: u64) -> Stated {
        let mut stated = Stated::from(draw(self.seed, number, self.size));
        self.premises.impose(&mut stated);
        stated
    }

    /// Returns the problem that is stated, where it keeps to the premises.
    fn problem(&self, stated: &Stated) -> Option<Problem> {
        stated.problem().filter(|problem| self.premises.allow(problem))
    }

    fn subject(&self) -> Subject {
        Subject { mechanism: self.mechanism, flags: self.flags.clone(), tolerance: TOLERANCE }
    }
}

/// Why there is no audit.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A setting is out of range.
    #[error("{what}: expected a number from {least} to {most}, found {found}")]
    Setting {
        /// Which.
        what: &'static str,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// What was stated.
        found: u64,
    },
    /// The flags of the mechanism cannot be read, or one is missing.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// An axiom cannot be asked for.
    #[error(transparent)]
    Axiom(#[from] CertifyError),
    /// Max-min of a resource, which drawn problems need not have.
    #[error("the problems of an audit have resources of their own: max-min of one cannot be asked for")]
    Resource,
}

/// What came of an audit.
#[derive(Debug, Clone)]
pub struct Audit {
    /// Problems that were drawn.
    pub tried: u64,
    /// Those for which the mechanism is not defined.
    pub not_applicable: u64,
    /// Those on which it ended without an answer: a solver failed, or a limit was reached.
    pub failed: u64,
    /// By axiom, in the order of the requests.
    pub axioms: Vec<Audited>,
    /// By property.
    pub properties: Vec<Probed>,
}

/// What came of a property.
#[derive(Debug, Clone)]
pub struct Probed {
    /// The property.
    pub property: Property,
    /// Problems on which it was tried.
    pub tried: u64,
    /// Those among them that refute it.
    pub refuted: u64,
    /// The first that does, made smaller.
    pub example: Option<Refutation>,
    /// The number of that problem before.
    first: Option<u64>,
}

/// What came of an axiom.
#[derive(Debug, Clone)]
pub struct Audited {
    /// The axiom.
    pub axiom: Axiom,
    /// What it is about.
    pub parameters: Parameters,
    /// Both, as `max-min:drfh`.
    pub name: String,
    /// The name of the share that it is about.
    pub share: Option<String>,
    /// Allocations of which it was decided.
    pub decided: u64,
    /// Those among them that violate it.
    pub violated: u64,
    /// Those to which it does not apply, or of which it was left open.
    pub open: u64,
    /// The first that violates it, made smaller.
    pub example: Option<Example>,
    /// The number of that problem before.
    first: Option<u64>,
}

/// A problem, what the mechanism allocates, and the certificate that it violates the axiom.
#[derive(Debug, Clone)]
pub struct Example {
    /// The problem.
    pub problem: Problem,
    /// What the mechanism allocates.
    pub allocation: Allocation,
    /// By how much the axiom is violated; `None` where no number says it.
    pub margin: Option<Rational>,
    /// The claim alone, with its evidence.
    pub examination: Examination,
}

/// Draws problems, and makes the first that violates each axiom smaller. `progress` is called with the number of
/// problems that were looked at.
///
/// # Errors
/// [`AuditError`]: a setting is out of range, or what is asked for cannot be asked of the mechanism.
pub fn audit(settings: &Settings, mut progress: impl FnMut(u64)) -> Result<Audit, AuditError> {
    check(settings)?;
    let probed = |property| Probed { property, tried: 0, refuted: 0, example: None, first: None };
    let properties = settings.properties.iter().copied().map(probed).collect();
    let mut audit = Audit { tried: 0, not_applicable: 0, failed: 0, axioms: Vec::new(), properties };
    while audit.tried < settings.instances {
        progress(audit.tried);
        let batch = audit.tried..settings.instances.min(audit.tried + BATCH);
        let looks: Vec<_> = batch.into_par_iter().map(|number| (number, look(settings, number))).collect();
        for (number, looked) in looks {
            audit.tried += 1;
            match looked? {
                Look::NotApplicable => audit.not_applicable += 1,
                Look::Failed => audit.failed += 1,
                Look::Examined(examination, refuted) => {
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

/// What came of one problem.
enum Look {
    NotApplicable,
    Failed,
    /// And by property whether it is refuted there.
    Examined(Box<Examination>, Vec<bool>),
}

fn look(settings: &Settings, number: u64) -> Result<Look, AuditError> {
    let stated = settings.drawn(number);
    // No user demands nothing here, and every name is there; a server that has nothing is no fault either.
    let Some(problem) = settings.problem(&stated) else { return Ok(Look::NotApplicable) };
    let subject = settings.subject();
    let allocation = match subject.allocated(&problem) {
        Ok(Some(allocation)) => allocation,
        Ok(None) => return Ok(Look::Failed),
        Err(MechanismError::NotApplicable { .. }) => return Ok(Look::NotApplicable),
        Err(error) => return Err(error.into()),
    };
    let examination = examined(settings, &problem, &allocation, &settings.requests)?;
    let probes = match settings.properties.as_slice() {
        [] => Vec::new(),
        properties => property::probe(&subject, &stated, properties).unwrap_or_default(),
    };
    let refuted = probes.iter().map(|probe| probe.refuted.is_some());
    Ok(Look::Examined(Box::new(examination), refuted.collect()))
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
            // What is left open is not about other parameters than what was decided.
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

/// The problem of that number made smaller as long as it violates the axiom.
fn smallest(settings: &Settings, of: &Audited, number: u64) -> Option<Example> {
    let stated = shrink::shrink(settings.drawn(number), |stated| example(settings, of, stated).is_some());
    example(settings, of, &stated)
}

/// What the mechanism gives there, where it violates the axiom.
fn example(settings: &Settings, of: &Audited, stated: &Stated) -> Option<Example> {
    let problem = settings.problem(stated)?;
    let allocation = settings.subject().solved(&problem)?;
    let request = Request { axiom: of.axiom, parameters: of.parameters.clone() };
    let examination = examined(settings, &problem, &allocation, &[request]).ok()?;
    let claim = examination.claim(of.axiom, &of.parameters).filter(|claim| claim.holds == Some(false))?;
    let margin = claim.margin.clone();
    Some(Example { problem, allocation, margin, examination })
}
