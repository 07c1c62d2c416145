//! Water filling: the exact filling of one server class, with its users' tasks on other classes fixed.
//!
//! The lowest levels `x_n / (w_n gamma_ni)` rise together. A user joins when the common level reaches the
//! level on this class that its tasks on other classes already give it. The user leaves when it has all its
//! tasks or when a resource that it demands runs out. In the end, every user of the class has all its tasks
//! or a bottleneck on the class. This is the only point that satisfies Theorem 1 on this class
//! (docs/theory.md, section 4, Theorem A).
//!
//! A sweep fills all classes in turn, given the tasks of their users on the other classes (Gauss-Seidel). A
//! point that a sweep does not change is PS-DSF. Sweeps often converge, but slowly on large problems, and
//! sometimes they cycle.

use evenhand_problem::Constraints;

use super::pairs::{PairModel, Point};
use super::scalar::Scalar;

/// An event for a user while the level rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The common level reaches the level of the user.
    Joins,
    /// The user has all its tasks.
    Satisfied,
}

/// The state of a class while its level rises.
struct Filling<'a, T> {
    model: &'a PairModel<T>,
    /// The first pair and the first row of the class.
    first: (usize, usize),
    /// The tasks on other classes of the user of each pair of the class.
    elsewhere: Vec<T>,
    /// The pairs whose tasks rise with the level.
    rising: Vec<usize>,
    level: T,
    used: Vec<T>,
    /// The growth of `used` per unit of level, and the number of pairs that contribute to this growth, for
    /// each row of the class.
    slope: Vec<(T, usize)>,
    saturated: Vec<bool>,
    /// The level at which each row of the class ran out.
    stopped: Vec<Option<T>>,
    tasks: Vec<T>,
}

/// Sweeps once over all classes in `order`. Returns for each row the level at which it ran out, or `None` if
/// it did not.
pub fn sweep(model: &PairModel<f64>, order: &[usize], point: &mut Point<f64>) -> Vec<Option<f64>> {
    let mut levels = vec![None; model.capacity.len()];
    for class in order {
        let found = fill(model, *class, point);
        levels[model.rows_of_class[*class].clone()].clone_from_slice(&found);
    }
    model.refresh_totals(point);
    levels
}

/// Fills `class` again and updates `point` with its totals. Returns for each row of the class the level at
/// which it ran out, or `None` if it did not.
fn fill(model: &PairModel<f64>, class: usize, point: &mut Point<f64>) -> Vec<Option<f64>> {
    let pairs = model.of_class[class].clone();
    let elsewhere: Vec<f64> = pairs
        .clone()
        .map(|p| non_negative(point.totals[model.pairs[p].user].minus(&point.tasks[p])))
        .collect();
    let (tasks, levels) = filled(model, class, &elsewhere);
    for ((p, elsewhere), tasks) in pairs.zip(&elsewhere).zip(tasks) {
        point.totals[model.pairs[p].user] = elsewhere.plus(&tasks);
        point.tasks[p] = tasks;
    }
    levels
}

/// Computes the tasks of users on a class as if it were the only class. Returns the positive numbers of tasks
/// with their users.
pub(crate) fn alone<T: Scalar>(
    constraints: &Constraints<'_>,
    class: usize,
) -> impl Iterator<Item = (usize, T)> + use<T> {
    let model = PairModel::of_classes(constraints, class..class + 1);
    let tasks = filled(&model, 0, &vec![T::zero(); model.pairs.len()]).0;
    let users = model.pairs.into_iter().map(|pair| pair.user);
    users.zip(tasks).filter(|(_, tasks)| tasks.is_positive())
}

