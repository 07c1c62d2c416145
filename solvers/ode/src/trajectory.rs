//! The method of the paper: the trajectory as the solution of a differential equation.
//!
//! Equation (12) with the dummy resources is `x_i (sum_j r_ij / s_j + 1 / (cap_i - x_i)) = c e_i`
//! with `s_j = 1 - sum_k x_k r_kj` and `sum_i e_i = 1`. It defines `x(c)`. The derivative, equation
//! (13), is integrated from `x(0) = 0` in `c` up to 1, then in `ln c`, by an explicit Runge-Kutta
//! method of Dormand and Prince.
//!
//! Slacks tend to 0 as `1 / c`. An error that is small relative to `x` can be large relative to a
//! slack and drive the integrator off the trajectory. The slacks (and the distances `cap_i - x_i`)
//! are therefore part of the state here, and the step-size control is relative to them too.
//!
//! [`crate::path::follow`] computes the limit faster and to full accuracy. This module computes the
//! trajectory itself.

mod outcome;
mod stepper;
mod system;

use std::cell::Cell;

use nalgebra::DVector;

use crate::pool::Pool;
use stepper::Steps;
use system::{Layout, Time, Trajectory};

pub use outcome::{TrajectoryPoint, TrajectoryResult, TrajectoryStatus};

/// The Runge-Kutta method of Dormand and Prince.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RungeKutta {
    /// Order 5(4).
    Dopri5,
    /// Order 8(5,3).
    Dop853,
}

/// The settings of the integration.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectorySettings {
    /// The method.
    pub method: RungeKutta,
    /// The error allowed in a step, relative to every allocation, slack and distance from a cap.
    ///
    /// The error of a step is the root of the mean square of these relative errors. The weights of the mean give slacks
    /// enough influence although there are fewer slacks than allocations.
    pub relative_tolerance: f64,
    /// The integration stops when no user's margin (see [`crate::margin`]) is below minus this
    /// tolerance. A resource with at most this slack counts as a bottleneck.
    pub stop_tolerance: f64,
    /// The integration stops at this `c`.
    pub c_max: f64,
    /// The largest number of steps, including rejected steps.
    pub max_steps: u32,
    /// If true, `x` is recorded at every step.
    pub record: bool,
}

impl Default for TrajectorySettings {
    fn default() -> Self {
        Self {
            method: RungeKutta::Dop853,
            relative_tolerance: 1e-8,
            stop_tolerance: 1e-6,
            c_max: 1e12,
            max_steps: 10_000,
            record: false,
        }
    }
}

/// Integrates the trajectory of a pool.
///
/// The status is [`TrajectoryStatus::Converged`] only if the criterion of [`TrajectorySettings::stop_tolerance`] is met
/// at the last point. If `c_max` is NaN or not positive, the integration stays at `c = 0`. A tolerance that is NaN or 0
/// ends in a failure status.
#[must_use]
pub fn integrate(pool: &Pool, settings: &TrajectorySettings) -> TrajectoryResult {
    let layout = Layout::new(pool);
    let mut run = Run { pool, layout: &layout, settings, stats: Totals::default(), points: Vec::new() };
    let mut state = start(pool, &layout);
    let first = if settings.c_max > 0.0 {
        run.phase(Time::C, (0.0, settings.c_max.min(1.0)), &mut state)
    } else {
        End::Reached(0.0)
    };
    let end = match first {
        End::Reached(c) if c >= 1.0 && settings.c_max > 1.0 => {
            state = state.push(1.0);
            run.phase(Time::LogC, (0.0, settings.c_max.min(f64::MAX).ln()), &mut state)
        }
        other => other,
    };
    outcome::assemble(run, &state, &end)
}

/// Returns the state at `x = 0`: all slacks are 1, and all distances are the caps.
fn start(pool: &Pool, layout: &Layout) -> DVector<f64> {
    let distances = layout.capped.iter().map(|&user| pool.caps()[user]);
    let values = std::iter::repeat_n(0.0, layout.n_users)
        .chain(distances)
        .chain(std::iter::repeat_n(1.0, layout.requested.len()));
    DVector::from_iterator(layout.len(Time::C), values)
}

/// The end of a phase of the integration.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// The phase ended at this `c`, either because the criterion was met or at the end of the interval.
    Reached(f64),
    /// The phase failed earlier, with this status, at this `c`.
    Failed(TrajectoryStatus, f64),
}

/// The numbers of steps and evaluations over both phases.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    steps: usize,
    rejected: usize,
    evaluations: usize,
}

impl End {
    fn c(self) -> f64 {
        match self {
            Self::Reached(c) | Self::Failed(_, c) => c,
        }
    }
}

struct Run<'a> {
    pool: &'a Pool,
    layout: &'a Layout,
    settings: &'a TrajectorySettings,
    stats: Totals,
    points: Vec<TrajectoryPoint>,
}

impl Run<'_> {
    /// Integrates over an interval of the independent variable, and updates the state to the end of
    /// the interval.
    fn phase(&mut self, time: Time, (from, to): (f64, f64), state: &mut DVector<f64>) -> End {
        let tolerance = self.tolerance(state.len());
        let budget =
            (self.settings.max_steps as usize).saturating_sub(self.stats.steps + self.stats.rejected);
        let evaluations = Cell::new(0);
        let system = Trajectory::new(self.pool, self.layout, self.settings.stop_tolerance, &evaluations);
        let method = self.settings.method;
        let steps = stepper::steps(method, system, (from, to), state.clone(), tolerance, budget as u32);
        let accepted = steps.points().len().saturating_sub(1);
        self.stats.steps += accepted;
        self.stats.rejected += stepper::attempts(method, evaluations.get(), accepted) - accepted;
        self.stats.evaluations += evaluations.get();
        let mut reached = from;
        if let Some((time, last)) = steps.points().next_back() {
            reached = time;
            state.copy_from(last);
        }
        let c = match time {
            Time::C => reached,
            Time::LogC => state[state.len() - 1],
        };
        if self.settings.record {
            self.record(time, &steps);
        }
        match steps.failure {
            None => End::Reached(c),
            Some(status) => End::Failed(status, c),
        }
    }

    /// Returns true if the criterion is met at this state.
    fn is_satisfied(&self, state: &DVector<f64>) -> bool {
        let evaluations = Cell::new(0);
        let tolerance = self.settings.stop_tolerance;
        Trajectory::new(self.pool, self.layout, tolerance, &evaluations).satisfied(state.as_slice())
    }

    fn tolerance(&self, dimension: usize) -> f64 {
        let slacks = self.layout.requested.len().max(1);
        self.settings.relative_tolerance * (slacks as f64 / dimension as f64).sqrt()
    }

    fn record(&mut self, time: Time, steps: &Steps) {
        for (t, state) in steps.points() {
            let c = if time == Time::C { t } else { state[state.len() - 1] };
            if self.points.last().is_none_or(|last| last.c < c) {
                let x = state.as_slice()[..self.layout.n_users].to_vec();
                let slacks = self.layout.slacks(state.as_slice(), self.pool.n_resources());
                self.points.push(TrajectoryPoint { c, x, slacks });
            }
        }
    }
}
