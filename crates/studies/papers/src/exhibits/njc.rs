//! The figures of the NJC paper: shares of a bottleneck, and regions in the plane of two users.

use evenhand_ode::pool::Pool;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, Rational};
use evenhand_report::plot::{Axis, Bar, Bars, Group, LineStyle, Plot, Series};

use super::exhibit::Exhibit;
use crate::error::PaperError;
use crate::njc::{drf, setting, two_users};

pub const EXHIBITS: &[Exhibit] = &[
    Exhibit::new("njc.figure-1", "A request, cut back by its scarcest resource", &[]).drawn(figure_1),
    Exhibit::new("njc.figure-2", "Equal parts of the bottleneck, and dominant shares", &["njc.figure-2"])
        .drawn(figure_2),
    Exhibit::new("njc.figure-3", "What three resources allow two users", &["njc.figure-3"]).drawn(figure_3),
    Exhibit::new("njc.figure-4", "The boundary with rounded corners", &[]).drawn(figure_4),
    Exhibit::new("njc.figure-5", "One point for every ratio of entitlements", &["njc.figure-5"])
        .drawn(figure_5),
    Exhibit::new("njc.figure-6", "Level sets of equation (5)", &[]).drawn(figure_6),
];

/// A profile for Figure 1: the used fractions of four resources. The paper prints only the picture and no
/// numbers.
const PROFILE: [f64; 4] = [0.45, 0.2, 0.3, 0.8];
/// The limit of the last resource.
const LIMIT: f64 = 0.5;

fn figure_1() -> Result<String, PaperError> {
    let factor = LIMIT / PROFILE[PROFILE.len() - 1];
    let group = |name: &str, granted: f64| Group {
        name: name.to_owned(),
        bars: PROFILE
            .iter()
            .enumerate()
            .map(|(r, part)| Bar {
                name: (r + 1).to_string(),
                heights: vec![part * granted, part * (1.0 - granted)],
            })
            .collect(),
    };
    let bars = Bars {
        title: "A request, and what is left of it at half of resource 4".to_owned(),
        y: Axis::linear("part of the resource"),
        parts: vec!["granted".to_owned(), "cut back".to_owned()],
        groups: vec![group("as requested", 1.0), group("resource 4 limited to 50 %", factor)],
    };
    Ok(bars.to_svg()?)
}

fn figure_2() -> Result<String, PaperError> {
    let problem = drf::figure_2()?;
    let group = |name: &str, mechanism: &str| -> Result<Group, PaperError> {
        let x = drf::allocate(&problem, mechanism)?;
        let held = |n: usize, r: usize| to_f64(&Rational::from(&x[n] * &problem.demand(n, 0)[r]));
        let bars = (0..problem.n_resources()).map(|r| Bar {
            name: format!("resource {}", r + 1),
            heights: (0..problem.n_users()).map(|n| held(n, r)).collect(),
        });
        Ok(Group { name: name.to_owned(), bars: bars.collect() })
    };
    let bars = Bars {
        title: "Three users, equally entitled".to_owned(),
        y: Axis::linear("part of the resource"),
        parts: (1..=problem.n_users()).map(|n| format!("user {n}")).collect(),
        groups: vec![group("no justified complaints", "njc")?, group("dominant resource fairness", "drf")?],
    };
    Ok(bars.to_svg()?)
}

/// Draws the plane of two users: `x_1` to the right and `x_2` upwards, both from 0 to 1.
fn plane(title: &str, series: Vec<Series>) -> Result<String, PaperError> {
    let axis = |n: usize| Axis::linear(format!("x{n}")).with_range(0.0, 1.05);
    Ok(Plot { title: title.to_owned(), x: axis(1), y: axis(2), series }.to_svg()?)
}

/// Returns the line on which resource `r` is used up, within the plane of [`plane`].
fn used_up(problem: &Problem, r: usize) -> Option<Series> {
    let [a, b] = [0, 1].map(|n| to_f64(&problem.demand(n, 0)[r]));
    // If the line crosses the unit square, two of these points are its ends on the boundary. The line may
    // also miss the square.
    let on_side = [(0.0, 1.0 / b), (1.0, (1.0 - a) / b), (1.0 / a, 0.0), ((1.0 - b) / a, 1.0)];
    let inside = |(x, y): &(f64, f64)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y);
    let mut ends: Vec<(f64, f64)> = on_side.into_iter().filter(inside).collect();
    ends.dedup();
    let name = format!("resource {} used up", r + 1);
    (ends.len() > 1).then(|| Series::new(name, ends).without_marks(LineStyle::Dashed))
}

