//! The page of a running cluster: the answer in sentences, the usage of every queue next to its fair share,
//! and the waiting tasks.

use evenhand_cluster::reported::Compared;
use evenhand_cluster::{Row, Verdict};
use evenhand_problem::number::to_f64;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Rational, printable};
use maud::{Markup, PreEscaped, html};

use super::bars::bars;
use super::certificate::Room;
use super::{check, page};
use crate::cluster::{self, in_order, in_short};
use crate::page::Page;
use crate::pictures::holdings_of_queues;
use crate::table::{Cell, Column, Form, Table};
use crate::text::{amount, few};

/// The largest number of queues with bars, followed by the largest number of resources with a bar in a queue.
/// More bars do not fit on a page.
const MOST_QUEUES: usize = 24;
const MOST_RESOURCES: usize = 6;
/// The largest number of lines in the tables of waiting tasks and of guarantees.
const MOST_LINES: usize = 40;
/// The largest number of queues that a line names.
const MOST_NAMES: usize = 4;

/// Returns the page of a verdict. Operators send such pages to teams.
#[must_use]
pub fn document(snapshot: &Snapshot, verdict: &Verdict, compared: &[Compared]) -> String {
    let problem = &verdict.problem;
    let title = if problem.name().is_empty() { "A running cluster" } else { problem.name() };
    let sources: Vec<&str> =
        snapshot.sources.iter().map(|of| of.time.as_str()).filter(|time| !time.is_empty()).collect();
    let facts = format!(
        "{} servers, {} queues{}",
        problem.n_single_servers(),
        verdict.queues.len(),
        sources.first().map_or_else(String::new, |time| format!(", as of {time}"))
    );
    let table = |table: Table| PreEscaped(Page::new().table(table).render(&Form::Html));
    let found = Page::new().text(cluster::by(verdict)).table(cluster::table(verdict));
    let reported = cluster::of_reported(problem, compared).lines(cluster::left_out(snapshot));
    let holdings = holdings_of_queues(problem, &verdict.allocation);
    let lending = lending(verdict);
    let mut room = Room::new();
    let held = room.link("held", &verdict.held.certificate);
    let due = verdict.due.certificate().map(|due| room.link("due", due));
    let body = html! {
        (PreEscaped(super::short(&in_short(snapshot, verdict))))
        h2 { "Queues" }
        h3 { "Usage next to the fair share" }
        (pictures(verdict))
        @if !lending.is_empty() {
            h3 { "Unused guarantees, and queues that use more than theirs" }
            (table(lending.at_most(MOST_LINES, "rows")))
        }
        h2 { "The verdict" }
        (PreEscaped(found.render(&Form::Html)))
        h3 { "Axioms of the running tasks" }
        (table(cluster::axioms_of_held(verdict)))
        (held)
        @if let Some(due) = &due {
            h3 { "Axioms of the fair shares" }
            (table(cluster::axioms_of_due(verdict)))
            (due)
        }
        (PreEscaped(reported.render(&Form::Html)))
        @if room.has_some() { (check::card()) }
        h2 { "The cluster" }
        @if let Some(holdings) = holdings {
            h3 { "Use of every server class by queue" }
            div class="card" { (bars(&holdings, problem.n_servers())) }
        }
        @if !snapshot.waiting.is_empty() {
            h3 { "Waiting tasks" }
            (PreEscaped(waiting(snapshot).render(&Form::Html)))
        }
    };
    page(title, &facts, &body, room.has_some())
}

fn waiting(snapshot: &Snapshot) -> Page {
    let problem = &snapshot.problem;
    let queue = |n: usize| problem.groups().member(n).group.map(|v| problem.groups().list()[v].name.as_str());
    let table = Table::of(&snapshot.waiting)
        .words("queue", |of| queue(of.user).unwrap_or("-"))
        .unless_all("-")
        .words("user", |of| problem.users()[of.user].name())
        .numbers("tasks", |of| of.tasks)
        .words(
            "reason given by the scheduler",
            |of| if of.reason.is_empty() { "-" } else { of.reason.as_str() },
        )
        .unless_all("-")
        .table();
    Page::new().table(table.at_most(MOST_LINES, "users and reasons"))
}

