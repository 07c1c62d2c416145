//! The plot of fairness against throughput, in which each mechanism is a point.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Rational, printable};
use maud::{Markup, html};

use super::opening::{Judgement, served, shown};
use crate::text::percent;

/// The height of the picture in pixels.
const HEIGHT: f64 = 260.0;
/// The space at the left and at the right for axes and points, as fractions of the width.
const LEFT: f64 = 0.06;
const RIGHT: f64 = 0.04;
/// The space above and below the plot in pixels.
const ABOVE: f64 = 44.0;
const BELOW: f64 = 34.0;
/// The radius of a point in pixels.
const RADIUS: f64 = 6.0;
/// The distances below which two points are close, as fractions of the width and of the height (about two
/// letters on the narrowest screen). Close points are drawn as one point if both mechanisms satisfy all usual
/// axioms or both violate an axiom. Otherwise the number of the second point is written below it.
const NEAR: (f64, f64) = (0.075, 0.11);

/// Mechanisms at the same point, or at points that are too close to be distinguished.
struct Place<'a> {
    x: f64,
    y: f64,
    /// True if the number is written below the point.
    is_below: bool,
    names: Vec<String>,
    first: &'a Judged,
    keeps_all: bool,
}

/// Returns the picture. Returns nothing if the picture would not distinguish the mechanisms.
pub(super) fn scatter(judgement: &Judgement<'_>, columns: &[Compared]) -> Markup {
    let stand = |(name, judged): (&str, &Judged)| {
        Some((name.to_owned(), served(judged)?, judged.least_weighted_share.clone()?, judged.clone()))
    };
    let all: Vec<(String, Rational, Rational, Judged)> = shown(columns).filter_map(stand).collect();
    let best = all.iter().map(|of| &of.2).max().cloned().unwrap_or_default();
    if best.is_zero() {
        return html! {};
    }
    let mut places: Vec<Place<'_>> = Vec::new();
    for (name, served, least, judged) in &all {
        let (x, y) = (to_f64(served), to_f64(&Rational::from(least / &best)));
        let keeps_all = judgement.keeps_all(judged);
        let is_near = |place: &Place<'_>| (place.x - x).abs() < NEAR.0 && (place.y - y).abs() < NEAR.1;
        let is_below = places.iter().any(|place| is_near(place) && !place.is_below);
        match places.iter_mut().find(|place| is_near(place) && place.keeps_all == keeps_all) {
            Some(place) => place.names.push(printable(name)),
            None => {
                places.push(Place { x, y, is_below, names: vec![printable(name)], first: judged, keeps_all });
            }
        }
    }
    if places.len() < 2 {
        return html! {};
    }
    let left = |x: f64| format!("{:.2}%", 100.0 * (LEFT + (1.0 - LEFT - RIGHT) * x.clamp(0.0, 1.0)));
    let top = |y: f64| format!("{:.1}", HEIGHT - BELOW - (HEIGHT - ABOVE - BELOW) * y.clamp(0.0, 1.0));
    html! {
        h2 id="tradeoff" { "Fairness against throughput" }
        figure class="card" {
            svg class="plot" role="img" aria-label="Each mechanism by the fraction of all possible tasks that it serves and by the least share of a user; the list below has the numbers" {
                line x1=(left(0.0)) x2=(left(1.0)) y1=(top(0.0)) y2=(top(0.0)) {}
                line x1=(left(0.0)) x2=(left(0.0)) y1=(top(0.0)) y2=(top(1.0)) {}
                text x=(left(0.0)) y=(HEIGHT - 2.0) { "0 %" }
                text x=(left(1.0)) y=(HEIGHT - 2.0) text-anchor="end" { "tasks served, 100 % of the most possible" }
                text x="0" y="12" { "least share of a user, 100 % of the best here" }
                @for (at, place) in places.iter().enumerate() {
                    circle class=(if place.keeps_all { "dot" } else { "dot breaks" }) cx=(left(place.x)) cy=(top(place.y)) r=(RADIUS) {}
                    text class="label" x=(left(place.x)) y=(top(place.y)) dy=(if place.is_below { 22 } else { -11 }) { (at + 1) }
                }
            }
            figcaption {
                ol {
                    @for place in &places {
                        li {
                            strong dir="auto" { (place.names.join(", ")) } ": "
                            @if let Some(served) = served(place.first) { (percent(&served)) " of the tasks" }
                            @if let Some(least) = &place.first.least_weighted_share {
                                ", least share " (percent(least))
                            }
                            @if !place.keeps_all { " (violates a usual axiom)" }
                        }
                    }
                }
                "The numbers are those of the first name. Shares are dominant shares divided by weights. Full points satisfy all usual axioms, hollow points violate one."
            }
        }
    }
}
