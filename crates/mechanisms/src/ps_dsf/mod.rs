//! PS-DSF: per-server dominant-share fairness.
//!
//! The level of user `n` on class `i` is `x_n / (w_n gamma_ni)`, all its tasks counted wherever they
//! run. An allocation is PS-DSF when every user has all its tasks or, on every class on which it can
//! run, a bottleneck: a resource that it demands, that is full, and that nobody of a higher level
//! holds (PS-DSF, Theorem 1). Resources are divided (RDM); a class on which somebody states its
//! `gamma` is shared by time.
//!
//! Such allocations are not unique, not even in `x_n`. What is returned is the limit of sweeps over
//! the classes from an empty cluster. Where more than 1,000 pairs of user and class are possible it is
//! some solution near the tenth sweep, found by exchanges.

mod algorithm_1;
pub mod distributed;
pub mod float;
mod jump;
mod lift;
mod market;
mod pivot;
mod regime;
mod residual;
mod scalar;
mod settle;
mod solutions;
mod sparse;
mod supports;
mod sweep;
mod system;
mod tdm;
mod theorem;
mod violations;
mod water_filling;

use evenhand_exact::{Axiom, Parameters};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use self::algorithm_1::Limits;
use self::float::Settings;
use self::market::Market;
pub use self::tdm::PsDsfTdm;
use crate::mechanism::{
    Findings, Info, Mechanism, MechanismError, Method, OptionName, Options, Outcome, Status,
};
use crate::rounding;

/// PS-DSF with divided resources.
#[derive(Debug, Clone, Copy)]
pub struct PsDsf;

static INFO: Info = Info {
    id: "ps-dsf",
    aliases: &["ps-dsf-rdm"],
    title: "PS-DSF, resources divided",
    equalises: "x_n / (w_n gamma_ni) among the users of a bottleneck, on every class",
    guarantees: "sharing incentive; envy-free on the classes that the envious may use; bottleneck fair; neither unique nor always Pareto optimal",
    reference: "PS-DSF, Definition 5 and Theorem 1",
};

impl Mechanism for PsDsf {
    fn info(&self) -> &Info {
        &INFO
    }

    fn applies(&self, _problem: &Problem) -> Result<(), String> {
        Ok(())
    }

    fn options(&self) -> &'static [OptionName] {
        &[OptionName::Method, OptionName::Order, OptionName::Faces]
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let order = order(INFO.id, problem, options)?;
        if options.faces {
            let market = Market::<Rational>::new(&constraints);
            let faces = solutions::enumerate(&market, &solutions::Limits::default())
                .map_err(|source| MechanismError::Solver { mechanism: INFO.id, source })?;
            let mut outcome = self.allocate(problem, &Options { faces: false, ..options.clone() })?;
            outcome.findings.faces = Some(faces);
            return Ok(outcome);
        }
        match options.method {
            None | Some(Method::Sweep) => by_sweeps(&constraints, &INFO, order, options.arithmetic),
            Some(Method::Algorithm1) => by_algorithm_1(&constraints, &order, options.arithmetic),
            Some(method @ (Method::Market | Method::Trajectory)) => Err(no_method(INFO.id, method)),
        }
    }

    fn axiom(&self, _allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        Some((Axiom::PsDsf, Parameters::default()))
    }
}

/// Residual up to which a point in floating point is called solved.
const TOLERANCE: f64 = 1e-10;
/// Limits of Algorithm I, in floating point and exactly.
const FLOAT_LIMITS: Limits = Limits { rounds: 1000, updates: 10_000, bits: usize::MAX, tolerance: 1e-10 };
const EXACT_LIMITS: Limits = Limits { rounds: 60, updates: 1000, bits: 5000, tolerance: 0.0 };

fn no_method(mechanism: &'static str, method: Method) -> MechanismError {
    let why = format!("there is no method `{}` for it", method.name());
    MechanismError::BadOption { mechanism, option: OptionName::Method, why }
}

/// All classes in the order that the options ask for.
fn order(
    mechanism: &'static str,
    problem: &Problem,
    options: &Options,
) -> Result<Vec<usize>, MechanismError> {
    let index = problem.server_index();
    let mut order = Vec::with_capacity(problem.n_servers());
    for name in options.order.iter().flatten() {
        let why = |why: String| MechanismError::BadOption { mechanism, option: OptionName::Order, why };
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

/// The limit of the sweeps, in floating point or exactly.
fn by_sweeps(
    constraints: &Constraints<'_>,
    info: &Info,
    order: Vec<usize>,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    let market = Market::<f64>::new(constraints);
    let (point, found) = float::find(&market, &Settings { order, ..Settings::default() });
    let (tasks, status, bottlenecks) = match arithmetic {
        Arithmetic::Float => {
            let status = if found.residual <= TOLERANCE { Status::Solved } else { Status::Limit };
            (rounding::feasible(constraints, market.lists(&point)), status, None)
        }
        Arithmetic::Exact => {
            let exact = Market::<Rational>::new(constraints);
            let lifted = lift::lift(&market, &exact, &point).map_err(|why| {
                let why = format!("{why} (residual in floating point {:.1e})", found.residual);
                MechanismError::NotFound { mechanism: info.id, why }
            })?;
            let mut rows: Vec<usize> = lifted.bottlenecks.into_iter().flatten().collect();
            rows.sort_unstable();
            rows.dedup();
            (exact.lists(&lifted.point), Status::Solved, Some(rows))
        }
    };
    let iterations = Some(found.sweeps + found.steps);
    let findings = Findings { status: Some(status), iterations, bottlenecks, ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation(info, arithmetic, tasks)) })
}

/// Algorithm I of the paper.
fn by_algorithm_1(
    constraints: &Constraints<'_>,
    order: &[usize],
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    if let Some(user) = constraints.problem().users().iter().find(|user| user.tasks().is_some()) {
        let why = format!("algorithm-1 is for unlimited tasks, and user `{}` has a limit", user.name());
        return Err(MechanismError::BadOption { mechanism: INFO.id, option: OptionName::Method, why });
    }
    let (tasks, rounds, converged) = match arithmetic {
        Arithmetic::Float => {
            let market = Market::<f64>::new(constraints);
            let ended = algorithm_1::run(&market, order, &FLOAT_LIMITS);
            (rounding::feasible(constraints, market.lists(&ended.point)), ended.rounds, ended.converged)
        }
        Arithmetic::Exact => {
            let market = Market::<Rational>::new(constraints);
            let ended = algorithm_1::run(&market, order, &EXACT_LIMITS);
            let solved = ended.converged && theorem::bottlenecks(&market, &ended.point).is_ok();
            (market.lists(&ended.point), ended.rounds, solved)
        }
    };
    let status = Some(if converged { Status::Solved } else { Status::Limit });
    let findings = Findings { status, iterations: Some(rounds), ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation(&INFO, arithmetic, tasks)) })
}
