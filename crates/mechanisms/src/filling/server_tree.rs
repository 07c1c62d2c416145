//! A search tree over the servers in their order, by their free amounts. The tree finds the first server
//! where a task fits, and the server with the most free capacity for the task.

use std::ops::Range;

use super::digits::Digits;
use super::draw::Draw;
use super::model::{State, fits};
use super::rule::Ties;

/// A binary tree over the servers in their order. A node stores the minimum and the maximum free amounts of
/// the servers below it, by resource. If the minimum equals the maximum, all servers below the node are
/// identical and count as one server.
pub(super) struct ServerTree<D: Digits> {
    /// The number of leaves, a power of 2.
    leaves: usize,
    n_servers: usize,
    n_rows: usize,
    /// The minimum free amounts, indexed by node and then by row.
    low: Vec<D::Amount>,
    /// The maximum free amounts, indexed by node and then by row.
    high: Vec<D::Amount>,
}

/// The choice of one of several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// A node, and the range of the servers below it.
type Node = (usize, Range<usize>);

/// A search for the servers on which a user fits.
struct Search<'a, D: Digits> {
    tree: &'a ServerTree<D>,
    state: &'a State<'a, D>,
    n: usize,
    /// The range of servers to search.
    within: Range<usize>,
    /// `Some` to search only for the first server or the last server.
    one: Option<End>,
    /// The servers found, as ranges.
    found: Vec<Range<usize>>,
    /// The score of a task on the servers found, in a search for the server with the most free capacity.
    least: Option<D::Ratio>,
}

impl<D: Digits> ServerTree<D> {
    pub fn new(state: &State<'_, D>) -> Self {
        let (n_servers, n_rows) = (state.model.n_servers(), state.model.n_rows);
        let leaves = n_servers.next_power_of_two();
        let rows = 2 * leaves * n_rows;
        let (low, high) = (vec![D::Amount::default(); rows], vec![D::Amount::default(); rows]);
        let mut tree = Self { leaves, n_servers, n_rows, low, high };
        // Leaves without a server have no capacity and are never reached.
        for j in 0..n_servers {
            tree.set(j, state.left(j));
        }
        for node in (1..leaves).rev() {
            tree.merge(node);
        }
        tree
    }

    /// Updates the free amounts of server `j`.
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

    fn search<'a>(
        &'a self,
        state: &'a State<'a, D>,
        n: usize,
        within: Range<usize>,
        one: Option<End>,
    ) -> Search<'a, D> {
        Search { tree: self, state, n, within, one, found: Vec::new(), least: None }
    }

    /// Returns the servers on which user `n` fits, as ranges in ascending order.
    pub fn fitting(&self, state: &State<'_, D>, n: usize) -> Vec<Range<usize>> {
        let mut search = self.search(state, n, 0..self.n_servers, None);
        search.collect(&(1, 0..self.leaves));
        search.found
    }

    /// Returns the first or the last server of `within` on which user `n` fits.
    pub fn one(&self, state: &State<'_, D>, n: usize, within: Range<usize>, end: End) -> Option<usize> {
        let mut search = self.search(state, n, within, Some(end));
        search.collect(&(1, 0..self.leaves));
        let range = search.found.first()?;
        Some(if end == End::First { range.start } else { range.end - 1 })
    }

    /// Returns a server on which user `n` fits, chosen by the ties of the rule. The ranges in `within` must
    /// ascend.
    pub fn pick(
        &self,
        state: &State<'_, D>,
        n: usize,
        within: &[Range<usize>],
        draw: &mut Draw,
    ) -> Option<usize> {
        match state.model.rule.ties {
            Ties::Low => within.iter().find_map(|range| self.one(state, n, range.clone(), End::First)),
            Ties::High => within.iter().rev().find_map(|range| self.one(state, n, range.clone(), End::Last)),
            Ties::Random => {
                let mut all = Vec::new();
                for range in within {
                    let mut search = self.search(state, n, range.clone(), None);
                    search.collect(&(1, 0..self.leaves));
                    all.append(&mut search.found);
                }
                one_of(&all, Ties::Random, draw)
            }
        }
    }

    /// Returns the server where a task of user `n` has the least score according to the free amounts. Only
    /// servers where the task fits count. The ties of the rule decide between equal servers.
    pub fn roomiest(&self, state: &State<'_, D>, n: usize, draw: &mut Draw) -> Option<usize> {
        let mut search = self.search(state, n, 0..self.n_servers, None);
        let root = (1, 0..self.leaves);
        let bound = search.bound(&root)?;
        search.roomiest(&root, &bound);
        search.found.sort_unstable_by_key(|range| range.start);
        one_of(&search.found, state.model.rule.ties, draw)
    }
}

