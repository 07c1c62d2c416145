//! TSF: equalise the tasks as a part of what the cluster alone would give without constraints.
//!
//! `sigma_n = sum_i gamma_ni` computed as if there were no placement constraints (a server that
//! lacks a demanded resource still counts 0). With placement constraints sharing incentive as PS-DSF
//! defines it can fail (THEORY, section 4 has the instance), and so can envy-freeness when bundles
//! are compared over all servers.

use evenhand_exact::Share;

use crate::max_min::{MaxMin, anything};
use crate::mechanism::Info;

/// Task Share Fairness.
pub static TSF: MaxMin = MaxMin {
    info: Info {
        id: "tsf",
        aliases: &[],
        title: "Task Share Fairness",
        equalises: "x_n / (w_n gamma_n), gamma_n as if there were no placement constraint",
        guarantees: "Pareto optimal; without placement constraints the same as cdrf, with its sharing incentive",
        reference: "PS-DSF, section II-B; Kesidis, section I",
    },
    share: Share::TaskShare,
    requires: anything,
};
