//! The result of an integration.

use nalgebra::DVector;

use super::{End, Run};
use crate::margin;
use crate::pool::Pool;

/// The reason why the integration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrajectoryStatus {
    /// The last point is free of justified complaints, up to the requested tolerance.
    Converged,
    /// The largest `c` was reached before convergence.
    ReachedC,
    /// A step ended outside the domain: a slack, an allocation or a distance from a cap was
    /// negative. The vectors are the state at that step.
    LeftDomain,
    /// The limit on the number of steps was reached before convergence.
    MaxSteps,
    /// The step-size control could not make the step small enough.
    StepSizeUnderflow,
    /// The integrator found the system stiff.
    Stiff,
}

/// A point of the trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryPoint {
    /// The parameter of equation (12), for entitlements of sum 1.
    pub c: f64,
    /// The fraction of its request that each user has.
    pub x: Vec<f64>,
    /// The free fraction of each resource, as it was integrated. It is 1 if no user requests the resource.
    ///
    /// Near the end, `1 - usage` would have no correct digits.
    pub slacks: Vec<f64>,
}

/// The end of an integration. All numbers are finite, except for `error`.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryResult {
    /// The fraction of its request that each user has at `c`.
    pub x: Vec<f64>,
    /// The free fraction of each resource, as in [`TrajectoryPoint::slacks`].
    pub slacks: Vec<f64>,
    /// The distance of each user from its cap, as it was integrated. Infinite without a cap.
    pub distances: Vec<f64>,
    /// The `c` that was reached, for entitlements of sum 1.
    pub c: f64,
    /// The reason why the integration ended.
    pub status: TrajectoryStatus,
    /// The number of accepted steps.
    pub steps: usize,
    /// The number of steps rejected by the step-size control.
    pub rejected_steps: usize,
    /// The number of evaluations of the right-hand side, equation (13).
    pub evaluations: usize,
    /// The distance of `x` from the trajectory: the largest residual of equation (12) relative to `c e_i`.
    ///
    /// Slacks are computed from `x`, so rounding alone makes the error `1e-16 c` in the end. The error is infinite if
    /// `x` is outside the domain.
    pub error: f64,
    /// All steps, if they were recorded. The first point is `c = 0`.
    pub points: Vec<TrajectoryPoint>,
}

/// Builds the result from the last state.
pub(super) fn assemble(run: Run<'_>, state: &DVector<f64>, end: &End) -> TrajectoryResult {
    let x = state.as_slice()[..run.layout.n_users].to_vec();
    let (status, c) = match *end {
        _ if !run.layout.in_domain(state.as_slice()) => (TrajectoryStatus::LeftDomain, end.c()),
        End::Failed(status, c) => (status, c),
        End::Reached(c) if run.is_satisfied(state) => (TrajectoryStatus::Converged, c),
        End::Reached(c) => (TrajectoryStatus::ReachedC, c),
    };
    let error = residual(run.pool, &x, c);
    TrajectoryResult {
        x,
        slacks: run.layout.slacks(state.as_slice(), run.pool.n_resources()),
        distances: run.layout.distances(state.as_slice()),
        c,
        status,
        steps: run.stats.steps,
        rejected_steps: run.stats.rejected,
        evaluations: run.stats.evaluations,
        error,
        points: run.points,
    }
}

/// Computes the largest residual of equation (12) relative to `c e_i`. It is 0 at `c = 0`.
fn residual(pool: &Pool, x: &[f64], c: f64) -> f64 {
    let slacks = margin::slacks(pool, x);
    if c == 0.0 {
        return 0.0;
    }
    let total = pool.total_entitlement();
    let mut worst = 0.0_f64;
    for (user, &x) in x.iter().enumerate() {
        let share = pool.entitlements()[user] / total;
        let distance = pool.caps()[user] - x;
        let requested = pool.request_row(user).iter().zip(&slacks).filter(|&(&r, _)| r > 0.0);
        if distance <= 0.0 || requested.clone().any(|(_, &slack)| slack <= 0.0) {
            return f64::INFINITY;
        }
        if share > 0.0 {
            let pull = requested.map(|(&r, &s)| r / s).sum::<f64>() + 1.0 / distance;
            worst = worst.max((x * pull / (c * share) - 1.0).abs());
        }
    }
    worst
}
