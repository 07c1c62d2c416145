//! Stacked bars that show each user's usage of every resource of every server class, in rows of at most three
//! small pictures.

use evenhand_problem::printable;
use maud::{Markup, html};

use crate::plot::Bars;
use crate::text::percent_of;

/// Returns the bars and the legend of their colours.
pub(super) fn bars(of: &Bars, classes: usize) -> Markup {
    html! {
        ul class="key" aria-label="Key" {
            @for (k, part) in of.parts.iter().enumerate() {
                li { svg aria-hidden="true" { rect class=(format!("part-{k}")) width="12" height="12" {} } span dir="auto" { (printable(part)) } }
            }
        }
        div class="classes" {
            @for group in &of.groups {
                div {
                    h4 dir="auto" { (printable(&group.name)) }
                    @for bar in &group.bars {
                        @let used: f64 = bar.heights.iter().sum();
                        div class="bar" {
                            span dir="auto" { (printable(&bar.name)) }
                            svg role="img" aria-label=(said(of, &bar.heights)) {
                                rect class="back" width="100%" height="16" {}
                                @for (k, (from, height)) in starts(&bar.heights).into_iter().enumerate() {
                                    @if height > 0.0 {
                                        rect class=(format!("part-{k}")) x=(format!("{:.3}%", 100.0 * from)) width=(format!("{:.3}%", 100.0 * height)) height="16" {
                                            title { (printable(&of.parts[k])) ": " (percent_of(height)) }
                                        }
                                    }
                                }
                            }
                            span class="number" { (percent_of(used)) }
                        }
                    }
                }
            }
        }
        @if classes > of.groups.len() {
            p class="muted" { "The first " (of.groups.len()) " of " (classes) " server classes are shown." }
        }
    }
}

/// Returns the start and the length of each part of a bar.
fn starts(heights: &[f64]) -> Vec<(f64, f64)> {
    heights
        .iter()
        .scan(0.0, |from, height| {
            let start = *from;
            *from += height;
            Some((start, *height))
        })
        .collect()
}

fn said(of: &Bars, heights: &[f64]) -> String {
    let parts = of.parts.iter().zip(heights).filter(|(_, height)| **height > 0.0);
    let words: Vec<String> =
        parts.map(|(part, height)| format!("{} {}", printable(part), percent_of(*height))).collect();
    if words.is_empty() { "nothing is used".to_owned() } else { words.join(", ") }
}
