//! Feasible: `sum_n x_ni d_nir <= k_i c_ir` (or `sum_n x_ni / gamma_ni <= 1` where time is shared),
//! `x_n <= T_n`, `x_ni >= 0`, and nothing where a user cannot run.
//!
//! Margin: the least slack as a fraction of the row's capacity, or of `T_n`. A negative or
//! misplaced `x_ni` counts as minus its absolute value, and only when there is one. Rows without
//! capacity and users without tasks limit nothing that uses nothing.

use rug::{Integer, Rational};

use crate::instance::Instance;
use crate::quotient::Quotient;

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A row of [`Constraints`](evenhand_problem::Constraints).
    Row(usize),
    /// The tasks of a user.
    Tasks(usize),
    /// The entry `(user, server class)`, which is negative or where the user cannot run.
    Entry(usize, usize),
}

/// Slack and margin of `limit`: the slack in the units of the row or in tasks. `None` when it
/// limits nothing.
#[must_use]
pub fn slack(instance: &Instance<'_>, limit: Limit) -> Option<(Rational, Rational)> {
    match limit {
        Limit::Row(row) => {
            let margin = row_margin(instance, row)?.to_rational();
            Some((instance.slack(row), margin))
        }
        Limit::Tasks(n) => {
            let slack = instance.tasks_left(n)?.to_rational();
            Some((slack, tasks_margin(instance, n)?.to_rational()))
        }
        Limit::Entry(n, i) => {
            let (_, slack) = bad_entries(instance).find(|((user, server), _)| (*user, *server) == (n, i))?;
            Some((slack.clone(), slack))
        }
    }
}

/// The tightest limit with its margin: the first row, else user, else entry among equals.
#[must_use]
pub fn tightest(instance: &Instance<'_>) -> Option<(Limit, Rational)> {
    let rows = (0..instance.constraints().rows().len())
        .filter_map(|row| Some((Limit::Row(row), row_margin(instance, row)?)));
    let users =
        (0..instance.problem().n_users()).filter_map(|n| Some((Limit::Tasks(n), tasks_margin(instance, n)?)));
    let entries = bad_entries(instance).map(|((n, i), slack)| (Limit::Entry(n, i), Quotient::from(&slack)));
    let mut least: Option<(Limit, Quotient)> = None;
    for (limit, margin) in rows.chain(users).chain(entries) {
        if least.as_ref().is_none_or(|(_, least)| margin < *least) {
            least = Some((limit, margin));
        }
    }
    least.map(|(limit, margin)| (limit, margin.to_rational()))
}

/// Whether the allocation is feasible exactly.
#[must_use]
pub fn holds_exactly(instance: &Instance<'_>) -> bool {
    tightest(instance).is_none_or(|(_, margin)| margin >= 0)
}

fn row_margin(instance: &Instance<'_>, row: usize) -> Option<Quotient> {
    let slack = instance.scaled_slack(row);
    let capacity = instance.scaled_capacity(row);
    if !capacity.is_zero() {
        return Some(Quotient::new(slack.clone(), capacity * &instance.denominator));
    }
    (!slack.is_zero()).then(|| instance.slack_quotient(row))
}

fn tasks_margin(instance: &Instance<'_>, n: usize) -> Option<Quotient> {
    let left = instance.tasks_left(n)?;
    let tasks = instance.problem().users()[n].tasks()?;
    if tasks.is_zero() {
        return (!left.numerator.is_zero()).then_some(left);
    }
    Some(Quotient::new(left.numerator * tasks.denom(), left.denominator * tasks.numer()))
}

/// Negative entries and tasks where the user cannot run, with minus their absolute value.
fn bad_entries<'a>(instance: &'a Instance<'_>) -> impl Iterator<Item = ((usize, usize), Rational)> + 'a {
    let all = instance.tasks.iter().enumerate();
    let entries = all.flat_map(|(n, tasks)| tasks.iter().map(move |(i, x)| (n, *i, x)));
    let negative = entries
        .filter(|(_, _, x)| **x < 0)
        .map(|(n, i, x)| ((n, i), Rational::from((Integer::from(x), instance.denominator.clone()))));
    negative.chain(instance.misplaced.iter().map(|(n, i, x)| ((*n, *i), -Rational::from(x.abs_ref()))))
}
