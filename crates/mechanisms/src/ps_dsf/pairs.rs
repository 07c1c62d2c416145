//! The problem in terms of PS-DSF: the pairs of a user and a server class on which the user may run, the
//! usage of a task of each pair, and the number of tasks that a unit of the level is worth (docs/theory.md,
//! section 4).
//!
//! The type is generic in the numbers, so that sweeps run in doubles and proofs in rationals. In this folder,
//! `p` is the index of a pair, and `row` is the index of a resource of a class (or of its time), as in
//! [`Constraints`].

use std::ops::Range;
use std::sync::Arc;

use evenhand_budget::{Held, charge, hold};
use evenhand_problem::{Constraints, Rational, User};

use super::scalar::Scalar;

/// A user on a server class on which it may run.
#[derive(Debug, Clone)]
pub struct Pair<T> {
    /// The user `n`.
    pub user: usize,
    /// The server class `i`.
    pub class: usize,
    /// `w_n gamma_ni`, positive: the number of tasks for each unit of the level `x_n / (w_n gamma_ni)`.
    pub tasks_per_level: T,
    /// The pairs `(row, d_nir)` of the amounts that one task uses, positive. Rows have the same index as in
    /// [`Constraints`].
    pub usage: Vec<(usize, T)>,
}

/// The problem in one arithmetic.
///
/// Pairs are in ascending order of class, then user. A user without tasks has no pairs. A user has no pair
/// for a class where its `gamma_ni` is 0.
#[derive(Debug, Clone)]
pub struct PairModel<T> {
    /// All pairs.
    pub pairs: Vec<Pair<T>>,
    /// The pairs of each class.
    pub of_class: Vec<Range<usize>>,
    /// The pairs of each user, in ascending order.
    pub of_user: Vec<Vec<usize>>,
    /// The rows of each class.
    pub rows_of_class: Vec<Range<usize>>,
    /// The capacity of each row.
    pub capacity: Vec<T>,
    /// The task limit `T_n` of each user.
    pub limits: Vec<Option<T>>,
    _held: Arc<Held>,
}

const WHAT: &str = "the table of users and the server classes that they may use";

/// The tasks of each pair, and the totals of users that these tasks add up to.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<T> {
    /// The tasks `x_ni` of each pair.
    pub tasks: Vec<T>,
    /// The total tasks `x_n` of each user.
    pub totals: Vec<T>,
}

impl<T: Scalar> PairModel<T> {
    /// Creates the model of `constraints`.
    pub fn new(constraints: &Constraints<'_>) -> Self {
        Self::of_classes(constraints, 0..constraints.problem().n_servers())
    }

    /// Creates the model of some classes, which are numbered from 0 in the model. Only the rows of these
    /// classes are included.
    pub fn of_classes(constraints: &Constraints<'_>, classes: Range<usize>) -> Self {
        let problem = constraints.problem();
        let users = problem.users();
        let rows = || classes.clone().map(|i| constraints.class_rows(i));
        let first = rows().next().map_or(0, |rows| rows.start);
        let last = rows().next_back().map_or(first, |rows| rows.end);
        let mut model = Self {
            _held: Arc::new(Self::held(constraints, &classes)),
            pairs: Vec::new(),
            of_class: Vec::new(),
            of_user: vec![Vec::new(); users.len()],
            rows_of_class: rows().map(|rows| rows.start - first..rows.end - first).collect(),
            capacity: constraints.rows()[first..last].iter().map(|row| T::of(&row.capacity)).collect(),
            limits: users.iter().map(|user| user.tasks().map(T::of)).collect(),
        };
        for i in classes.clone() {
            let (start, class) = (model.pairs.len(), i - classes.start);
            for (user, stated) in users.iter().enumerate() {
                let Some(usage) = constraints.usage(user, i) else { continue };
                if stated.tasks().is_some_and(Rational::is_zero) {
                    continue;
                }
                let tasks_per_level = T::of(&(stated.weight() * problem.gamma(user, i)));
                let rows = model.rows_of_class[class].clone().zip(usage.iter());
                let usage = rows.filter(|(_, d)| !d.is_zero()).map(|(row, d)| (row, T::of(d))).collect();
                model.of_user[user].push(model.pairs.len());
                model.pairs.push(Pair { user, class, tasks_per_level, usage });
            }
            model.of_class.push(start..model.pairs.len());
        }
        model
    }

