//! Algorithm I of the PS-DSF paper (section III-C), step by step.
//!
//! The algorithm starts from DRF on every class separately and visits the classes in rounds. The users with
//! the highest level release part of the full resources. The users with the lowest level that these resources
//! block get a fraction `beta` of the released amount. Two corrections are needed (docs/theory.md, section
//! 4). A resource that none of the remaining users uses also counts as their bottleneck, and a user that is
//! chosen for two resources is released only once. The algorithm often approaches its limit without ever
//! reaching it (in exact arithmetic, on about half of all random instances), so the number of rounds is
//! limited. As in the paper, the algorithm is for unlimited tasks only.

use std::ops::ControlFlow;
use std::time::Instant;

use evenhand_budget::{charge, operations, words_of_bits};

use super::pairs::{PairModel, Point};
use super::scalar::Scalar;
use super::water_filling::filled;

/// The limits at which the algorithm stops without an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundLimits {
    /// The maximum number of rounds over all classes.
    pub rounds: usize,
    /// The maximum number of updates of one class in one round.
    pub updates: usize,
    /// The maximum number of bits of a number.
    pub bits: usize,
    /// The relative difference up to which doubles count as equal. It has no meaning for rationals.
    pub tolerance: f64,
    /// The time at which the algorithm stops and returns the point reached.
    pub until: Option<Instant>,
}

/// The result of the algorithm.
#[derive(Debug, Clone)]
pub struct Ended<T> {
    /// The last point that the algorithm reached.
    pub point: Point<T>,
    /// The number of rounds.
    pub rounds: usize,
    /// `true` if the last round changed nothing.
    pub converged: bool,
}

/// Runs Algorithm I on `model`, whose users must have unlimited tasks. The classes are visited in `order`.
pub fn run<T: Scalar>(model: &PairModel<T>, order: &[usize], limits: &RoundLimits) -> Ended<T> {
    let mut tasks = Vec::with_capacity(model.pairs.len());
    for class in 0..model.n_classes() {
        tasks.extend(filled(model, class, &vec![T::zero(); model.of_class[class].len()]).0);
    }
    let mut ended = Ended { point: model.point(tasks), rounds: 0, converged: false };
    while ended.rounds < limits.rounds && !ended.converged {
        ended.rounds += 1;
        let mut changed = false;
        for &class in order {
            match Server::new(model, class, limits).proceed(&mut ended.point) {
                ControlFlow::Continue(updates) => changed |= updates > 0,
                ControlFlow::Break(()) => return ended,
            }
        }
        ended.converged = !changed;
    }
    ended
}

/// The state of the server procedure for one class.
struct Server<'a, T> {
    model: &'a PairModel<T>,
    class: usize,
    limits: &'a RoundLimits,
    /// The pairs for which no bottleneck has been found so far.
    rest: Vec<usize>,
}

impl<'a, T: Scalar> Server<'a, T> {
    fn new(model: &'a PairModel<T>, class: usize, limits: &'a RoundLimits) -> Self {
        Self { model, class, limits, rest: model.of_class[class].clone().collect() }
    }

