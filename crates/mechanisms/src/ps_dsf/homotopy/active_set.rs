//! An active set is the combinatorial part of a PS-DSF point: which users run on which classes, which rows are
//! full, which users have all their tasks, and which row blocks a user where it runs. Given these, Theorem 1
//! (docs/theory.md, section 4) is a system of linear equations.

use super::scaled::ScaledModel;

/// The combinatorial part of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSet {
    /// By row: whether it is full, so that it has a level of its own.
    pub full: Vec<bool>,
    /// By user: whether it has all its tasks.
    pub satisfied: Vec<bool>,
    /// By user: the pairs where it runs, the main one first: where it could have most, so that its
    /// tasks there are what is left of its total without a loss of digits.
    pub support: Vec<Vec<usize>>,
    /// By pair: the full row of least level that the user demands there; kept where it runs.
    pub bottleneck: Vec<Option<usize>>,
    /// By pair: whether its user runs there.
    pub runs: Vec<bool>,
}

impl ActiveSet {
    /// No user runs.
    pub fn empty(scaled: &ScaledModel) -> Self {
        Self {
            full: vec![false; scaled.class_of_row.len()],
            satisfied: vec![false; scaled.of_user.len()],
            support: vec![Vec::new(); scaled.of_user.len()],
            bottleneck: vec![None; scaled.pairs.len()],
            runs: vec![false; scaled.pairs.len()],
        }
    }

    /// The full row of least level that the user of `p` demands there.
    pub fn lowest(&self, scaled: &ScaledModel, levels: &[f64], p: usize) -> Option<usize> {
        let rows = scaled.pairs[p].usage.iter().map(|(row, _)| *row).filter(|row| self.full[*row]);
        rows.min_by(|a, b| levels[*a].total_cmp(&levels[*b]))
    }

    /// The user of `p` runs there from now on.
    pub fn enter(&mut self, scaled: &ScaledModel, levels: &[f64], p: usize) {
        self.runs[p] = true;
        self.bottleneck[p] = self.lowest(scaled, levels, p);
        let pairs = &mut self.support[scaled.pairs[p].user];
        let before = pairs.iter().position(|q| scaled.pairs[*q].gamma_share < scaled.pairs[p].gamma_share);
        pairs.insert(before.unwrap_or(pairs.len()), p);
    }

    /// The user of `p` does not run there any more.
    pub fn leave(&mut self, scaled: &ScaledModel, p: usize) {
        self.runs[p] = false;
        self.support[scaled.pairs[p].user].retain(|q| *q != p);
    }

    /// Row `row` becomes full, at the highest level that there is: it blocks those whom nothing blocks.
    pub fn fill(&mut self, scaled: &ScaledModel, row: usize) {
        self.full[row] = true;
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            let demands = scaled.pairs[p].usage.iter().any(|(other, _)| *other == row);
            if self.runs[p] && demands && self.bottleneck[p].is_none() {
                self.bottleneck[p] = Some(row);
            }
        }
    }

    /// Row `row` is not full any more.
    pub fn free(&mut self, scaled: &ScaledModel, row: usize) {
        self.full[row] = false;
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            if self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = None;
            }
        }
    }

    /// Row `lower` falls below row `row`: it blocks instead whoever demands both.
    pub fn cross(&mut self, scaled: &ScaledModel, row: usize, lower: usize) {
        for p in scaled.of_class[scaled.class_of_row[row]].clone() {
            let demands = scaled.pairs[p].usage.iter().any(|(other, _)| *other == lower);
            if self.runs[p] && demands && self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = Some(lower);
            }
        }
    }
}
