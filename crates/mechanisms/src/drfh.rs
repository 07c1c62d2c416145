//! DRFH: equalise the global dominant share.
//!
//! Maximises lexicographically the sorted vector of `x_n / (w_n sigma_n)` with
//! `sigma_n = 1 / max_r (d_nr / sum_i k_i c_ir)`. Placement constraints count in `x`, never in this
//! reference. The share vector is unique; the placement `x_ni` is not, and a vertex is returned.
//!
//! Envy-freeness is proven for positive demands without placement constraints (DRFH, section IV-B);
//! sharing incentive does not hold in general (PS-DSF, Table I).

use evenhand_exact::{Axiom, Share};
use evenhand_problem::{Arithmetic, Problem};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Dominant Resource Fairness, Heterogeneous.
pub struct Drfh;

static INFO: Info = Info {
    id: "drfh",
    aliases: &["c-drfh"],
    title: "Dominant Resource Fairness, Heterogeneous",
    equalises: "x_n max_r(d_nr / total capacity of r) / w_n, the global dominant share",
    guarantees: "Pareto optimal; envy-free; bottleneck fair on the global dominant resource; single-server DRF with one server; truthful with positive demands",
    reference: "DRFH, equations 4 to 7, section IV; as C-DRFH in PS-DSF, section II-B",
};

impl Mechanism for Drfh {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        max_min::applies(Share::Dominant, problem)
    }

    fn allocate(&self, problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
        max_min::allocate(&INFO, Share::Dominant, problem, arithmetic)
    }

    fn axiom(&self) -> Option<(Axiom, Option<Share>)> {
        Some((Axiom::MaxMin, Some(Share::Dominant)))
    }
}
