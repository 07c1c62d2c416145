//! No Justified Complaints (NJC): every user has all its tasks, or its entitlement of some saturated resource (NJC,
//! equation 2; for clusters docs/theory.md, section 3).
//!
//! The weighted proportionally fair allocation is such an allocation, and the limit of the paper's trajectory
//! (docs/theory.md, section 3, facts 1 and 2). It is the answer in floating point, but it can be irrational. The
//! exact answer is a rational allocation on the same face of the set of NJC allocations, which means that it has the
//! same bottlenecks and witnesses (fact 4).

mod answer;
mod no_entitlement;
pub(crate) mod onto_face;
mod reduce;
mod select;
mod trajectory;

use evenhand_exact::axiom::njc::examine;
use evenhand_exact::{Axiom, Instance, Parameters};
use evenhand_levels::njc::{EnumerationLimits, Goal, Tasks, enumerate};
use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use self::answer::{INFO, accept, exactly, in_floating_point, saturated};
use self::reduce::Reduction;
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::fair_sum::ladder::{Objective, leaving};
use crate::fair_sum::{self, FairPoint};
use crate::flags::{FACES, Flag, METHOD, Method, SECONDS, SELECT, Takes};
use crate::guarantees::Condition::{Always, OneServer};
use crate::mechanism::{Findings, Late, Mechanism, Outcome, Status};

/// No Justified Complaints.
pub static NJC: Mechanism = Mechanism {
    info: &INFO,
    proven: &[
        (Always, &[Axiom::Njc]),
        (OneServer, &[Axiom::ParetoOptimal, Axiom::WorkConserving, Axiom::SharingIncentive]),
    ],
    flags: &[
        SELECT,
        FACES,
        Flag {
            name: "reduce",
            takes: Takes::Nothing,
            help: "njc: first leave out what cannot matter (NJC, section 5.1); one server",
        },
        METHOD,
        Flag {
            name: "c-max",
            takes: Takes::Number("C"),
            help: "njc with --method trajectory: integrate up to this c (default: 1e13, or until no user complains)",
        },
        Flag {
            name: "barrier",
            takes: Takes::Resources("RESOURCE=W,..."),
            help: "njc: weights of the resources in the barrier that the path to the answer follows (NJC, section \
                   5.5); other weights, the same limit; one server",
        },
        no_entitlement::FLAG,
        SECONDS,
    ],
    axiom: |allocation| allocation.rule.is_none().then(|| (Axiom::Njc, Parameters::default())),
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Doubles,
    solve: |problem, flags| {
        let settings = Settings {
            arithmetic: flags.arithmetic,
            select: flags.value("select")?,
            reduce: flags.is_set("reduce"),
            faces: flags.is_set("faces"),
            method: flags.value("method")?,
            c_max: flags.number("c-max")?,
            barrier: flags.resources("barrier")?,
            no_entitlement: flags.listed(no_entitlement::FLAG.name).unwrap_or_default(),
        };
        allocate(problem, &settings)
    },
};

/// The choice among all allocations without justified complaints, and the method that computes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The kind of numbers in the answer.
    pub arithmetic: Arithmetic,
    /// The goal by which the allocation is selected.
    pub select: Option<Goal>,
    /// Whether a smaller problem with the same answers is solved instead.
    pub reduce: bool,
    /// Whether all such allocations are computed.
    pub faces: bool,
    /// `Some` to integrate the trajectory, `None` to compute its limit directly.
    pub method: Option<Method>,
    /// The value of `c` at which the integration of the trajectory stops.
    pub c_max: Option<Rational>,
    /// The positive weights of the resources in the barrier; 1 for resources that are not named. For one server only.
    pub barrier: Option<Vec<(String, Rational)>>,
    /// The users without entitlement: `e_n = 0`.
    pub no_entitlement: Vec<String>,
}

impl Settings {
    /// Creates the default settings for an arithmetic.
    #[must_use]
    pub fn new(arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..Self::default() }
    }
}

/// Computes an allocation without justified complaints.
///
/// # Errors
/// Returns a [`MechanismError`] if settings exclude each other, the problem is too large for them, or a solver
/// failed.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    check_method(settings)?;
    if !settings.no_entitlement.is_empty() {
        return no_entitlement::allocate(problem, settings);
    }
    if settings.method == Some(Method::Trajectory) {
        return trajectory::solve(&constraints, settings);
    }
    if settings.faces {
        let solver = |source| MechanismError::Solver { mechanism: INFO.id, source };
        let faces = enumerate(&constraints, &EnumerationLimits::default()).map_err(solver)?;
        let mut outcome = allocate(problem, &Settings { faces: false, ..settings.clone() })?;
        outcome.findings.faces = Some(faces);
        return Ok(outcome);
    }
    if let Some(goal) = settings.select {
        return select::best_for(&constraints, goal, settings.arithmetic);
    }
    if settings.reduce {
        let solver = |source| MechanismError::Solver { mechanism: INFO.id, source };
        let reduction = reduce::reduce(problem).map_err(solver)?.ok_or_else(|| {
            let why = "the reduction is for one server with divided resources".to_owned();
            MechanismError::NotApplicable { mechanism: INFO.id, why }
        })?;
        return allocate_reduced(problem, &reduction, settings);
    }
    let alpha = Rational::from(1);
    let objective = Objective { constraints: &constraints, alpha: &alpha, share: None };
    let mut points: Box<dyn Iterator<Item = Result<FairPoint, MechanismError>>> = match &settings.barrier {
        Some(weights) => Box::new(std::iter::once(by_barrier(&constraints, weights))),
        None => Box::new(objective.optima().map(|optimum| {
            let continuous = |source| MechanismError::Continuous { mechanism: INFO.id, source };
            optimum.map(|optimum| optimum.point).map_err(continuous)
        })),
    };
    let first = first_success(&mut points, Ok)?;
    if settings.arithmetic == Arithmetic::Float {
        return Ok(in_floating_point(&constraints, &first));
    }
    // If weights differ by 10^9, different methods are inaccurate for different users. A point with more digits also
    // distinguishes saturated rows from nearly saturated ones.
    let exact = leaving(8, || {
        let points = std::iter::once(Ok(first.clone())).chain(points);
        first_success(points, |point| exactly(&constraints, &point))
    });
    exact.unwrap_or_else(|| {
        let mut outcome = in_floating_point(&constraints, &first);
        outcome.findings.status = Some(Status::Limit);
        Ok(outcome)
    })
}

