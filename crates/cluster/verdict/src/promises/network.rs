//! Largest flows in a network with rational capacities, by shortest augmenting paths (Edmonds and Karp, 1972).

use std::collections::VecDeque;

use evenhand_problem::Rational;

/// An arc, and the amount that can still flow through the arc. The amount `None` means that any amount can
/// flow.
#[derive(Debug, Clone)]
struct Arc {
    to: usize,
    left: Option<Rational>,
}

/// A network. Arc `2k + 1` is the reverse of arc `2k`.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    arcs: Vec<Arc>,
    /// The arcs that leave each node.
    leaving: Vec<Vec<usize>>,
}

impl Network {
    /// Returns a network of this many nodes without arcs.
    pub(super) fn new(nodes: usize) -> Self {
        Self { arcs: Vec::new(), leaving: vec![Vec::new(); nodes] }
    }

    /// Adds an arc and returns its number. The capacity `None` means that any amount can flow through the
    /// arc.
    pub(super) fn add(&mut self, from: usize, to: usize, most: Option<Rational>) -> usize {
        let arc = self.arcs.len();
        self.arcs.push(Arc { to, left: most });
        self.arcs.push(Arc { to: from, left: Some(Rational::new()) });
        self.leaving[from].push(arc);
        self.leaving[to].push(arc + 1);
        arc
    }

    /// Returns the flow through an arc.
    pub(super) fn flow(&self, arc: usize) -> Rational {
        self.arcs[arc ^ 1].left.clone().unwrap_or_default()
    }

    /// Returns for each node whether more could flow to the node from the node `from`.
    pub(super) fn reachable(&self, from: usize) -> Vec<bool> {
        self.paths(from, None).0
    }

    /// Raises the flow between two nodes as far as possible, and returns the gain. At least one arc on each
    /// path must have a capacity.
    pub(super) fn raise(&mut self, from: usize, to: usize) -> Rational {
        let mut gain = Rational::new();
        loop {
            let (is_reached, by) = self.paths(from, Some(to));
            if !is_reached[to] {
                return gain;
            }
            let mut path = Vec::new();
            let mut node = to;
            while node != from {
                let arc = by[node];
                path.push(arc);
                node = self.arcs[arc ^ 1].to;
            }
            let least = path.iter().filter_map(|arc| self.arcs[*arc].left.clone()).min();
            let Some(step) = least else { return gain };
            for arc in path {
                if let Some(left) = &mut self.arcs[arc].left {
                    *left -= &step;
                }
                if let Some(back) = &mut self.arcs[arc ^ 1].left {
                    *back += &step;
                }
            }
            gain += step;
        }
    }

    /// Returns the amount by which the flow through an arc can shrink while the total flow stays the same.
    pub(super) fn can_shrink(&self, from: usize, arc: usize) -> Rational {
        let (to, flow) = (self.arcs[arc].to, self.flow(arc));
        let mut other = self.clone();
        other.arcs[arc].left = Some(Rational::new());
        other.arcs[arc ^ 1].left = Some(Rational::new());
        if flow.is_zero() || !other.reachable(from)[to] {
            return Rational::new();
        }
        // At most the flow of the arc is requested, so that a path without capacities ends.
        let end = other.leaving.len();
        other.leaving.push(Vec::new());
        other.add(to, end, Some(flow));
        other.raise(from, end)
    }

    /// Searches for the nodes to which more could flow, in order of their distance, until `until` is reached.
    /// Returns for each node whether it is reached, and the last arc of the path to the node.
    fn paths(&self, from: usize, until: Option<usize>) -> (Vec<bool>, Vec<usize>) {
        let mut is_reached = vec![false; self.leaving.len()];
        let mut by = vec![0; self.leaving.len()];
        is_reached[from] = true;
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            for arc in &self.leaving[node] {
                let Arc { to, left } = &self.arcs[*arc];
                if is_reached[*to] || left.as_ref().is_some_and(|left| *left <= 0) {
                    continue;
                }
                is_reached[*to] = true;
                by[*to] = *arc;
                if until == Some(*to) {
                    return (is_reached, by);
                }
                next.push_back(*to);
            }
        }
        (is_reached, by)
    }
}
