//! DRF in every server on its own: the naive extension of DRF to a cluster.
//!
//! Every server is shared by the users that may run on it, as if it were alone. Identical servers
//! give the same answer, so a class is solved once. Simple to run without any coordination, and
//! not Pareto optimal: two servers and users that suit one each can lose almost everything (DRFH,
//! section III-D and Figure 2). Defined for unlimited tasks only: a task limit would tie the
//! servers together.

use evenhand_exact::Axiom::{EnvyFree, SharingIncentive, WorkConserving};
use evenhand_exact::Share;
use evenhand_problem::{
    Allocation, Arithmetic, Problem, ProblemError, ProblemSpec, Quantities, Rational, ServerSpec, Sharing,
    UserSpec,
};

use crate::flags::SECONDS;
use crate::guarantees::Condition::Resources;
use crate::max_min;
use crate::mechanism::{Info, Late, Mechanism, MechanismError, Outcome};

/// DRF in every server on its own.
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
    late: Late::Doubles,
    solve: |problem, flags| allocate(problem, flags.arithmetic),
};

/// Steps of a user on a class: a user of a problem of its own, and what it gets.
const OF_USER: u64 = 800;

/// DRF on every class, as if it were alone.
///
/// # Errors
/// [`MechanismError::NotApplicable`] with task limits or servers that are shared by time; a solver failed.
pub fn allocate(problem: &Problem, arithmetic: Arithmetic) -> Result<Outcome, MechanismError> {
    let info = PER_SERVER_DRF.info;
    let not_applicable = |why| MechanismError::NotApplicable { mechanism: info.id, why };
    if let Some(user) = problem.users().iter().find(|u| u.tasks().is_some()) {
        let why = format!("it is defined for unlimited tasks, and user `{}` has a limit", user.name());
        return Err(not_applicable(why));
    }
    if let Some(server) = problem.servers().iter().find(|s| s.is_time_shared()) {
        let why = format!("server `{}` is shared by time (a user states gamma there)", server.name());
        return Err(not_applicable(why));
    }
    let mut outcome = Outcome::of(Allocation {
        mechanism: Some(info.id.to_owned()),
        arithmetic,
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    });
    for i in 0..problem.n_servers() {
        let users = (0..problem.n_users()).filter(|&n| problem.can_run(n, i)).count();
        evenhand_budget::charge(OF_USER * (1 + users as u64), "the shares of every class");
        let (single, users) = one_class(problem, i).map_err(|error| not_applicable(error.to_string()))?;
        let local = max_min::allocate(info, Share::Dominant, &single, arithmetic)?;
        for (n, tasks) in users.into_iter().zip(local.allocation.tasks) {
            outcome.allocation.tasks[n].extend(tasks.into_iter().map(|(_, x)| (i, x)));
        }
        outcome.rounds += local.rounds;
        outcome.programmes += local.programmes;
        outcome.pivots += local.pivots;
    }
    Ok(outcome)
}

/// Class `i` as a problem of its own, with the users that can run there.
fn one_class(problem: &Problem, i: usize) -> Result<(Problem, Vec<usize>), ProblemError> {
    let users: Vec<usize> = (0..problem.n_users()).filter(|&n| problem.can_run(n, i)).collect();
    let name = |r: usize| problem.resources()[r].clone();
    let named =
        |values: &Quantities| values.entries().iter().map(|(r, amount)| (name(*r), amount.clone())).collect();
    let class = &problem.servers()[i];
    let spec = ProblemSpec {
        resources: problem.resources().to_vec(),
        servers: vec![ServerSpec {
            name: class.name().to_owned(),
            count: Some(Rational::from(class.count())),
            capacity: named(class.capacity()),
        }],
        users: users
            .iter()
            .map(|&n| UserSpec {
                name: problem.users()[n].name().to_owned(),
                weight: Some(problem.users()[n].weight().clone()),
                demand: named(problem.demand(n, i)),
                ..UserSpec::default()
            })
            .collect(),
        ..ProblemSpec::default()
    };
    Problem::new(spec).map(|single| (single, users))
}
