//! Generic U-max-min fairness: equalise a criterion that the problem states.
//!
//! `U_n = (1/w_n) sum_i u_ni x_ni` (Kesidis, equation 3) with every `u_ni > 0`: equation 9 gives DRFH,
//! 12 and 13 give PS-DSF-like criteria. Where `u_ni` depends on the class the level of a user can rise
//! by moving its tasks, so a user with all its tasks may still be active.

use evenhand_exact::Axiom::{MaxMin, ParetoOptimal, WorkConserving};
use evenhand_exact::Share;

use crate::flags::SECONDS;
use crate::guarantees::Condition::{Always, OneCriterion};
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism};

/// Generic max-min fairness.
pub static GENERIC: Mechanism = Mechanism {
    info: &Info {
        id: "generic",
        aliases: &[],
        title: "Generic max-min fairness",
        equalises: "U_n = (1/w_n) sum_i u_ni x_ni with the u_ni stated as criterion in the problem",
        guarantees: "no user's U can rise without hurting a lower or equal one; Pareto optimal in tasks where u_ni is the same on all classes",
        reference: "Kesidis, equation 3; lexicographic, which is more than Definition 1 asks for",
    },
    proven: &[(Always, &[MaxMin, WorkConserving]), (OneCriterion, &[ParetoOptimal])],
    flags: &[SECONDS],
    axiom: |_| max_min::axiom(Share::Generic),
    late: Late::Itself,
    solve: |problem, flags| max_min::allocate_with(GENERIC.info, Share::Generic, problem, flags),
};
