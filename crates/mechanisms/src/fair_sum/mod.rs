//! The maximum of `sum_n w_n g_a(U_n)` in floating point. Proportional and alpha fairness, NJC and the linear Fisher
//! market start from it.

pub mod answer;
pub mod cluster;
pub mod dense;
pub mod ladder;
pub mod optimum;
pub mod polish;
pub mod pool;
pub mod rows;
pub mod wide;

/// The tasks of a user on one class at the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnClass {
    /// The class `i`.
    pub class: usize,
    /// The number of tasks `x_ni`, which is positive, however small.
    pub tasks: f64,
    /// The reduced cost of a task on this class: the amount by which its cost exceeds its worth to the user,
    /// as a fraction of the worth. The reduced cost is 0 on classes that the user may use at the optimum, and
    /// positive on classes that the user must not use.
    pub excess: f64,
}

/// An optimum in floating point and its prices.
#[derive(Debug, Clone, PartialEq)]
pub struct FairPoint {
    /// The classes on which each user can run, with the tasks there. A user that cannot run any task has an
    /// empty list.
    pub places: Vec<Vec<OnClass>>,
    /// The price of one unit of each row, in units of `w_n U_n^(1-a)`. The rows of the capacities come first. The
    /// limits `at_most` of users follow in the order of the users.
    pub row_prices: Vec<f64>,
    /// The free fraction of each row, at most 1, in the order of `row_prices`.
    pub row_slack: Vec<f64>,
    /// The price of each user's task limit, per task.
    pub user_prices: Vec<f64>,
    /// The free fraction of each user's task limit, infinite without a limit.
    pub user_slack: Vec<f64>,
    /// The number of Newton steps.
    pub iterations: usize,
}

impl FairPoint {
    /// Returns the tasks `x_ni` of each user, as pairs of class and tasks, without the residue of the
    /// interior point method. The residue consists of small amounts on classes where a task costs more than
    /// it is worth.
    pub fn tasks(&self) -> Vec<Vec<(usize, f64)>> {
        self.tasks_above(SMALL)
    }

    /// Returns the tasks `x_ni` of each user as [`tasks`](Self::tasks) does, but drops only amounts that are
    /// negligible even compared with the gap to be proven.
    ///
    /// A user that loses a fraction of its tasks requires prices that are higher by the same fraction, and
    /// this raises all prices.
    pub fn nearly_all_tasks(&self) -> Vec<Vec<(usize, f64)>> {
        self.tasks_above(NEGLIGIBLE)
    }

    /// Returns the tasks `x_ni` of each user without small amounts on classes where a task costs more than it
    /// is worth. An amount is small if it is at most the fraction `part` of the user's tasks.
    fn tasks_above(&self, part: f64) -> Vec<Vec<(usize, f64)>> {
        let of_user = |places: &Vec<OnClass>| {
            let total: f64 = places.iter().map(|place| place.tasks).sum();
            let used = places.iter().filter(|p| p.tasks > part * total || p.excess < SMALL);
            used.map(|place| (place.class, place.tasks)).collect()
        };
        self.places.iter().map(of_user).collect()
    }
}

/// The fraction of a user's tasks, and the relative excess of a cost, up to which an amount counts as small.
const SMALL: f64 = 1e-7;
/// The fraction of a user's tasks up to which an amount counts as zero. All dropped amounts together stay below a
/// hundredth of the gap of an accepted answer ([`crate::proportional::SOLVED`]).
const NEGLIGIBLE: f64 = 1e-13;
