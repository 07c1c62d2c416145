//! A static partition: every user runs alone on its own fraction of every server.
//!
//! User `n` gets the fraction `w_n / sum of weights` of every server, and as many tasks there as fit, up to its task limit.
//! This is the uniform allocation of PS-DSF, section II, by which sharing incentive is defined.

use evenhand_exact::Axiom::SharingIncentive;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use crate::equals::Equals;
use crate::guarantees::Condition::Resources;
use crate::mechanism::{Info, Late, Mechanism, Outcome};

/// The static partition.
pub static PARTITION: Mechanism = Mechanism {
    info: &Info {
        id: "partition",
        aliases: &[],
        title: "Static partition",
        equalises: "no quantity; each user gets its weight's fraction of every server",
        guarantees: "sharing incentive",
        reference: "the uniform allocation of PS-DSF, section II",
    },
    proven: &[(Resources, &[SharingIncentive])],
    flags: &[],
    axiom: |_| None,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Itself,
    solve: |problem, flags| Ok(allocate(problem, flags.arithmetic)),
};

/// Gives every user its own fraction of every server.
fn allocate(problem: &Problem, arithmetic: Arithmetic) -> Outcome {
    let active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
    let weights: Rational = active.map(|n| problem.users()[n].weight()).sum();
    let tasks = (0..problem.n_users()).map(|n| {
        if !problem.is_active(n) {
            return Vec::new();
        }
        let entitlement = Rational::from(problem.users()[n].weight() / &weights);
        let gammas = (0..problem.n_servers()).map(|i| (i, problem.gamma(n, i) * &entitlement));
        let mut list: Vec<(usize, Rational)> = gammas.filter(|(_, x)| !x.is_zero()).collect();
        let total: Rational = list.iter().map(|(_, x)| x).sum();
        if let Some(limit) = problem.users()[n].tasks().filter(|limit| **limit < total) {
            for (_, x) in &mut list {
                *x *= Rational::from(limit / &total);
            }
        }
        list
    });
    let tasks = tasks.collect();
    let mechanism = Some(PARTITION.info.id.to_owned());
    Outcome::of(Allocation { mechanism, arithmetic, tasks, ..Allocation::default() })
}
