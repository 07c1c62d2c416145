//! DRFH: equalise the global dominant share.
//!
//! Maximises lexicographically the sorted vector of `x_n / (w_n sigma_n)` with
//! `sigma_n = 1 / max_r (d_nr / sum_i k_i c_ir)`. Placement constraints count in `x`, never in this
//! reference. The share vector is unique; the placement `x_ni` is not, and a vertex is returned.
//!
//! Envy-freeness is proven for positive demands without placement constraints (DRFH, section IV-B);
//! sharing incentive does not hold in general (PS-DSF, Table I).

use evenhand_exact::Axiom::{
    EnvyFree, GlobalBottleneckFair, MaxMin, ParetoOptimal, SingleResourceFair, WorkConserving,
};
use evenhand_exact::Share;

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneDemand};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism};

/// Dominant Resource Fairness, Heterogeneous.
pub static DRFH: Mechanism = Mechanism {
    info: &Info {
        id: "drfh",
        aliases: &["c-drfh"],
        title: "Dominant Resource Fairness, Heterogeneous",
        equalises: "x_n max_r(d_nr / total capacity of r) / w_n, the global dominant share",
        guarantees: "Pareto optimal; where every user has one demand, positive and the same on all servers: envy-free, fair on a common global dominant resource, truthful",
        reference: "DRFH, equations 4 to 7, section IV; as C-DRFH in PS-DSF, section II-B",
    },
    proven: &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemand, &[EnvyFree, GlobalBottleneckFair, SingleResourceFair]),
    ],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::Dominant),
    late: Late::Itself,
    solve: |problem, flags| max_min::allocate_with(DRFH.info, Share::Dominant, problem, flags),
};
