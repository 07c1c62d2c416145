//! A comparison as a document: the answer in sentences, a plot of fairness against throughput, the axioms by
//! mechanism, and the tasks of users. Every allocation is shown with its verdicts and the certificate that
//! proves them.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Problem, Rational, printable};
use maud::{Markup, PreEscaped, html};

use super::bars::bars;
use super::certificate::{Room, csv};
use super::check;
use super::groups::{due, groups};
use super::matrix::matrix;
use super::opening::{Judgement, shown};
use super::scatter::scatter;
use super::strips::strips;
use crate::allocation::users;
use crate::certificate::examination;
use crate::comparison::{OF_GROUPS, comparison, sheets};
use crate::pictures::holdings;
use crate::table::markup::{cut, folded};
use crate::table::{Cell, Form, Table};
use crate::text::few;

/// The largest number of rows in the tables of users and servers.
const LONGEST: usize = 40;
/// The largest number of resources in the line of facts.
const NAMED: usize = 6;

/// Returns the document of a comparison on `problem`. If `all_users` is set, lists of users are never folded.
///
/// The document needs no other file, because certificates are links that contain their data.
#[must_use]
pub fn document(problem: &Problem, columns: &[Compared], all_users: bool) -> String {
    let judgement = Judgement::new(problem, columns);
    let mut room = Room::new();
    let of_columns: Vec<Markup> = shown(columns)
        .enumerate()
        .map(|(at, (name, judged))| of_column(problem, columns, at, name, judged, &mut room))
        .collect();
    let body = html! {
        (judgement.sentences())
        (contents(columns, room.has_some()))
        (scatter(&judgement, columns))
        @if shown(columns).next().is_some() {
            (matrix(problem, &judgement, columns))
            @if room.has_some() { (check::card()) }
            (strips(problem, &judgement, columns))
            (side_by_side(problem, columns, all_users))
        }
        @for column in &of_columns { (column) }
        (of_problem(problem))
    };
    let title = if problem.name().is_empty() { "Allocations side by side" } else { problem.name() };
    super::page(title, &facts(problem), &body, room.has_some())
}

fn facts(problem: &Problem) -> String {
    let count = |number: &dyn std::fmt::Display, one: &str, several: &str| {
        let number = number.to_string();
        let what = if number == "1" { one } else { several };
        format!("{number} {what}")
    };
    let groups = problem.groups().list().len();
    [
        Some(count(&problem.n_users(), "user", "users")),
        (groups > 0).then(|| count(&groups, "group", "groups")),
        Some(format!(
            "{} in {}",
            count(&problem.n_single_servers(), "server", "servers"),
            count(&problem.n_servers(), "class", "classes")
        )),
        Some(few(problem.resources(), NAMED)),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" · ")
}

/// Returns links to the sections of the page.
fn contents(columns: &[Compared], checks: bool) -> Markup {
    let names: Vec<&str> = shown(columns).map(|(name, _)| name).collect();
    html! {
        nav aria-label="Contents" {
            ul {
                @if !names.is_empty() {
                    li { a href="#axioms" { "Axioms by mechanism" } }
                    li { a href="#comparison" { "Side by side" } }
                }
                @if checks { li { a href="#check" { "Check this page here" } } }
                @for (at, name) in names.iter().enumerate() {
                    li { a href=(format!("#column-{at}")) dir="auto" { (printable(name)) } }
                }
                li { a href="#problem" { "The problem" } }
            }
        }
    }
}

