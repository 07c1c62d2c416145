//! Lists of what is not 0, by position: one of many levels has prices on few rows.

use rug::{Integer, Rational};

/// Values by position, ascending; those that are 0 may be left out.
#[derive(Debug, Clone)]
pub(crate) struct Sparse<T>(Vec<(usize, T)>);

impl<T> Sparse<T> {
    /// `entries`: ascending by position, each once.
    pub fn new(entries: Vec<(usize, T)>) -> Self {
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        Self(entries)
    }

    /// The value at a position.
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

/// `(r, amount)` of the resources of which the amount is not 0, ascending.
pub(crate) type Amounts = Vec<(usize, Integer)>;

/// The value at a position of a list that ascends by position; where all have one it is found at once.
pub(crate) fn at<T>(list: &[(usize, T)], position: usize) -> Option<&T> {
    match list.get(position) {
        Some((at, value)) if *at == position => Some(value),
        _ => list.binary_search_by_key(&position, |(at, _)| *at).ok().map(|at| &list[at].1),
    }
}

/// The positions and values of a list that are not 0.
pub(crate) fn entries(values: &[Rational]) -> impl Iterator<Item = (usize, &Rational)> + Clone {
    values.iter().enumerate().filter(|(_, value)| !value.is_zero())
}

/// The same of a list that says its positions.
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
