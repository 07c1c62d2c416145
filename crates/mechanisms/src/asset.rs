//! Asset fairness: equalise the sum of the resource shares.
//!
//! `sigma_n = 1 / sum_r (d_nr / sum_i k_i c_ir)`. Equal sums can leave a user with less than its part
//! of every resource, so sharing incentive fails (NJC, section 4).

use evenhand_exact::{Axiom, Share};
use evenhand_problem::{Arithmetic, Problem};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Asset fairness.
pub struct Asset;

static INFO: Info = Info {
    id: "asset",
    aliases: &[],
    title: "Asset fairness",
    equalises: "x_n sum_r(d_nr / total capacity of r) / w_n, the sum of resource shares",
    guarantees: "Pareto optimal; neither sharing incentive nor envy-freeness",
    reference: "NJC, section 4",
};

impl Mechanism for Asset {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        max_min::applies(Share::Asset, problem)
    }

    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        max_min::allocate(&INFO, Share::Asset, problem, arithmetic)
    }

    fn axiom(&self) -> Option<(Axiom, Option<Share>)> {
        Some((Axiom::MaxMin, Some(Share::Asset)))
    }
}
