//! The capacity constraints of a problem, in one form for both kinds of sharing a server.
//!
//! A class whose resources are divided (RDM) has one row for each resource that it has. The row of resource `r` has
//! the capacity `k_i c_ir > 0`, and a task of user `n` uses `d_nir` of it. A resource that the class lacks has no
//! row: a user that demands this resource cannot run there at all (`gamma_ni = 0`).
//!
//! A class that is time-shared (TDM, or because some user states its `gamma` there) has a single row of capacity 1, and
//! a task uses `1 / gamma_ni` of it. Solvers and proofs work on these rows and need not know which kind of sharing they
//! come from (docs/theory.md, section 1).

use rug::Rational;

use crate::problem::Problem;
use crate::usage::Usage;

/// The rule by which the users of one server share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Sharing {
    /// Resources are divided: `sum_n x_ni d_nir <= k_i c_ir`.
    #[default]
    Rdm,
    /// Time is divided: `sum_n x_ni / gamma_ni <= 1`.
    Tdm,
}

crate::names! { Sharing:
    Rdm = "rdm", "resources are divided";
    Tdm = "tdm", "time is divided";
}

/// The quantity that a row limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// The amount of resource `r`.
    Resource(usize),
    /// The time of a time-shared class.
    Time,
}

/// One capacity constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Index of the server class `i`.
    pub server: usize,
    /// The quantity that the row limits.
    pub kind: RowKind,
    /// The capacity `k_i c_ir`, or 1 for time. It is positive.
    pub capacity: Rational,
}

/// The capacity constraints of a problem under one way of sharing.
#[derive(Debug, Clone)]
pub struct Constraints<'a> {
    problem: &'a Problem,
    rows: Vec<Row>,
    /// The start of each class's rows: `class_start[i]..class_start[i + 1]` are the rows of class `i`.
    class_start: Vec<usize>,
}

impl<'a> Constraints<'a> {
    /// Returns the capacity constraints of `problem`.
    #[must_use]
    pub fn new(problem: &'a Problem, sharing: Sharing) -> Self {
        let mut rows = Vec::new();
        let mut class_start = vec![0];
        for (server, class) in problem.servers().iter().enumerate() {
            if sharing == Sharing::Tdm || class.is_time_shared() {
                rows.push(Row { server, kind: RowKind::Time, capacity: Rational::from(1) });
            } else {
                rows.extend(class.capacity().entries().iter().map(|(r, capacity)| Row {
                    server,
                    kind: RowKind::Resource(*r),
                    capacity: Rational::from(capacity * class.count()),
                }));
            }
            class_start.push(rows.len());
        }
        Self { problem, rows, class_start }
    }

    /// Returns the problem that the rows belong to.
    #[must_use]
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// Returns all rows, ordered by class and within a class by resource. A class without capacity has no
    /// rows.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the indices of the rows of class `i`.
    #[must_use]
    pub fn class_rows(&self, i: usize) -> std::ops::Range<usize> {
        self.class_start[i]..self.class_start[i + 1]
    }

    /// Returns whether class `i` has a single row of time.
    #[must_use]
    pub fn is_time_shared(&self, i: usize) -> bool {
        matches!(self.rows[self.class_rows(i)], [Row { kind: RowKind::Time, .. }])
    }

    /// Returns the usage of one task of user `n` on the rows of class `i`, indexed by position in
    /// [`Constraints::class_rows`]. Returns `None` if the task cannot run (`gamma_ni = 0`).
    #[must_use]
    pub fn usage(&self, n: usize, i: usize) -> Option<Usage<'_>> {
        if !self.problem.can_run(n, i) {
            return None;
        }
        Some(if self.is_time_shared(i) {
            Usage::of_time(self.problem.unconstrained_gamma(n, i).recip())
        } else {
            Usage::of_resources(self.problem.demand(n, i), &self.rows[self.class_rows(i)])
        })
    }

    /// Returns the row of class `i` for a resource, or for time. Returns `None` if the class has no such row.
    #[must_use]
    pub fn row_of(&self, i: usize, kind: RowKind) -> Option<usize> {
        let rows = self.class_rows(i);
        let position = position_of(&self.rows[rows.clone()], kind)?;
        Some(rows.start + position)
    }
}

/// Returns the position of the row of this kind among the rows of one class.
fn position_of(rows: &[Row], kind: RowKind) -> Option<usize> {
    // Most classes have all resources or lack only the last resources. In these classes, row `r` is at
    // position `r`.
    if let RowKind::Resource(r) = kind
        && rows.get(r).is_some_and(|row| row.kind == kind)
    {
        return Some(r);
    }
    rows.binary_search_by_key(&kind, |row| row.kind).ok()
}
