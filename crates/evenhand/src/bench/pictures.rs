//! The pictures of [`accuracy`](super::accuracy).

use evenhand_report::plot::{Axis, Figure, Line, Plot, Series};

use super::accuracy::{Accuracy, Measured, Recording};

/// Errors below this are drawn here: a double that is right to its last digit can have none.
pub const FLOOR: f64 = 1e-17;

/// Relative error over time, a plot for each instance.
#[must_use]
pub fn work_precision(accuracy: &Accuracy) -> Figure {
    let title = "Time and distance to the exact answer".to_owned();
    Figure { title, plots: accuracy.instances.iter().map(of_instance).collect(), columns: 2 }
}

fn of_instance(measured: &Measured) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    for outcome in &measured.results {
        let name = outcome.contender.series();
        let point = (outcome.seconds, outcome.judgement.error.max(FLOOR));
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series::new(name, vec![point])),
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let instance = &measured.instance;
    Plot {
        title: format!(
            "{}: {} users, {} resources",
            instance.name,
            instance.n_users(),
            instance.n_resources()
        ),
        x: Axis::logarithmic("time (s), median"),
        y: Axis::logarithmic("relative error of x").with_range(FLOOR / 3.0, 10.0),
        series,
    }
}

/// The trajectories over `c`, and their distance to the limit.
#[must_use]
pub fn trajectory(accuracy: &Accuracy) -> Figure {
    let mut plots: Vec<Plot> = Vec::new();
    let mut names: Vec<&str> = accuracy.recordings.iter().map(|r| r.instance.as_str()).collect();
    names.dedup();
    for name in names {
        let recordings: Vec<&Recording> = accuracy.recordings.iter().filter(|r| r.instance == name).collect();
        if let Some(best) = recordings.last() {
            plots.push(paths(best));
        }
        plots.push(distances(name, &recordings));
    }
    Figure { title: "The trajectory and its limit".to_owned(), plots, columns: 2 }
}

fn paths(recording: &Recording) -> Plot {
    let n_users = recording.points.first().map_or(0, |point| point.x.len());
    let series = (0..n_users).map(|user| {
        let points = recording.points.iter().map(|point| (point.c, point.x[user])).collect();
        Series::new(format!("x of user {}", user + 1), points).without_marks(Line::Solid)
    });
    Plot {
        title: format!("{}: the trajectory", recording.instance),
        x: Axis::logarithmic("c").with_range(1e-2, 1e6),
        y: Axis::linear("fraction of the request"),
        series: series.collect(),
    }
}

fn distances(name: &str, recordings: &[&Recording]) -> Plot {
    let mut series: Vec<Series> = recordings
        .iter()
        .map(|recording| {
            let points = recording.points.iter().zip(&recording.errors);
            let points = points.map(|(point, error)| (point.c, error.max(FLOOR))).collect();
            let name = format!("dop853, tolerance {:e}", recording.tolerance);
            Series::new(name, points).without_marks(Line::Solid)
        })
        .collect();
    let ends = |power: i32| vec![(1.0, 1.0), (1e14, 1e14_f64.powf(-1.0 / f64::from(power)))];
    series.push(Series::new("1 / c", ends(1)).without_marks(Line::Dashed));
    series.push(Series::new("1 / sqrt(c)", ends(2)).without_marks(Line::Dashed));
    Plot {
        title: format!("{name}: distance to the limit"),
        x: Axis::logarithmic("c").with_range(1.0, 1e14),
        y: Axis::logarithmic("relative error of x").with_range(FLOOR / 3.0, 10.0),
        series,
    }
}
