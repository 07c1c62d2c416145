//! The data that all computations of NJC allocations share: users, placements and possible witnesses.

use std::ops::Range;

use evenhand_lp::linear::SparseRow;
use evenhand_problem::{Constraints, Rational};

use crate::groups::capacity_entries;

/// Tasks of each user: `(class, tasks)`, ascending by class, without zeros.
pub type Tasks = Vec<Vec<(usize, Rational)>>;

/// Computes the entitlement `e_n = w_n / (sum of the weights of the active users)` of each user. It is 0 for a user
/// that is not active.
#[must_use]
pub fn entitlements(constraints: &Constraints<'_>) -> Vec<Rational> {
    let problem = constraints.problem();
    let weight = |n: usize| {
        if problem.is_active(n) { problem.users()[n].weight().clone() } else { Rational::new() }
    };
    let weights: Vec<Rational> = (0..problem.n_users()).map(weight).collect();
    let total: Rational = weights.iter().sum();
    if total.is_zero() {
        return weights;
    }
    weights.into_iter().map(|w| w / &total).collect()
}

/// The users, their placements, and the numbers of tasks that would reach an entitlement on each placement.
pub struct ClusterModel<'a> {
    pub constraints: &'a Constraints<'a>,
    /// The active users, ascending.
    pub users: Vec<usize>,
    pub entitlements: Vec<Rational>,
    pub placements: Vec<UserOnClass>,
    /// For each user, the range of its placements in `placements`.
    of_user: Vec<Range<usize>>,
}

/// A placement: a user on a class.
pub struct UserOnClass {
    pub n: usize,
    pub i: usize,
    /// `(row, amount of the row that one task uses)`, without zeros.
    pub usage: SparseRow,
    /// The largest number of tasks of the user on the class: `gamma_ni`, or all tasks of the user if they are fewer.
    pub most: Rational,
}

/// A number of tasks on one class that reaches the entitlement of one row.
pub struct Candidate {
    pub row: usize,
    /// The index of the placement.
    pub placement: usize,
    /// The least number of tasks that reaches the entitlement, `e_n C / d`.
    pub floor: Rational,
}

impl<'a> ClusterModel<'a> {
    pub fn new(constraints: &'a Constraints<'a>) -> Self {
        let problem = constraints.problem();
        let mut placements = Vec::new();
        let mut of_user = Vec::with_capacity(problem.n_users());
        for n in 0..problem.n_users() {
            let start = placements.len();
            if problem.is_active(n) {
                let classes = problem.classes_of(n);
                let limit = problem.users()[n].tasks();
                placements.extend(classes.map(|i| {
                    let (usage, gamma) = (capacity_entries(constraints, n, i), problem.gamma(n, i));
                    let most = limit.filter(|limit| **limit < gamma).cloned().unwrap_or(gamma);
                    UserOnClass { n, i, usage, most }
                }));
            }
            of_user.push(start..placements.len());
        }
        let users = (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect();
        Self { constraints, users, entitlements: entitlements(constraints), placements, of_user }
    }

    /// Returns the indices of the placements of user `n`.
    pub fn placements_of(&self, n: usize) -> Range<usize> {
        self.of_user[n].clone()
    }

    /// Returns the number of tasks that user `n` has. `None` for unlimited tasks.
    pub fn limit(&self, n: usize) -> Option<&'a Rational> {
        self.constraints.problem().users()[n].tasks()
    }

    pub fn capacity(&self, row: usize) -> &Rational {
        &self.constraints.rows()[row].capacity
    }

    /// Returns the number of tasks that would make `row` a witness of user `n`. `None` if `row` cannot be a witness of
    /// the user.
    pub fn candidate(&self, n: usize, row: usize) -> Option<Candidate> {
        let server = self.constraints.rows().get(row)?.server;
        let placement = self.placements_of(n).find(|&k| self.placements[k].i == server)?;
        let (_, usage) = self.placements[placement].usage.iter().find(|(r, _)| *r == row)?;
        let capacity = self.capacity(row);
        if capacity.is_zero() {
            return None;
        }
        let floor = Rational::from(&self.entitlements[n] * capacity) / usage;
        Some(Candidate { row, placement, floor })
    }

    /// Returns the candidates of user `n` that the user can reach with fewer than all its tasks and within the capacity
    /// of the class.
    pub fn candidates(&self, n: usize) -> Vec<Candidate> {
        let rows = self.placements_of(n).flat_map(|k| self.placements[k].usage.iter().map(|(row, _)| *row));
        rows.filter_map(|row| self.candidate(n, row))
            .filter(|c| c.floor <= self.placements[c.placement].most)
            .filter(|c| self.limit(n).is_none_or(|tasks| c.floor < *tasks))
            .collect()
    }

    /// Returns true if user `n` can have all its tasks when it has its classes to itself.
    pub fn can_be_satisfied(&self, n: usize) -> bool {
        let most = || self.placements_of(n).map(|k| &self.placements[k].most).sum::<Rational>();
        self.limit(n).is_some_and(|tasks| *tasks <= most())
    }

    /// Converts values of the placements to tasks of the users.
    pub fn tasks(&self, values: &[Rational]) -> Tasks {
        let mut tasks = vec![Vec::new(); self.of_user.len()];
        for (placement, value) in self.placements.iter().zip(values) {
            if !value.is_zero() {
                tasks[placement.n].push((placement.i, value.clone()));
            }
        }
        tasks
    }

    /// Computes the usage of every row by these tasks.
    pub fn loads(&self, tasks: &Tasks) -> Vec<Rational> {
        let mut loads = vec![Rational::new(); self.constraints.rows().len()];
        for placement in &self.placements {
            let x = tasks.get(placement.n).map_or_else(Rational::new, |list| tasks_on(list, placement.i));
            if !x.is_zero() {
                for (row, usage) in &placement.usage {
                    loads[*row] += Rational::from(usage * &x);
                }
            }
        }
        loads
    }
}

/// Returns the number of tasks on class `i` in the list of one user.
pub fn tasks_on(tasks: &[(usize, Rational)], i: usize) -> Rational {
    tasks.iter().filter(|(class, _)| *class == i).map(|(_, x)| x).sum()
}
