//! Amounts by resource, of which most are 0 where there are thousands of resources.

use std::ops::Index;
use std::sync::Arc;

use rug::Rational;

/// Amounts of some resources, of all servers together: `(resource, amount)`, ascending by resource. One that is
/// named with 0 is not the same as one that is not named.
pub type Named = Vec<(usize, Rational)>;

/// Amounts by resource `r`, held as the entries that are not 0; clones share them.
///
/// It reads like a slice (`quantities[r]`, [`iter`](Self::iter)), and what has to be linear in the
/// problem file goes over [`entries`](Self::entries).
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
    /// `(r, amount)`, ascending by `r`, none 0.
    entries: Arc<[(usize, Rational)]>,
}

crate::names::getters! { Quantities:
    /// `(r, amount)` of the resources whose amount is not 0, ascending.
    entries: [(usize, Rational)];
}

impl Quantities {
    /// From `(r, amount)` in any order, of `len` resources. Zeros are dropped.
    ///
    /// The caller has checked that no `r` stands twice or is `len` or above.
    pub(crate) fn new(len: usize, mut entries: Vec<(usize, Rational)>) -> Self {
        entries.retain(|(_, amount)| !amount.is_zero());
        entries.sort_unstable_by_key(|(r, _)| *r);
        debug_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        debug_assert!(entries.last().is_none_or(|(r, _)| *r < len));
        Self { len, entries: entries.into() }
    }

    /// Number of resources, those of amount 0 included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no resources at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether every amount is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether no amount is 0.
    pub(crate) fn has_all(&self) -> bool {
        self.entries.len() == self.len
    }

    /// Whether the amount of resource `r` is not 0.
    #[must_use]
    pub fn has(&self, r: usize) -> bool {
        self.position(r).is_some()
    }

    /// All amounts by resource, zeros included.
    pub fn iter(&self) -> Iter<'_> {
        Iter { entries: &self.entries, next: 0, len: self.len }
    }

    /// All amounts by resource, zeros included.
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

    /// The amount of resource `r`; 0 as well where there is no such resource.
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

/// All amounts of some [`Quantities`], zeros included.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    /// Those not passed yet.
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