fn side_by_side(problem: &Problem, columns: &[Compared], all_users: bool) -> Markup {
    let sheets = sheets(problem, columns, all_users);
    html! {
        h2 id="comparison" { "Side by side" }
        h3 { "Tasks that each user gets" }
        (folded(&sheets.tasks, "Tasks that each user gets"))
        @if let Some(table) = &sheets.groups {
            h3 { (OF_GROUPS) }
            (folded(table, OF_GROUPS))
        }
        h3 { "Fairness and efficiency" }
        (folded(&sheets.figures, "Fairness and efficiency"))
        p class="muted" {
            "Price of fairness: the most weighted tasks that any allocation could serve, divided by those served here."
            @for line in &sheets.remarks { br; (printable(line)) }
        }
        (csv("comparison.csv", &comparison(problem, columns, true).render(&Form::Csv)))
    }
}

/// Returns the section of an allocation: the usage of each user, and every verdict with its certificate.
fn of_column(
    problem: &Problem,
    columns: &[Compared],
    at: usize,
    name: &str,
    judged: &Judged,
    room: &mut Room,
) -> Markup {
    let is_same = |(_, other): &(&str, &Judged)| {
        other.allocation.sharing == judged.allocation.sharing
            && other.allocation.tasks == judged.allocation.tasks
    };
    let twin = shown(columns).take(at).enumerate().find(|(_, of)| is_same(of));
    html! {
        h2 id=(format!("column-{at}")) dir="auto" { (printable(name)) }
        @if let Some((of, (other, _))) = twin {
            p { "Every user has the same tasks as under " a href=(format!("#column-{of}")) dir="auto" { (printable(other)) } "." }
        } @else {
            @if let Some(of) = holdings(problem, &judged.allocation) {
                h3 { "Use of each server class by user" }
                div class="card" { (bars(&of, problem.n_servers())) }
            }
            (groups(problem, &judged.allocation, due(columns).filter(|(of, _)| *of != name)))
            h3 { "Usage of each user" }
            (table_of(&users(problem, &judged.allocation, false), "Usage of each user"))
        }
        h3 { "Verdicts" }
        (PreEscaped(examination(&judged.examination).render(&Form::Html)))
        (room.link(name, &judged.examination.certificate))
    }
}

/// Returns a table with only its first rows, and with the number of further rows.
pub(super) fn table_of(table: &Table, label: &str) -> Markup {
    PreEscaped(cut(table, label))
}

/// Returns the section of the problem: its servers and users.
fn of_problem(problem: &Problem) -> Markup {
    html! {
        h2 id="problem" { "The problem" }
        p { "sha256: " code class="hash" { (problem_sha256(problem)) } }
        h3 { "Servers" }
        (folded(&servers(problem), "Servers"))
        h3 { "Users, and the demand of a task" }
        (folded(&demands(problem), "Users"))
    }
}

fn servers(problem: &Problem) -> Table {
    let table = Table::of(problem.servers())
        .words("server class", |class| class.name())
        .numbers("count", |class| Cell::number(&Rational::from(class.count())))
        .unless_all("1");
    let resources = problem.resources().iter().enumerate();
    let table = resources.fold(table, |table, (r, resource)| {
        table.numbers(resource, |class| Cell::number(&class.capacity()[r]))
    });
    table.table().at_most(LONGEST, "server classes")
}

/// Returns the table of demands. If the demand of a user depends on the class, the table shows the demand on
/// the first class that the user may use.
fn demands(problem: &Problem) -> Table {
    let first = |n: usize| problem.classes_of(n).next().unwrap_or(0);
    let table = Table::of(problem.users().iter().enumerate())
        .words("user", |(_, user)| user.name())
        .numbers("weight", |(_, user)| Cell::number(user.weight()))
        .unless_all("1")
        .numbers("tasks", |(_, user)| user.tasks().map_or_else(|| Cell::text("unlimited"), Cell::number))
        .unless_all("unlimited")
        .numbers("server classes", |(n, _)| problem.classes_of(*n).count() as u64);
    let resources = problem.resources().iter().enumerate();
    let table = resources.fold(table, |table, (r, resource)| {
        table.numbers(resource, |(n, _)| Cell::number(&problem.demand(*n, first(*n))[r]))
    });
    table.table().at_most(LONGEST, "users")
}
