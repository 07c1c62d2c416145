//! The usage of one task on the rows of one class.

use std::ops::Index;

use rug::Rational;

use crate::constraint::{Row, RowKind};
use crate::quantities::Quantities;

/// The usage of one task of a user on the rows of a class on which it can run, indexed by position of the row
/// in the class.
///
/// `usage[k]` and [`iter`](Self::iter) have a value for every row of the class. [`entries`](Self::entries)
/// has only the values that are not 0.
#[derive(Debug, Clone, Default)]
pub struct Usage<'a>(Amounts<'a>);

#[derive(Debug, Clone)]
enum Amounts<'a> {
    /// The amount `1 / gamma_ni` on the only row.
    Time(Rational),
    /// The amount `d_nir` of each demanded resource, and the rows of the class. There is a row for every
    /// demanded resource, and there may be more rows.
    Resources { demand: &'a [(usize, Rational)], rows: &'a [Row] },
}

impl Default for Amounts<'_> {
    fn default() -> Self {
        Self::Resources { demand: &[], rows: &[] }
    }
}

impl<'a> Usage<'a> {
    pub(crate) fn of_time(amount: Rational) -> Self {
        Self(Amounts::Time(amount))
    }

    pub(crate) fn of_resources(demand: &'a Quantities, rows: &'a [Row]) -> Self {
        Self(Amounts::Resources { demand: demand.entries(), rows })
    }

    /// Returns the number of rows of the class.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Amounts::Time(_) => 1,
            Amounts::Resources { rows, .. } => rows.len(),
        }
    }

    /// Returns whether the class has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pairs `(position, amount)` of the rows that the task uses, in ascending order.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Rational)> {
        let (time, demand, rows): (_, &[(usize, Rational)], &[Row]) = match &self.0 {
            Amounts::Time(amount) => (Some((0, amount)), &[], &[]),
            Amounts::Resources { demand, rows } => (None, demand, rows),
        };
        let mut from = 0;
        let resources = demand.iter().filter_map(move |(r, amount)| {
            let rest = &rows[from..];
            let kind = RowKind::Resource(*r);
            // A task that demands all resources always uses the next row.
            let step = match rest.first() {
                Some(row) if row.kind == kind => 0,
                _ => rest.binary_search_by_key(&kind, |row| row.kind).ok()?,
            };
            from += step + 1;
            Some((from - 1, amount))
        });
        time.into_iter().chain(resources)
    }

    /// Returns the amounts of all rows of the class, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Rational> {
        let mut entries = self.entries().peekable();
        (0..self.len()).map(move |position| match entries.next_if(|(at, _)| *at == position) {
            Some((_, amount)) => amount,
            None => Rational::ZERO,
        })
    }

    /// Returns the amounts of all rows of the class, in their order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Rational> {
        self.iter().cloned().collect()
    }

    fn at(&self, position: usize) -> Option<&Rational> {
        match &self.0 {
            Amounts::Time(amount) => (position == 0).then_some(amount),
            Amounts::Resources { demand, rows } => {
                let RowKind::Resource(r) = rows.get(position)?.kind else { return None };
                let at = demand.binary_search_by_key(&r, |(r, _)| *r).ok()?;
                Some(&demand[at].1)
            }
        }
    }
}

impl Index<usize> for Usage<'_> {
    type Output = Rational;

    /// Returns the amount of the row at a position of the class, or 0 if there is no such row.
    fn index(&self, position: usize) -> &Rational {
        self.at(position).unwrap_or(Rational::ZERO)
    }
}

impl PartialEq for Usage<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.entries().eq(other.entries())
    }
}
