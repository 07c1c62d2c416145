//! DRF: equalise the dominant share on one server.
//!
//! The special case of DRFH for a single server, where it has all of its properties: sharing
//! incentive, envy-freeness, Pareto optimality and truthfulness (proven by Ghodsi et al.; DRFH,
//! section III-C, asks for it as "single-server DRF").

use evenhand_exact::Share;
use evenhand_problem::{Problem, User};

use crate::max_min::MaxMin;
use crate::mechanism::Info;

/// Dominant Resource Fairness.
pub static DRF: MaxMin = MaxMin {
    info: Info {
        id: "drf",
        aliases: &[],
        title: "Dominant Resource Fairness",
        equalises: "x_n max_r(d_nr / c_r) / w_n, the dominant share on the one server",
        guarantees: "Pareto optimal; envy-free; sharing incentive; bottleneck fair; truthful",
        reference: "NJC, section 4; DRFH, section III-C",
    },
    share: Share::Dominant,
    requires: one_server,
};

fn one_server(problem: &Problem) -> Result<(), String> {
    let servers = problem.n_single_servers();
    if servers != 1 {
        return Err(format!("it is defined for one server, this cluster has {servers} (see drfh)"));
    }
    let states_other = |user: &&User| !user.demand_overrides().is_empty() || !user.given_gamma().is_empty();
    match problem.users().iter().find(states_other) {
        None => Ok(()),
        Some(user) => Err(format!(
            "user `{}` states demand_on or gamma for the only server: state its demand",
            user.name()
        )),
    }
}
