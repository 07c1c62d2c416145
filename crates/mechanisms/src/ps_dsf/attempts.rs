//! What is tried, in this order.

use super::market::{Market, Point};
use super::path::{self, ActiveSet, Lost, Model, Reading, Way};
use super::residual::residual;
use super::sweep::{sweep, sweep_to_levels};

/// A solution in floating point.
#[derive(Debug, Clone)]
pub struct Found {
    /// The point.
    pub point: Point<f64>,
    /// Its active set.
    pub set: ActiveSet,
    /// Its residual.
    pub residual: f64,
    /// The model.
    pub model: Model,
}

/// An attempt: sweeps, and a path from where they end.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    /// Sweeps before it, beside those of the attempts before.
    sweeps: usize,
    reading: Reading,
}

const fn attempt(sweeps: usize, nothing: f64, split: bool, noise: f64, above: f64, seed: u64) -> Attempt {
    Attempt { sweeps, reading: Reading { nothing, split, noise, above, seed } }
}

const ATTEMPTS: [Attempt; 8] = [
    attempt(10, 1e-4, true, 1e-4, 2.0, 1),
    attempt(0, 1e-4, true, 1e-3, 10.0, 2),
    attempt(10, 1e-6, true, 1e-6, 2.0, 3),
    attempt(0, 1e-2, true, 1e-2, 2.0, 4),
    attempt(20, 1e-3, true, 1e-3, 10.0, 5),
    attempt(40, 1e-5, true, 1e-5, 10.0, 6),
    attempt(0, 1e-2, true, 1e-1, 10.0, 7),
    attempt(0, 1e-2, true, 1.0, 10.0, 8),
];

/// Residual up to which a point is a solution.
const SOLVED: f64 = 1e-9;

/// Paths that follow one another, each from the lowest point of the one before.
const RENEWALS: usize = 4;

/// The first solution in floating point that `accept` takes.
pub fn find<R>(
    market: &Market<f64>,
    order: &[usize],
    mut point: Point<f64>,
    mut accept: impl FnMut(&Found) -> Option<R>,
) -> Option<R> {
    let mut model = Model::new(market);
    let most = 1000 + 5 * (market.capacity.len() + market.n_users());
    for (k, attempt) in ATTEMPTS.iter().enumerate() {
        (0..attempt.sweeps).for_each(|_| sweep(market, order, &mut point));
        let levels = sweep_to_levels(market, order, &mut point);
        let mut tasks = model.scaled(&point);
        let mut levels = model.scaled_levels(&levels);
        for renewal in 0..RENEWALS {
            let mut pieces = 0;
            let reading = Reading { seed: attempt.reading.seed + 100 * renewal as u64, ..attempt.reading };
            let Some(start) = path::start(&mut model, &tasks, &levels, reading) else { break };
            let mut lowest: Option<Lost> = None;
            for way in [Way::Down, Way::Up] {
                match path::follow(&model, &start, way, most, &mut pieces) {
                    Ok(ended) => {
                        let point = market.point(model.tasks(&ended.tasks));
                        let found = Found { residual: residual(market, &point), point, set: ended.set.clone(), model: model.clone() };
                        if std::env::var("TRACE").is_ok() {
                            eprintln!("  attempt {k} {way:?}: {pieces} pieces, {:?}", found.residual);
                        }
                        if found.residual <= SOLVED && let Some(accepted) = accept(&found) {
                            return Some(accepted);
                        }
                        lowest = Some(Lost { tasks: ended.tasks, levels: ended.levels, t: 0.0 });
                        break;
                    }
                    Err(lost) => {
                        if lost.t < lowest.as_ref().map_or(1.0, |lowest| lowest.t) {
                            lowest = Some(lost);
                        }
                    }
                }
            }
            if std::env::var("TRACE").is_ok() {
                eprintln!("  attempt {k}.{renewal}: {pieces} pieces, lowest {:?}", lowest.as_ref().map(|l| l.t));
            }
            let Some(lost) = lowest else { break };
            (tasks, levels) = (lost.tasks, lost.levels);
        }
    }
    None
}
