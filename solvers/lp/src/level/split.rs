//! What is left of a part after a round, as parts of their own.
//!
//! In every optimum of a round priced rows are full, blocked groups have the level and no more, and
//! nobody runs where the reduced cost is positive. So later rounds need only the placements of reduced
//! cost 0. Rows and groups that these connect to no active group are settled: they keep what they have.
//! Where all demands are positive a blocked group uses priced rows on all its classes, and whoever is
//! not blocked none, so that every block leaves with its classes; with demands of 0 blocked groups that
//! share rows with others stay, at their level (SCALE, Lemma 1).

use super::part::Part;

/// The components of the part where group `g` may run on `classes[g]`: groups, ascending, that share
/// rows with no others. In order of their first groups.
pub fn components(part: &Part<'_>, classes: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n_groups = part.groups.len();
    let mut sets = Sets::new(n_groups + part.rows.len());
    for (g, classes) in classes.iter().enumerate() {
        for &c in classes {
            for (row, _) in part.usage(g, c) {
                sets.join(g, n_groups + row);
            }
        }
    }
    let mut number = vec![usize::MAX; sets.parent.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for g in 0..n_groups {
        let root = sets.root(g);
        if number[root] == usize::MAX {
            number[root] = found.len();
            found.push(Vec::new());
        }
        found[number[root]].push(g);
    }
    found
}

/// Disjoint sets, each with a representative.
struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn new(n: usize) -> Self {
        Self { parent: (0..n).collect() }
    }

    fn root(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            // Halving the way keeps it short.
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    /// The lesser representative stays one.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
