//! Asset fairness: equalise the sum of the resource shares.
//!
//! `sigma_n = 1 / sum_r (d_nr / sum_i k_i c_ir)`. Equal sums can leave a user with less than its part
//! of every resource, so sharing incentive fails (NJC, section 4).

use evenhand_exact::Axiom::{MaxMin, ParetoOptimal, SingleResourceFair, WorkConserving};
use evenhand_exact::Share;

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneDemand};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism};

/// Asset fairness.
pub static ASSET: Mechanism = Mechanism {
    info: &Info {
        id: "asset",
        aliases: &[],
        title: "Asset fairness",
        equalises: "x_n sum_r(d_nr / total capacity of r) / w_n, the sum of resource shares",
        guarantees: "Pareto optimal; neither sharing incentive nor envy-freeness",
        reference: "NJC, section 4",
    },
    proven: &[(Always, &[MaxMin, ParetoOptimal, WorkConserving]), (OneDemand, &[SingleResourceFair])],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::Asset),
    late: Late::Itself,
    solve: |problem, flags| max_min::allocate_with(ASSET.info, Share::Asset, problem, flags),
};
