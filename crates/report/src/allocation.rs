//! An allocation as tables: the tasks and usage of every user, and the usage of the cluster.

use evenhand_mechanisms::{Outcome, Status};
use evenhand_problem::utilisation::{by_resource, dominant_share, held, time};
use evenhand_problem::{Allocation, Arithmetic, Problem};

use crate::by_group::group_table;
use crate::findings::findings;
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{decimal, few, percent};

/// The largest number of users in the table for people.
const LONGEST: usize = 40;
/// The largest number of resources with a separate column. A wider table cannot be read.
const MOST_RESOURCES: usize = 32;
/// The largest number of server classes of a user in the table for people.
const MOST_CLASSES: usize = 6;

/// Returns the answer of a mechanism as a page: the allocation and the findings. If `all_users` is set, the
/// table has a row for every user, for use by programs. Otherwise the table is cut for people.
#[must_use]
pub fn outcome(problem: &Problem, outcome: &Outcome, all_users: bool) -> Page {
    let allocation = &outcome.allocation;
    let name = allocation.mechanism.as_deref().unwrap_or("an external allocation");
    let page = Page::new()
        .text(format!("{name}: {}", certainty(outcome)))
        .table(users(problem, allocation, all_users));
    let page = match group_table(problem, allocation, None) {
        None => page,
        Some(table) => page.heading("Usage of each group").table(table),
    };
    page.text(used(problem, allocation)).lines(findings(problem, outcome))
}

/// Returns the words that state how reliable the numbers are.
fn certainty(outcome: &Outcome) -> &'static str {
    let is_solved = outcome.findings.status.is_none_or(|status| status == Status::Solved);
    match (outcome.allocation.arithmetic, &outcome.findings.gap) {
        _ if outcome.findings.intervals.is_some() => "rational, levels between proven bounds",
        _ if !is_solved => "not solved: the last point before the method stopped",
        (Arithmetic::Exact, Some(gap)) if !gap.is_zero() => "rational, certified within its gap",
        (Arithmetic::Exact, _) => "exact",
        (Arithmetic::Float, Some(_)) => "floating point, certified within its gap",
        (Arithmetic::Float, None) => "floating point, uncertified",
    }
}

/// Returns the table of users: the tasks, the usage of every resource, and the server classes with their
/// tasks.
pub(crate) fn users(problem: &Problem, allocation: &Allocation, all_users: bool) -> Table {
    let columns = [
        Column::words("user"),
        Column::numbers("tasks"),
        Column::numbers("wanted").unless_all("unlimited"),
        Column::numbers("dominant share"),
        Column::numbers("weight").unless_all("1"),
    ];
    let shown = if problem.n_resources() <= MOST_RESOURCES { problem.resources() } else { &[] };
    let resources = shown.iter().map(|name| Column::numbers(name));
    let columns = columns.into_iter().chain(resources).chain([Column::words("placed on")]);
    let n_rows = if all_users { problem.n_users() } else { problem.n_users().min(LONGEST) };
    let mut table = Table::new(columns).at_most(LONGEST, "users").without(problem.n_users() - n_rows);
    let is_exact = allocation.arithmetic == Arithmetic::Exact;
    for (n, user) in problem.users().iter().enumerate().take(n_rows) {
        let total = allocation.total(n);
        let cells = [
            Cell::text(user.name()),
            if is_exact { Cell::number(&total) } else { Cell::decimal(&total) },
            user.tasks().map_or_else(|| Cell::text("unlimited"), Cell::decimal),
            Cell::percent(&dominant_share(problem, allocation, n)),
            Cell::number(user.weight()),
        ];
        let held = if shown.is_empty() { Vec::new() } else { held(problem, allocation, n) };
        let held = held.iter().map(Cell::decimal);
        table.row(cells.into_iter().chain(held).chain([classes(problem, allocation, n)]));
    }
    table
}

/// Returns the tasks of a user by server class.
fn classes(problem: &Problem, allocation: &Allocation, n: usize) -> Cell {
    let placed = allocation.tasks[n].iter().filter(|(_, x)| !x.is_zero());
    let placed: Vec<String> =
        placed.map(|(i, x)| format!("{}: {}", problem.servers()[*i].name(), decimal(x))).collect();
    Cell::text(few(&placed, MOST_CLASSES)).with_value(placed.join(", "))
}

fn used(problem: &Problem, allocation: &Allocation) -> String {
    let all = by_resource(problem, allocation);
    let time = time(problem, allocation);
    // If all capacity of a resource is shared by time, the usage of server time is also the usage of the
    // resource.
    let is_told = |r: usize| all[r].is_some() || time.is_none() || problem.total_capacity()[r].is_zero();
    let used = problem.resources().iter().zip(&all).enumerate().take(MOST_RESOURCES);
    let used = used.filter(|(r, _)| is_told(*r)).map(|(_, (name, used))| {
        format!("{name} {}", used.as_ref().map_or_else(|| "no capacity".to_owned(), percent))
    });
    let time = time.as_ref().map(|time| format!("time of servers that are shared by time {}", percent(time)));
    let used = used.chain(time).collect::<Vec<_>>().join(", ");
    match all.len().checked_sub(MOST_RESOURCES).filter(|left| *left > 0) {
        None => format!("Usage of the whole cluster: {used}"),
        Some(left) => format!("Usage of the whole cluster: {used}, and {left} more resources"),
    }
}
