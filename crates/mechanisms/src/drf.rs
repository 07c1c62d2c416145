//! DRF: equalise the dominant share on one server.
//!
//! The special case of DRFH for a single server, where it has all of its properties: sharing
//! incentive, envy-freeness, Pareto optimality and truthfulness (proven by Ghodsi et al.; DRFH,
//! section III-C, asks for it as "single-server DRF").

use evenhand_exact::{Axiom, Share};
use evenhand_problem::{Arithmetic, Problem};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Dominant Resource Fairness on one server.
pub struct Drf;

static INFO: Info = Info {
    id: "drf",
    aliases: &[],
    title: "Dominant Resource Fairness",
    equalises: "x_n max_r(d_nr / c_r) / w_n, the dominant share on the one server",
    guarantees: "Pareto optimal; envy-free; sharing incentive; bottleneck fair; truthful",
    reference: "NJC, section 4; DRFH, section III-C",
};

impl Mechanism for Drf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        let servers = problem.n_single_servers();
        if servers != 1 {
            return Err(format!("it is defined for one server, this cluster has {servers} (see drfh)"));
        }
        max_min::applies(Share::Dominant, problem)
    }

    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        self.applies(problem).map_err(|why| MechanismError::NotApplicable { mechanism: INFO.id, why })?;
        max_min::allocate(&INFO, Share::Dominant, problem, arithmetic)
    }

    fn axiom(&self) -> Option<(Axiom, Option<Share>)> {
        Some((Axiom::MaxMin, Some(Share::Dominant)))
    }
}
