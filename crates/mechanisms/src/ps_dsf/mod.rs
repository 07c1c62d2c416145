//! PS-DSF: per-server dominant-share fairness (docs/theory.md, section 4).
//!
//! The level of user `n` on server class `i` is `x_n / (w_n gamma_ni)`, its virtual dominant share divided by
//! its weight. All tasks of the user count, wherever they run. An allocation is PS-DSF if every user has all
//! its tasks or has a bottleneck on every class on which it may run. A bottleneck is a resource that the user
//! demands, that is full, and that no user with a higher level uses (PS-DSF, Theorem 1). The resources of a
//! class are divided (RDM). If a user states its `gamma` on a class, the class is shared by time.
//!
//! PS-DSF allocations are not unique, not even in `x_n`. `strategy` lists all methods that are tried, and
//! `search` carries them out. Of the exact answers found, the answer that serves most tasks is returned, so
//! no answer found dominates it. `tdm` applies the same rule to time-shared servers, where the answer is
//! unique.

mod algorithm_1;
mod candidates;
mod canonical;
pub mod distributed;
mod homotopy;
mod neighbours;
mod pairs;
mod residual;
mod scalar;
mod search;
mod solutions;
mod strategy;
pub mod tdm;
mod theorem_1;
mod water_filling;

use std::time::{Duration, Instant};

use evenhand_budget::{Limits, within};
use evenhand_exact::{Axiom, Parameters};
use evenhand_levels::njc::Goal;
use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use self::algorithm_1::RoundLimits;
use self::canonical::Canonical;
use self::pairs::PairModel;
pub use self::residual::residual_of;
pub(crate) use self::water_filling::alone;
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{FACES, Flags, METHOD, Method, ORDER, SECONDS, SELECT};
use crate::guarantees::Condition::{Always, OneDemandWithoutEnd};
use crate::mechanism::{Bound, Findings, Info, Late, Mechanism, Outcome, Selected, Status};

static INFO: Info = Info {
    id: "ps-dsf",
    aliases: &["ps-dsf-rdm"],
    title: "PS-DSF, resources divided",
    equalises: "x_n / (w_n gamma_ni) among the users of a bottleneck, on every class",
    guarantees: "sharing incentive; envy-free on the classes that the envious may use; bottleneck fair; neither unique nor always Pareto optimal",
    reference: "PS-DSF, Definition 5 and Theorem 1",
};

/// The mechanism PS-DSF with divided resources.
pub static PS_DSF: Mechanism = Mechanism {
    info: &INFO,
    proven: &[
        (Always, &[Axiom::PsDsf, Axiom::WorkConserving, Axiom::SharingIncentive, Axiom::EnvyFree]),
        (OneDemandWithoutEnd, &[Axiom::BottleneckFair, Axiom::SingleResourceFair]),
    ],
    flags: &[METHOD, ORDER, FACES, SELECT, SECONDS],
    axiom: |_| Some((Axiom::PsDsf, Parameters::default())),
    equals,
    joins: false,
    late: Late::Itself,
    solve: |problem, flags| allocate(problem, &Settings::of(flags)?),
};

/// Returns how identical users are treated. They have equal levels in every PS-DSF allocation, so they can be
/// merged. With `faces` or `select`, they are not merged, because the answer then concerns each user.
fn equals(flags: &Flags) -> Result<Equals, MechanismError> {
    Ok(if flags.is_set("faces") || flags.is_set("select") { Equals::Apart } else { Equals::ByWeight })
}

/// The choice among PS-DSF allocations, and the method that computes an allocation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The arithmetic of the answer.
    pub arithmetic: Arithmetic,
    /// The goal by which an answer is selected. The default goal is the number of tasks.
    pub select: Option<Goal>,
    /// `true` if all PS-DSF allocations are computed.
    pub faces: bool,
    /// The method, or `None` to choose the method automatically.
    pub method: Option<Method>,
    /// The names of server classes in the order in which they are swept. Classes that are not named follow in the
    /// order of the problem.
    pub order: Option<Vec<String>>,
    /// The time limit, after which the search stops.
    pub seconds: Option<Duration>,
}

impl Settings {
    /// Creates the default settings for an arithmetic.
    #[must_use]
    pub fn new(arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..Self::default() }
    }

    fn of(flags: &Flags) -> Result<Self, MechanismError> {
        Ok(Self {
            arithmetic: flags.arithmetic,
            select: flags.value("select")?,
            faces: flags.is_set("faces"),
            method: flags.value("method")?,
            order: flags.listed("order"),
            seconds: flags.seconds()?,
        })
    }
}

