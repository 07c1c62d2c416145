//! The proportionally fair allocation of one server, computed from the prices of its resources.

use evenhand_ode::path::{BarrierWeights, PathSettings, follow};
use evenhand_problem::{Constraints, RowKind};

use super::dense::DenseView;
use super::{FairPoint, OnClass};

/// The largest acceptable residual. If saturated rows have the price 0, the prices lose half of their digits, and the
/// interior point method for clusters may then be more accurate.
const GOOD: f64 = 1e-12;

/// Computes the proportionally fair allocation of one server. Returns `None` if the numbers leave the range of the
/// method, its accuracy is poor, or no user can run a task.
///
/// `barrier` weighs the barrier of the central path, by resource. The limit of the path does not depend on it
/// (docs/theory.md, fact 4b).
pub fn maximise(constraints: &Constraints<'_>, barrier: Option<&[f64]>) -> Option<FairPoint> {
    let view = DenseView::new(constraints);
    let mut settings = PathSettings::default();
    if let Some(weights) = barrier {
        let of_row = |row: &usize| match constraints.rows()[*row].kind {
            RowKind::Resource(r) => weights[r],
            RowKind::Time => 1.0,
        };
        settings.barrier = BarrierWeights::new(view.rows.iter().map(of_row).collect(), 1.0).ok()?;
    }
    let end = follow(&view.pool().ok()?, &settings);
    if end.residual > GOOD {
        return None;
    }
    let (n_users, n_rows) = (constraints.problem().n_users(), constraints.rows().len());
    let mut point = FairPoint {
        places: vec![Vec::new(); n_users],
        row_prices: vec![0.0; n_rows],
        row_slack: vec![1.0; n_rows],
        user_prices: vec![0.0; n_users],
        user_slack: vec![f64::INFINITY; n_users],
        iterations: end.iterations,
    };
    for (r, &row) in view.rows.iter().enumerate() {
        point.row_prices[row] = end.prices[r] / view.capacity[r];
        for (request, x) in view.requests.column(r).iter().zip(&end.x) {
            point.row_slack[row] -= request * x;
        }
    }
    for (k, &n) in view.active.iter().enumerate() {
        point.places[n] = vec![OnClass { class: 0, tasks: end.x[k] * view.fits[k], excess: 0.0 }];
        point.user_prices[n] = end.user_prices[k] / view.fits[k];
        if view.limits[k].is_finite() {
            point.user_slack[n] = 1.0 - end.x[k] / view.limits[k];
        }
    }
    Some(point)
}
