//! DRF in every server on its own: the naive extension of DRF to a cluster.
//!
//! Every server is shared by the users that may run on it, as if it were alone. Identical servers
//! give the same answer, so a class is solved once. Simple to run without any coordination, and
//! not Pareto optimal: two servers and users that suit one each can lose almost everything (DRFH,
//! section III-D and Figure 2). Defined for unlimited tasks only: a task limit would tie the
//! servers together.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{
    Allocation, Problem, ProblemSpec, Quantities, Rational, ServerSpec, Sharing, UserSpec,
};

use crate::max_min;
use crate::mechanism::{Info, Mechanism, MechanismError, Options, Outcome};

/// DRF in every server on its own.
pub struct PerServerDrf;

static INFO: Info = Info {
    id: "per-server-drf",
    aliases: &[],
    title: "DRF in every server on its own",
    equalises: "x_ni max_r(d_nir / c_ir) / w_n on every server, the local dominant share",
    guarantees: "sharing incentive; envy-free; not Pareto optimal on several servers",
    reference: "DRFH, section III-D and Figure 2",
};

impl Mechanism for PerServerDrf {
    fn info(&self) -> &Info {
        &INFO
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        if let Some(user) = problem.users().iter().find(|u| u.tasks().is_some()) {
            let name = user.name();
            return Err(format!("it is defined for unlimited tasks, and user `{name}` has a limit"));
        }
        if let Some(server) = problem.servers().iter().find(|s| s.is_time_shared()) {
            return Err(format!("server `{}` is shared by time (a user states gamma there)", server.name()));
        }
        Ok(())
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let not_applicable = |why| MechanismError::NotApplicable { mechanism: INFO.id, why };
        self.applies(problem).map_err(not_applicable)?;
        let arithmetic = options.arithmetic;
        let mut outcome = Outcome::of(Allocation {
            mechanism: Some(INFO.id.to_owned()),
            arithmetic,
            ..Allocation::empty(problem.n_users(), Sharing::Rdm)
        });
        for i in 0..problem.n_servers() {
            let (single, users) = one_class(problem, i).map_err(not_applicable)?;
            let local = max_min::allocate(&INFO, Share::Dominant, &single, arithmetic)?;
            for (n, tasks) in users.into_iter().zip(local.allocation.tasks) {
                outcome.allocation.tasks[n].extend(tasks.into_iter().map(|(_, x)| (i, x)));
            }
            outcome.rounds += local.rounds;
            outcome.programmes += local.programmes;
            outcome.pivots += local.pivots;
        }
        Ok(outcome)
    }

    fn axiom(&self, _allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        None
    }
}

/// Class `i` as a problem of its own, with the users that can run there.
fn one_class(problem: &Problem, i: usize) -> Result<(Problem, Vec<usize>), String> {
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
    Problem::new(spec).map(|single| (single, users)).map_err(|error| error.to_string())
}
