//! `--no-entitlement`: users with an entitlement of 0. Theorem 1 of NJC allows such users. Problem files do
//! not, since they require positive weights.
//!
//! The path leads to the answer of the other users alone, because `x_n` times the prices that `n` pays is
//! `c e_n = 0` along the whole path. A user without entitlement has at least its entitlement of every
//! bottleneck. Therefore it cannot complain, and Pareto optimality is lost. If the other users have all their
//! tasks and leave no bottleneck, the users without entitlement could complain. They therefore share the free
//! capacity by their weights.

use evenhand_exact::Instance;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Row, Sharing};

use super::Settings;
use super::answer::INFO;
use crate::error::MechanismError;
use crate::flags::{Flag, Takes};
use crate::mechanism::{Findings, Outcome};

/// The flag that names the users without entitlement.
pub const FLAG: Flag = Flag {
    name: "no-entitlement",
    takes: Takes::Users("USERS"),
    help: "njc: users with an entitlement of 0 (NJC, Theorem 1), separated by commas: they get nothing, unless all \
           others have all their tasks and no resource is used up",
};

/// Computes the answer for a problem in which the users named by the settings have no entitlement.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    (!settings.no_entitlement.is_empty()).then(|| allocate_to_others(constraints.problem(), settings))
}

/// Computes the answer of the users with an entitlement. If it has no bottleneck, the users without an
/// entitlement share the free capacity.
fn allocate_to_others(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let bad = |why: String| MechanismError::BadOption { mechanism: INFO.id, option: FLAG.name, why };
    if problem.n_servers() != 1 {
        return Err(bad("entitlements of 0 are supported only for problems with one server".to_owned()));
    }
    let index = |name: &String| {
        let user = problem.users().iter().position(|user| user.name() == name);
        user.ok_or_else(|| bad(format!("there is no user `{name}`")))
    };
    let without = settings.no_entitlement.iter().map(index).collect::<Result<Vec<usize>, _>>()?;
    let with: Vec<usize> = (0..problem.n_users()).filter(|n| !without.contains(n)).collect();
    if with.is_empty() {
        return Err(bad("at least one user needs an entitlement above 0".to_owned()));
    }
    let rule = format!("{} {}", FLAG.name, settings.no_entitlement.join(","));
    let settings = Settings { no_entitlement: Vec::new(), ..settings.clone() };
    let mut outcome = super::allocate(&problem.without_tasks_of(&without), &settings)?;
    if let Some(left) = left_over(problem, &outcome.allocation) {
        if problem.servers()[0].is_time_shared() {
            return Err(bad(
                "the free capacity of a server that is shared by time cannot be divided among these users"
                    .to_owned(),
            ));
        }
        let rest = super::allocate(&left.without_tasks_of(&with), &settings)?;
        for n in without {
            outcome.allocation.tasks[n].clone_from(&rest.allocation.tasks[n]);
        }
        // The evidence of each of the two answers concerns only a part of the problem.
        outcome.findings = Findings { status: rest.findings.status, ..Findings::default() };
    }
    outcome.allocation.rule = Some(rule);
    Ok(outcome)
}

/// The free fraction up to which a resource counts as used up, to allow for rounding.
const USED_UP: (u32, u32) = (1, 1_000_000_000);

/// Returns the problem with the capacity that an allocation leaves, or `None` if the allocation uses up a row.
fn left_over(problem: &Problem, allocation: &Allocation) -> Option<Problem> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let instance = Instance::new(problem, allocation).ok()?;
    let mut rows = constraints.rows().iter().enumerate().filter(|(_, row)| !row.capacity.is_zero());
    let is_used_up = |(row, at): (usize, &Row)| instance.slack(row) <= &at.capacity * Rational::from(USED_UP);
    if rows.any(is_used_up) {
        return None;
    }
    let used = |r: usize| -> Rational {
        (0..problem.n_users()).map(|n| allocation.total(n) * &problem.demand(n, 0)[r]).sum()
    };
    let resources = 0..problem.n_resources();
    Some(resources.fold(problem.clone(), |left, r| left.with_more(0, r, &-used(r))))
}
