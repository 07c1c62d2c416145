//! The primal-dual interior point method, with Mehrotra's predictor and corrector.
//!
//! The marginal utility `lambda_n = w_n U_n^-a` is a separate variable. It is related to `U_n` through logarithms, so
//! large exponents cause no overflow.

use super::model::{Cluster, Scaled};
use super::newton::{Newton, Point, UserPoint, complementarity, count};
use super::start::{Guide, Objective};
use super::step::{Products, Residuals, direction, moved};
use crate::settings::INTERIOR;

/// The stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The largest number of Newton steps.
    pub max_iterations: usize,
    /// The complementarity and residuals, relative to `sum_n w_n U_n^(1-a)`, up to which the point counts as solved.
    /// The method continues below this tolerance as long as steps reduce the residual.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_iterations: 500, tolerance: 1e-8 }
    }
}

/// The reason why the method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The tolerance was reached.
    Solved,
    /// The tolerance was not reached, because the limit of steps was reached or steps no longer
    /// reduce the residual.
    Limit,
}

/// The last point of the method, with its prices.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterPoint {
    /// The tasks of each user on each placement. They are positive, however small.
    pub tasks: Vec<Vec<f64>>,
    /// For each user and placement, the cost of the placement above its worth, `z_ni`, relative to `lambda_n v_ni`.
    ///
    /// It is 0 if the user may use the placement, and near 1 if the placement is far too expensive.
    pub reduced: Vec<Vec<f64>>,
    /// The price of each whole row, in units of `w_n U_n^(1-a)`.
    pub row_prices: Vec<f64>,
    /// The free fraction of each row.
    pub row_slack: Vec<f64>,
    /// For each user, the price of one task of its task limit.
    pub user_prices: Vec<f64>,
    /// For each user, the free fraction of its task limit. Infinite without a limit.
    pub user_slack: Vec<f64>,
    /// The reason why the method ended.
    pub status: Status,
    /// The number of Newton steps.
    pub iterations: usize,
    /// The complementarity and residuals, relative to `sum_n w_n U_n^(1-a)`.
    pub residual: f64,
    /// The largest complementarity and residuals of any user, relative to the `w_n U_n^(1-a)` of this user.
    pub worst: f64,
}

/// Maximises the sum of utilities of `cluster`.
///
/// If the exponent is far from 1, the problem is first solved roughly for exponents in between. For `a = 10`, utilities
/// that differ by a factor of 100 have marginal utilities that differ by 10^20, and a starting point with such an error
/// would not converge.
#[must_use]
pub fn solve(cluster: &Cluster, settings: &Settings) -> ClusterPoint {
    let mut iterations = 0;
    let mut guide = Guide::of_equal_prices(cluster);
    for alpha in exponents(cluster.alpha) {
        let rough = run(
            &Objective::new(cluster, alpha, &guide),
            INTERIOR.rough,
            settings.max_iterations - iterations,
        );
        iterations += rough.iterations;
        guide = Guide::of_point(cluster, &rough.point);
    }
    loop {
        let objective = Objective::new(cluster, cluster.alpha, &guide);
        let mut run = run(&objective, 0.0, settings.max_iterations - iterations);
        let stands_still = run.iterations == 0;
        run.iterations += iterations;
        iterations = run.iterations;
        let is_done = objective.weights_do_not_matter(&run.point);
        if is_done || stands_still || iterations >= settings.max_iterations {
            return finish(&objective, &run, settings.tolerance);
        }
        guide = Guide::of_point(cluster, &run.point);
    }
}

/// Returns the exponents from 1 towards `alpha` by factors of 2, without `alpha` itself.
fn exponents(alpha: f64) -> Vec<f64> {
    let factor = if alpha > 1.0 { 2.0 } else { 0.5 };
    let between = |a: f64| (a < alpha / 1.3 && alpha > 1.0) || (a > alpha * 1.3 && alpha < 1.0);
    std::iter::successors(Some(1.0), |a| Some(a * factor)).take_while(|a| between(*a)).collect()
}

/// The result of a run of the method.
struct Run {
    point: Point,
    residual: f64,
    iterations: usize,
}