/// Computes the tasks of each pair of `class` for the given tasks on other classes. Also returns for each row
/// of the class the level at which it ran out, or `None` if it did not.
pub fn filled<T: Scalar>(model: &PairModel<T>, class: usize, elsewhere: &[T]) -> (Vec<T>, Vec<Option<T>>) {
    let pairs = model.of_class[class].clone();
    let rows = model.rows_of_class[class].clone();
    let mut events = Vec::with_capacity(pairs.len() * 2);
    for (p, elsewhere) in pairs.clone().zip(elsewhere) {
        let pair = &model.pairs[p];
        if let Some(limit) = &model.limits[pair.user] {
            if elsewhere >= limit {
                continue;
            }
            events.push((limit.over(&pair.tasks_per_level), p, Event::Satisfied));
        }
        events.push((elsewhere.over(&pair.tasks_per_level), p, Event::Joins));
    }
    // Because of rounding, a user may join the filling at the same level at which it has all its tasks. In this case it
    // joins first.
    events.sort_by(|a, b| a.0.order(&b.0).then_with(|| (a.2 as u8).cmp(&(b.2 as u8))));
    let mut filling = Filling {
        model,
        first: (pairs.start, rows.start),
        elsewhere: elsewhere.to_vec(),
        rising: Vec::new(),
        level: T::zero(),
        used: vec![T::zero(); rows.len()],
        slope: vec![(T::zero(), 0); rows.len()],
        saturated: vec![false; rows.len()],
        stopped: vec![None; rows.len()],
        tasks: vec![T::zero(); pairs.len()],
    };
    for (level, p, event) in events {
        // Rows that run out before this event block users first.
        while let Some(rows) = filling.saturates_before(Some(&level)) {
            filling.saturate(&rows);
        }
        if filling.saturated.iter().all(|saturated| *saturated) {
            break;
        }
        filling.rise_to(level);
        match event {
            Event::Joins => filling.join(p),
            Event::Satisfied => filling.satisfy(p),
        }
    }
    while let Some(rows) = filling.saturates_before(None) {
        filling.saturate(&rows);
    }
    (filling.tasks, filling.stopped)
}

impl<T: Scalar> Filling<'_, T> {
    /// Returns the level at which the next rows run out, with these rows. Returns `None` if the level is
    /// above `bound`.
    fn saturates_before(&self, bound: Option<&T>) -> Option<(T, Vec<usize>)> {
        let mut next: Option<(T, Vec<usize>)> = None;
        for (k, (slope, count)) in self.slope.iter().enumerate() {
            if *count == 0 || self.saturated[k] || !slope.is_positive() {
                continue;
            }
            let room = non_negative(self.model.capacity[self.first.1 + k].minus(&self.used[k]));
            let level = self.level.plus(&room.over(slope));
            match &mut next {
                Some((lowest, rows)) if *lowest == level => rows.push(k),
                Some((lowest, _)) if *lowest < level => {}
                _ => next = Some((level, vec![k])),
            }
        }
        next.filter(|(level, _)| bound.is_none_or(|bound| level <= bound))
    }

    fn rise_to(&mut self, level: T) {
        let step = level.minus(&self.level);
        if step.is_positive() {
            for (used, (slope, count)) in self.used.iter_mut().zip(&self.slope) {
                if *count > 0 {
                    used.add_product(slope, &step);
                }
            }
            self.level = level;
        }
    }

    fn saturate(&mut self, (level, rows): &(T, Vec<usize>)) {
        self.rise_to(level.clone());
        for k in rows {
            self.saturated[*k] = true;
            self.stopped[*k] = Some(level.clone());
        }
        let (stay, leave): (Vec<usize>, Vec<usize>) =
            std::mem::take(&mut self.rising).into_iter().partition(|p| !self.is_blocked(*p));
        for p in leave {
            let pair = &self.model.pairs[p];
            let k = p - self.first.0;
            self.tasks[k] = non_negative(pair.tasks_per_level.times(&self.level).minus(&self.elsewhere[k]));
        }
        // The sums are computed again, so that rounding does not leave a slope of 1e-17.
        self.slope.fill((T::zero(), 0));
        for p in &stay {
            self.add_slope(*p);
        }
        self.rising = stay;
    }

    fn is_blocked(&self, p: usize) -> bool {
        self.model.pairs[p].usage.iter().any(|(row, _)| self.saturated[row - self.first.1])
    }

    fn join(&mut self, p: usize) {
        if !self.is_blocked(p) {
            self.rising.push(p);
            self.add_slope(p);
        }
    }

    fn add_slope(&mut self, p: usize) {
        let pair = &self.model.pairs[p];
        for (row, d) in &pair.usage {
            let (slope, count) = &mut self.slope[row - self.first.1];
            slope.add_product(d, &pair.tasks_per_level);
            *count += 1;
        }
    }

    fn satisfy(&mut self, p: usize) {
        let Some(position) = self.rising.iter().position(|q| *q == p) else { return };
        self.rising.remove(position);
        let pair = &self.model.pairs[p];
        let k = p - self.first.0;
        if let Some(limit) = &self.model.limits[pair.user] {
            self.tasks[k] = non_negative(limit.minus(&self.elsewhere[k]));
        }
        for (row, d) in &pair.usage {
            let (slope, count) = &mut self.slope[row - self.first.1];
            *slope = slope.minus(&d.times(&pair.tasks_per_level));
            *count -= 1;
        }
    }
}

/// Returns the number, or 0 if it is negative, which only rounding can make it.
fn non_negative<T: Scalar>(value: T) -> T {
    if value.is_positive() { value } else { T::zero() }
}
