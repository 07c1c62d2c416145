//! The gain of a user from one more unit of a resource of a server class, and the effect on other users.

use evenhand_certify::explain::{Between, Explanation, ExplanationVerdict, OneMoreUnit, UnitOfRow};
use evenhand_problem::Problem;

use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{decimal, tasks};

/// The largest number of lines of the table for people.
const LINES: usize = 8;

/// The largest number of rows and of users in a line.
const NAMED: usize = 3;

/// Returns the table of the gains from one more unit, and notes on the measurement of these gains.
pub fn one_more_unit(problem: &Problem, explanation: &Explanation) -> Page {
    let unit = match &explanation.one_more_unit {
        Ok(unit) => unit,
        // A user without tasks cannot gain.
        Err(_) if explanation.verdict == ExplanationVerdict::NoTasks => return Page::new(),
        Err(why) => {
            return Page::new().text(format!("The gain from one more unit is not measured: {why}."));
        }
    };
    let name = problem.users()[explanation.user].name();
    // Rows with the same effect become one line.
    let alike = |a: &UnitOfRow, b: &UnitOfRow| a.tasks == b.tasks && a.rate == b.rate && a.users == b.users;
    let rows = unit.rows.chunk_by(alike).filter_map(|rows| Some((rows, rows.first()?)));
    let table = Table::of(rows)
        .words("one more unit of", |(rows, _)| places(problem, rows))
        .numbers(&format!("{name} gains"), |(_, first)| gain(&first.tasks))
        .numbers("at first, per unit", |(_, first)| gain(&first.rate))
        .words("other users that gain or lose", |(_, first)| others(problem, first))
        .unless_all("-")
        .table();
    let page = Page::new()
        .text("Tasks gained with one more unit of one resource of one server class, by solving again:")
        .table(table.at_most(LINES, "lines"));
    page.lines(notes(explanation, unit, name))
}

/// Returns the names of the first rows.
fn places(problem: &Problem, rows: &[UnitOfRow]) -> String {
    let name = |row: &UnitOfRow| {
        let server = problem.servers()[row.server].name();
        format!("{} on {server}", problem.resources()[row.resource])
    };
    let mut list: Vec<String> = rows.iter().take(NAMED).map(name).collect();
    if rows.len() > NAMED {
        list.push(format!("{} more", rows.len() - NAMED));
    }
    list.join(", ")
}

/// Returns a number of tasks. Returns bounds if they differ in the shown digits.
fn words(value: &Between) -> String {
    let (at_least, at_most) = (decimal(&value.at_least), decimal(&value.at_most));
    if at_least == at_most { at_least } else { format!("{at_least} to {at_most}") }
}

fn gain(value: &Between) -> Cell {
    value.exact().map_or_else(|| Cell::text(words(value)), Cell::decimal)
}

/// Returns the other users that gain or lose, in descending order of their changes.
fn others(problem: &Problem, row: &UnitOfRow) -> Cell {
    let mut users: Vec<&(usize, Between)> = row.users.iter().collect();
    let size = |gain: &Between| gain.at_least.clone().abs().max(gain.at_most.clone().abs());
    users.sort_by(|a, b| size(&b.1).cmp(&size(&a.1)).then(a.0.cmp(&b.0)));
    let name = |(n, gain): &&(usize, Between)| {
        let sign = if gain.at_least > 0 { "+" } else { "" };
        format!("{} {sign}{}", problem.users()[*n].name(), words(gain))
    };
    let mut list: Vec<String> = users.iter().take(NAMED).map(name).collect();
    if users.len() > NAMED {
        let losers = users[NAMED..].iter().filter(|(_, gain)| gain.at_most < 0).count();
        list.push(format!("{} more ({losers} lose)", users.len() - NAMED));
    }
    if list.is_empty() { Cell::none() } else { Cell::text(list.join(", ")) }
}

/// Returns notes on the allocation for which the gains are measured, and on rows that were not solved again.
fn notes(explanation: &Explanation, unit: &OneMoreUnit, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if unit.differs {
        lines.push(format!(
            "This allocation is not the mechanism's answer. The gains are measured from the mechanism's own answer, \
             in which {name} has {} (here: {}).",
            unit.tasks.exact().map_or_else(|| format!("{} tasks", words(&unit.tasks)), tasks),
            decimal(&explanation.tasks),
        ));
    }
    if unit.rows.iter().any(|row| row.changes_shares) {
        lines.push(
            "The unit also changes the capacity that shares are fractions of, so some users can lose."
                .to_owned(),
        );
    }
    if let Some(bound) = &unit.others_at_most {
        let what = match unit.others {
            1 => "One other row was".to_owned(),
            others => format!("{others} other rows were"),
        };
        lines.push(format!(
            "{what} not solved again: prices, or the tasks it could have alone, prove that {name} would gain at most {} there.",
            tasks(bound),
        ));
    }
    lines
}
