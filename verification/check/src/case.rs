//! A problem with an allocation of it, as it is judged (theory, sections 1 and 7).
//!
//! What limits the tasks are rows. A class whose resources are divided has one for each resource that it has,
//! of capacity `k_i c_ir`, of which a task takes `d_nir`; a class whose time is shared has a single one, of
//! capacity 1, of which a task takes `1 / gamma_ni`.

use std::borrow::Cow;
use std::ops::Range;

use rug::Rational;

use crate::allocation::{Allocation, Placement, Tasks};
use crate::problem::{Problem, at};
use crate::work::{self, Checked};

/// A capacity constraint.
pub struct Row {
    pub class: usize,
    /// Absent: the time of the class.
    pub resource: Option<usize>,
    pub capacity: Rational,
}

/// The rows of a problem, and what every user would have alone.
pub struct Limits<'a> {
    pub problem: &'a Problem,
    /// Whether the time of every class is shared.
    pub by_time: bool,
    pub rows: Vec<Row>,
    /// Where the rows of each class begin.
    first: Vec<usize>,
    /// `gamma_n`, by user.
    pub gamma: Vec<Rational>,
    /// `g_n = min(T_n, gamma_n)`; 0 for users who can be given nothing.
    pub g: Vec<Rational>,
    /// The weights of the users who can be given something, added up.
    pub weight: Rational,
}

impl<'a> Limits<'a> {
    pub fn new(problem: &'a Problem, by_time: bool) -> Checked<Self> {
        work::spend(problem.size())?;
        let mut rows = Vec::new();
        let mut first = vec![0];
        for (class, of) in problem.classes.iter().enumerate() {
            if by_time || of.states_time {
                rows.push(Row { class, resource: None, capacity: Rational::from(1) });
            } else {
                rows.extend(of.capacity.iter().map(|(r, c)| Row {
                    class,
                    resource: Some(*r),
                    capacity: Rational::from(c * of.count),
                }));
            }
            first.push(rows.len());
        }
        let all = 0..problem.users.len();
        let gamma = |n| work::sum(problem.classes_of(n).map(|i| problem.gamma(n, i)).collect());
        let gamma: Vec<Rational> = all.clone().map(gamma).collect::<Checked<_>>()?;
        let least = |n: usize| match &problem.users[n].tasks {
            Some(tasks) if *tasks < gamma[n] => tasks.clone(),
            _ => gamma[n].clone(),
        };
        let g: Vec<Rational> = all.map(least).collect();
        let weights = problem.users.iter().zip(&g).filter(|(_, g)| !g.is_zero());
        let weight = work::sum(weights.map(|(user, _)| user.weight.clone()).collect())?;
        Ok(Self { problem, by_time, rows, first, gamma, g, weight })
    }

    pub fn n_users(&self) -> usize {
        self.problem.users.len()
    }

    /// The users who can be given something; the others take part in nothing.
    pub fn active(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.n_users()).filter(|n| self.is_active(*n))
    }

    pub fn is_active(&self, n: usize) -> bool {
        !self.g[n].is_zero()
    }

    pub fn user(&self, n: usize) -> &str {
        &self.problem.user_names.list[n]
    }

    /// The positions of the rows of a class.
    pub fn rows_of(&self, i: usize) -> Range<usize> {
        self.first[i]..self.first[i + 1]
    }

    pub fn is_timed(&self, i: usize) -> bool {
        self.rows[self.rows_of(i)].iter().any(|row| row.resource.is_none())
    }

    /// The row of a class for a resource, or for its time.
    pub fn row(&self, i: usize, resource: Option<usize>) -> Option<usize> {
        let rows = &self.rows[self.rows_of(i)];
        rows.binary_search_by_key(&resource, |row| row.resource).ok().map(|at| self.first[i] + at)
    }

    /// `(row, d)` for every row that a task of user `n` takes something of, on a class where it can run.
    pub fn uses(&self, n: usize, i: usize) -> Vec<(usize, Cow<'a, Rational>)> {
        if self.is_timed(i) {
            return vec![(self.first[i], Cow::Owned(self.problem.gamma(n, i).recip()))];
        }
        let of = |(r, d): &'a (usize, Rational)| Some((self.row(i, Some(*r))?, Cow::Borrowed(d)));
        self.problem.demand(n, i).iter().filter_map(of).collect()
    }

    /// What a task of user `n` takes of a row; `None` where it takes nothing, or cannot run.
    pub fn usage(&self, n: usize, row: usize) -> Option<Cow<'a, Rational>> {
        let i = self.rows[row].class;
        let uses = if self.problem.can_run(n, i) { self.uses(n, i) } else { Vec::new() };
        uses.into_iter().find(|(at, _)| *at == row).map(|(_, d)| d)
    }

    /// What tasks leave of every row, entries that are none left out.
    pub fn slack(&self, tasks: &Tasks) -> Checked<Vec<Rational>> {
        let mut left: Vec<Vec<Rational>> = self.rows.iter().map(|row| vec![row.capacity.clone()]).collect();
        for (n, i, x) in entries(tasks).filter(|(n, i, x)| self.counts(*n, *i, x)) {
            let uses = self.uses(n, i);
            work::spend(uses.len())?;
            uses.into_iter().for_each(|(row, d)| left[row].push(-Rational::from(&*d * x)));
        }
        left.into_iter().map(work::sum).collect()
    }

    /// Whether an entry that is not 0 is one: above 0, of a user with tasks, where it can run.
    pub fn counts(&self, n: usize, i: usize, x: &Rational) -> bool {
        *x > 0 && self.is_active(n) && self.problem.can_run(n, i)
    }

    /// Whether an allocation is feasible exactly: no entry that is none, no user above its tasks, no row
    /// above its capacity.
    pub fn is_feasible(&self, tasks: &Tasks) -> Checked<bool> {
        let slack = self.slack(tasks)?;
        Ok(entries(tasks).all(|(n, i, x)| self.counts(n, i, x))
            && (0..self.n_users())
                .all(|n| self.satisfied(n, &total(&tasks[n])).is_none_or(|above| above <= 0))
            && slack.iter().all(|slack| *slack >= 0))
    }

    /// `(x_n - T_n) / g_n`, for users with finite tasks who can be given something.
    pub fn satisfied(&self, n: usize, x: &Rational) -> Option<Rational> {
        let tasks = self.problem.users[n].tasks.as_ref().filter(|_| self.is_active(n))?;
        Some(Rational::from(x - tasks) / &self.g[n])
    }

    /// `change / g_n`, or the change itself of a user who should have nothing.
    pub fn in_units(&self, n: usize, change: &Rational) -> Rational {
        if self.is_active(n) { Rational::from(change / &self.g[n]) } else { change.clone() }
    }
}