    /// Runs the server procedure. Returns the number of updates, or `Break` if a limit was reached.
    fn proceed(&mut self, point: &mut Point<T>) -> ControlFlow<(), usize> {
        let mut updates = 0;
        self.charge(point);
        while let Some(least) = self.rest.iter().map(|p| self.model.level(point, *p)).min_by(T::order) {
            let same = |a: &T| a.same(&least, self.limits.tolerance);
            let lowest: Vec<usize> =
                self.rest.iter().copied().filter(|p| same(&self.model.level(point, *p))).collect();
            let free = self.free(point);
            let holding = |row: &usize| lowest.iter().any(|p| self.uses(*p, *row).is_some());
            let rows = self.model.rows_of_class[self.class].clone();
            let first = rows.start;
            let full: Vec<usize> =
                rows.filter(|row| self.is_full(&free[row - first], *row)).filter(holding).collect();
            let highest = |row: usize| {
                let holds = |p: &&usize| point.tasks[**p].is_positive() && self.uses(**p, row).is_some();
                let holders = self.rest.iter().filter(holds);
                holders
                    .max_by(|a, b| self.model.level(point, **a).order(&self.model.level(point, **b)))
                    .copied()
            };
            let is_bottleneck =
                |row: &&usize| highest(**row).is_none_or(|p| same(&self.model.level(point, p)));
            if let Some(&row) = full.iter().find(|row| is_bottleneck(row)) {
                let model = self.model;
                self.rest.retain(|p| model.pairs[*p].usage.iter().all(|(other, _)| *other != row));
                continue;
            }
            let mut released: Vec<usize> = full.iter().filter_map(|row| highest(*row)).collect();
            released.sort_unstable();
            released.dedup();
            updates += 1;
            self.charge(point);
            let is_short = self.update(point, &least, &lowest, &released, free);
            let is_late = self.limits.until.is_some_and(|until| Instant::now() >= until);
            if updates > self.limits.updates || !is_short || is_late {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(updates)
    }

    /// Charges one update and its preparation. Every number of the class takes part in several operations.
    fn charge(&self, point: &Point<T>) {
        /// The number of operations on each number of the class in one update.
        const EACH: u64 = 6;
        const WHAT: &str = "algorithm-1";
        let pairs = self.model.of_class[self.class].clone();
        let numbers = pairs.clone().map(|p| 1 + self.model.pairs[p].usage.len() as u64).sum::<u64>();
        match pairs.map(|p| point.tasks[p].bits()).max() {
            None | Some(0) => charge(EACH * numbers, WHAT),
            Some(bits) => operations(EACH * numbers, words_of_bits(bits as u64), WHAT),
        }
    }

    fn uses(&self, p: usize, row: usize) -> Option<&T> {
        self.model.pairs[p].usage.iter().find(|(other, _)| *other == row).map(|(_, d)| d)
    }

    /// Returns the free amount of every row of the class.
    fn free(&self, point: &Point<T>) -> Vec<T> {
        let rows = self.model.rows_of_class[self.class].clone();
        let mut free = self.model.capacity[rows.clone()].to_vec();
        for p in self.model.of_class[self.class].clone() {
            for (row, d) in &self.model.pairs[p].usage {
                let free = &mut free[row - rows.start];
                *free = free.minus(&d.times(&point.tasks[p]));
            }
        }
        free
    }

    fn is_full(&self, free: &T, row: usize) -> bool {
        let capacity = &self.model.capacity[row];
        capacity.minus(free).same(capacity, self.limits.tolerance)
    }

    /// Runs the paper's subroutine Update-Allocation. Returns `false` if the numbers have become too long.
    fn update(
        &self,
        point: &mut Point<T>,
        least: &T,
        lowest: &[usize],
        released: &[usize],
        mut free: Vec<T>,
    ) -> bool {
        let first = self.model.rows_of_class[self.class].start;
        for &p in released {
            for (row, d) in &self.model.pairs[p].usage {
                free[row - first].add_product(d, &point.tasks[p]);
            }
        }
        let mut growth = vec![T::zero(); free.len()];
        for &p in lowest {
            let pair = &self.model.pairs[p];
            for (row, d) in &pair.usage {
                growth[row - first].add_product(d, &pair.tasks_per_level);
            }
        }
        let possible = free.iter().zip(&growth).filter(|(_, growth)| growth.is_positive());
        let Some(most) = possible.map(|(free, growth)| free.over(growth)).min_by(T::order) else {
            return false;
        };
        let mut part: Option<T> = None;
        for &p in released {
            let lost = point.tasks[p].over(&self.model.pairs[p].tasks_per_level);
            let room = self.model.level(point, p).minus(least).over(&most.plus(&lost));
            if part.as_ref().is_none_or(|part| room < *part) {
                part = Some(room);
            }
        }
        // The fraction is used only if it is below 1. Otherwise the levels do not meet before the whole
        // amount is released.
        let part = part.filter(|part| part.minus(&part.times(part)).is_positive());
        let raise = part.as_ref().map_or_else(|| most.clone(), |part| part.times(&most));
        for &p in lowest {
            let more = self.model.pairs[p].tasks_per_level.times(&raise);
            self.change(point, p, point.tasks[p].plus(&more));
        }
        for &p in released {
            let kept = match &part {
                Some(part) => point.tasks[p].minus(&part.times(&point.tasks[p])),
                None => T::zero(),
            };
            self.change(point, p, kept);
        }
        lowest.iter().chain(released).all(|p| point.tasks[*p].bits() <= self.limits.bits)
    }

    fn change(&self, point: &mut Point<T>, p: usize, tasks: T) {
        let total = &mut point.totals[self.model.pairs[p].user];
        *total = total.minus(&point.tasks[p]).plus(&tasks);
        point.tasks[p] = tasks;
    }
}
