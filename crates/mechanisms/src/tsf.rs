//! TSF: equalise the tasks as a part of what the cluster alone would give without constraints.
//!
//! `sigma_n = sum_i gamma_ni` computed as if there were no placement constraints (a server that
//! lacks a demanded resource still counts 0). With placement constraints sharing incentive as PS-DSF
//! defines it can fail (THEORY, section 4 has the instance), and so can envy-freeness when bundles
//! are compared over all servers.

use evenhand_exact::{Axiom, Share};
use evenhand_problem::{Arithmetic, Problem};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Task Share Fairness.
pub struct Tsf;

static INFO: Info = Info {
    id: "tsf",
    aliases: &[],
    title: "Task Share Fairness",
    equalises: "x_n / (w_n gamma_n), gamma_n as if there were no placement constraint",
    guarantees: "Pareto optimal; without placement constraints the same as cdrf, with its sharing incentive",
    reference: "PS-DSF, section II-B; Kesidis, section I",
};

impl Mechanism for Tsf {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        max_min::applies(Share::TaskShare, problem)
    }

    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        max_min::allocate(&INFO, Share::TaskShare, problem, arithmetic)
    }

    fn axiom(&self) -> Option<(Axiom, Option<Share>)> {
        Some((Axiom::MaxMin, Some(Share::TaskShare)))
    }
}
