//! The rows that bound the tasks of a sum of utilities: the capacities of server classes, followed by the limits `at_most`
//! of users in the order of the users.

use evenhand_exact::{LimitOf, LimitRows};
use evenhand_problem::{Constraints, Rational};

/// All rows of a problem.
pub struct Rows<'a> {
    constraints: &'a Constraints<'a>,
    limits: LimitRows,
}

impl<'a> Rows<'a> {
    /// Lists the rows. Limits of groups are left out, because sums of utilities do not support groups.
    pub fn new(constraints: &'a Constraints<'a>) -> Self {
        let problem = constraints.problem();
        let limits = match problem.has_at_most() {
            true => LimitRows::new(problem, &Vec::new()),
            false => LimitRows::default(),
        };
        Self { constraints, limits }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.constraints.rows().len() + self.limits.list().len()
    }

    /// Returns the amount that a row allows: a capacity, or a number of accelerators.
    pub fn capacity(&self, row: usize) -> &Rational {
        let rows = self.constraints.rows();
        rows.get(row).map_or_else(|| &self.limits.list()[row - rows.len()].most, |row| &row.capacity)
    }

    /// Returns the amount of a row that one task of user `n` on class `i` uses. Returns `None` if the row does not count
    /// such tasks.
    pub fn usage(&self, row: usize, n: usize, i: usize) -> Option<Rational> {
        let rows = self.constraints.rows();
        if let Some(at) = row.checked_sub(rows.len()) {
            let is_own = self.limits.list()[at].of == LimitOf::User(n);
            return self.constraints.problem().users()[n].time_on(i).filter(|_| is_own).cloned();
        }
        let of_class = self.constraints.class_rows(i);
        if !of_class.contains(&row) {
            return None;
        }
        let usage = self.constraints.usage(n, i)?;
        Some(usage[row - of_class.start].clone())
    }

    /// Returns the rows that one task of user `n` on class `i` uses, each with the amount, in ascending order.
    pub fn of_task(&self, n: usize, i: usize) -> Vec<(usize, Rational)> {
        let usage = self.constraints.usage(n, i).unwrap_or_default();
        let of_class = self.constraints.class_rows(i).zip(usage.iter());
        let of_class = of_class.filter(|(_, used)| !used.is_zero());
        let first = self.constraints.rows().len();
        let of_limit = self.limits.counting(self.constraints.problem(), n, i);
        let of_limit = of_limit.map(|(at, time)| (first + at, time));
        of_class.chain(of_limit).map(|(row, used)| (row, used.clone())).collect()
    }
}
