//! Users with an entitlement of 0, which NJC's Theorem 1 allows (and problem files, by positive weights, do not).
//!
//! The path leads to the answer of the others alone: `x_n` times its prices is `c e_n = 0` along all of it. A user that
//! is entitled to nothing then holds its entitlement of any bottleneck, so that it has no complaint and Pareto
//! optimality is lost. Where the others have all their tasks and leave no bottleneck, those without entitlement share
//! what is left by their weights, as else they could complain.

use evenhand_exact::Instance;
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Row, Sharing};

use super::Settings;
use super::answer::INFO;
use crate::error::MechanismError;
use crate::flags::{Flag, Takes};
use crate::mechanism::{Findings, Outcome};

/// The users that are entitled to nothing.
pub const FLAG: Flag = Flag {
    name: "no-entitlement",
    takes: Takes::Users("USERS"),
    help: "njc: users with an entitlement of 0 (NJC, Theorem 1), separated by commas: they get nothing, unless all \
           others have all their tasks and no resource is used up",
};

/// The answer where the users that the settings name are entitled to nothing.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let bad = |why: String| MechanismError::BadOption { mechanism: INFO.id, option: FLAG.name, why };
    if problem.n_servers() != 1 {
        return Err(bad("the theorem is about one server".to_owned()));
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
            return Err(bad("what is left of a server that is shared by time is not divided".to_owned()));
        }
        let rest = super::allocate(&left.without_tasks_of(&with), &settings)?;
        for n in without {
            outcome.allocation.tasks[n].clone_from(&rest.allocation.tasks[n]);
        }
        // The evidence of each is about a part of the problem.
        outcome.findings = Findings { status: rest.findings.status, ..Findings::default() };
    }
    outcome.allocation.rule = Some(rule);
    Ok(outcome)
}

/// Free part of a resource up to which it counts as used up: what rounding leaves.
const USED_UP: (u32, u32) = (1, 1_000_000_000);

/// The problem with what an allocation leaves; `None` where it uses up some resource, or time.
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