/// Computes a PS-DSF allocation with divided resources.
///
/// # Errors
/// Returns a [`MechanismError`] if settings are invalid or no exact answer was found.
pub fn allocate(problem: &Problem, options: &Settings) -> Result<Outcome, MechanismError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let order = order(INFO.id, problem, options)?;
    if options.faces {
        let model = PairModel::<Rational>::new(&constraints);
        let limits = Limits { time: options.seconds, ..Limits::default() };
        let faces = within(&limits, || solutions::enumerate(&model, &solutions::FaceLimits::default()))
            .ok()
            .transpose()
            .map_err(|source| MechanismError::Solver { mechanism: INFO.id, source })?;
        let mut outcome = allocate(problem, &Settings { faces: false, ..options.clone() })?;
        if faces.is_none() {
            outcome.findings.status = Some(Status::Limit);
        }
        outcome.findings.faces = faces;
        return Ok(outcome);
    }
    match options.method {
        None | Some(Method::Sweep) => by_search(problem, Sharing::Rdm, &INFO, options),
        Some(Method::Algorithm1) => by_algorithm_1(&constraints, &order, options),
        Some(method @ (Method::Market | Method::Trajectory)) => Err(no_method(INFO.id, method)),
    }
}

/// The largest residual of a floating-point solution that counts as solved. Solutions have only the residual that
/// rounding causes.
const TOLERANCE: f64 = 1e-10;
/// The limits of Algorithm I in floating point. Of 300 random instances, 280 converge within them.
const FLOAT_LIMITS: RoundLimits =
    RoundLimits { rounds: 1000, updates: 10_000, bits: usize::MAX, tolerance: 1e-10, until: None };
/// The limits of Algorithm I in rationals. Runs that reach numbers of 5,000 bits approach their limit without ever
/// reaching it.
const EXACT_LIMITS: RoundLimits =
    RoundLimits { rounds: 60, updates: 1000, bits: 5000, tolerance: 0.0, until: None };

fn no_method(mechanism: &'static str, method: Method) -> MechanismError {
    let why = format!("it has no method `{}`", method.name());
    MechanismError::BadOption { mechanism, option: "method", why }
}

/// Returns all classes in the order that the settings request.
fn order(
    mechanism: &'static str,
    problem: &Problem,
    options: &Settings,
) -> Result<Vec<usize>, MechanismError> {
    let index = problem.server_index();
    let mut order = Vec::with_capacity(problem.n_servers());
    for name in options.order.iter().flatten() {
        let why = |why: String| MechanismError::BadOption { mechanism, option: "order", why };
        let class = *index.get(name.as_str()).ok_or_else(|| why(format!("there is no server `{name}`")))?;
        if order.contains(&class) {
            return Err(why(format!("server `{name}` is named twice")));
        }
        order.push(class);
    }
    let rest: Vec<usize> = (0..problem.n_servers()).filter(|i| !order.contains(i)).collect();
    order.extend(rest);
    Ok(order)
}

fn allocation(info: &Info, arithmetic: Arithmetic, tasks: Vec<Vec<(usize, Rational)>>) -> Allocation {
    Allocation {
        mechanism: Some(info.id.to_owned()),
        sharing: if info.id == tdm::INFO.id { Sharing::Tdm } else { Sharing::Rdm },
        arithmetic,
        tasks,
        ..Allocation::default()
    }
}

