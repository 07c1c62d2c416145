//! The pictures of [`accuracy`](super::accuracy).

use evenhand_report::plot::{Axis, Figure, LineStyle, Plot, Series};

use super::accuracy::{Accuracy, Measured, Recording};

/// Errors below this are drawn here: a double that is right to its last digit can have none.
pub const FLOOR: f64 = 1e-17;

/// Relative error over time, a plot for each instance.
#[must_use]
pub fn work_precision(accuracy: &Accuracy) -> Figure {
    let title = "Time and distance to the exact answer".to_owned();
    Figure { title, plots: accuracy.instances.iter().map(of_instance).collect(), columns: 2 }
}

/// Lines connect a method's settings in their order, from the least work to the most.
fn of_instance(measured: &Measured) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    for outcome in &measured.results {
        let name = outcome.contender.series();
        let point = (outcome.seconds, outcome.judgement.error.max(FLOOR));
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => {
                let is_dashed = outcome.contender.method() == "dop853";
                let line = if is_dashed { LineStyle::Dashed } else { LineStyle::Solid };
                series.push(Series { line, ..Series::new(name, vec![point]) });
            }
        }
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

/// The trajectories over `c`, their distance to the limit, and how far the integrator is off them.
#[must_use]
pub fn trajectory(accuracy: &Accuracy) -> Figure {
    let mut plots: Vec<Plot> = Vec::new();
    let mut names: Vec<&str> = accuracy.recordings.iter().map(|r| r.instance.as_str()).collect();
    names.dedup();
    for name in names {
        let recordings: Vec<&Recording> = accuracy.recordings.iter().filter(|r| r.instance == name).collect();
        plots.extend(recordings.last().map(|best| paths(best)));
        plots.push(distances(name, &recordings));
        plots.push(drifts(name, &recordings));
    }
    Figure { title: "The trajectory and its limit".to_owned(), plots, columns: 3 }
}

fn paths(recording: &Recording) -> Plot {
    let n_users = recording.points.first().map_or(0, |point| point.x.len());
    let series = (0..n_users).map(|user| {
        let points = recording.points.iter().map(|point| (point.c, point.x[user])).collect();
        Series::new(format!("x of user {}", user + 1), points).without_marks(LineStyle::Solid)
    });
    Plot {
        title: format!("{}: the trajectory", recording.instance),
        x: Axis::logarithmic("c").with_range(1e-2, 1e6),
        y: Axis::linear("fraction of the request"),
        series: series.collect(),
    }
}

fn distances(name: &str, recordings: &[&Recording]) -> Plot {
    let mut series = by_tolerance(recordings, |recording| recording.errors.clone());
    let ends = |power: i32| vec![(1.0, 1.0), (1e14, 1e14_f64.powf(-1.0 / f64::from(power)))];
    series.push(Series::new("1 / c", ends(1)).without_marks(LineStyle::Dashed));
    series.push(Series::new("1 / sqrt(c)", ends(2)).without_marks(LineStyle::Dashed));
    Plot {
        title: format!("{name}: distance to the limit"),
        x: Axis::logarithmic("c").with_range(1.0, 1e14),
        y: Axis::logarithmic("relative error of x").with_range(FLOOR / 3.0, 10.0),
        series,
    }
}

fn drifts(name: &str, recordings: &[&Recording]) -> Plot {
    let mut series = by_tolerance(recordings, |recording| recording.drifts.clone());
    let rounding = vec![(1.0, f64::EPSILON), (1e14, 1e14 * f64::EPSILON)];
    series.push(Series::new("rounding of x, 2e-16 c", rounding).without_marks(LineStyle::Dashed));
    Plot {
        title: format!("{name}: drift off the trajectory"),
        x: Axis::logarithmic("c").with_range(1.0, 1e14),
        y: Axis::logarithmic("residual of equation (12), relative").with_range(FLOOR / 3.0, 10.0),
        series,
    }
}

/// The finest as a line, the others with marks over it: they may coincide.
fn by_tolerance(recordings: &[&Recording], values: impl Fn(&Recording) -> Vec<f64>) -> Vec<Series> {
    let series = recordings.iter().rev().enumerate().map(|(k, recording)| {
        let points = recording.points.iter().zip(values(recording));
        let points = points.map(|(point, value)| (point.c, value.max(FLOOR))).collect();
        let name = format!("dop853, tolerance {:e}", recording.tolerance);
        Series { marks: k > 0, ..Series::new(name, points) }
    });
    series.collect()
}