/// Returns the corners of the region of equation (1) in order around it, with the first corner repeated at the end.
fn boundary(problem: &Problem) -> Result<Vec<(f64, f64)>, PaperError> {
    let corners = two_users::corners_of_d(problem)?;
    let mut points: Vec<(f64, f64)> = corners.iter().map(|x| (to_f64(&x[0]), to_f64(&x[1]))).collect();
    let middle = points.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
    let middle = (middle.0 / points.len() as f64, middle.1 / points.len() as f64);
    let angle = |at: &(f64, f64)| (at.1 - middle.1).atan2(at.0 - middle.0);
    points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    points.extend(points.first().copied());
    Ok(points)
}

fn figure_3() -> Result<String, PaperError> {
    let problem = two_users::pool_of_figure_3()?;
    let mut series: Vec<Series> = (0..problem.n_resources()).filter_map(|r| used_up(&problem, r)).collect();
    series.push(Series::new("region D", boundary(&problem)?));
    plane("Two users, three resources", series)
}

/// Returns points of a level set of equation (5). Each point is the point of a ray from the origin at which
/// `f` equals `t`.
fn level_set(pool: &Pool, t: f64) -> Vec<(f64, f64)> {
    const RAYS: usize = 90;
    /// The number of times a ray is halved, which is more than doubles can resolve.
    const HALVINGS: usize = 60;
    let value = |x: &[f64]| -> f64 {
        let load = |r: usize| (0..2).map(|n| x[n] * pool.request_row(n)[r]).sum::<f64>();
        (0..pool.n_resources()).map(|r| -(1.0 - load(r)).max(0.0).ln()).sum()
    };
    let on_ray = |k: usize| {
        let angle = std::f64::consts::FRAC_PI_2 * k as f64 / RAYS as f64;
        let (mut low, mut high) = (0.0, 8.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if value(&[middle * angle.cos(), middle * angle.sin()]) < t {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low * angle.cos(), low * angle.sin())
    };
    (0..=RAYS).map(on_ray).collect()
}

fn level_sets(levels: &[f64]) -> Result<Vec<Series>, PaperError> {
    let problem = two_users::pool_of_figure_3()?;
    let pool = setting::continuous(&problem)?;
    let mut series: Vec<Series> = levels
        .iter()
        .map(|t| Series::new(format!("f = {t}"), level_set(&pool, *t)).without_marks(LineStyle::Solid))
        .collect();
    let region = Series::new("region D", boundary(&problem)?).without_marks(LineStyle::Dashed);
    series.push(region);
    Ok(series)
}

fn figure_4() -> Result<String, PaperError> {
    plane("A smooth curve inside the boundary: a level set of equation (5)", level_sets(&[6.0])?)
}

fn figure_6() -> Result<String, PaperError> {
    plane("Level sets of equation (5), from 0 to infinity", level_sets(&[0.25, 0.5, 1.0, 2.0, 4.0, 8.0])?)
}

fn figure_5() -> Result<String, PaperError> {
    let problem = two_users::pool_of_figure_5("1/2 1/2")?;
    let mut series = vec![Series::new("region D", boundary(&problem)?).without_marks(LineStyle::Dashed)];
    for (entitlements, name) in [("3/4 1/4", "1/3"), ("1/2 1/2", "1"), ("2/5 3/5", "3/2"), ("1/4 3/4", "3")] {
        let answers = setting::answers(&two_users::pool_of_figure_5(entitlements)?)?;
        let Some(point) = answers.only() else {
            return Err("the answer of Figure 5 is not the only one".into());
        };
        let point = (to_f64(&point[0]), to_f64(&point[1]));
        series.push(Series::new(format!("e2/e1 = {name}"), vec![(0.0, 0.0), point]));
    }
    plane("One resource, of which both ask for two thirds", series)
}
