//! Problems in doubles for solvers. Every number is rounded to the nearest double, and no number is scaled.

use evenhand_problem::number::to_f64;
use evenhand_problem::{Constraints, Problem, Sharing};

use super::Answer;

/// A cluster in doubles.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The capacities of the rows of the classes.
    pub capacity: Vec<f64>,
    /// The users.
    pub users: Vec<ModelUser>,
}

/// A user in doubles.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelUser {
    /// The weight of the user.
    pub weight: f64,
    /// The number of tasks that the user has. It is infinite if the tasks are unlimited.
    pub limit: f64,
    /// The classes on which the user can run. Empty for a user that cannot have any tasks.
    pub places: Vec<ModelPlace>,
}

/// A user on a class in doubles.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPlace {
    /// The index of the class.
    pub class: usize,
    /// The rows that a task uses, as `(row, amount)`. Amounts are positive.
    pub usage: Vec<(usize, f64)>,
}

impl Model {
    /// Converts the problem to doubles.
    #[must_use]
    pub fn new(problem: &Problem, sharing: Sharing) -> Self {
        let constraints = Constraints::new(problem, sharing);
        let capacity: Vec<f64> = constraints.rows().iter().map(|row| to_f64(&row.capacity)).collect();
        let place = |n: usize, class: usize| {
            let start = constraints.class_rows(class).start;
            let usage = constraints.usage(n, class).unwrap_or_default();
            let usage = usage.entries().filter(|(_, amount)| !amount.is_zero());
            ModelPlace { class, usage: usage.map(|(at, amount)| (start + at, to_f64(amount))).collect() }
        };
        let user = |n: usize| {
            let stated = &problem.users()[n];
            let is_active = problem.is_active(n);
            let places = problem.classes_of(n).filter(|_| is_active).map(|i| place(n, i)).collect();
            let limit = stated.tasks().map_or(f64::INFINITY, to_f64);
            ModelUser { weight: to_f64(stated.weight()), limit, places }
        };
        let users = (0..problem.n_users()).map(user).collect();
        Self { capacity, users }
    }

    /// Returns the user and the class of every variable, in the order of the variables.
    pub fn columns(&self) -> impl Iterator<Item = (usize, &ModelPlace)> + '_ {
        self.users.iter().enumerate().flat_map(|(n, user)| user.places.iter().map(move |place| (n, place)))
    }

    /// Returns the number of variables.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.users.iter().map(|user| user.places.len()).sum()
    }

    /// Returns the tasks by user, given the values of the variables.
    #[must_use]
    pub fn tasks(&self, values: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let mut tasks = vec![Vec::new(); self.users.len()];
        for ((n, place), value) in self.columns().zip(values) {
            if *value != 0.0 {
                tasks[n].push((place.class, *value));
            }
        }
        tasks
    }

    /// Returns the answer, given the values of the variables.
    #[must_use]
    pub fn answer(&self, values: &[f64], status: impl Into<String>) -> Answer {
        Answer { tasks: self.tasks(values), status: status.into(), ..Answer::default() }
    }
}