impl<D: Digits> Search<'_, D> {
    /// Returns the servers below a node that belong to the search.
    fn on(&self, below: &Range<usize>) -> Range<usize> {
        below.start.max(self.within.start)..below.end.min(self.within.end)
    }

    /// Returns the demand on all servers of a range, which must not be empty. The result is `Err` if the
    /// demand depends on the server, and `Ok(None)` if the user may not run on these servers.
    fn demand(&self, on: &Range<usize>) -> Result<Option<&[D::Amount]>, ()> {
        let model = self.state.model;
        let (first, last) = (model.class[on.start], model.class[on.end - 1]);
        let is_one = first == last || model.users[self.n].is_uniform;
        if is_one { Ok(model.demand(self.n, first as usize)) } else { Err(()) }
    }

    fn halves(&self, (node, below): &Node) -> [Node; 2] {
        let middle = below.start + (below.end - below.start) / 2;
        [(2 * node, below.start..middle), (2 * node + 1, middle..below.end)]
    }

    /// Collects the servers below a node on which the user fits.
    fn collect(&mut self, node: &Node) {
        let on = self.on(&node.1);
        if on.is_empty() || self.one.is_some() && !self.found.is_empty() {
            return;
        }
        match self.demand(&on) {
            Ok(None) => return,
            Ok(Some(demand)) => {
                if !fits::<D>(demand, self.tree.high(node.0)) {
                    return;
                }
                if fits::<D>(demand, self.tree.low(node.0)) {
                    self.found.push(on);
                    return;
                }
            }
            Err(()) => {}
        }
        // A leaf is decided above, since its minimum and maximum are equal.
        if node.0 < self.tree.leaves {
            let [left, right] = self.halves(node);
            let (first, second) = if self.one == Some(End::Last) { (right, left) } else { (left, right) };
            self.collect(&first);
            self.collect(&second);
        }
    }

    /// Returns a lower bound of the score of a task on the servers below a node, or `None` if the task fits
    /// on none of them.
    fn bound(&self, (node, below): &Node) -> Option<D::Ratio> {
        let on = self.on(below);
        if on.is_empty() {
            return None;
        }
        let Ok(demand) = self.demand(&on) else { return Some(D::zero()) };
        let (demand, most) = (demand?, self.tree.high(*node));
        fits::<D>(demand, most).then(|| self.state.model.room(self.n, demand, most))
    }

    /// Returns whether some server found so far is preferred to all servers of the range with the same score.
    fn is_preferred(&self, on: &Range<usize>) -> bool {
        match self.state.model.rule.ties {
            Ties::Low => self.found.iter().any(|found| found.start < on.start),
            Ties::High => self.found.iter().any(|found| found.end > on.end),
            Ties::Random => false,
        }
    }

    /// Searches below a node for the servers with the least score. `bound` is the lower bound of the node.
    fn roomiest(&mut self, node: &Node, bound: &D::Ratio) {
        let on = self.on(&node.1);
        if self.least.as_ref().is_some_and(|least| bound > least || bound == least && self.is_preferred(&on))
        {
            return;
        }
        if self.demand(&on).is_ok() && self.tree.low(node.0) == self.tree.high(node.0) {
            if self.least.as_ref() != Some(bound) {
                self.found.clear();
                self.least = Some(bound.clone());
            }
            self.found.push(on);
            return;
        }
        let mut halves = self.halves(node).map(|half| (self.bound(&half), half));
        // Visit the more promising half first, since its servers may exclude the other half.
        let is_last_first = self.state.model.rule.ties == Ties::High;
        if halves[1].0 < halves[0].0 || is_last_first && halves[1].0 == halves[0].0 {
            halves.swap(0, 1);
        }
        for (bound, half) in halves {
            if let Some(bound) = bound {
                self.roomiest(&half, &bound);
            }
        }
    }
}

/// Returns the lowest server, the highest server or a random server of `servers`, which are in ascending
/// order.
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
