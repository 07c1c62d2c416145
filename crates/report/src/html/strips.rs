//! The tasks of users: every user has a line, with a point for every mechanism.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, Rational, printable};
use maud::{Markup, html};

use super::number;
use super::opening::{Judgement, shown};
use crate::table::markup::WRAPS;

/// The largest number of users that get a line. Users whose numbers of tasks differ most between the
/// mechanisms come first.
const MOST: usize = 16;

pub(super) fn strips(problem: &Problem, judgement: &Judgement<'_>, columns: &[Compared]) -> Markup {
    let all: Vec<(&str, &Judged, bool)> =
        shown(columns).map(|(name, judged)| (name, judged, judgement.keeps_all(judged))).collect();
    if all.is_empty() || problem.n_users() == 0 {
        return html! {};
    }
    let bounds = |n: usize| {
        let tasks = || all.iter().map(|(_, judged, _)| &judged.tasks[n]);
        (tasks().min().cloned().unwrap_or_default(), tasks().max().cloned().unwrap_or_default())
    };
    // The difference between the largest and the least number of tasks, as a fraction of the largest number.
    let spread = |n: &usize| {
        let (least, most) = bounds(*n);
        std::cmp::Reverse(if most.is_zero() {
            Rational::new()
        } else {
            Rational::from(&most - &least) / most
        })
    };
    let mut users: Vec<usize> = (0..problem.n_users()).collect();
    if users.len() > MOST {
        users.sort_by_cached_key(spread);
        users.truncate(MOST);
        users.sort_unstable();
    }
    html! {
        h2 id="users" { "Tasks of each user" }
        div class="card" {
            @if problem.n_users() > users.len() {
                p { "The " (users.len()) " of " (problem.n_users()) " users whose tasks differ most between the mechanisms. The section Side by side lists all users." }
            }
            div class="wide" tabindex="0" role="region" aria-label="Tasks by user" {
                table class="strips" {
                    thead { tr {
                        th scope="col" { "user" }
                        th scope="col" class="strip" { "tasks, a point for each mechanism" }
                        th scope="col" class="number" { "least" }
                        th scope="col" class="number" { "most" }
                    } }
                    tbody {
                        @for n in users {
                            @let (least, most) = bounds(n);
                            tr {
                                @let name = printable(problem.users()[n].name());
                                th scope="row" class=[(name.chars().count() > WRAPS).then_some("long")] dir="auto" { (name) }
                                td class="strip" { (strip(&all, n, &most)) }
                                td class="number" { (number(&least)) }
                                td class="number" { (number(&most)) }
                            }
                        }
                    }
                }
            }
            p class="muted" { "A line begins at 0 and ends at the most tasks that the user gets here. Full points satisfy all usual axioms, hollow points violate one. Rest the pointer on a point to see its mechanism and number." }
        }
    }
}

fn strip(all: &[(&str, &Judged, bool)], n: usize, most: &Rational) -> Markup {
    let at = |tasks: &Rational| match most.is_zero() {
        true => 2.0,
        false => 2.0 + 96.0 * to_f64(&Rational::from(tasks / most)),
    };
    html! {
        svg role="img" aria-label=(format!("Tasks of {}", describe(all, n))) {
            line x1="2%" x2="98%" y1="10" y2="10" {}
            @for (name, judged, keeps_all) in all {
                circle class=(if *keeps_all { "dot" } else { "dot breaks" }) cx=(format!("{:.2}%", at(&judged.tasks[n]))) cy="10" r="5" {
                    title { (printable(name)) ": " (crate::text::tasks(&judged.tasks[n])) }
                }
            }
        }
    }
}

/// Returns the points in words.
fn describe(all: &[(&str, &Judged, bool)], n: usize) -> String {
    let words: Vec<String> = all
        .iter()
        .map(|(name, judged, _)| format!("{} {}", printable(name), crate::text::decimal(&judged.tasks[n])))
        .collect();
    crate::text::few(&words, all.len())
}
