//! DRF: equalise the dominant share on one server.
//!
//! The special case of DRFH for a single server, where it has all of its properties: sharing
//! incentive, envy-freeness, Pareto optimality and truthfulness (proven by Ghodsi et al.; DRFH,
//! section III-C, asks for it as "single-server DRF").

use evenhand_exact::Axiom::{
    BottleneckFair, EnvyFree, GlobalBottleneckFair, MaxMin, ParetoOptimal, SharingIncentive,
    SingleResourceFair, WorkConserving,
};
use evenhand_exact::Share;
use evenhand_problem::{Problem, User};

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneDemand};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism, MechanismError};

/// Dominant Resource Fairness.
pub static DRF: Mechanism = Mechanism {
    info: &Info {
        id: "drf",
        aliases: &[],
        title: "Dominant Resource Fairness",
        equalises: "x_n max_r(d_nr / c_r) / w_n, the dominant share on the one server",
        guarantees: "Pareto optimal; envy-free; sharing incentive; bottleneck fair; truthful",
        reference: "NJC, section 4; DRFH, section III-C",
    },
    proven: &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemand, &[EnvyFree, SharingIncentive, BottleneckFair, GlobalBottleneckFair, SingleResourceFair]),
    ],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::Dominant),
    late: Late::Itself,
    solve: |problem, flags| {
        one_server(problem)?;
        max_min::allocate_with(DRF.info, Share::Dominant, problem, flags)
    },
};

fn one_server(problem: &Problem) -> Result<(), MechanismError> {
    let not_applicable = |why| Err(MechanismError::NotApplicable { mechanism: DRF.info.id, why });
    let servers = problem.n_single_servers();
    if servers != 1 {
        return not_applicable(format!(
            "it is defined for one server, this cluster has {servers} (see drfh)"
        ));
    }
    let states_other = |user: &&User| !user.demand_overrides().is_empty() || !user.given_gamma().is_empty();
    match problem.users().iter().find(states_other) {
        None => Ok(()),
        Some(user) => not_applicable(format!(
            "user `{}` states demand_on or gamma for the only server: state its demand",
            user.name()
        )),
    }
}
