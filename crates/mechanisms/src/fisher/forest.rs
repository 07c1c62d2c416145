//! A forest of purchases between users and the rows of classes. An equilibrium of a linear Fisher market needs no
//! more than a forest (docs/theory.md, section 4, fact 5): cycles are broken as they arise, by pushing money around
//! them until one purchase is gone.

use std::collections::BTreeMap;

/// What one node buys of another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// User, then class; nodes of one numbering.
    pub ends: [usize; 2],
    /// Money, positive.
    pub flow: f64,
}

/// A forest; the flow along its edges is what it was before cycles were broken, by node.
#[derive(Debug, Clone)]
pub struct Forest {
    neighbours: Vec<BTreeMap<usize, f64>>,
}

impl Forest {
    /// Nodes without edges.
    pub fn new(n_nodes: usize) -> Self {
        Self { neighbours: vec![BTreeMap::new(); n_nodes] }
    }

    /// Adds an edge. Where it closes a cycle, flow is pushed around the cycle until one edge of it
    /// carries nothing; that edge is left out.
    pub fn add(&mut self, edge: Edge) {
        let [user, class] = edge.ends;
        let Some(path) = self.path(user, class) else {
            self.connect(user, class, edge.flow);
            return;
        };
        // Along the path from the user: more, less, more, ...; the new edge carries less.
        let steps: Vec<(usize, usize)> = path.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let least = steps.iter().skip(1).step_by(2).map(|&(a, b)| (self.neighbours[a][&b], a, b));
        let least = least.min_by(|a, b| a.0.total_cmp(&b.0));
        let (push, gone) = match least {
            Some((flow, a, b)) if flow < edge.flow => (flow, Some((a, b))),
            _ => (edge.flow, None),
        };
        for (k, &(a, b)) in steps.iter().enumerate() {
            let flow = self.neighbours[a][&b] + if k % 2 == 0 { push } else { -push };
            self.connect(a, b, flow);
        }
        if let Some((a, b)) = gone {
            self.neighbours[a].remove(&b);
            self.neighbours[b].remove(&a);
            self.connect(user, class, edge.flow - push);
        }
    }

    /// The nodes of every tree, each before its children.
    pub fn trees(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.neighbours.len()];
        let mut trees = Vec::new();
        // Classes come after the users, and are the roots.
        for root in (0..self.neighbours.len()).rev() {
            if seen[root] {
                continue;
            }
            seen[root] = true;
            let mut tree = vec![root];
            let mut next = 0;
            while next < tree.len() {
                for &node in self.neighbours[tree[next]].keys() {
                    if !seen[node] {
                        seen[node] = true;
                        tree.push(node);
                    }
                }
                next += 1;
            }
            trees.push(tree);
        }
        trees
    }

    /// By position in `tree`: position of the parent; of the root, 0.
    pub fn parents(&self, tree: &[usize]) -> Vec<usize> {
        let position: BTreeMap<usize, usize> = tree.iter().enumerate().map(|(k, node)| (*node, k)).collect();
        let parent = |node: &usize| self.neighbours[*node].keys().map(|near| position[near]).min();
        tree.iter().enumerate().map(|(k, node)| if k == 0 { 0 } else { parent(node).unwrap_or(0) }).collect()
    }

    fn connect(&mut self, a: usize, b: usize, flow: f64) {
        self.neighbours[a].insert(b, flow);
        self.neighbours[b].insert(a, flow);
    }

    /// The nodes from `start` to `end`, if they are in one tree.
    fn path(&self, start: usize, end: usize) -> Option<Vec<usize>> {
        let mut from: BTreeMap<usize, usize> = BTreeMap::from([(start, start)]);
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if node == end {
                let mut path = vec![end];
                while let Some(&last) = path.last().filter(|last| **last != start) {
                    path.push(from[&last]);
                }
                path.reverse();
                return Some(path);
            }
            for &near in self.neighbours[node].keys() {
                from.entry(near).or_insert_with(|| {
                    queue.push_back(near);
                    node
                });
            }
        }
        None
    }
}
