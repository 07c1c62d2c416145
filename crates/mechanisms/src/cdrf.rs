//! CDRF: equalise the tasks as a part of what the whole cluster alone would give.
//!
//! `sigma_n = gamma_n`, for problems without placement constraints. Since `x_n = e_n gamma_n` for
//! all is feasible (every user on its part of every server), the equal level is at least
//! `1 / sum of weights`: sharing incentive. Envy-freeness and truthfulness can fail.

use evenhand_exact::Axiom::{
    BottleneckFair, MaxMin, ParetoOptimal, SharingIncentive, SingleResourceFair, WorkConserving,
};
use evenhand_exact::Share;

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneDemandEverywhere};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism};

/// Containerized DRF.
pub static CDRF: Mechanism = Mechanism {
    info: &Info {
        id: "cdrf",
        aliases: &[],
        title: "Containerized DRF",
        equalises: "x_n / (w_n gamma_n), the part of the tasks that the whole cluster alone would give",
        guarantees: "Pareto optimal; sharing incentive: x_n >= e_n gamma_n",
        reference: "PS-DSF, section II-B; Kesidis, section I",
    },
    proven: &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving, SharingIncentive]),
        (OneDemandEverywhere, &[BottleneckFair, SingleResourceFair]),
    ],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::Containerized),
    late: Late::Itself,
    solve: |problem, flags| max_min::allocate_with(CDRF.info, Share::Containerized, problem, flags),
};
