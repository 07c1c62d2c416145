//! DRF on every server separately: the naive extension of DRF to a cluster.
//!
//! The users that may run on a server share it as if it were the only server. Identical servers get identical
//! answers, so each class is solved once. The mechanism needs no coordination between servers, but it is not
//! Pareto optimal. With two servers, and two users that each suit one of them, almost all tasks can be lost
//! (DRFH, section III-D and Figure 2). The mechanism is defined for unlimited tasks only, because a task
//! limit would couple the servers.

use evenhand_budget::{hold, operations};
use evenhand_exact::Axiom::{EnvyFree, SharingIncentive, WorkConserving};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing, User};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::SECONDS;
use crate::guarantees::Condition::Resources;
use crate::mechanism::{Info, Late, Mechanism, Outcome};
use crate::ps_dsf::alone;
use crate::rounding;

/// DRF on every server separately.
pub static PER_SERVER_DRF: Mechanism = Mechanism {
    info: &Info {
        id: "per-server-drf",
        aliases: &[],
        title: "DRF in every server on its own",
        equalises: "x_ni max_r(d_nir / c_ir) / w_n on every server, the local dominant share",
        guarantees: "sharing incentive; envy-free; not Pareto optimal on several servers",
        reference: "DRFH, section III-D and Figure 2",
    },
    proven: &[(Resources, &[WorkConserving, EnvyFree, SharingIncentive])],
    flags: &[SECONDS],
    axiom: |_| None,
    equals: |_| Ok(Equals::ByWeight),
    joins: false,
    late: Late::Doubles,
    solve: |problem, flags| allocate(problem, flags.arithmetic),
};

/// The number of operations on fractions for one user on one class and resource. They compute the user's
/// rate, the event at which it stops, its contribution to the growth of the rows, and its tasks.
const OF_USER: u64 = 10;

/// The bytes for one user's tasks on one class: a fraction, its two integers with the allocator's overhead, and its
/// list entry.
const OF_PAIR: u64 = 140;

/// Computes DRF on every class separately. On one class, a user's level `x_n / (w_n gamma_ni)` is its dominant share
/// divided by its weight.
///
/// # Errors
/// Returns [`MechanismError::NotApplicable`] if a user has a task limit or a server is shared by time.
pub fn allocate(problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
    let not_applicable = |why| MechanismError::NotApplicable { mechanism: PER_SERVER_DRF.info.id, why };
    if let Some(user) = problem.users().iter().find(|u| u.tasks().is_some()) {
        let why = format!("it is defined only for unlimited tasks, but user `{}` has a limit", user.name());
        return Err(not_applicable(why));
    }
    if let Some(server) = problem.servers().iter().find(|s| s.is_time_shared()) {
        let why = format!("server `{}` is shared by time (a user states gamma there)", server.name());
        return Err(not_applicable(why));
    }
    let classes_of = |user: &User| user.servers().map_or(problem.n_servers(), <[usize]>::len);
    let pairs = problem.users().iter().map(classes_of).sum::<usize>() as u64;
    let _held = hold(pairs.saturating_mul(OF_PAIR), "the table of tasks by user and class");
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut tasks = vec![Vec::new(); problem.n_users()];
    let mut doubles = vec![Vec::new(); problem.n_users()];
    for i in 0..problem.n_servers() {
        let each = OF_USER * (1 + problem.n_resources() as u64);
        operations(each * problem.n_users() as u64, 1, "the shares of every class");
        match arithmetic {
            Arithmetic::Exact => alone::<Rational>(&constraints, i).for_each(|(n, x)| tasks[n].push((i, x))),
            Arithmetic::Float => alone::<f64>(&constraints, i).for_each(|(n, x)| doubles[n].push((i, x))),
        }
    }
    if arithmetic == Arithmetic::Float {
        tasks = rounding::feasible(&constraints, doubles);
    }
    Ok(Outcome::of(Allocation {
        mechanism: Some(PER_SERVER_DRF.info.id.to_owned()),
        sharing: Sharing::Rdm,
        arithmetic,
        tasks,
        ..Allocation::default()
    }))
}
