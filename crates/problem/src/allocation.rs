//! An allocation: the number of tasks of each user on each server class.

use rug::Rational;

use crate::constraint::Sharing;

/// The arithmetic that produced the numbers of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arithmetic {
    /// Exact rational arithmetic.
    Exact,
    /// Floating-point arithmetic. The exact value of a number is the decimal that it prints as.
    #[default]
    Float,
}

crate::names! { Arithmetic:
    Exact = "exact", "exact rational arithmetic";
    Float = "float", "floating point";
}

/// The tasks of every user on every class (`x_ni`, sparse), and how they were computed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Allocation {
    /// Name of the mechanism that computed the allocation, if known.
    pub mechanism: Option<String>,
    /// The exponent that the mechanism `alpha` used, or `None` for other mechanisms.
    pub alpha: Option<Rational>,
    /// `true` if the mechanism used the users' criterion instead of their number of tasks.
    pub criterion: bool,
    /// The rule, objective or entitlements that replaced the rule, objective or entitlements of the problem,
    /// such as another rule of the mechanism `tree`.
    pub rule: Option<String>,
    /// The kind of sharing of the servers.
    pub sharing: Sharing,
    /// The arithmetic that produced the numbers.
    pub arithmetic: Arithmetic,
    /// The pairs `(server class, tasks)` of each user, in ascending order of class. A class without an entry
    /// has 0 tasks of the user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The tasks on single servers, which add up to `tasks`. `None` if classes are divided as a whole.
    pub placements: Option<Vec<Placement>>,
}

/// The tasks on a single server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Index of the server class.
    pub server: usize,
    /// Index of the server within its class, from 0.
    pub index: u64,
    /// The pairs `(user, tasks)` in ascending order of user.
    pub tasks: Vec<(usize, Rational)>,
}

impl Allocation {
    /// Returns the allocation that gives no user any task.
    #[must_use]
    pub fn empty(n_users: usize, sharing: Sharing) -> Self {
        Self { sharing, tasks: vec![Vec::new(); n_users], ..Self::default() }
    }

    /// Returns the tasks of user `n` on all classes together, `x_n`.
    #[must_use]
    pub fn total(&self, n: usize) -> Rational {
        self.tasks[n].iter().map(|(_, x)| x).sum()
    }

    /// Returns the tasks of every user on all classes together, indexed by `n`.
    #[must_use]
    pub fn totals(&self) -> Vec<Rational> {
        (0..self.tasks.len()).map(|n| self.total(n)).collect()
    }

    /// Returns the tasks of user `n` on class `i`, `x_ni`.
    #[must_use]
    pub fn on(&self, n: usize, i: usize) -> Rational {
        self.tasks[n]
            .binary_search_by_key(&i, |(server, _)| *server)
            .map_or_else(|_| Rational::new(), |position| self.tasks[n][position].1.clone())
    }
}
