//! NJC, section 5.4: the trajectory, equations (12) and (13).

use evenhand_ode::path::{PathSettings, follow};
use evenhand_ode::trajectory::{TrajectoryResult, TrajectorySettings, integrate};
use evenhand_problem::Problem;

use super::definition::greedy;
use super::drf::figure_2;
use super::promises::{circle, family};
use super::setting::{continuous, show_floats};
use crate::entry::Entry;
use crate::error::PaperError;

const AT: [f64; 4] = [1.0, 100.0, 1e4, 1e6];

/// Returns the point `x(c)` of the trajectory, by integration of equation (13).
pub fn at(problem: &Problem, c: f64) -> Result<TrajectoryResult, PaperError> {
    let settings = TrajectorySettings {
        c_max: c,
        relative_tolerance: 1e-10,
        stop_tolerance: 0.0,
        ..TrajectorySettings::default()
    };
    Ok(integrate(&continuous(problem)?, &settings))
}

/// Returns the largest difference between coordinates of two points.
pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let examples: [(&str, &'static str, Problem); 4] = [
        ("figure-2", "NJC, equations (12) and (13), on Figure 2", figure_2()?),
        ("greedy", "NJC, equations (12) and (13), on the example of section 3", greedy()?),
        ("family", "NJC, equations (12) and (13), on the family of section 5.5", family()?),
        ("circle", "NJC, equations (12) and (13), on the circle of section 5.5", circle()?),
    ];
    examples.into_iter().map(|(id, source, problem)| entry(id, source, &problem)).collect()
}

fn entry(id: &str, source: &'static str, problem: &Problem) -> Result<Entry, PaperError> {
    let limit = follow(&continuous(problem)?, &PathSettings::default());
    let mut points = Vec::new();
    let (mut error, mut steps, mut last) = (0.0_f64, 0, Vec::new());
    for c in AT {
        let end = at(problem, c)?;
        points.push(format!("c = {c}: {}", show_floats(&end.x, 8)));
        error = error.max(end.error);
        steps = end.steps;
        last = end.x;
    }
    points.push(format!("limit: {}", show_floats(&limit.x, 8)));
    Ok(Entry {
        id: format!("njc.trajectory.{id}"),
        source,
        paper: String::new(),
        ours: points.join(", "),
        agrees: None,
        note: format!(
            "The trajectory is computed in floating point, in {steps} steps. Equation (12) holds within \
             {error:.0e}. The last point is {:.0e} from the limit, which is computed with a residual of \
             {:.0e}. The paper prints no trajectory.",
            largest_difference(&last, &limit.x),
            limit.residual,
        ),
    })
}
