//! Draws a sweep of the load (Reservation, Figure 2).

use evenhand_certify::ratio::{Sweep, SweepPoint};
use evenhand_problem::Rational;
use evenhand_problem::number::to_f64;

use crate::plot::{Axis, Figure, LineStyle, Plot, Series};

/// The title of the figure, which stands before the name of the problem.
const TITLE: &str = "Greedy against optimal";

/// Returns the figure of a sweep over multiples of the load of the problem `name`. The figure shows the
/// rewards per server, and the ratio of greedy packing to the optimum from 0 to 1. Critical loads in the
/// sweep are drawn as points and dashed lines.
#[must_use]
pub fn sweep(sweep: &Sweep, name: &str) -> Figure {
    let mut points: Vec<&SweepPoint> = sweep.points.iter().chain(&sweep.at_critical_loads).collect();
    points.sort_by(|a, b| a.load.cmp(&b.load));
    let over = |value: &dyn Fn(&SweepPoint) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = points.iter();
        points.map(|point| (to_f64(&point.load), value(point).unwrap_or(f64::NAN))).collect()
    };
    let rewards = vec![
        Series::new("greedy", over(&|point| Some(to_f64(&point.greedy)))),
        Series::new("optimum", over(&|point| Some(to_f64(&point.optimum)))),
    ];
    let ratio = vec![Series::new("greedy / optimum", over(&|point| point.ratio.as_ref().map(to_f64)))];
    let plot = |y: Axis, mut series: Vec<Series>| {
        critical(sweep, &mut series);
        Plot::new(Axis::linear("multiple of the load"), y, series)
    };
    Figure {
        title: if name.is_empty() { TITLE.to_owned() } else { format!("{TITLE}: {name}") },
        plots: vec![plot(Axis::linear("reward per server"), rewards), plot(Axis::parts("ratio"), ratio)],
        columns: 2,
    }
}

/// Adds a vertical line for each critical load in the sweep.
fn critical(sweep: &Sweep, series: &mut Vec<Series>) {
    let ys = series.iter().flat_map(|series| &series.points).map(|(_, y)| *y).filter(|y| y.is_finite());
    let (low, high) = ys.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    let within = |load: &Rational| {
        let first = sweep.points.first().is_some_and(|point| point.load <= *load);
        first && sweep.points.last().is_some_and(|point| *load <= point.load)
    };
    for (name, load) in [("all served", &sweep.all_served), ("all at their best", &sweep.all_best)] {
        if let Some(load) = load.as_ref().filter(|load| low < high && within(load)) {
            let x = to_f64(load);
            series.push(Series::new(name, vec![(x, low), (x, high)]).without_marks(LineStyle::Dashed));
        }
    }
}
