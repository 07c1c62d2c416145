//! The greatest `sum_n w_n g_a(U_n)` in floating point: where proportional and alpha fairness, NJC
//! and the linear Fisher market start from.

pub mod answer;
pub mod cluster;
pub mod dense;
pub mod ladder;
pub mod optimum;
pub mod polish;
pub mod pool;
pub mod wide;

/// A user on a class at the optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnClass {
    /// Class `i`.
    pub class: usize,
    /// `x_ni`, positive, however small.
    pub tasks: f64,
    /// What the class costs more than it is worth to the user, as a part of its worth: 0 where the
    /// user may be, positive where it must not.
    pub excess: f64,
}

/// The optimum and its prices.
#[derive(Debug, Clone, PartialEq)]
pub struct FairPoint {
    /// By user: classes on which it can run; empty for users that can be given nothing.
    pub places: Vec<Vec<OnClass>>,
    /// By row: price of one unit of the row, in units of `w_n U_n^(1-a)`.
    pub row_prices: Vec<f64>,
    /// By row: free part of the row, at most 1.
    pub row_slack: Vec<f64>,
    /// By user: price of one task of its limit.
    pub user_prices: Vec<f64>,
    /// By user: free part of its limit; infinite without one.
    pub user_slack: Vec<f64>,
    /// Newton steps.
    pub iterations: usize,
}

impl FairPoint {
    /// `x_ni` by user, without what is nothing but the method's distance from the wall: small parts
    /// on classes that cost more than they are worth.
    pub fn tasks(&self) -> Vec<Vec<(usize, f64)>> {
        self.tasks_but(SMALL)
    }

    /// The same with what is small beside a user's tasks, but not beside the gap that is to be proven: a user that goes
    /// without it needs prices higher by the same part, and with it all prices rise.
    pub fn nearly_all_tasks(&self) -> Vec<Vec<(usize, f64)>> {
        self.tasks_but(NOTHING)
    }

    /// `x_ni` without parts of at most `part` of a user's tasks on classes that cost more than they are worth.
    fn tasks_but(&self, part: f64) -> Vec<Vec<(usize, f64)>> {
        let of_user = |places: &Vec<OnClass>| {
            let total: f64 = places.iter().map(|place| place.tasks).sum();
            let used = places.iter().filter(|p| p.tasks > part * total || p.excess < SMALL);
            used.map(|place| (place.class, place.tasks)).collect()
        };
        self.places.iter().map(of_user).collect()
    }
}

/// Part of a user's tasks, and relative excess of a cost, that count as small.
const SMALL: f64 = 1e-7;
/// Part of a user's tasks that is nothing: all those that are left out stay below a hundredth of the gap of an answer
/// ([`crate::proportional::SOLVED`]).
const NOTHING: f64 = 1e-13;
