//! Feasible and integer feasible: the margins of all limits, for the allocation as it is stated. This module also
//! judges sharing incentive, which compares users with their entitlements.

use rug::Rational;

use crate::allocation::{Placement, Tasks, entries};
use crate::case::{Case, Claim, Shown, total_of};
use crate::work::{self, Checked};

/// Judges whether all tasks are whole and fit on single servers. These are the servers of the placements. Without
/// placements, each class with tasks has only one server.
pub fn integer_feasible(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let all = case.as_placements(&case.stated.tasks);
    let servers = case.stated.placements.as_ref().unwrap_or(&all);
    Ok((limits(case, &case.stated.tasks, Some(servers), true)?.into_iter().min(), None))
}

/// Returns the least margin of all limits for the allocation as it is stated. With placements, every single server
/// counts.
pub fn least(case: &Case<'_>) -> Checked<Option<Rational>> {
    Ok(limits(case, &case.stated.tasks, case.stated.placements.as_deref(), false)?.into_iter().min())
}

/// Returns true if every task is on a known single server: there are placements, or every class with tasks has one
/// server.
pub fn stands_on_servers(case: &Case<'_>) -> bool {
    let single = |i: usize| case.problem.classes[i].count == 1;
    case.stated.placements.is_some() || entries(&case.stated.tasks).all(|(_, i, _)| single(i))
}

/// The tasks on single servers, or `None` if tasks are stated by class.
type Servers<'p> = Option<&'p [Placement]>;

/// Returns true if an allocation is exactly feasible: tasks by class, or whole tasks on single servers.
pub fn is_feasible(case: &Case<'_>, tasks: &Tasks, servers: Servers<'_>) -> Checked<bool> {
    Ok(limits(case, tasks, servers, servers.is_some())?.iter().all(|margin| *margin >= 0))
}

/// Returns the margins of all limits for these tasks. Limits are the tasks that users have, their accelerators, and the
/// rows of every server with tasks (or of every class). An entry that does not count (see [`Case::counts`]) exceeds its
/// limit by its full amount. If tasks have to be whole, a fractional number of tasks has the margin -1, which no
/// tolerance reaches.
fn limits(case: &Case<'_>, tasks: &Tasks, servers: Servers<'_>, whole: bool) -> Checked<Vec<Rational>> {
    let mut margins = Vec::new();
    let known = servers.is_none() && *tasks == case.x;
    for (n, user) in case.problem.users.iter().enumerate().filter(|(n, _)| case.is_active(*n)) {
        if let Some(most) = &user.tasks {
            work::spend(tasks[n].len())?;
            margins.push((most - total_of(&tasks[n])) / &case.g[n]);
        }
        if let Some(at_most) = &user.at_most {
            work::spend(2 * tasks[n].len())?;
            let counted = tasks[n].iter().filter(|(i, x)| case.counts(n, *i, x)).cloned().collect();
            margins.push((at_most - user.accelerators(&counted)) / at_most);
        }
    }
    for Placement { class, tasks, .. } in servers.unwrap_or(&case.as_placements(tasks)) {
        if servers.is_some() && tasks.is_empty() {
            continue;
        }
        let count = if servers.is_some() { case.problem.classes[*class].count } else { 1 };
        let rows = case.rows_of(*class);
        let left = if known { case.slack[rows.clone()].to_vec() } else { case.left(*class, count, tasks)? };
        let part = |(row, slack): (usize, Rational)| slack * count / &case.rows[row].capacity;
        margins.extend(rows.zip(left).map(part));
        for (n, x) in tasks {
            if !case.counts(*n, *class, x) {
                let unit = if case.is_active(*n) { &case.g[*n] } else { &Rational::from(1) };
                margins.push(-Rational::from(x.abs_ref()) / unit);
            } else if whole && !x.is_integer() {
                margins.push(Rational::from(-1));
            }
        }
    }
    Ok(margins)
}

/// Judges sharing incentive: `x_n >= min(T_n, e_n gamma_n)`, with `e_n = w_n / sum w`. If the user limits its
/// accelerators, the best use of its fraction of every class replaces `e_n gamma_n`.
pub fn sharing_incentive(case: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    let margin = |n: usize| {
        let user = &case.problem.users[n];
        let due = match user.at_most {
            None => Rational::from(&case.gamma[n] * &user.weight) / &case.weight,
            Some(_) => case.problem.best_use(n, &Rational::from(&user.weight / &case.weight)),
        };
        (&case.total[n] - user.at_most_tasks(due)) / &case.g[n]
    };
    Ok((case.active().map(margin).min(), None))
}
