//! CDRF: equalise the tasks as a part of what the whole cluster alone would give.
//!
//! `sigma_n = gamma_n`, for problems without placement constraints. Since `x_n = e_n gamma_n` for
//! all is feasible (every user on its part of every server), the equal level is at least
//! `1 / sum of weights`: sharing incentive. Envy-freeness and truthfulness can fail.

use evenhand_exact::{Axiom, Share};
use evenhand_problem::{Arithmetic, Problem};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Containerized DRF.
pub struct Cdrf;

static INFO: Info = Info {
    id: "cdrf",
    aliases: &[],
    title: "Containerized DRF",
    equalises: "x_n / (w_n gamma_n), the part of the tasks that the whole cluster alone would give",
    guarantees: "Pareto optimal; sharing incentive: x_n >= e_n gamma_n",
    reference: "PS-DSF, section II-B; Kesidis, section I",
};

impl Mechanism for Cdrf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        max_min::applies(Share::Containerized, problem)
    }

    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        max_min::allocate(&INFO, Share::Containerized, problem, arithmetic)
    }

    fn axiom(&self) -> Option<(Axiom, Option<Share>)> {
        Some((Axiom::MaxMin, Some(Share::Containerized)))
    }
}
