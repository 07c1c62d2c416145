//! PS-DSF: per-server dominant-share fairness.
//!
//! The level of user `n` on class `i` is `x_n / (w_n gamma_ni)`, all its tasks counted wherever they
//! run. An allocation is PS-DSF when every user has all its tasks or, on every class on which it can
//! run, a bottleneck: a resource that it demands, that is full, and that nobody of a higher level
//! holds (PS-DSF, Theorem 1). Resources are divided (RDM); a class on which somebody states its
//! `gamma` is shared by time.
//!
//! Such allocations are not unique, not even in `x_n`. What is returned is the limit of sweeps over
//! the classes from an empty cluster.

mod filling;
pub mod float;
mod jump;
mod lift;
mod market;
mod regime;
mod residual;
mod scalar;
mod settle;
mod smooth;
mod solver;
mod sweep;
mod tdm;
mod theorem;

use evenhand_exact::{Axiom, Parameters};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use self::float::Settings;
use self::market::Market;
pub use self::tdm::PsDsfTdm;
use crate::mechanism::{Findings, Info, Mechanism, MechanismError, OptionName, Options, Outcome, Status};
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
        &[]
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let market = Market::<f64>::new(&constraints);
        let (point, limit) = float::find(&market, &Settings::default());
        let allocation = |tasks| Allocation {
            mechanism: Some(INFO.id.to_owned()),
            arithmetic: options.arithmetic,
            tasks,
            ..Allocation::default()
        };
        match options.arithmetic {
            Arithmetic::Float => {
                let solved = limit.residual <= TOLERANCE;
                let findings = Findings {
                    status: Some(if solved { Status::Solved } else { Status::Limit }),
                    iterations: Some(limit.sweeps),
                    ..Findings::default()
                };
                let tasks = rounding::feasible(&constraints, market.lists(&point));
                Ok(Outcome { findings, ..Outcome::of(allocation(tasks)) })
            }
            Arithmetic::Exact => {
                let exact = Market::<Rational>::new(&constraints);
                let lifted = lift::lift(&market, &exact, &point).map_err(|why| MechanismError::NotFound {
                    mechanism: INFO.id,
                    why: format!("{why} DBG {:?}", limit),
                })?;
                let findings = Findings {
                    status: Some(Status::Solved),
                    iterations: Some(limit.sweeps),
                    ..Findings::default()
                };
                Ok(Outcome { findings, ..Outcome::of(allocation(exact.lists(&lifted.point))) })
            }
        }
    }

    fn axiom(&self, _allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        None
    }
}

/// Residual up to which a point in floating point is called solved.
const TOLERANCE: f64 = 1e-10;
