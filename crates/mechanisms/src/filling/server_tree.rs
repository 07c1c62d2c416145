//! Servers in their order, by what is left of them: the first that fits.

use std::ops::Range;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, fits};
use super::rule::Ties;

/// A binary tree over the servers in their order. A node knows between which amounts of every
/// resource the servers below it have left; where the two are the same, all servers below are alike
/// and count as one.
pub(super) struct ServerTree<D: Digits> {
    leaves: usize,
    n_servers: usize,
    n_rows: usize,
    low: Vec<D::Amount>,
    high: Vec<D::Amount>,
}

impl<D: Digits> ServerTree<D> {
    pub fn new(state: &State<'_, D>) -> Self {
        let (n_servers, n_rows) = (state.model.n_servers(), state.model.n_rows);
        let leaves = n_servers.next_power_of_two();
        let rows = 2 * leaves * n_rows;
        let (low, high) = (vec![D::Amount::default(); rows], vec![D::Amount::default(); rows]);
        let mut tree = Self { leaves, n_servers, n_rows, low, high };
        for leaf in 0..leaves {
            // Leaves without a server look like the last one and are never reached.
            tree.set(leaf, state.left(leaf.min(n_servers - 1)));
        }
        for node in (1..leaves).rev() {
            tree.merge(node);
        }
        tree
    }

    /// Takes over what is left of server `j`.
    pub fn update(&mut self, state: &State<'_, D>, j: usize) {
        self.set(j, state.left(j));
        let mut node = (self.leaves + j) / 2;
        while node > 0 {
            self.merge(node);
            node /= 2;
        }
    }

    fn set(&mut self, leaf: usize, left: &[D::Amount]) {
        let at = (self.leaves + leaf) * self.n_rows;
        self.low[at..at + self.n_rows].clone_from_slice(left);
        self.high[at..at + self.n_rows].clone_from_slice(left);
    }

    fn merge(&mut self, node: usize) {
        let rows = self.n_rows;
        for r in 0..rows {
            let (at, left, right) = (node * rows + r, 2 * node * rows + r, (2 * node + 1) * rows + r);
            self.low[at] = (&self.low[left]).min(&self.low[right]).clone();
            self.high[at] = (&self.high[left]).max(&self.high[right]).clone();
        }
    }

    fn low(&self, node: usize) -> &[D::Amount] {
        &self.low[node * self.n_rows..(node + 1) * self.n_rows]
    }

    fn high(&self, node: usize) -> &[D::Amount] {
        &self.high[node * self.n_rows..(node + 1) * self.n_rows]
    }

    /// The demand of user `n` on all servers of the range, where it is one and the same; the range
    /// is not empty. `Err` where it depends on the server, `Ok(None)` where it may not run.
    fn demand<'m>(state: &State<'m, D>, n: usize, on: &Range<usize>) -> Result<Option<&'m [D::Amount]>, ()> {
        let model = state.model;
        let (first, last) = (model.class[on.start], model.class[on.end - 1]);
        if first == last || model.users[n].is_uniform { Ok(model.demand(n, first as usize)) } else { Err(()) }
    }

    /// The servers of `within` on which user `n` fits, as ranges in ascending order; only the first
    /// of them where `one` says so, or the last.
    pub fn fitting(
        &self,
        state: &State<'_, D>,
        n: usize,
        within: &Range<usize>,
        one: Option<End>,
    ) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.collect(1, 0..self.leaves, state, n, within, one, &mut found);
        if one == Some(End::Last) {
            found.reverse();
        }
        found
    }

    #[allow(clippy::too_many_arguments)]
    fn collect(
        &self,
        node: usize,
        below: Range<usize>,
        state: &State<'_, D>,
        n: usize,
        within: &Range<usize>,
        one: Option<End>,
        found: &mut Vec<Range<usize>>,
    ) {
        let on = below.start.max(within.start)..below.end.min(within.end).min(self.n_servers);
        if on.is_empty() || one.is_some() && !found.is_empty() {
            return;
        }
        match Self::demand(state, n, &on) {
            Ok(None) => return,
            Ok(Some(demand)) => {
                if !fits::<D>(demand, self.high(node)) {
                    return;
                }
                if fits::<D>(demand, self.low(node)) {
                    found.push(on);
                    return;
                }
            }
            Err(()) => {}
        }
        // A leaf fits or does not.
        if node >= self.leaves {
            return;
        }
        let middle = below.start + (below.end - below.start) / 2;
        let halves = [(2 * node, below.start..middle), (2 * node + 1, middle..below.end)];
        let order = if one == Some(End::Last) { [1, 0] } else { [0, 1] };
        for half in order {
            let (child, below) = halves[half].clone();
            self.collect(child, below, state, n, within, one, found);
        }
    }

    /// The first server of `within` on which user `n` fits, or the last, or a random one.
    pub fn pick(
        &self,
        state: &State<'_, D>,
        n: usize,
        within: &[Range<usize>],
        ties: Ties,
        draw: &mut Draw,
    ) -> Option<usize> {
        match ties {
            Ties::Low => {
                let mut found = within.iter().map(|range| self.fitting(state, n, range, Some(End::First)));
                found.find_map(|ranges| Some(ranges.first()?.start))
            }
            Ties::High => {
                let mut found =
                    within.iter().rev().map(|range| self.fitting(state, n, range, Some(End::Last)));
                found.find_map(|ranges| Some(ranges.first()?.end - 1))
            }
            Ties::Random => {
                let all: Vec<_> =
                    within.iter().flat_map(|range| self.fitting(state, n, range, None)).collect();
                one_of(&all, ties, draw)
            }
        }
    }
}

/// Which of several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// The lowest, highest or a random one of the servers, which are ascending.
fn one_of(servers: &[Range<usize>], ties: Ties, draw: &mut Draw) -> Option<usize> {
    match ties {
        Ties::Low => servers.first().map(|range| range.start),
        Ties::High => servers.last().map(|range| range.end - 1),
        Ties::Random => {
            let mut at = draw.position(servers.iter().map(ExactSizeIterator::len).sum());
            servers.iter().find_map(|range| match at.checked_sub(range.len()) {
                None => Some(range.start + at),
                Some(rest) => {
                    at = rest;
                    None
                }
            })
        }
    }
}
