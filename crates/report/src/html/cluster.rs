//! The page of a running cluster: what every queue holds beside what it is due, who is short and why, what waits.

use evenhand_cluster::reported::Compared;
use evenhand_cluster::{Row, Verdict};
use evenhand_problem::number::to_f64;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Rational, printable};
use maud::{Markup, PreEscaped, html};

use super::bars::bars;
use super::page;
use crate::page::Page;
use crate::table::{Form, Table};
use crate::text::amount;

/// Queues that have a bar, and resources of which a queue has one: more make no picture that fits a page.
const MOST_QUEUES: usize = 24;
const MOST_RESOURCES: usize = 6;
/// Lines of what waits.
const MOST_WAITING: usize = 40;

/// The page that goes to the teams.
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
    let found = crate::cluster::verdict(snapshot, verdict, compared).render(&Form::Html);
    let holdings = crate::holdings(problem, &verdict.allocation);
    let body = html! {
        (PreEscaped(super::short(&crate::cluster::in_short(snapshot, verdict))))
        h2 { "What is due beside what is held" }
        (pictures(verdict))
        h2 { "The verdict" }
        (PreEscaped(found))
        @if let Some(holdings) = holdings {
            h2 { "Who holds what" }
            h3 { "Parts of every server class" }
            div class="card" { (bars(&holdings, problem.n_servers())) }
        }
        @if !snapshot.waiting.is_empty() {
            h2 { "What waits" }
            (PreEscaped(waiting(snapshot).render(&Form::Html)))
        }
    };
    page(title, &facts, &body, false)
}

fn waiting(snapshot: &Snapshot) -> Page {
    let table = Table::of(&snapshot.waiting)
        .words("user", |of| snapshot.problem.users()[of.user].name())
        .numbers("tasks", |of| of.tasks)
        .words("why, as the scheduler says", |of| of.reason.as_str())
        .table();
    Page::new().table(table.at_most(MOST_WAITING, "users and reasons"))
}

/// A bar for every queue and resource: what is held, with a mark at what is due.
fn pictures(verdict: &Verdict) -> Markup {
    let problem = &verdict.problem;
    let has = |row: &&Row, r: usize| !row.held[r].is_zero() || !row.due[r].is_zero();
    let of = |r: usize| verdict.queues.iter().filter(move |row| has(row, r)).take(MOST_QUEUES);
    let shown = (0..problem.n_resources().min(MOST_RESOURCES)).filter(|r| of(*r).next().is_some());
    html! {
        div class="card" {
            ul class="key" {
                li { svg aria-hidden="true" { rect class="part-0" width="12" height="12" {} } "held" }
                li { svg aria-hidden="true" { rect class="mark" x="5" width="3" height="12" {} } "due" }
            }
            div class="classes" {
                @for r in shown {
                    div {
                        h3 dir="auto" { (printable(&problem.resources()[r])) }
                        @for row in of(r) { (bar(verdict, row, r)) }
                    }
                }
            }
            @if verdict.queues.len() > MOST_QUEUES {
                p class="muted" { "The first " (MOST_QUEUES) " of " (verdict.queues.len()) " queues are shown." }
            }
        }
    }
}

fn bar(verdict: &Verdict, row: &Row, r: usize) -> Markup {
    let problem = &verdict.problem;
    let all = &problem.total_capacity()[r];
    let part = |value: &Rational| match all.is_zero() {
        true => 0.0,
        false => 100.0 * to_f64(&Rational::from(value / all)).clamp(0.0, 1.0),
    };
    let resource = &problem.resources()[r];
    let (held, due) = (amount(resource, &row.held[r]), amount(resource, &row.due[r]));
    let words = format!("{} holds {held}, due {due}", printable(&row.queue.name));
    html! {
        div class="bar" {
            span dir="auto" { (printable(&row.queue.name)) }
            svg role="img" aria-label=(words) {
                rect class="back" width="100%" height="16" {}
                rect class="part-0" width=(format!("{:.3}%", part(&row.held[r]))) height="16" { title { (words) } }
                rect class="mark" x=(format!("{:.3}%", part(&row.due[r]))) width="3" height="16" {}
            }
            span class="number" { (held) }
        }
    }
}