/// Returns the result of the first point for which `answer` succeeds, or else the first error.
fn first_success<T>(
    points: impl IntoIterator<Item = Result<FairPoint, MechanismError>>,
    answer: impl Fn(FairPoint) -> Result<T, MechanismError>,
) -> Result<T, MechanismError> {
    let mut first = None;
    for point in points {
        match point.and_then(&answer) {
            Ok(found) => return Ok(found),
            Err(error) => first = first.or(Some(error)),
        }
    }
    let why = "no method is for this problem".to_owned();
    Err(first.unwrap_or(MechanismError::NotFound { mechanism: INFO.id, why }))
}

/// Computes the limit of the central path whose barrier has these weights (NJC, section 5.5).
fn by_barrier(
    constraints: &Constraints<'_>,
    weights: &[(String, Rational)],
) -> Result<FairPoint, MechanismError> {
    let problem = constraints.problem();
    let bad = |why: String| MechanismError::BadOption { mechanism: INFO.id, option: "barrier", why };
    if problem.n_servers() != 1 {
        return Err(bad("the barrier is that of one server".to_owned()));
    }
    let mut by_resource = vec![1.0; problem.n_resources()];
    for (name, weight) in weights {
        let resource = problem.resources().iter().position(|resource| resource == name);
        let resource = resource.ok_or_else(|| bad(format!("there is no resource `{name}`")))?;
        if *weight <= 0 {
            return Err(bad(format!("the weight of `{name}` should be positive")));
        }
        by_resource[resource] = near(weight);
    }
    fair_sum::pool::maximise(constraints, Some(&by_resource)).ok_or_else(|| MechanismError::NotFound {
        mechanism: INFO.id,
        why: "with these weights the path does not come near its limit in doubles".to_owned(),
    })
}

/// Checks that the settings fit together. The trajectory is the only method with a name, and it excludes all other
/// choices.
fn check_method(settings: &Settings) -> Result<(), MechanismError> {
    let bad = |option, why: &str| {
        Err(MechanismError::BadOption { mechanism: INFO.id, option, why: why.to_owned() })
    };
    match settings.method {
        None if settings.barrier.is_some()
            && (settings.select.is_some() || settings.faces || settings.reduce) =>
        {
            bad("barrier", "the path has one end: no --select, --faces or --reduce")
        }
        None if settings.c_max.is_some() => bad("c-max", "it goes with --method trajectory"),
        None => Ok(()),
        Some(Method::Trajectory) if settings.barrier.is_some() => {
            bad("barrier", "the trajectory is that of the paper's equation, with weights of 1")
        }
        Some(Method::Trajectory) if settings.select.is_some() || settings.faces || settings.reduce => {
            bad("method", "the trajectory has one end: no --select, --faces or --reduce")
        }
        Some(Method::Trajectory) => Ok(()),
        Some(_) => bad("method", "the only method with a name is `trajectory`"),
    }
}

/// Solves the smaller problem and adds the tasks of the users that the reduction settled. An exact answer is checked
/// on the whole problem.
fn allocate_reduced(
    problem: &Problem,
    reduction: &Reduction,
    settings: &Settings,
) -> Result<Outcome, MechanismError> {
    let mut tasks: Tasks = vec![Vec::new(); problem.n_users()];
    for &n in &reduction.satisfied {
        tasks[n] = problem.users()[n].tasks().map(|limit| vec![(0, limit.clone())]).unwrap_or_default();
    }
    let mut status = None;
    let mut iterations = None;
    if let Some(rest) = &reduction.problem {
        let outcome = allocate(rest, &Settings { reduce: false, ..settings.clone() })?;
        (status, iterations) = (outcome.findings.status, outcome.findings.iterations);
        for (&n, list) in reduction.users.iter().zip(outcome.allocation.tasks) {
            tasks[n] = list;
        }
    }
    if settings.arithmetic == Arithmetic::Exact {
        return accept(problem, tasks).ok_or_else(|| MechanismError::NotFound {
            mechanism: INFO.id,
            why: "the answer of the reduced problem does not pass the exact check".to_owned(),
        });
    }
    let allocation = Allocation { mechanism: Some(INFO.id.to_owned()), tasks, ..Allocation::default() };
    let instance = Instance::new(problem, &allocation).ok();
    let witnesses = instance.as_ref().and_then(examine).map(|found| found.witnesses);
    let rounding = Rational::from((1, 1_000_000_000));
    let bottlenecks = instance.map(|instance| saturated(&instance, &rounding));
    let findings = Findings { witnesses, bottlenecks, status, iterations, ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation) })
}
