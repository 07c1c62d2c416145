//! From a start to a PS-DSF allocation: the one walk over the attempts of the strategy.

use super::market::{Market, Point};
use super::path::{self, ActiveSet, Ended, Lost, Model, Reading, Way};
use super::residual::residual;
use super::strategy::{ATTEMPTS, Attempt, RENEWALS};
use super::sweep::{sweep, sweep_to_levels};

/// A solution in floating point.
#[derive(Debug, Clone)]
pub struct Found {
    /// The point.
    pub point: Point<f64>,
    /// Its residual.
    pub residual: f64,
    /// Its active set.
    pub set: ActiveSet,
    /// The model in which the active set was found.
    pub model: Model,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Sweeps over all classes.
    pub sweeps: usize,
    /// Pieces of paths.
    pub pieces: usize,
    /// Steps: numbers that were looked at, a measure of time that is the same on every machine.
    pub work: u64,
    /// Steps after which nothing more is tried.
    pub most: u64,
}

impl Spent {
    /// Whether nothing more is to be tried.
    pub const fn is_over(&self) -> bool {
        self.work > self.most
    }
}

/// Residual up to which the end of a path is a solution.
pub const SOLVED: f64 = 1e-9;

/// The first solution in floating point from `point` that `accept` takes, with sweeps over the classes
/// in `order`.
pub fn find<R>(
    market: &Market<f64>,
    order: &[usize],
    mut point: Point<f64>,
    spent: &mut Spent,
    mut accept: impl FnMut(&Found, &mut Spent) -> Option<R>,
) -> Option<R> {
    let mut model = Model::new(market);
    for attempt in &ATTEMPTS {
        if spent.is_over() {
            return None;
        }
        (0..attempt.sweeps).for_each(|_| sweep(market, order, &mut point));
        let levels = sweep_to_levels(market, order, &mut point);
        spent.sweeps += attempt.sweeps + 1;
        spent.work += (attempt.sweeps as u64 + 1) * 64 * market.places.len() as u64;
        let from = (model.scaled(&point), model.scaled_levels(&levels));
        let accepted = renewed(market, &mut model, attempt, from, spent, &mut accept);
        if accepted.is_some() {
            return accepted;
        }
    }
    None
}

/// Paths that follow one another, each from the lowest point of the one before.
fn renewed<R>(
    market: &Market<f64>,
    model: &mut Model,
    attempt: &Attempt,
    (mut tasks, mut levels): (Vec<f64>, Vec<Option<f64>>),
    spent: &mut Spent,
    accept: &mut impl FnMut(&Found, &mut Spent) -> Option<R>,
) -> Option<R> {
    for renewal in 0..RENEWALS {
        if spent.is_over() {
            return None;
        }
        let seed = attempt.reading.seed + 100 * renewal;
        let start = path::start(model, &tasks, &levels, Reading { seed, ..attempt.reading })?;
        let mut lowest: Option<Lost> = None;
        for way in [Way::Down, Way::Up] {
            match path::follow(model, &start, way, spent) {
                Ok(Ended { tasks, levels, set }) => {
                    let point = market.point(model.tasks(&tasks));
                    let residual = residual(market, &point);
                    let found = Found { point, residual, set, model: model.clone() };
                    if residual <= SOLVED
                        && let Some(accepted) = accept(&found, spent)
                    {
                        return Some(accepted);
                    }
                    lowest = Some(Lost { tasks, levels, t: 0.0 });
                    break;
                }
                Err(lost) if lost.t < lowest.as_ref().map_or(1.0, |lowest| lowest.t) => lowest = Some(lost),
                Err(_) => {}
            }
        }
        let lost = lowest?;
        (tasks, levels) = (lost.tasks, lost.levels);
    }
    None
}
