//! An allocation: how many tasks of each user run on each server class.

use rug::Rational;

use crate::constraint::Sharing;

/// Whether the numbers of a result are exact or came from floating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arithmetic {
    /// The result of exact rational arithmetic.
    Exact,
    /// Floating-point numbers, exact only as the decimals that they print as.
    #[default]
    Float,
}

crate::names! { Arithmetic:
    Exact = "exact", "exact rational arithmetic";
    Float = "float", "floating point";
}

/// `x_ni`, sparse, with how it came about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Allocation {
    /// Name of the mechanism that made it, if known.
    pub mechanism: Option<String>,
    /// The exponent that it was made with, for the mechanism `alpha`.
    pub alpha: Option<Rational>,
    /// Whether it was made for the criterion of the users in place of their tasks.
    pub criterion: bool,
    /// What it was made by in place of what the problem says: another rule of the mechanism `tree`, another objective,
    /// other entitlements.
    pub rule: Option<String>,
    /// How servers are shared.
    pub sharing: Sharing,
    /// What the numbers are.
    pub arithmetic: Arithmetic,
    /// By user: `(server class, tasks)` in ascending order of class; absent entries are 0.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The tasks on single servers, whose sums are `tasks`; absent where classes are divided as a whole.
    pub placements: Option<Vec<Placement>>,
}

/// The tasks on one single server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Server class.
    pub server: usize,
    /// Which of the servers of the class, from 0.
    pub index: u64,
    /// `(user, tasks)` in ascending order of user.
    pub tasks: Vec<(usize, Rational)>,
}

impl Allocation {
    /// The allocation that gives no user anything.
    #[must_use]
    pub fn empty(n_users: usize, sharing: Sharing) -> Self {
        Self { sharing, tasks: vec![Vec::new(); n_users], ..Self::default() }
    }

    /// Tasks of user `n` on all classes together, `x_n`.
    #[must_use]
    pub fn total(&self, n: usize) -> Rational {
        self.tasks[n].iter().map(|(_, x)| x).sum()
    }

    /// Tasks of every user, by `n`.
    #[must_use]
    pub fn totals(&self) -> Vec<Rational> {
        (0..self.tasks.len()).map(|n| self.total(n)).collect()
    }

    /// Tasks of user `n` on class `i`, `x_ni`.
    #[must_use]
    pub fn on(&self, n: usize, i: usize) -> Rational {
        self.tasks[n]
            .binary_search_by_key(&i, |(server, _)| *server)
            .map_or_else(|_| Rational::new(), |position| self.tasks[n][position].1.clone())
    }
}
