//! PS-DSF on time-shared servers: the exact equilibrium of a linear Fisher market.
//!
//! Theorem 2 of PS-DSF is the optimality condition of `sum_n w_n log x_n` under the time constraints, with
//! finite numbers of tasks as limits (docs/theory.md, section 4, fact 5). The total `x_n` is unique and
//! rational. The placement is not unique.
//!
//! `--method sweep` is the paper's simplified algorithm (footnote 4), which fills every class in turn. With
//! unlimited tasks, it is block coordinate ascent of the same sum and ends with the same totals. With task
//! limits, it would end at a point of Theorem 2 that depends on the order of the classes and need not be the
//! optimum. This mechanism is defined as the optimum, so the method is not offered with task limits.

use evenhand_exact::{Axiom, Parameters, Prices};
use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use super::Settings;
use crate::error::MechanismError;
use crate::fair_sum::ladder::Objective;
use crate::fisher;
use crate::flags::{METHOD, Method, ORDER, SECONDS};
use crate::guarantees::Condition::Always;
use crate::market;
use crate::mechanism::{Findings, Info, Late, Mechanism, Outcome, Status};
use crate::{proportional, rounding};

pub(super) static INFO: Info = Info {
    id: "ps-dsf-tdm",
    aliases: &[],
    title: "PS-DSF, servers shared by time",
    equalises: "x_n / (w_n gamma_ni) on the classes where n runs",
    guarantees: "Pareto optimal, envy-free and sharing incentive under time sharing",
    reference: "PS-DSF, Theorem 2; Fisher market: theory, section 4, Fact 5",
};

/// The mechanism PS-DSF on time-shared servers.
pub static PS_DSF_TDM: Mechanism = Mechanism {
    info: &INFO,
    proven: &[(
        Always,
        &[
            Axiom::PsDsf,
            Axiom::ParetoOptimal,
            Axiom::WorkConserving,
            Axiom::SharingIncentive,
            Axiom::EnvyFree,
            Axiom::Proportional,
        ],
    )],
    flags: &[METHOD, ORDER, SECONDS],
    axiom: |_| Some((Axiom::PsDsf, Parameters::default())),
    equals: super::equals,
    joins: false,
    late: Late::Doubles,
    solve: |problem, flags| allocate(problem, &Settings::of(flags)?),
};

/// Computes the PS-DSF allocation of time-shared servers.
///
/// # Errors
/// Returns a [`MechanismError`] if settings are invalid or no exact answer was found.
pub fn allocate(problem: &Problem, options: &Settings) -> Result<Outcome, MechanismError> {
    let constraints = Constraints::new(problem, Sharing::Tdm);
    super::order(INFO.id, problem, options)?;
    match options.method {
        Some(Method::Sweep) => {
            unlimited(problem)?;
            let first = problem.servers().iter().map(|server| server.name().to_owned()).collect();
            let order = options.order.clone().or(Some(first));
            return super::by_search(problem, Sharing::Tdm, &INFO, &Settings { order, ..options.clone() });
        }
        Some(method @ (Method::Algorithm1 | Method::Trajectory)) => {
            return Err(super::no_method(INFO.id, method));
        }
        None | Some(Method::Market) if options.order.is_some() => {
            let why = "only --method sweep has an order".to_owned();
            return Err(MechanismError::BadOption { mechanism: INFO.id, option: "order", why });
        }
        None | Some(Method::Market) => {}
    }
    let allocation = |tasks| super::allocation(&INFO, options.arithmetic, tasks);
    if let Some(found) = market::equilibrium(&constraints) {
        let (equilibrium, steps) = (found.equilibrium, found.steps);
        return Ok(match options.arithmetic {
            Arithmetic::Exact => solved(allocation(equilibrium.tasks), equilibrium.prices, steps),
            Arithmetic::Float => {
                let near = |list: &Vec<(usize, Rational)>| list.iter().map(|(i, x)| (*i, near(x))).collect();
                let tasks = equilibrium.tasks.iter().map(near).collect();
                let allocation = allocation(rounding::feasible(&constraints, tasks));
                let one = Rational::from(1);
                let findings =
                    proportional::findings_at(problem, &allocation, &one, None, &equilibrium.prices);
                let findings = Findings { iterations: Some(steps), ..findings };
                Outcome { findings, ..Outcome::of(allocation) }
            }
        });
    }
    let one = Rational::from(1);
    let point = Objective { constraints: &constraints, alpha: &one, share: None }
        .first()
        .map_err(|source| MechanismError::Continuous { mechanism: INFO.id, source })?;
    match options.arithmetic {
        Arithmetic::Float => {
            let allocation = allocation(rounding::feasible(&constraints, point.tasks()));
            let findings = proportional::findings(problem, &allocation, &one, None, &point);
            Ok(Outcome { findings, ..Outcome::of(allocation) })
        }
        Arithmetic::Exact => {
            let found = fisher::best(&constraints, &one, &point);
            let found =
                found.filter(|found| found.gap.is_zero()).ok_or_else(|| MechanismError::NotFound {
                    mechanism: INFO.id,
                    why: "no forest of purchases near the optimum solves the market exactly".to_owned(),
                })?;
            Ok(solved(allocation(found.tasks), found.prices, point.iterations))
        }
    }
}

/// Returns the outcome for a verified equilibrium with its prices.
fn solved(allocation: Allocation, prices: Prices, steps: usize) -> Outcome {
    let findings = Findings {
        status: Some(Status::Solved),
        prices: Some(prices),
        gap: Some(Rational::new()),
        iterations: Some(steps),
        ..Findings::default()
    };
    Outcome { findings, ..Outcome::of(allocation) }
}

/// Checks that no user has a task limit, which the sweep requires.
fn unlimited(problem: &Problem) -> Result<(), MechanismError> {
    match problem.users().iter().find(|user| user.tasks().is_some()) {
        None => Ok(()),
        Some(user) => {
            let why = format!(
                "sweep supports only unlimited tasks, but user `{}` has a limit: the result would depend on the order \
                of the classes and might not be the optimum that {} is; leave the option out",
                user.name(),
                INFO.id
            );
            Err(MechanismError::BadOption { mechanism: INFO.id, option: "method", why })
        }
    }
}