/// Returns a row for each group and resource in which a queue uses less than its guarantee. The row contains
/// these queues, and the queues that use more than their guarantees.
fn lending(verdict: &Verdict) -> Table {
    let problem = &verdict.problem;
    let rows = &verdict.queues;
    let mut table = Table::new([
        Column::words("among"),
        Column::words("resource"),
        Column::words("uses less than its guarantee"),
        Column::words("uses more than its guarantee"),
    ]);
    let mut parents: Vec<Option<usize>> = rows.iter().map(|row| row.queue.parent).collect();
    parents.sort_unstable();
    parents.dedup();
    for (parent, r) in parents.into_iter().flat_map(|of| (0..problem.n_resources()).map(move |r| (of, r))) {
        let mut lists: [Vec<(Rational, &str)>; 2] = Default::default();
        for row in rows.iter().filter(|row| row.queue.parent == parent) {
            let promised =
                row.guarantee.iter().find(|(of, _)| *of == r).map(|(_, promised)| promised.clone());
            let beyond = &row.usage[r] - promised.unwrap_or_default();
            if !beyond.is_zero() {
                lists[usize::from(beyond > 0)].push((beyond.abs(), &row.queue.name));
            }
        }
        if lists[0].is_empty() {
            continue;
        }
        let told = |mut list: Vec<(Rational, &str)>| {
            list.sort_by(|a, b| b.0.cmp(&a.0));
            let by =
                |(by, name): &(Rational, &str)| format!("{name} {}", amount(&problem.resources()[r], by));
            let words: Vec<String> = list.iter().map(by).collect();
            if words.is_empty() { "-".to_owned() } else { few(&words, MOST_NAMES) }
        };
        let [less, more] = lists.map(told);
        let among = parent.map_or("all queues", |v| rows[v].queue.name.as_str());
        table.row([among, problem.resources()[r].as_str(), less.as_str(), more.as_str()].map(Cell::text));
    }
    table
}

/// Returns a bar for every queue and resource. The bar shows the usage, and a mark shows the fair share.
fn pictures(verdict: &Verdict) -> Markup {
    let problem = &verdict.problem;
    let has = |row: &&Row, r: usize| !row.usage[r].is_zero() || !row.fair_share[r].is_zero();
    let ordered = in_order(&verdict.queues);
    let of = |r: usize| ordered.iter().copied().filter(move |row| has(row, r)).take(MOST_QUEUES);
    let shown = (0..problem.n_resources().min(MOST_RESOURCES)).filter(|r| of(*r).next().is_some());
    html! {
        div class="card" {
            ul class="key" {
                li { svg aria-hidden="true" { rect class="part-0" width="12" height="12" {} } "usage" }
                li { svg aria-hidden="true" { rect class="part-1" width="12" height="12" {} } "usage over the fair share" }
                li { svg aria-hidden="true" { rect class="lacks" width="12" height="12" {} } "lacking" }
                li { svg aria-hidden="true" { rect class="mark" x="5" width="3" height="12" {} } "fair share" }
            }
            div class="classes" {
                @for r in shown {
                    @let most = of(r).flat_map(|row| [&row.usage[r], &row.fair_share[r]]).max().cloned().unwrap_or_default();
                    div {
                        h4 dir="auto" { (printable(&problem.resources()[r])) }
                        @for row in of(r) { (bar(verdict, row, r, &most)) }
                    }
                }
            }
            @if verdict.queues.len() > MOST_QUEUES {
                p class="muted" { "The first " (MOST_QUEUES) " of " (verdict.queues.len()) " queues are shown." }
            }
        }
    }
}

/// Returns the bar of a queue. `most` is the amount at the right end of the bar.
fn bar(verdict: &Verdict, row: &Row, r: usize, most: &Rational) -> Markup {
    let part = |value: &Rational| 100.0 * to_f64(&Rational::from(value / most));
    let percent = |value: &Rational| format!("{:.3}%", part(value));
    let resource = &verdict.problem.resources()[r];
    let said = |value: &Rational| amount(resource, value);
    let (usage, share) = (&row.usage[r], &row.fair_share[r]);
    let name = printable(&row.queue.name);
    let words = format!("{name} uses {} of its fair share of {}", said(usage), said(share));
    html! {
        div class="bar due" {
            span dir="auto" { ("\u{b7} ".repeat(row.queue.depth)) (name) }
            svg role="img" aria-label=(words) {
                rect class="back" width="100%" height="16" {}
                rect class="part-0" width=(percent(usage.min(share))) height="16" { title { (words) } }
                @if usage > share { rect class="part-1" x=(percent(share)) width=(percent(&Rational::from(usage - share))) height="16" {} }
                @if !row.lacking[r].is_zero() { rect class="lacks" x=(percent(usage)) width=(percent(&row.lacking[r])) height="16" {} }
                rect class="mark" x=(format!("{:.3}%", 0.99 * part(share))) width="3" height="16" {}
            }
            span class="number" { (said(usage)) " of " (said(share)) }
        }
    }
}
