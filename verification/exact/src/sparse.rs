//! Lists of values by position, without zeros. They save memory if there are many levels, each with prices on only a
//! few rows.

use rug::{Integer, Rational};

/// Values by position, ascending. Zeros may be left out.
#[derive(Debug, Clone)]
pub(crate) struct Sparse<T>(Vec<(usize, T)>);

impl<T> Sparse<T> {
    /// Returns the list of these entries. Entries must be ascending by position, and no position may occur twice.
    pub fn new(entries: Vec<(usize, T)>) -> Self {
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        Self(entries)
    }

    /// Returns the value at a position, if there is one.
    pub fn get(&self, position: usize) -> Option<&T> {
        at(&self.0, position)
    }

    pub fn entries(&self) -> &[(usize, T)] {
        &self.0
    }

    pub fn values(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().map(|(_, value)| value)
    }
}

/// Amounts `(r, amount)` of the resources whose amount is not 0, ascending.
pub(crate) type Amounts = Vec<(usize, Integer)>;

/// Returns the value at a position of a list that is ascending by position. If every position has a value, no search
/// is needed.
pub(crate) fn at<T>(list: &[(usize, T)], position: usize) -> Option<&T> {
    match list.get(position) {
        Some((at, value)) if *at == position => Some(value),
        _ => list.binary_search_by_key(&position, |(at, _)| *at).ok().map(|at| &list[at].1),
    }
}

/// Returns the positions and values of a list that are not 0.
pub(crate) fn entries(values: &[Rational]) -> impl Iterator<Item = (usize, &Rational)> + Clone {
    values.iter().enumerate().filter(|(_, value)| !value.is_zero())
}

/// Returns the positions and values that are not 0, of a list that states its positions.
pub(crate) fn listed(values: &[(usize, Rational)]) -> impl Iterator<Item = (usize, &Rational)> + Clone {
    values.iter().map(|(at, value)| (*at, value)).filter(|(_, value)| !value.is_zero())
}

#[cfg(test)]
mod tests {
    use super::Sparse;

    #[test]
    fn values_are_found_by_position() {
        let values = Sparse::new(vec![(0, 'a'), (1, 'b'), (4, 'c')]);
        let found: Vec<_> = (0..6).map(|at| values.get(at).copied()).collect();
        assert_eq!(found, [Some('a'), Some('b'), None, None, Some('c'), None]);
    }
}
