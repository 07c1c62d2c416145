//! The page of a history: the usage and fair shares of queues as lines over time, and the amounts that queues
//! lacked as areas.

use std::fmt::Write;

use evenhand_problem::printable;
use maud::{Markup, PreEscaped, html};

use super::page;
use crate::over_time::{Line, OverTime, duration, said, utc};
use crate::page::Page;
use crate::table::Form;

/// The largest number of pictures on a page. More pictures do not fit, and the table shows all queues.
const MOST: usize = 40;
/// The width and the height of a picture in its own units. The page stretches them.
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 300.0;

/// Returns the page of a history.
#[must_use]
pub fn document(history: &OverTime) -> String {
    let facts = format!("{} to {}", utc(history.span[0]), utc(history.span[1]));
    let lines = history.in_order();
    let body = html! {
        (PreEscaped(super::short(&history.in_short())))
        h2 { "Usage against fair share" }
        div class="card" {
            ul class="key" {
                li { svg aria-hidden="true" { rect class="part-0" y="4" width="12" height="3" {} } "usage" }
                li { svg aria-hidden="true" { rect class="mark due" y="4" width="12" height="3" {} } "fair share" }
                li { svg aria-hidden="true" { rect class="lacks" width="12" height="12" {} } "lacking" }
                li { svg aria-hidden="true" { rect class="range" width="12" height="12" {} } "least to most usage" }
                li { svg aria-hidden="true" { rect class="unknown" width="12" height="12" {} } "no verdict" }
            }
            @if lines.is_empty() { p { "No queue used anything, and none had a fair share." } }
            div class="courses" { @for line in lines.iter().take(MOST) { (picture(history, line)) } }
            @if lines.len() > MOST {
                p class="muted" {
                    "The " (MOST) " of " (lines.len()) " queues and resources that lacked most are shown. The table has all."
                }
            }
            p class="muted" { (thinned(history)) }
        }
        h2 { "Time below the fair share" }
        (PreEscaped(Page::new().folded(history.table()).lines([history.method()]).render(&Form::Html)))
    };
    page(&history.title, &facts, &body, false)
}

/// Returns the sentence that states how many verdicts a column has.
fn thinned(history: &OverTime) -> String {
    let columns = history.unknown.len();
    let width = (history.span[1] - history.span[0]) as f64 / 1000.0 / columns as f64;
    if history.rounds[0] <= columns as u64 {
        return "Each step of a line is one verdict, or the mean of verdicts that follow each other closely."
            .to_owned();
    }
    format!(
        "Each step of a line is the mean of the verdicts of {}. The band behind it reaches from the least to the largest usage of \
         these verdicts.",
        duration(width)
    )
}

fn picture(history: &OverTime, line: &Line) -> Markup {
    let [usage, share, _] = line.means();
    let name = printable(&line.queue);
    let resource = printable(&line.resource);
    let lacked = if line.below > 0.0 {
        format!(", below its fair share for {}", duration(line.below))
    } else {
        String::new()
    };
    let words = format!(
        "{name}, {resource}: mean usage {} of a mean fair share of {}{lacked}",
        said(&line.resource, usage),
        said(&line.resource, share)
    );
    let [from, to] = history.span;
    let middle = from + (to - from) / 2;
    html! {
        section {
            h3 dir="auto" { (name) ": " (resource) }
            p class="muted" { (said(&line.resource, line.most())) " at the top" (lacked) }
            svg class="course" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(words) {
                path class="unknown" d=(unknown(&history.unknown)) {}
                path class="range" d=(areas(line, |of| (of.verdicts > 1).then_some([of.usage[0], of.usage[2]]))) {}
                path class="lacks" d=(areas(line, |of| (of.lacking > 0.0).then_some([of.usage[1], of.usage[1] + of.lacking]))) {}
                path class="share" d=(steps(line, |of| of.fair_share)) {}
                path class="usage" d=(steps(line, |of| of.usage[1])) {}
            }
            p class="axis muted" { span { (utc(from)) } span class="wide-only" { (utc(middle)) } span { (utc(to)) } }
        }
    }
}

/// Returns the horizontal position of the left end of a column.
fn left(column: usize, columns: usize) -> i64 {
    (WIDTH * column as f64 / columns as f64).round() as i64
}

/// Returns the vertical position of a value in a picture. The value 0 is at the bottom.
fn height(line: &Line, value: f64) -> i64 {
    let most = line.most();
    let part = if most > 0.0 { value / most } else { 0.0 };
    (HEIGHT - 2.0 - (HEIGHT - 4.0) * part).round() as i64
}

/// Returns the path of a line that is horizontal in each column. Columns without a verdict are gaps.
fn steps(line: &Line, value: impl Fn(&crate::over_time::Column) -> f64) -> String {
    let (mut path, mut last) = (String::new(), None);
    let columns = line.columns.len();
    for (at, column) in line.columns.iter().enumerate() {
        let y = column.as_ref().map(|of| height(line, value(of)));
        if let Some(y) = y {
            let _ = match last {
                None => write!(path, "M{} {y}", left(at, columns)),
                Some(last) if last != y => write!(path, "V{y}"),
                Some(_) => Ok(()),
            };
            // A horizontal line over several columns is written only once, after its last column.
            let goes_on = line.columns.get(at + 1).and_then(Option::as_ref).map(|of| height(line, value(of)));
            if goes_on != Some(y) {
                let _ = write!(path, "H{}", left(at + 1, columns));
            }
        }
        last = y;
    }
    path
}

/// Returns the path of the areas between two values, for the columns that have these values.
fn areas(line: &Line, between: impl Fn(&crate::over_time::Column) -> Option<[f64; 2]>) -> String {
    let mut path = String::new();
    let columns = line.columns.len();
    for (at, column) in line.columns.iter().enumerate() {
        let Some(ends) = column.as_ref().and_then(&between) else { continue };
        let [low, high] = ends.map(|value| height(line, value));
        if low > high {
            let (x, end) = (left(at, columns), left(at + 1, columns));
            let _ = write!(path, "M{x} {low}H{end}V{high}H{x}z");
        }
    }
    path
}

/// Returns the path of the columns without a verdict. Adjacent columns are one area.
fn unknown(columns: &[bool]) -> String {
    let mut path = String::new();
    let mut at = 0;
    while at < columns.len() {
        let length = columns[at..].iter().take_while(|is_unknown| **is_unknown).count();
        if length > 0 {
            let (x, end) = (left(at, columns.len()), left(at + length, columns.len()));
            let _ = write!(path, "M{x} 0H{end}V{HEIGHT}H{x}z");
        }
        at += length.max(1);
    }
    path
}
