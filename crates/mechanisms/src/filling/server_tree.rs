//! Servers by what is left of them: the first that fits, the one that suits best.

use std::cmp::Ordering;
use std::ops::Range;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, first_demanded, fits};
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

/// What a server is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    /// The least mismatch of the servers that fit.
    Fitting,
    /// The least mismatch of all servers.
    Closest,
    /// The most tasks that would fit on it.
    MostRoom,
}

/// The best so far: its value and the servers that have it.
struct Best<R> {
    value: Option<R>,
    servers: Vec<Range<usize>>,
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

    /// The server that is best for user `n`.
    pub fn best(
        &self,
        state: &State<'_, D>,
        n: usize,
        aim: Aim,
        ties: Ties,
        draw: &mut Draw,
    ) -> Option<usize> {
        let mut best = Best { value: None, servers: Vec::new() };
        self.search(1, 0..self.leaves, state, n, aim, ties, &mut best);
        best.servers.sort_by_key(|range| range.start);
        one_of(&best.servers, ties, draw)
    }

    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        node: usize,
        below: Range<usize>,
        state: &State<'_, D>,
        n: usize,
        aim: Aim,
        ties: Ties,
        best: &mut Best<D::Ratio>,
    ) {
        let on = below.start..below.end.min(self.n_servers);
        let Some(bound) = self.bound(node, &on, state, n, aim) else { return };
        if let Bound::Of(value) | Bound::Alike(value) = &bound {
            let order = best.value.as_ref().map_or(Ordering::Less, |best| value.cmp(best));
            if order == Ordering::Greater || order == Ordering::Equal && !best.may_gain(&on, ties) {
                return;
            }
            if matches!(bound, Bound::Alike(_)) {
                best.offer(value.clone(), order, on, ties);
                return;
            }
        }
        if node >= self.leaves {
            return;
        }
        let middle = below.start + (below.end - below.start) / 2;
        let halves = [(2 * node, below.start..middle), (2 * node + 1, middle..below.end)];
        let bounds = halves.clone().map(|(child, below)| {
            self.bound(child, &(below.start..below.end.min(self.n_servers)), state, n, aim)
        });
        // The more promising half first: what it finds may rule the other one out.
        let left_first = match &bounds {
            [Some(left), Some(right)] => match (left.value(), right.value()) {
                (Some(left), Some(right)) if left != right => left < right,
                _ => ties != Ties::High,
            },
            [left, _] => left.is_some(),
        };
        for half in if left_first { [0, 1] } else { [1, 0] } {
            let (child, below) = halves[half].clone();
            if bounds[half].is_some() {
                self.search(child, below, state, n, aim, ties, best);
            }
        }
    }

    /// What the servers below a node can be worth to user `n` at best; `None` where none counts.
    fn bound(
        &self,
        node: usize,
        on: &Range<usize>,
        state: &State<'_, D>,
        n: usize,
        aim: Aim,
    ) -> Option<Bound<D::Ratio>> {
        if on.is_empty() {
            return None;
        }
        let Ok(demand) = Self::demand(state, n, on) else { return Some(Bound::Unknown) };
        let demand = demand?;
        let first = first_demanded::<D>(demand)?;
        let (low, high) = (self.low(node), self.high(node));
        let counts = match aim {
            Aim::Closest => high[first] != D::Amount::default(),
            Aim::Fitting | Aim::MostRoom => fits::<D>(demand, high),
        };
        if !counts {
            return None;
        }
        let factors = &state.model.factors;
        let alike = low == high;
        let value = match aim {
            Aim::MostRoom => state.model.room(n, demand, high),
            _ if alike => D::mismatch(factors, first, demand, low),
            _ => D::mismatch_bound(factors, first, demand, low, high),
        };
        Some(if alike { Bound::Alike(value) } else { Bound::Of(value) })
    }
}

/// What servers are worth at best; less is better.
enum Bound<R> {
    /// Their demands differ.
    Unknown,
    /// None is worth less than this.
    Of(R),
    /// All are worth this.
    Alike(R),
}

impl<R> Bound<R> {
    fn value(&self) -> Option<&R> {
        match self {
            Self::Unknown => None,
            Self::Of(value) | Self::Alike(value) => Some(value),
        }
    }
}

/// Which of several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

impl<R> Best<R> {
    /// Whether servers of the same value can take the place of those found.
    fn may_gain(&self, on: &Range<usize>, ties: Ties) -> bool {
        let Some(found) = self.servers.first() else { return true };
        match ties {
            Ties::Low => on.start < found.start,
            Ties::High => on.end > found.end,
            Ties::Random => true,
        }
    }

    /// Servers that are no worse than those found.
    fn offer(&mut self, value: R, order: Ordering, on: Range<usize>, ties: Ties) {
        if order == Ordering::Less || ties != Ties::Random {
            self.servers.clear();
        }
        self.value = Some(value);
        self.servers.push(on);
    }
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
