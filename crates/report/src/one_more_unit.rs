//! What one more unit of a resource of a class would bring a user, and who else would gain or lose.

use evenhand_certify::explain::{Between, Explanation, ExplanationVerdict, OneMoreUnit, UnitOfRow};
use evenhand_problem::Problem;

use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{decimal, tasks};

/// Lines of the table that people are shown.
const LINES: usize = 8;

/// Rows and other users that are named in a line.
const NAMED: usize = 3;

/// A table of what the mechanism gives with one more unit, and what it was measured from.
pub fn one_more_unit(problem: &Problem, explanation: &Explanation) -> Page {
    let unit = match &explanation.one_more_unit {
        Ok(unit) => unit,
        // Who has nothing to run has no question.
        Err(_) if explanation.verdict == ExplanationVerdict::NoTasks => return Page::new(),
        Err(why) => {
            return Page::new().text(format!("What one more unit would bring is not measured: {why}."));
        }
    };
    let name = problem.users()[explanation.user].name();
    // Rows with the same effect stand together.
    let alike = |a: &UnitOfRow, b: &UnitOfRow| a.tasks == b.tasks && a.rate == b.rate && a.users == b.users;
    let rows = unit.rows.chunk_by(alike).filter_map(|rows| Some((rows, rows.first()?)));
    let table = Table::of(rows)
        .words("one more unit of", |(rows, _)| places(problem, rows))
        .numbers(&format!("{name} gains"), |(_, first)| gain(&first.tasks))
        .numbers("at first, per unit", |(_, first)| gain(&first.rate))
        .words("others that gain or lose", |(_, first)| others(problem, first))
        .unless_all("-")
        .table();
    let page = Page::new()
        .text("What solving again gives, in tasks, with one more unit of one resource of one server class:")
        .table(table.at_most(LINES, "lines"));
    page.lines(notes(explanation, unit, name))
}

/// The rows by name, the first few.
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

/// A number of tasks, or the bounds between which it is where they differ in the digits that are shown.
fn words(value: &Between) -> String {
    let (at_least, at_most) = (decimal(&value.at_least), decimal(&value.at_most));
    if at_least == at_most { at_least } else { format!("{at_least} to {at_most}") }
}

fn gain(value: &Between) -> Cell {
    value.exact().map_or_else(|| Cell::text(words(value)), Cell::decimal)
}

/// Who else gains or loses, those with the largest change first.
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
        list.push(format!("{} more, {losers} of whom lose", users.len() - NAMED));
    }
    if list.is_empty() { Cell::none() } else { Cell::text(list.join(", ")) }
}

/// What the numbers were measured from, and what was left out.
fn notes(explanation: &Explanation, unit: &OneMoreUnit, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if unit.differs {
        lines.push(format!(
            "This allocation is not what the mechanism gives. The gains are measured from the mechanism's own answer, \
             in which {name} has {} (here: {}).",
            unit.tasks.exact().map_or_else(|| format!("{} tasks", words(&unit.tasks)), tasks),
            decimal(&explanation.tasks),
        ));
    }
    if unit.rows.iter().any(|row| row.changes_shares) {
        lines.push(
            "The unit also changes what users' shares are parts of, and some can lose by it.".to_owned(),
        );
    }
    if let Some(bound) = &unit.others_at_most {
        let what = match unit.others {
            1 => "One other row was".to_owned(),
            others => format!("{others} other rows were"),
        };
        lines.push(format!(
            "{what} not solved again: {name} would gain at most {} there, as prices or what it could have alone prove.",
            tasks(bound),
        ));
    }
    lines
}
