//! The capacity constraints of a problem, one form for both ways of sharing a server.
//!
//! A class whose resources are divided (RDM) has one row for each resource, of capacity
//! `k_i c_ir`, and a task of user `n` uses `d_nir` of it. A class that is time-shared (TDM, or
//! because some user states its `gamma` there) has a single row, of capacity 1, and a task uses
//! `1 / gamma_ni` of it. Everything that solves or proves works on these rows and need not know
//! which kind they are (THEORY, section 1).

use std::borrow::Cow;

use rug::Rational;

use crate::problem::Problem;

/// How the users of one server share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Sharing {
    /// Resources are divided: `sum_n x_ni d_nir <= k_i c_ir`.
    #[default]
    Rdm,
    /// Time is divided: `sum_n x_ni / gamma_ni <= 1`.
    Tdm,
}

impl Sharing {
    /// As in files: `rdm` or `tdm`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rdm => "rdm",
            Self::Tdm => "tdm",
        }
    }
}

/// What a row limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Resource `r`.
    Resource(usize),
    /// The time of a time-shared class.
    Time,
}

/// One capacity constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Server class `i`.
    pub server: usize,
    /// What is limited.
    pub kind: RowKind,
    /// `k_i c_ir`, or 1 for time.
    pub capacity: Rational,
}

/// The capacity constraints of a problem under one way of sharing.
#[derive(Debug, Clone)]
pub struct Constraints<'a> {
    problem: &'a Problem,
    rows: Vec<Row>,
    /// `class_start[i]..class_start[i + 1]` are the rows of class `i`.
    class_start: Vec<usize>,
}

impl<'a> Constraints<'a> {
    /// The rows of `problem`.
    #[must_use]
    pub fn new(problem: &'a Problem, sharing: Sharing) -> Self {
        let mut rows = Vec::new();
        let mut class_start = vec![0];
        for (server, class) in problem.servers().iter().enumerate() {
            if sharing == Sharing::Tdm || class.is_time_shared() {
                rows.push(Row { server, kind: RowKind::Time, capacity: Rational::from(1) });
            } else {
                rows.extend(class.capacity().iter().enumerate().map(|(r, capacity)| Row {
                    server,
                    kind: RowKind::Resource(r),
                    capacity: Rational::from(capacity * class.count()),
                }));
            }
            class_start.push(rows.len());
        }
        Self { problem, rows, class_start }
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &'a Problem {
        self.problem
    }

    /// All rows, by class and within a class by resource.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Indices of the rows of class `i`.
    #[must_use]
    pub fn class_rows(&self, i: usize) -> std::ops::Range<usize> {
        self.class_start[i]..self.class_start[i + 1]
    }

    /// Whether class `i` has a single row of time.
    #[must_use]
    pub fn is_time_shared(&self, i: usize) -> bool {
        matches!(self.rows[self.class_start[i]..], [Row { kind: RowKind::Time, .. }, ..])
    }

    /// What one task of user `n` uses of each row of class `i`; `None` where it cannot run
    /// (`gamma_ni = 0`).
    #[must_use]
    pub fn usage(&self, n: usize, i: usize) -> Option<Cow<'a, [Rational]>> {
        if !self.problem.can_run(n, i) {
            return None;
        }
        Some(if self.is_time_shared(i) {
            Cow::Owned(vec![self.problem.unconstrained_gamma(n, i).recip()])
        } else {
            Cow::Borrowed(self.problem.demand(n, i))
        })
    }

    /// The row of class `i` for a resource, or for time.
    #[must_use]
    pub fn row_of(&self, i: usize, kind: RowKind) -> Option<usize> {
        self.class_rows(i).find(|&row| self.rows[row].kind == kind)
    }
}