    /// Reserves the memory for all pairs before they are created.
    pub fn held(constraints: &Constraints<'_>, classes: &Range<usize>) -> Held {
        let problem = constraints.problem();
        let of_user = |user: &User| match user.servers() {
            None => classes.len(),
            Some(list) => list.iter().filter(|i| classes.contains(*i)).count(),
        };
        let pairs = problem.users().iter().map(of_user).sum::<usize>() as u64;
        let rows = problem.n_resources() as u64;
        charge(pairs.saturating_mul(20 * (1 + rows)), WHAT);
        // This includes the allocator's overhead for each list and the words of long numbers.
        let bytes = size_of::<Pair<T>>() as u64 + 8 + rows * (size_of::<(usize, T)>() as u64 + T::HEAP) + 16;
        hold(pairs.saturating_mul(bytes), WHAT)
    }

    /// Returns the number of classes.
    pub fn n_classes(&self) -> usize {
        self.of_class.len()
    }

    /// Returns the number of users.
    pub fn n_users(&self) -> usize {
        self.of_user.len()
    }

    /// Returns the point at which no user has tasks.
    pub fn empty(&self) -> Point<T> {
        Point { tasks: vec![T::zero(); self.pairs.len()], totals: vec![T::zero(); self.n_users()] }
    }

    /// Returns the point with the given tasks of each pair.
    pub fn point(&self, tasks: Vec<T>) -> Point<T> {
        let mut point = Point { tasks, totals: vec![T::zero(); self.n_users()] };
        self.refresh_totals(&mut point);
        point
    }

    /// Returns the point with the given tasks of each user, as pairs `(class, x_ni)`. Ignores classes on
    /// which a user may not run.
    pub fn point_of<N>(&self, tasks: &[Vec<(usize, N)>], number: impl Fn(&N) -> T) -> Point<T> {
        let on = |pair: &Pair<T>| {
            let list = tasks.get(pair.user).into_iter().flatten();
            list.filter(|(class, _)| *class == pair.class).fold(T::zero(), |sum, (_, x)| sum.plus(&number(x)))
        };
        self.point(self.pairs.iter().map(on).collect())
    }

    /// Computes the totals from the tasks again, which removes accumulated rounding errors.
    pub fn refresh_totals(&self, point: &mut Point<T>) {
        for (total, pairs) in point.totals.iter_mut().zip(&self.of_user) {
            *total = pairs.iter().fold(T::zero(), |sum, p| sum.plus(&point.tasks[*p]));
        }
    }

    /// Returns the used amount of each row.
    pub fn used(&self, point: &Point<T>) -> Vec<T> {
        let mut used = vec![T::zero(); self.capacity.len()];
        for (pair, tasks) in self.pairs.iter().zip(&point.tasks) {
            if tasks.is_positive() {
                for (row, d) in &pair.usage {
                    used[*row].add_product(d, tasks);
                }
            }
        }
        used
    }

    /// Returns the level `x_n / (w_n gamma_ni)` of the user at `pair`.
    pub fn level(&self, point: &Point<T>, pair: usize) -> T {
        point.totals[self.pairs[pair].user].over(&self.pairs[pair].tasks_per_level)
    }

    /// Returns the positive numbers of tasks of each user, as pairs of class and tasks.
    pub fn tasks_by_user(&self, point: &Point<T>) -> Vec<Vec<(usize, T)>> {
        let list = |pairs: &Vec<usize>| {
            let used = pairs.iter().filter(|p| point.tasks[**p].is_positive());
            used.map(|p| (self.pairs[*p].class, point.tasks[*p].clone())).collect()
        };
        self.of_user.iter().map(list).collect()
    }
}
