//! Amounts of resources, stored sparsely. In problems with thousands of resources, most amounts are 0.

use std::ops::Index;
use std::sync::Arc;

use rug::Rational;

/// Amounts of some resources on all servers together: pairs `(resource, amount)` in ascending order of
/// resource. A resource that is named with the amount 0 differs from a resource that is not named.
pub type Named = Vec<(usize, Rational)>;

/// Amounts by resource `r`, stored as the entries that are not 0. Clones share the entries.
///
/// It is used like a slice (`quantities[r]`, [`iter`](Self::iter)). Code that must run in time linear in the length of
/// the problem file visits only [`entries`](Self::entries).
///
/// # Examples
/// ```
/// use evenhand_problem::{Quantities, Rational};
/// let demand: Quantities = [0, 2, 0].map(Rational::from).into_iter().collect();
/// assert_eq!(demand[1], 2);
/// assert_eq!(demand[2], 0);
/// assert_eq!(demand.entries(), [(1, Rational::from(2))]);
/// assert_eq!(demand.len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Quantities {
    len: usize,
    /// The pairs `(r, amount)` without zeros, in ascending order of `r`.
    entries: Arc<[(usize, Rational)]>,
}

crate::names::getters! { Quantities:
    /// The pairs `(r, amount)` of the resources whose amount is not 0, in ascending order.
    entries: [(usize, Rational)];
}

impl Quantities {
    /// Creates quantities of `len` resources from pairs `(r, amount)` in any order. Zeros are dropped.
    ///
    /// The caller must make sure that each `r` is below `len` and occurs once.
    pub(crate) fn new(len: usize, mut entries: Vec<(usize, Rational)>) -> Self {
        entries.retain(|(_, amount)| !amount.is_zero());
        entries.sort_unstable_by_key(|(r, _)| *r);
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        debug_assert!(entries.last().is_none_or(|(r, _)| *r < len));
        Self { len, entries: entries.into() }
    }

    /// Returns the number of resources, including resources of amount 0.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no resources at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether every amount is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether no amount is 0.
    pub(crate) fn has_all(&self) -> bool {
        self.entries.len() == self.len
    }

    /// Returns whether the amount of resource `r` is not 0.
    #[must_use]
    pub fn has(&self, r: usize) -> bool {
        self.position(r).is_some()
    }

    /// Returns an iterator over the amounts of all resources, including zeros.
    pub fn iter(&self) -> Iter<'_> {
        Iter { entries: &self.entries, next: 0, len: self.len }
    }

    /// Returns the amounts of all resources, including zeros.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Rational> {
        self.iter().cloned().collect()
    }

    fn position(&self, r: usize) -> Option<usize> {
        if self.has_all() {
            return (r < self.len).then_some(r);
        }
        self.entries.binary_search_by_key(&r, |(r, _)| *r).ok()
    }
}

impl Index<usize> for Quantities {
    type Output = Rational;

    /// Returns the amount of resource `r`, or 0 if there is no such resource.
    fn index(&self, r: usize) -> &Rational {
        self.position(r).map_or(Rational::ZERO, |at| &self.entries[at].1)
    }
}

impl FromIterator<Rational> for Quantities {
    /// Collects the amounts of all resources, in their order.
    fn from_iter<I: IntoIterator<Item = Rational>>(amounts: I) -> Self {
        let mut len = 0;
        let entries = amounts.into_iter().enumerate().inspect(|(r, _)| len = r + 1);
        let entries = entries.filter(|(_, amount)| !amount.is_zero()).collect();
        Self { len, entries }
    }
}

impl<'a> IntoIterator for &'a Quantities {
    type Item = &'a Rational;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// An iterator over all amounts of some [`Quantities`], including zeros.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    /// The entries that the iterator has not reached yet.
    entries: &'a [(usize, Rational)],
    next: usize,
    len: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Rational;

    fn next(&mut self) -> Option<&'a Rational> {
        if self.next == self.len {
            return None;
        }
        let r = self.next;
        self.next += 1;
        match self.entries {
            [(first, amount), rest @ ..] if *first == r => {
                self.entries = rest;
                Some(amount)
            }
            _ => Some(Rational::ZERO),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.len - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}
