//! Draws DRFH, Figures 5 to 8, from the sample.

use evenhand_problem::Problem;
use evenhand_report::plot::{Axis, Figure, LineStyle, Plot, Series};
use evenhand_simulate::{Run, series};

use super::{Cloud, dedicated_pairs, on_sample, ratio_pairs};
use crate::error::PaperError;

/// Draws Figure 5: utilisation over time.
pub fn figure_5() -> Result<String, PaperError> {
    on_sample(|cloud| {
        let policies = [
            ("best fit", cloud.run(super::best_fit())?),
            ("first fit", cloud.run(super::first_fit())?),
            ("slots", cloud.best_slots()?.1),
        ];
        let plot = |r: usize, name: &str| Plot {
            title: String::new(),
            x: Axis::linear("time (s)"),
            y: Axis::linear(format!("{name} utilisation")).with_range(0.0, 1.0),
            series: policies.iter().map(|(policy, run)| utilisation(policy, run, r)).collect(),
        };
        let title = "A sample of the Google trace on 300 servers".to_owned();
        Ok(Figure { title, plots: vec![plot(0, "CPU"), plot(1, "memory")], columns: 2 }.to_svg()?)
    })
}

fn utilisation(name: &str, (problem, run): &(Problem, Run), r: usize) -> Series {
    let course = series(problem, run);
    let points = course.times.iter().copied().zip(course.utilisation[r].iter().copied()).collect();
    Series::new(name, points).without_marks(LineStyle::Solid)
}

/// Draws Figure 6a: the fraction of the jobs that finished within a time, as a function of the time.
pub fn figure_6() -> Result<String, PaperError> {
    on_sample(|cloud| {
        let (_, best) = cloud.run(super::best_fit())?;
        let (_, (_, slots)) = cloud.best_slots()?;
        let curve = |name: &str, run: &Run| {
            let mut times: Vec<f64> = run.jobs.iter().map(|job| job.time).collect();
            times.sort_by(f64::total_cmp);
            let all = times.len().max(1) as f64;
            let points =
                times.into_iter().enumerate().map(|(k, time)| (time, (k + 1) as f64 / all)).collect();
            Series::new(name, points).without_marks(LineStyle::Solid)
        };
        let plot = Plot {
            title: "Completion times of the jobs that are done".to_owned(),
            x: Axis::logarithmic("completion time (s)"),
            y: Axis::linear("part of the jobs").with_range(0.0, 1.0),
            series: vec![curve("best fit", &best), curve("slots", &slots)],
        };
        Ok(plot.to_svg()?)
    })
}

/// Draws Figure 7: the task completion ratios of every user under both policies.
pub fn figure_7() -> Result<String, PaperError> {
    on_sample(|cloud| {
        let (_, best) = cloud.run(super::best_fit())?;
        let (_, (_, slots)) = cloud.best_slots()?;
        scatter(("slots", "best fit"), ratio_pairs(&slots, &best))
    })
}

/// Draws Figure 8: the task completion ratios of every user alone and in the shared cloud.
pub fn figure_8() -> Result<String, PaperError> {
    on_sample(|cloud: &Cloud<'_>| {
        let (_, shared) = cloud.run(super::best_fit())?;
        let (_, pairs) = dedicated_pairs(cloud, &shared)?;
        scatter(("dedicated cloud", "shared cloud"), pairs)
    })
}

/// Draws a point for every user, and the diagonal on which both ratios are equal.
fn scatter((x, y): (&str, &str), points: Vec<(f64, f64)>) -> Result<String, PaperError> {
    let axis = |of: &str| Axis::linear(format!("completion ratio: {of}")).with_range(-0.02, 1.02);
    // Each point is followed by NaN, which breaks the line, so that points are not connected.
    let apart = points.into_iter().flat_map(|point| [point, (f64::NAN, f64::NAN)]).collect();
    let plot = Plot {
        title: "Task completion ratios of the users".to_owned(),
        x: axis(x),
        y: axis(y),
        series: vec![
            Series::new("users", apart),
            Series::new("the same", vec![(0.0, 0.0), (1.0, 1.0)]).without_marks(LineStyle::Dashed),
        ],
    };
    Ok(plot.to_svg()?)
}
