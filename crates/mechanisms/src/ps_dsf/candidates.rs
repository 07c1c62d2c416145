//! The candidate active sets that a starting point leads to: the attempts of the [strategy](super::strategy), one by
//! one.

use super::homotopy::{self, ActiveSet, Ended, Reading, ScaledModel, Stalled};
use super::pairs::{PairModel, Point};
use super::residual::residual;
use super::strategy::{ATTEMPTS, Attempt, CANDIDATE, DIRECTIONS, RESTARTS};
use super::water_filling::sweep;

/// A solution in floating point, and the active set on which it lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The solution.
    pub point: Point<f64>,
    /// The violation of Theorem 1 by the solution, which is due to rounding.
    pub residual: f64,
    /// The active set on which the solution lies.
    pub set: ActiveSet,
    /// The level of rows of each class that are not full in this active set, a power of 2.
    pub highest: Vec<f64>,
}

impl Candidate {
    /// Returns the number of steps for the exact solution and its verification, in which numbers are longer than
    /// doubles.
    pub fn work(&self) -> u64 {
        let rows = self.set.full.iter().filter(|full| **full).count() as u64;
        64 * (rows.pow(2) + self.point.tasks.len() as u64)
    }
}

/// The work that a search has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// The number of sweeps over all classes.
    pub sweeps: usize,
    /// The number of active sets that homotopies have passed.
    pub active_sets: usize,
    /// The number of steps. A step is the reading of one number. This measure of time is the same on every
    /// machine.
    pub work: u64,
    /// The number of steps after which the search ends.
    pub most: u64,
}

impl Spent {
    /// Returns whether the search must end, because the work is spent or the time is up.
    pub fn is_over(&self) -> bool {
        self.work > self.most || evenhand_budget::is_late()
    }

    /// Charges steps before they are taken.
    pub fn spend(&mut self, steps: u64) {
        self.work = self.work.saturating_add(steps);
        // Reading a number takes about a nanosecond, a sixth of a budget step.
        evenhand_budget::charge(steps / 6, "the search for PS-DSF");
    }
}

/// A point in the units of the scaled model: the tasks of each pair, and the level at which each full row is
/// full.
type Scaled = (Vec<f64>, Vec<Option<f64>>);

/// An iterator over the candidates from one starting point, in the order of the strategy. It adds its work to
/// `spent`.
pub struct Candidates<'a> {
    model: &'a PairModel<f64>,
    /// The classes in the order of a sweep.
    order: &'a [usize],
    spent: &'a mut Spent,
    scaled: ScaledModel,
    /// The point that the sweeps have reached.
    point: Point<f64>,
    attempts: std::slice::Iter<'static, Attempt>,
    /// The next homotopy: its attempt, the number of earlier homotopies of this attempt, and its starting point.
    next: Option<(Attempt, u64, Scaled)>,
}

impl<'a> Candidates<'a> {
    /// Creates the candidates from `point`, with sweeps over the classes in `order`.
    pub fn new(
        model: &'a PairModel<f64>,
        order: &'a [usize],
        point: Point<f64>,
        spent: &'a mut Spent,
    ) -> Self {
        let scaled = ScaledModel::new(model);
        Self { model, order, spent, scaled, point, attempts: ATTEMPTS.iter(), next: None }
    }

    /// Does the sweeps of an attempt and returns the point that they reach.
    fn sweep(&mut self, attempt: &Attempt) -> Scaled {
        let mut levels = Vec::new();
        self.spent.spend((attempt.sweeps as u64 + 1) * 64 * self.model.pairs.len() as u64);
        (0..=attempt.sweeps).for_each(|_| levels = sweep(self.model, self.order, &mut self.point));
        self.spent.sweeps += attempt.sweeps + 1;
        (self.scaled.in_units(&self.point), self.scaled.levels_in_units(&levels))
    }

    /// Follows one homotopy. Returns the candidate at its end, or `None` if there is no candidate, and the
    /// starting point for another homotopy.
    fn follow(&mut self, reading: Reading, (tasks, levels): &Scaled) -> (Option<Candidate>, Option<Scaled>) {
        let Some(start) = homotopy::start(&mut self.scaled, tasks, levels, reading) else {
            return (None, None);
        };
        let mut lowest: Option<Stalled> = None;
        for direction in DIRECTIONS {
            match homotopy::follow(&self.scaled, &start, direction, self.spent) {
                Ok(Ended { tasks, levels, set }) => {
                    let point = self.model.point(self.scaled.in_tasks(&tasks));
                    let residual = residual(self.model, &point);
                    let highest = self.scaled.highest_levels();
                    let candidate = Candidate { point, residual, set, highest };
                    return (
                        Some(candidate).filter(|found| found.residual <= CANDIDATE),
                        Some((tasks, levels)),
                    );
                }
                Err(stalled) if stalled.t < lowest.as_ref().map_or(1.0, |lowest| lowest.t) => {
                    lowest = Some(stalled);
                }
                Err(_) => {}
            }
        }
        (None, lowest.map(|Stalled { tasks, levels, .. }| (tasks, levels)))
    }
}

impl Iterator for Candidates<'_> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        while !self.spent.is_over() {
            let Some((attempt, before, from)) = self.next.take() else {
                let attempt = *self.attempts.next()?;
                let from = self.sweep(&attempt);
                self.next = Some((attempt, 0, from));
                continue;
            };
            let reading = Reading { seed: attempt.reading.seed + 100 * before, ..attempt.reading };
            let (found, again) = self.follow(reading, &from);
            self.next = again.filter(|_| before + 1 < RESTARTS).map(|from| (attempt, before + 1, from));
            if let Some(found) = found {
                self.spent.spend(found.work());
                return Some(found);
            }
        }
        None
    }
}
