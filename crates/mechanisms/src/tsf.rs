//! TSF: equalise the tasks as a part of what the cluster alone would give without constraints.
//!
//! `sigma_n = sum_i gamma_ni` computed as if there were no placement constraints (a server that
//! lacks a demanded resource still counts 0). With placement constraints sharing incentive as PS-DSF
//! defines it can fail (THEORY, section 4 has the instance), and so can envy-freeness when bundles
//! are compared over all servers.

use evenhand_exact::Axiom::{BottleneckFair, MaxMin, ParetoOptimal, SingleResourceFair, WorkConserving};
use evenhand_exact::Share;

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneDemandEverywhere};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism};

/// Task Share Fairness.
pub static TSF: Mechanism = Mechanism {
    info: &Info {
        id: "tsf",
        aliases: &[],
        title: "Task Share Fairness",
        equalises: "x_n / (w_n gamma_n), gamma_n as if there were no placement constraint",
        guarantees: "Pareto optimal; without placement constraints the same as cdrf, with its sharing incentive",
        reference: "PS-DSF, section II-B; Kesidis, section I",
    },
    proven: &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemandEverywhere, &[BottleneckFair, SingleResourceFair]),
    ],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::TaskShare),
    late: Late::Itself,
    solve: |problem, flags| max_min::allocate_with(TSF.info, Share::TaskShare, problem, flags),
};