/// Returns the best answer of the search, exact or rounded to doubles.
fn by_search(
    problem: &Problem,
    sharing: Sharing,
    info: &Info,
    options: &Settings,
) -> Result<Outcome, MechanismError> {
    let goal = match options.select {
        Some(Goal::MaxMinShare) => {
            let why = "expected max-tasks or max-utilisation".to_owned();
            return Err(MechanismError::BadOption { mechanism: info.id, option: "select", why });
        }
        goal => goal,
    };
    let canonical = Canonical::new(problem)
        .map_err(|error| MechanismError::NotFound { mechanism: info.id, why: error.to_string() })?;
    let constraints = Constraints::new(&canonical.problem, sharing);
    let named = match &options.order {
        Some(_) => Some(order(info.id, &canonical.problem, options)?),
        None => None,
    };
    let found = search::search(&constraints, named.as_deref(), goal, options.seconds);
    let iterations = Some(found.spent.sweeps + found.spent.active_sets);
    // If the time is up without an exact answer, the best point in doubles is returned.
    let late = found.answer.is_none() && found.is_late;
    let arithmetic = if late { Arithmetic::Float } else { options.arithmetic };
    let (tasks, status, bottlenecks) = match (&found.answer, arithmetic, &found.closest) {
        (Some(answer), Arithmetic::Exact, _) => {
            let rows = canonical.rows(problem, sharing, &answer.bottlenecks);
            (answer.tasks.clone(), Status::Solved, Some(rows))
        }
        (Some(answer), Arithmetic::Float, _) => {
            let near = |list: &Vec<(usize, Rational)>| list.iter().map(|(i, x)| (*i, near(x))).collect();
            let tasks = answer.tasks.iter().map(near).collect();
            (crate::rounding::feasible(&constraints, tasks), Status::Solved, None)
        }
        (None, Arithmetic::Float, Some(closest)) => {
            let point = found.model.tasks_by_user(&closest.point);
            let is_solved = closest.residual <= TOLERANCE && !late;
            let status = if is_solved { Status::Solved } else { Status::Limit };
            (crate::rounding::feasible(&constraints, point), status, None)
        }
        (None, Arithmetic::Float, None) if late => (swept(&constraints, &found.model), Status::Limit, None),
        (None, ..) => {
            let why = format!(
                "limit: no exact answer after {} starts, {} sweeps and {} active sets: {}",
                found.search.tried.len(),
                found.spent.sweeps,
                found.spent.active_sets,
                found.violation.map_or_else(
                    || "no path reached an answer".to_owned(),
                    |violation| violation.to_string()
                )
            );
            return Err(MechanismError::NotFound { mechanism: info.id, why });
        }
    };
    let selected = goal.filter(|_| found.answer.is_some()).map(|goal| Selected {
        goal,
        value: goal.value(&constraints, &tasks),
        bound: Bound::Found,
    });
    let search = found.answer.is_some().then_some(found.search);
    let allocation = canonical.in_the_order_of_the_file(allocation(info, arithmetic, tasks));
    let findings =
        Findings { status: Some(status), iterations, bottlenecks, selected, search, ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation) })
}

/// Returns the point that a few sweeps reach from an empty cluster.
fn swept(constraints: &Constraints<'_>, model: &PairModel<f64>) -> Vec<Vec<(usize, Rational)>> {
    let order: Vec<usize> = (0..model.n_classes()).collect();
    let mut point = model.empty();
    for _ in 0..FEW_SWEEPS {
        if residual::residual(model, &point) <= TOLERANCE {
            break;
        }
        water_filling::sweep(model, &order, &mut point);
    }
    crate::rounding::feasible(constraints, model.tasks_by_user(&point))
}

/// The number of sweeps after which most bottlenecks no longer change.
const FEW_SWEEPS: usize = 10;

/// Computes the answer of Algorithm I of the paper.
fn by_algorithm_1(
    constraints: &Constraints<'_>,
    order: &[usize],
    options: &Settings,
) -> Result<Outcome, MechanismError> {
    let arithmetic = options.arithmetic;
    let until = options.seconds.and_then(|seconds| Instant::now().checked_add(seconds));
    if let Some(user) = constraints.problem().users().iter().find(|user| user.tasks().is_some()) {
        let why =
            format!("algorithm-1 supports only unlimited tasks, but user `{}` has a limit", user.name());
        return Err(MechanismError::BadOption { mechanism: INFO.id, option: "method", why });
    }
    let (tasks, rounds, converged) = match arithmetic {
        Arithmetic::Float => {
            let model = PairModel::<f64>::new(constraints);
            let ended = algorithm_1::run(&model, order, &RoundLimits { until, ..FLOAT_LIMITS });
            (
                crate::rounding::feasible(constraints, model.tasks_by_user(&ended.point)),
                ended.rounds,
                ended.converged,
            )
        }
        Arithmetic::Exact => {
            let model = PairModel::<Rational>::new(constraints);
            let ended = algorithm_1::run(&model, order, &RoundLimits { until, ..EXACT_LIMITS });
            let solved = ended.converged && theorem_1::bottlenecks(&model, &ended.point).is_ok();
            (model.tasks_by_user(&ended.point), ended.rounds, solved)
        }
    };
    let status = Some(if converged { Status::Solved } else { Status::Limit });
    let findings = Findings { status, iterations: Some(rounds), ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation(&INFO, arithmetic, tasks)) })
}
