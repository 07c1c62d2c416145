//! The usage of groups: every group and resource has a bar, with marks at its guarantee, limit and fair
//! share.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_exact::{Axiom, Outcome};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Problem, Rational, printable};
use maud::{Markup, html};

use super::comparison::table_of;
use super::opening::shown;
use crate::by_group::{Held, by_group, group_table};
use crate::text::amount;

/// The largest number of groups with bars, followed by the largest number of resources with a bar in a group.
/// More bars do not fit on a page.
const MOST_GROUPS: usize = 24;
const MOST_RESOURCES: usize = 6;

/// Returns the allocation of `tree` and the name of its column. Returns `None` unless it is proven to follow
/// the rule of the groups.
pub(super) fn due(columns: &[Compared]) -> Option<(&str, &Allocation)> {
    let is_tree = |judged: &Judged| {
        let own = judged.own.as_ref().filter(|(axiom, _)| *axiom == Axiom::Tree);
        let claim = own.and_then(|(axiom, parameters)| judged.examination.claim(*axiom, parameters));
        claim.is_some_and(|claim| matches!(claim.outcome(), Outcome::Holds | Outcome::Within))
    };
    shown(columns).find(|(_, judged)| is_tree(judged)).map(|(name, judged)| (name, &judged.allocation))
}

/// Returns the bars and the table. Returns nothing if there are no groups. `due` is the allocation that
/// defines the fair shares, with the name of its column.
pub(super) fn groups(problem: &Problem, allocation: &Allocation, due: Option<(&str, &Allocation)>) -> Markup {
    let by = due.map(|(_, allocation)| allocation);
    let Some(table) = group_table(problem, allocation, by) else { return html! {} };
    let all = by_group(problem, allocation, by);
    let of = |r: usize| all.iter().filter(move |held| held.resource == r).take(MOST_GROUPS);
    let shown = (0..problem.n_resources().min(MOST_RESOURCES)).filter(|r| of(*r).next().is_some());
    html! {
        h3 { "Usage of each group" }
        div class="card" {
            ul class="key" {
                li { svg aria-hidden="true" { rect class="part-0" width="12" height="12" {} } "usage" }
                @if let Some((name, _)) = due {
                    li { svg aria-hidden="true" { rect class="mark due" x="5" width="3" height="12" {} } "fair share, by " bdi { (printable(name)) } }
                }
                li { svg aria-hidden="true" { rect class="mark" x="5" width="3" height="12" {} } "guarantee" }
                li { svg aria-hidden="true" { rect class="mark most" x="5" width="3" height="12" {} } "limit" }
            }
            div class="classes" {
                @for r in shown {
                    div {
                        h4 dir="auto" { (printable(&problem.resources()[r])) }
                        @for held in of(r) { (bar(problem, held)) }
                    }
                }
            }
        }
        (table_of(&table, "Usage of each group"))
    }
}

fn bar(problem: &Problem, held: &Held) -> Markup {
    let all = &problem.total_capacity()[held.resource];
    let part = |value: &Rational| match all.is_zero() {
        true => 0.0,
        false => 100.0 * to_f64(&Rational::from(value / all)).clamp(0.0, 1.0),
    };
    let resource = &problem.resources()[held.resource];
    let name = &problem.groups().list()[held.group].name;
    let said = |what: &str, value: &Option<Rational>| {
        value.as_ref().map_or_else(String::new, |value| format!(", {what} {}", amount(resource, value)))
    };
    let words = format!(
        "{} uses {}{}{}{}",
        printable(name),
        amount(resource, &held.amount),
        said("fair share", &held.due),
        said("guarantee", &held.guarantee),
        said("limit", &held.limit)
    );
    html! {
        div class="bar" {
            span dir="auto" { (printable(name)) }
            svg role="img" aria-label=(words) {
                rect class="back" width="100%" height="16" {}
                rect class="part-0" width=(format!("{:.3}%", part(&held.amount))) height="16" { title { (words) } }
                @if let Some(due) = &held.due {
                    rect class="mark due" x=(format!("{:.3}%", part(due))) width="3" height="16" {}
                }
                @if let Some(guarantee) = &held.guarantee {
                    rect class="mark" x=(format!("{:.3}%", part(guarantee))) width="3" height="16" {}
                }
                @if let Some(limit) = &held.limit {
                    rect class="mark most" x=(format!("{:.3}%", part(limit))) width="3" height="16" {}
                }
            }
            span class="number" { (amount(resource, &held.amount)) }
        }
    }
}
