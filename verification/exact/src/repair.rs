//! The judged allocation: the stated allocation, or its repair.
//!
//! An allocation that rounding has made infeasible is repaired (docs/theory.md, section 7) in this order:
//!
//! 1. Negative entries, entries where the user cannot run, and all entries of a user without tasks become 0.
//! 2. If a user is given more than its `T_n` tasks, or uses more than `at_most` accelerators, its tasks are scaled down
//!    until both limits are satisfied.
//! 3. If the most loaded row of a class is above its capacity, the tasks on the class are multiplied by the capacity
//!    over the load of that row.
//!
//! The result is always feasible. The axiom [`feasible`](crate::axiom::feasible) judges whether the result is close to
//! the stated allocation.

use std::sync::Arc;

use evenhand_problem::{Allocation, Problem};
use rug::Rational;

use crate::axiom::feasible::holds_exactly;
use crate::budget::{Budget, TooLarge};
use crate::instance::{Instance, Tasks, check_placements};
use crate::refusal::InstanceError;
use crate::scaled::Scaled;

impl<'a> Instance<'a> {
    /// Prepares `allocation` of `problem`, with its repair.
    ///
    /// # Errors
    /// Returns [`InstanceError`] if the allocation has another shape than the problem, or if the numbers have no
    /// common denominator of reasonable width.
    pub fn new(problem: &'a Problem, allocation: &Allocation) -> Result<Self, InstanceError> {
        Self::within(problem, allocation, Budget::default())
    }

    /// Prepares an allocation like [`Instance::new`], with a budget of work for all judgements.
    ///
    /// # Errors
    /// Returns the same errors as [`Instance::new`].
    pub fn within(
        problem: &'a Problem,
        allocation: &Allocation,
        budget: Budget,
    ) -> Result<Self, InstanceError> {
        let scaled = Arc::new(Scaled::new(problem, allocation.sharing, budget)?);
        let mut stated = Self::prepare(Arc::clone(&scaled), &allocation.tasks)?;
        if let Some(placements) = &allocation.placements {
            check_placements(problem, &allocation.tasks, placements)?;
            stated.placements = Some(placements.as_slice().into());
            // Tasks on single servers are not repaired.
            return Ok(stated);
        }
        match repaired(&stated)? {
            None => Ok(stated),
            Some((tasks, repair)) => {
                let mut instance = Self::prepare(scaled, &tasks)?;
                instance.stated = Some(Arc::new(stated));
                instance.repair = repair;
                Ok(instance)
            }
        }
    }
}

/// Returns the repaired tasks, and the largest `|x_ni - stated x_ni| / g_n`. Returns `None` if no repair is needed.
///
/// # Errors
/// Returns [`InstanceError`] if the repaired numbers are too wide.
fn repaired(stated: &Instance<'_>) -> Result<Option<(Tasks, Rational)>, InstanceError> {
    if holds_exactly(stated) {
        return Ok(None);
    }
    let mut tasks = stated.tasks();
    let cut = cut_users(stated, &mut tasks)?;
    let cut_instance = if cut { Some(stated.with_tasks(&tasks)?) } else { None };
    cut_classes(cut_instance.as_ref().unwrap_or(stated), &mut tasks)?;
    let repair = largest_change(stated, &tasks);
    Ok(Some((tasks, repair)))
}

/// Performs step 2 of the repair. Returns true if any tasks changed.
fn cut_users(stated: &Instance<'_>, tasks: &mut Tasks) -> Result<bool, TooLarge> {
    let mut changed = false;
    for (n, on) in tasks.iter_mut().enumerate() {
        let limits = stated.limits();
        let of_accelerators = limits.of_accelerators(n).map(|at| &limits.list()[at]);
        let of_accelerators = of_accelerators.filter(|row| row.held > row.most);
        let by_accelerators = of_accelerators.map(|row| Rational::from(&row.most / &row.held));
        let total = stated.total(n);
        let of_tasks = stated.problem().users()[n].tasks().filter(|limit| total > **limit);
        let by_tasks = of_tasks.map(|limit| Rational::from(limit / &total));
        if let Some(factor) = by_tasks.into_iter().chain(by_accelerators).min() {
            stated.charge_wide(on.len(), &factor)?;
            on.iter_mut().for_each(|(_, x)| *x *= &factor);
            changed = true;
        }
    }
    Ok(changed)
}

/// Performs step 3 of the repair.
fn cut_classes(instance: &Instance<'_>, tasks: &mut Tasks) -> Result<(), TooLarge> {
    let constraints = instance.constraints();
    let rows = constraints.rows();
    let load = |row: usize| (&rows[row].capacity - instance.slack(row)) / &rows[row].capacity;
    let overfull = |row: &usize| *instance.scaled_slack(*row) < 0;
    let factors: Vec<Option<Rational>> = (0..instance.problem().n_servers())
        .map(|i| constraints.class_rows(i).filter(overfull).map(load).max().map(Rational::recip))
        .collect();
    for (i, x) in tasks.iter_mut().flatten() {
        if let Some(factor) = &factors[*i] {
            instance.charge_wide(1, factor)?;
            *x *= factor;
        }
    }
    Ok(())
}

fn largest_change(stated: &Instance<'_>, tasks: &Tasks) -> Rational {
    let of_entry = |n: usize, change: Rational| {
        let scale = stated.scale(n);
        if scale.is_zero() { Rational::new() } else { change.abs() / scale }
    };
    let kept = stated.tasks.iter().zip(tasks).enumerate().flat_map(|(n, (before, after))| {
        let pairs = before.iter().zip(after);
        pairs.map(move |((_, before), (_, after))| {
            of_entry(n, after - Rational::from((before, &stated.denominator)))
        })
    });
    let refused = stated.refused.iter().map(|(n, _, x)| of_entry(*n, x.clone()));
    kept.chain(refused).max().unwrap_or_default()
}
