//! Draws Reservation, Figures 5 and 6, from the sample.

use evenhand_report::plot::{Axis, LineStyle, Plot, Series};

use super::{Course, FROM, courses, mean};
use crate::data::Data;
use crate::error::PaperError;

/// Draws the rewards by the number of servers, as fractions of the mean bound.
pub fn figure_5() -> Result<String, PaperError> {
    let courses = courses(&Data::Google.folder()?)?;
    let policies = courses.first().map_or(0, |course| course.policies.len());
    let part = |course: &Course, k: usize| course.policies[k].1.reward / mean(&course.bound);
    let line = |k: usize| {
        let points = courses.iter().map(|course| (course.servers as f64, part(course, k))).collect();
        Series::new(courses[0].policies[k].0, points)
    };
    let plot = Plot {
        title: "Reward along the sample, as a fraction of the upper bound".to_owned(),
        x: Axis::linear("servers"),
        y: Axis::linear("reward").with_range(0.0, 1.0),
        series: (0..policies).map(line).collect(),
    };
    Ok(plot.to_svg()?)
}

/// Draws the rewards over time on the largest number of servers, with the bound.
pub fn figure_6() -> Result<String, PaperError> {
    let courses = courses(&Data::Google.folder()?)?;
    let course = courses.last().ok_or("no course")?;
    let there = |points: &[(f64, f64)]| points.iter().copied().filter(|(time, _)| *time >= FROM).collect();
    let mut series: Vec<Series> = course
        .policies
        .iter()
        .map(|(name, run)| Series::new(*name, there(&run.series)).without_marks(LineStyle::Solid))
        .collect();
    series.push(Series::new("upper bound", there(&course.bound)).without_marks(LineStyle::Dashed));
    let plot = Plot {
        title: format!("Reward over time on {} servers", course.servers),
        x: Axis::linear("time (s)"),
        y: Axis::linear("reward per unit of time"),
        series,
    };
    Ok(plot.to_svg()?)
}
