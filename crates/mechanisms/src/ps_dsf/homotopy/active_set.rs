//! Active sets: the combinatorial part of a PS-DSF point. An active set states which users run on which
//! classes, which rows are full, which users have all their tasks, and which row blocks each user on each of
//! its classes. For a given active set, Theorem 1 (docs/theory.md, section 4) is a system of linear
//! equations.

use super::scaled::ScaledModel;

/// The combinatorial part of a PS-DSF point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSet {
    /// One entry for each row: `true` if the row is full, which means that it has a level of its own.
    pub full: Vec<bool>,
    /// One entry for each user: `true` if the user has all its tasks.
    pub satisfied: Vec<bool>,
    /// The pairs on which each user runs, the main pair first. The main pair is the pair on which the user
    /// could have most tasks. Its tasks are computed as the rest of the user's total, which loses no digits.
    pub support: Vec<Vec<usize>>,
    /// The full row with the lowest level that the user demands, for each pair. The entry is up to date for
    /// pairs on which the user runs.
    pub bottleneck: Vec<Option<usize>>,
    /// One entry for each pair: `true` if the user of the pair runs on its class.
    pub runs: Vec<bool>,
}

impl ActiveSet {
    /// Creates an active set in which no user runs.
    pub fn empty(scaled: &ScaledModel) -> Self {
        Self {
            full: vec![false; scaled.class_of_row.len()],
            satisfied: vec![false; scaled.of_user.len()],
            support: vec![Vec::new(); scaled.of_user.len()],
            bottleneck: vec![None; scaled.pairs.len()],
            runs: vec![false; scaled.pairs.len()],
        }
    }

    /// Returns the full row with the lowest level among the rows of pair `p` that its user demands.
    pub fn lowest(&self, scaled: &ScaledModel, levels: &[f64], p: usize) -> Option<usize> {
        let rows = scaled.pairs[p].usage.iter().map(|(row, _)| *row).filter(|row| self.full[*row]);
        rows.min_by(|a, b| levels[*a].total_cmp(&levels[*b]))
    }

    /// Makes the user of pair `p` run on the class of the pair.
    pub fn enter(&mut self, scaled: &ScaledModel, levels: &[f64], p: usize) {
        self.runs[p] = true;
        self.bottleneck[p] = self.lowest(scaled, levels, p);
        let pairs = &mut self.support[scaled.pairs[p].user];
        let before = pairs.iter().position(|q| scaled.pairs[*q].gamma_share < scaled.pairs[p].gamma_share);
        pairs.insert(before.unwrap_or(pairs.len()), p);
    }

    /// Makes the user of pair `p` no longer run on the class of the pair.
    pub fn leave(&mut self, scaled: &ScaledModel, p: usize) {
        self.runs[p] = false;
        self.support[scaled.pairs[p].user].retain(|q| *q != p);
    }

    /// Makes `row` full, at the highest level. The row then blocks users that no other row blocks.
    pub fn fill(&mut self, scaled: &ScaledModel, row: usize) {
        self.full[row] = true;
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            let demands = scaled.pairs[p].usage.iter().any(|(other, _)| *other == row);
            if self.runs[p] && demands && self.bottleneck[p].is_none() {
                self.bottleneck[p] = Some(row);
            }
        }
    }

    /// Makes `row` no longer full.
    pub fn free(&mut self, scaled: &ScaledModel, row: usize) {
        self.full[row] = false;
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            if self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = None;
            }
        }
    }

    /// Lets the level of `lower` fall below that of `row`, so that `lower` blocks all users that demand both rows.
    pub fn cross(&mut self, scaled: &ScaledModel, row: usize, lower: usize) {
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            let demands = scaled.pairs[p].usage.iter().any(|(other, _)| *other == lower);
            if self.runs[p] && demands && self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = Some(lower);
            }
        }
    }
}