/// Takes Newton steps until the tolerance is reached or steps no longer reduce the residual.
fn run(objective: &Objective<'_>, tolerance: f64, max_iterations: usize) -> Run {
    let mut point = objective.start.clone();
    let mut best = Run { point: point.clone(), residual: f64::INFINITY, iterations: 0 };
    let mut iterations = 0;
    let (mut mark, mut without_progress) = (f64::INFINITY, 0);
    while !point.users.is_empty() {
        let residuals = Residuals::new(objective, &point);
        let size = residuals.size(&point);
        if !size.is_finite() {
            // A number has left the range of doubles, and further steps cannot correct it.
            break;
        }
        // `without_progress` counts the steps since the residual was last halved.
        without_progress = if size < 0.5 * mark { 0 } else { without_progress + 1 };
        if without_progress == 0 {
            mark = size;
        }
        if size < best.residual {
            best = Run { point: point.clone(), residual: size, iterations };
        }
        let stuck = without_progress > if best.residual < 1e-9 { 5 } else { 100 };
        if stuck || best.residual <= tolerance.max(INTERIOR.least_residual) || iterations >= max_iterations {
            break;
        }
        objective.cluster.charge_step();
        let Some(newton) = Newton::new(objective.cluster, &point, objective.alpha) else { break };
        iterations += 1;
        let towards = |products: &Products| direction(objective, &point, &newton, &residuals, products);
        let affine = towards(&Products::equal(&point, 0.0));
        let pairs = count(objective.cluster);
        let mu = complementarity(&point) / pairs;
        if !(mu > 0.0 && mu.is_finite()) {
            break;
        }
        let affine_length = affine.longest(&point).min(1.0);
        let reached = complementarity(&moved(objective.cluster, &point, &affine, affine_length)) / pairs;
        let target = (reached / mu).powi(3).clamp(1e-6, INTERIOR.most_centred) * mu;
        // Complementarity must not fall faster than the residuals of the equations.
        let target = target.max((0.3 * residuals.infeasibility(&point) / pairs).min(3.0 * mu));
        let equal = Products::equal(&point, target);
        let mut products = equal.clone().less_second_order(&affine, 1.0);
        let mut step = towards(&products);
        // If the step cannot be taken in full, its second-order term is unreliable.
        if affine_length < INTERIOR.short {
            let cautious = equal.less_second_order(&affine, affine_length);
            let other = towards(&cautious);
            if other.longest(&point) > step.longest(&point) {
                (products, step) = (cautious, other);
            }
        }
        for _ in 0..INTERIOR.corrections {
            let length = step.longest(&point);
            if length >= 1.0 {
                break;
            }
            let corrected =
                products.clone().towards_centre(&point, &step, (length + INTERIOR.longer).min(1.0), target);
            let other = towards(&corrected);
            if other.longest(&point) < length + INTERIOR.gain * INTERIOR.longer {
                break;
            }
            (products, step) = (corrected, other);
        }
        // If the point is too close to the boundary for a long step, step towards the centre of the path, with the
        // smaller target if possible.
        for part in [0.3, 0.8] {
            if step.longest(&point) >= INTERIOR.short {
                break;
            }
            let central = towards(&Products::equal(&point, part * mu));
            if central.longest(&point) > step.longest(&point) {
                step = central;
            }
        }
        point = moved(objective.cluster, &point, &step, INTERIOR.not_quite * step.longest(&point));
    }
    Run { iterations, ..best }
}

/// Converts the result of a run to the original units.
fn finish(objective: &Objective<'_>, run: &Run, tolerance: f64) -> ClusterPoint {
    let total = libm::exp(objective.log_total);
    let users = || objective.cluster.users.iter().zip(&run.point.users);
    let scaled = |values: &[f64], by: &[f64]| values.iter().zip(by).map(|(v, b)| v * b).collect::<Vec<f64>>();
    let reduced = |(user, at): (&Scaled, &UserPoint)| {
        at.z.iter().zip(&user.worth).map(|(z, v)| (z / (at.lambda * v)).min(1.0)).collect()
    };
    let has_no_users = objective.cluster.users.is_empty();
    let residual = if has_no_users { 0.0 } else { run.residual };
    let worst = Residuals::new(objective, &run.point).worst(objective.cluster, &run.point);
    let solved = residual <= tolerance && (has_no_users || worst <= INTERIOR.of_one_user);
    let limit_price = |(n, (user, at)): (usize, (&Scaled, &UserPoint))| {
        let Some(part) = user.part.first() else { return 0.0 };
        let per_task = part / user.gamma[0];
        // The price that corresponds to the reduction of the weight.
        let more = user.part_per_worth.map_or(0.0, |part| {
            let marginal = |weight: f64| libm::exp(user.log_marginal(weight, objective.alpha, at.utility));
            (marginal(user.log_weight) - marginal(objective.log_weight[n])) / part
        });
        (at.q * total + more) * per_task
    };
    ClusterPoint {
        tasks: users().map(|(user, at)| scaled(&at.y, &user.gamma)).collect(),
        reduced: users().map(reduced).collect(),
        row_prices: run.point.price.iter().map(|p| if has_no_users { 0.0 } else { p * total }).collect(),
        row_slack: run.point.slack.clone(),
        user_prices: users().enumerate().map(limit_price).collect(),
        user_slack: users()
            .map(|(user, at)| if user.part.is_empty() { f64::INFINITY } else { at.h })
            .collect(),
        status: if solved { Status::Solved } else { Status::Limit },
        worst: if has_no_users { 0.0 } else { worst },
        iterations: run.iterations,
        residual,
    }
}
