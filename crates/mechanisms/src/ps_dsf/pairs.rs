//! The problem as PS-DSF sees it: the pairs of a user and a server class on which it may run, what a task
//! uses there, and how many tasks a unit of the level is worth (docs/theory.md, section 4).
//!
//! It is generic in the numbers, so that sweeps run in doubles and proofs in rationals. In this folder `p` is
//! the index of a pair, `row` that of a resource of a class (or of its time), as in [`Constraints`].

use std::ops::Range;
use std::sync::Arc;

use evenhand_budget::{Held, charge, hold};
use evenhand_problem::{Constraints, Rational, User};

use super::scalar::Scalar;

/// A user on a server class on which it may run.
#[derive(Debug, Clone)]
pub struct Pair<T> {
    /// User `n`.
    pub user: usize,
    /// Server class `i`.
    pub class: usize,
    /// `w_n gamma_ni`, positive: tasks for each unit of the level `x_n / (w_n gamma_ni)`.
    pub tasks_per_level: T,
    /// `(row, d_nir)` of what one task uses, positive; the row is that of [`Constraints`].
    pub usage: Vec<(usize, T)>,
}

/// The problem in one arithmetic. Places are in ascending order of class, then user; users without
/// tasks and classes without `gamma_ni` have none.
#[derive(Debug, Clone)]
pub struct PairModel<T> {
    /// All pairs.
    pub pairs: Vec<Pair<T>>,
    /// By class: its pairs.
    pub of_class: Vec<Range<usize>>,
    /// By user: its pairs, in ascending order.
    pub of_user: Vec<Vec<usize>>,
    /// By class: its rows.
    pub rows_of_class: Vec<Range<usize>>,
    /// By row: capacity.
    pub capacity: Vec<T>,
    /// By user: `T_n`.
    pub limits: Vec<Option<T>>,
    _held: Arc<Held>,
}

const WHAT: &str = "the table of users and the server classes that they may use";

/// Tasks by pair, and what follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<T> {
    /// `x_ni` by pair.
    pub tasks: Vec<T>,
    /// `x_n` by user.
    pub totals: Vec<T>,
}

impl<T: Scalar> PairModel<T> {
    /// The model of `constraints`.
    pub fn new(constraints: &Constraints<'_>) -> Self {
        Self::of_classes(constraints, 0..constraints.problem().n_servers())
    }

    /// The model of some classes, which are numbered from 0 here; their rows are all there are.
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

    /// The memory of all pairs, before any of them is made.
    pub fn held(constraints: &Constraints<'_>, classes: &Range<usize>) -> Held {
        let problem = constraints.problem();
        let of_user = |user: &User| match user.servers() {
            None => classes.len(),
            Some(list) => list.iter().filter(|i| classes.contains(*i)).count(),
        };
        let pairs = problem.users().iter().map(of_user).sum::<usize>() as u64;
        let rows = problem.n_resources() as u64;
        charge(pairs.saturating_mul(20 * (1 + rows)), WHAT);
        // What the allocator takes beside each list, and the words of long numbers.
        let bytes = size_of::<Pair<T>>() as u64 + 8 + rows * (size_of::<(usize, T)>() as u64 + T::HEAP) + 16;
        hold(pairs.saturating_mul(bytes), WHAT)
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.of_class.len()
    }

    /// The number of users.
    pub fn n_users(&self) -> usize {
        self.of_user.len()
    }

    /// No user has anything.
    pub fn empty(&self) -> Point<T> {
        Point { tasks: vec![T::zero(); self.pairs.len()], totals: vec![T::zero(); self.n_users()] }
    }

    /// The point with the given tasks by pair.
    pub fn point(&self, tasks: Vec<T>) -> Point<T> {
        let mut point = Point { tasks, totals: vec![T::zero(); self.n_users()] };
        self.refresh_totals(&mut point);
        point
    }

    /// The point with the given tasks `(class, x_ni)` by user. Entries where a user may not run are ignored.
    pub fn point_of<N>(&self, tasks: &[Vec<(usize, N)>], number: impl Fn(&N) -> T) -> Point<T> {
        let on = |pair: &Pair<T>| {
            let list = tasks.get(pair.user).into_iter().flatten();
            list.filter(|(class, _)| *class == pair.class).fold(T::zero(), |sum, (_, x)| sum.plus(&number(x)))
        };
        self.point(self.pairs.iter().map(on).collect())
    }

    /// Totals from the tasks, which removes what rounding has gathered in them.
    pub fn refresh_totals(&self, point: &mut Point<T>) {
        for (total, pairs) in point.totals.iter_mut().zip(&self.of_user) {
            *total = pairs.iter().fold(T::zero(), |sum, p| sum.plus(&point.tasks[*p]));
        }
    }

    /// What is used, by row.
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

    /// `x_n / (w_n gamma_ni)` of the user at `pair`, the level that counts there.
    pub fn level(&self, point: &Point<T>, pair: usize) -> T {
        point.totals[self.pairs[pair].user].over(&self.pairs[pair].tasks_per_level)
    }

    /// The tasks by user and class, those that are positive.
    pub fn tasks_by_user(&self, point: &Point<T>) -> Vec<Vec<(usize, T)>> {
        let list = |pairs: &Vec<usize>| {
            let used = pairs.iter().filter(|p| point.tasks[**p].is_positive());
            used.map(|p| (self.pairs[*p].class, point.tasks[*p].clone())).collect()
        };
        self.of_user.iter().map(list).collect()
    }
}
