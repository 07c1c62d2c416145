//! Draws the pictures: plots of time against error, and profiles.

use evenhand_report::plot::{Axis, Figure, LineStyle, Plot, Series};

use crate::case::Kind;
use crate::profile::{self, Profile, RIGHT};
use crate::record::Record;

/// The smallest error that is drawn. Smaller errors are drawn at this error. A double that is correct to its last digit
/// can have error 0.
pub const FLOOR: f64 = 1e-17;
/// The number of series after which colours repeat.
const COLOURS: usize = 8;
/// The largest error that is drawn. Larger errors are drawn at this error.
const CEILING: f64 = 10.0;

/// Draws time against error, with one plot for each kind of case. A mark shows the medians over the cases of
/// a kind for one setting of a method.
#[must_use]
pub fn work_precision(records: &[Record]) -> Figure {
    let kinds = Kind::ALL.into_iter().filter(|kind| records.iter().any(|record| record.kind == *kind));
    let plots: Vec<Plot> = kinds.map(|kind| of_kind(records, kind)).collect();
    Figure { title: "Time and distance to the exact answer (medians)".to_owned(), plots, columns: 3 }
}

fn of_kind(records: &[Record], kind: Kind) -> Plot {
    let of_kind = || records.iter().filter(|record| record.kind == kind);
    let mut methods: Vec<(&str, Vec<&str>)> = Vec::new();
    for record in of_kind() {
        let (method, contender) = (record.method.as_str(), record.contender.as_str());
        match methods.iter_mut().find(|(name, _)| *name == method) {
            Some((_, settings)) if settings.contains(&contender) => {}
            Some((_, settings)) => settings.push(contender),
            None => methods.push((method, vec![contender])),
        }
    }
    let point = |contender: &&str| {
        let own = of_kind().filter(|record| record.contender == **contender);
        let answered: Vec<(f64, f64)> = own
            .filter_map(|record| Some((record.cost.seconds, record.distance().or(record.measures.error)?)))
            .collect();
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let seconds = median(answered.iter().map(|(seconds, _)| *seconds).collect())?;
        let off = median(answered.iter().map(|(_, off)| *off).collect())?;
        Some((seconds, off.clamp(FLOOR, CEILING)))
    };
    let series = methods.iter().map(|(method, settings)| {
        let mut points: Vec<(f64, f64)> = settings.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series::new(*method, points)
    });
    Plot {
        title: kind.name().to_owned(),
        x: Axis::logarithmic("time (s)"),
        y: Axis::logarithmic("error").with_range(FLOOR / 3.0, 3.0 * CEILING),
        series: series.filter(|series| !series.points.is_empty()).collect(),
    }
}

/// Draws the profiles of time and of errors side by side, for every method with its default settings.
#[must_use]
pub fn profiles(records: &[Record]) -> Figure {
    let usual = records.iter().filter(|record| record.contender == record.method);
    let records = &usual.cloned().collect::<Vec<_>>();
    let time = profile::performance(records);
    let most = time.iter().flat_map(|profile| &profile.steps).map(|(bound, _)| *bound).fold(10.0, f64::max);
    let errors = profile::errors(records);
    let plots = vec![
        Plot {
            title: format!("answered within {RIGHT:e}, by time"),
            x: Axis::logarithmic("time as a multiple of the fastest").with_range(1.0, most),
            y: Axis::linear("fraction of the supported cases").with_range(0.0, 1.05),
            series: stairs(&time, 1.0, most),
        },
        Plot {
            title: "answered, by error".to_owned(),
            x: Axis::logarithmic("error at most").with_range(FLOOR, CEILING),
            y: Axis::linear("fraction of the supported cases").with_range(0.0, 1.05),
            series: stairs(&errors, FLOOR, CEILING),
        },
    ];
    Figure { title: "Profiles".to_owned(), plots, columns: 2 }
}

/// Returns the profiles as step functions that rise.
fn stairs(profiles: &[Profile], from: f64, to: f64) -> Vec<Series> {
    let line = |(at, profile): (usize, &Profile)| {
        let mut points = vec![];
        let mut part = 0.0;
        for (bound, next) in &profile.steps {
            let bound = bound.clamp(from, to);
            points.push((bound, part));
            points.push((bound, *next));
            part = *next;
        }
        points.push((to, part));
        let style = if (at / COLOURS).is_multiple_of(2) { LineStyle::Solid } else { LineStyle::Dashed };
        Series::new(profile.contender.clone(), points).without_marks(style)
    };
    profiles.iter().enumerate().map(line).collect()
}
