//! `--method trajectory`: the differential equation of the NJC paper, integrated for the data of the problem.
//!
//! Equation (12), `sum_j x_i r_ij / s_j = c e_i`, with a dummy resource for every user with a task limit,
//! defines `x(c)`. Its derivative is integrated from `x(0) = 0` (NJC, section 5.4; docs/theory.md, section 3,
//! facts 2 and 3). The trajectory is a central path with `c = 1 / mu`, so its slacks yield prices. The prices
//! `1 / (c s_j)`, in units of the sum of weights, prove how far the last point is from the limit.

use evenhand_exact::Instance;
use evenhand_exact::axiom::njc::examine;
use evenhand_ode::trajectory::{TrajectoryResult, TrajectorySettings, TrajectoryStatus, integrate};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Arithmetic, Constraints, Rational};

use super::Settings;
use super::answer::{INFO, allocation, saturated};
use crate::error::MechanismError;
use crate::fair_sum::dense::DenseView;
use crate::fair_sum::{FairPoint, OnClass};
use crate::flags::Method;
use crate::mechanism::{Findings, Outcome, SeriesPoint, Status};
use crate::{proportional, rounding};

/// The error allowed in a step, relative to every allocation, slack and distance from a limit.
const RELATIVE_TOLERANCE: f64 = 1e-10;
/// The relative complaint and the free fraction of a bottleneck at which the integration stops: a tenth of the
/// tolerance by which the answer is judged (docs/theory.md, section 7).
const STOP: f64 = 1e-10;
/// The default value of `c` at which the integration stops. The distance from the limit is about `1 / c`.
const C_MAX: f64 = 1e13;
/// The margin within which the exact judge accepts the answer.
const WITHIN: (i32, u32) = (-1, 1_000_000_000);

/// Integrates the trajectory and returns its last point.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    (settings.method == Some(Method::Trajectory)).then(|| end_of_trajectory(constraints, settings))
}

/// Returns the last point of the trajectory of a problem with one server.
fn end_of_trajectory(constraints: &Constraints<'_>, settings: &Settings) -> Result<Outcome, MechanismError> {
    let not_applicable = |why: String| MechanismError::NotApplicable { mechanism: INFO.id, why };
    if constraints.problem().n_servers() != 1 {
        return Err(not_applicable("the trajectory is for one server".to_owned()));
    }
    let c_max = settings.c_max.as_ref().map_or(Ok(C_MAX), positive_c_max)?;
    let view = View { constraints, dense: DenseView::new(constraints) };
    if view.dense.active.is_empty() {
        return Ok(view.empty_outcome(settings.arithmetic));
    }
    let pool = view.dense.pool().map_err(|error| not_applicable(error.to_string()))?;
    let limits = TrajectorySettings {
        relative_tolerance: RELATIVE_TOLERANCE,
        stop_tolerance: STOP,
        c_max,
        record: true,
        ..TrajectorySettings::default()
    };
    Ok(view.outcome(&integrate(&pool, &limits), settings))
}

fn positive_c_max(stated: &Rational) -> Result<f64, MechanismError> {
    let value = to_f64(stated);
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(MechanismError::BadOption {
            mechanism: INFO.id,
            option: "c-max",
            why: "expected a number above 0".to_owned(),
        }),
    }
}

/// The problem and its floating-point form.
struct View<'a> {
    constraints: &'a Constraints<'a>,
    dense: DenseView,
}

impl View<'_> {
    /// Returns the answer for a problem in which no user can run a task.
    fn empty_outcome(&self, arithmetic: Arithmetic) -> Outcome {
        let findings = Findings {
            status: Some(Status::Solved),
            gap: Some(Rational::new()),
            iterations: Some(0),
            ..Findings::default()
        };
        let tasks = vec![Vec::new(); self.constraints.problem().n_users()];
        Outcome { findings, ..Outcome::of(allocation(tasks, arithmetic)) }
    }

    fn outcome(&self, end: &TrajectoryResult, settings: &Settings) -> Outcome {
        let problem = self.constraints.problem();
        let point = self.point(end);
        let tasks = rounding::feasible(self.constraints, point.tasks());
        let allocation = allocation(tasks, settings.arithmetic);
        let proven = proportional::findings(problem, &allocation, &Rational::from(1), None, &point);
        let instance = Instance::new(problem, &allocation).ok();
        let examined = instance.as_ref().and_then(examine);
        let is_within = examined.as_ref().is_some_and(|found| found.margin >= Rational::from(WITHIN));
        let status = match end.status {
            TrajectoryStatus::LeftDomain => Status::LeftDomain,
            TrajectoryStatus::Converged if is_within => Status::Solved,
            _ => Status::Limit,
        };
        let bottlenecks = instance.map(|instance| saturated(&instance, &Rational::from((1, WITHIN.1))));
        let findings = Findings {
            witnesses: examined.map(|found| found.witnesses),
            bottlenecks,
            status: Some(status),
            series: Some(self.series(end)),
            ..proven
        };
        Outcome { findings, ..Outcome::of(allocation) }
    }

    /// Returns the last point with its prices.
    fn point(&self, end: &TrajectoryResult) -> FairPoint {
        let problem = self.constraints.problem();
        let DenseView { active, rows, capacity, fits, weights, limits, .. } = &self.dense;
        let total: f64 = weights.iter().sum();
        let n_rows = self.constraints.rows().len();
        let mut point = FairPoint {
            places: vec![Vec::new(); problem.n_users()],
            row_prices: vec![0.0; n_rows],
            row_slack: vec![1.0; n_rows],
            user_prices: vec![0.0; problem.n_users()],
            user_slack: vec![f64::INFINITY; problem.n_users()],
            iterations: end.steps + end.rejected_steps,
        };
        for ((&row, slack), capacity) in rows.iter().zip(&end.slacks).zip(capacity) {
            point.row_slack[row] = *slack;
            point.row_prices[row] = total / (end.c * slack) / capacity;
        }
        for (k, &n) in active.iter().enumerate() {
            point.places[n] = vec![OnClass { class: 0, tasks: end.x[k] * fits[k], excess: 0.0 }];
            if limits[k].is_finite() {
                point.user_prices[n] = total / (end.c * end.distances[k] * fits[k]);
                point.user_slack[n] = end.distances[k] / limits[k];
            }
        }
        point
    }

    fn series(&self, end: &TrajectoryResult) -> Vec<SeriesPoint> {
        let step = |c: f64, x: &[f64], slacks: &[f64]| {
            let mut tasks = vec![0.0; self.constraints.problem().n_users()];
            for ((&n, x), fits) in self.dense.active.iter().zip(x).zip(&self.dense.fits) {
                tasks[n] = x * fits;
            }
            let mut slack = vec![1.0; self.constraints.rows().len()];
            for (&row, value) in self.dense.rows.iter().zip(slacks) {
                slack[row] = *value;
            }
            SeriesPoint { c, tasks, slack }
        };
        end.points.iter().map(|point| step(point.c, &point.x, &point.slacks)).collect()
    }
}