/// `(user, class, tasks)`.
pub fn entries(tasks: &Tasks) -> impl Iterator<Item = (usize, usize, &Rational)> {
    tasks.iter().enumerate().flat_map(|(n, of_user)| of_user.iter().map(move |(i, x)| (n, *i, x)))
}

pub fn total(tasks: &[(usize, Rational)]) -> Rational {
    tasks.iter().map(|(_, x)| x).sum()
}

/// A problem with an allocation of it.
pub struct Case<'a> {
    pub limits: Limits<'a>,
    /// As it is stated, without zeros.
    pub stated: &'a Tasks,
    pub placements: Option<&'a [Placement]>,
    /// What is judged: the stated tasks after their repair.
    pub x: Tasks,
    /// `x_n`, by user.
    pub total: Vec<Rational>,
    /// What is left of every row.
    pub slack: Vec<Rational>,
    /// 0 where the certificate is to hold exactly.
    pub tolerance: Rational,
}

impl<'a> Case<'a> {
    pub fn new(problem: &'a Problem, allocation: &'a Allocation, tolerance: Rational) -> Checked<Self> {
        let limits = Limits::new(problem, allocation.by_time)?;
        let placements = allocation.placements.as_deref();
        let x = repaired(&limits, &allocation.tasks, placements.is_some())?;
        let slack = limits.slack(&x)?;
        let total = x.iter().map(|tasks| total(tasks)).collect();
        Ok(Self { limits, stated: &allocation.tasks, placements, x, total, slack, tolerance })
    }

    /// `x_ni`.
    pub fn on(&self, n: usize, i: usize) -> Rational {
        at(&self.x[n], i).cloned().unwrap_or_default()
    }

    /// Whether user `n` is active and has fewer than its tasks; with placements a whole task fewer.
    pub fn is_pending(&self, n: usize) -> bool {
        let left = self.limits.problem.users[n].tasks.as_ref().map(|tasks| tasks - self.total[n].clone());
        let enough = |left: Rational| if self.placements.is_some() { left >= 1 } else { left > 0 };
        self.limits.is_active(n) && left.is_none_or(enough)
    }
}

/// The repair (theory, section 7): (1) entries that are none become 0; (2) users above their tasks are scaled
/// to them; (3) classes with a row above its capacity are scaled by the capacity over the load of the fullest.
/// Tasks on single servers are not scaled.
fn repaired(limits: &Limits<'_>, stated: &Tasks, placed: bool) -> Checked<Tasks> {
    let mut x = stated.clone();
    for (n, tasks) in x.iter_mut().enumerate() {
        tasks.retain(|(i, x)| limits.counts(n, *i, x));
    }
    if placed {
        return Ok(x);
    }
    for (tasks, user) in x.iter_mut().zip(&limits.problem.users) {
        let (all, Some(most)) = (total(tasks), &user.tasks) else { continue };
        if all > *most {
            work::spend(tasks.len())?;
            let factor = Rational::from(most / &all);
            tasks.iter_mut().for_each(|(_, x)| *x *= &factor);
        }
    }
    let slack = limits.slack(&x)?;
    let factor = |i: usize| {
        let load =
            |row: usize| (&limits.rows[row].capacity - slack[row].clone()) / &limits.rows[row].capacity;
        let fullest = limits.rows_of(i).filter(|row| slack[*row] < 0).map(load).max();
        fullest.map(Rational::recip)
    };
    let factors: Vec<Option<Rational>> = (0..limits.problem.classes.len()).map(factor).collect();
    for (i, x) in x.iter_mut().flatten() {
        if let Some(factor) = &factors[*i] {
            work::spend(1)?;
            *x *= factor;
        }
    }
    Ok(x)
}
