//! Active sets: who runs where, what is full, who has all its tasks, and what blocks whom.

use super::model::Model;

/// The combinatorial part of a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSet {
    /// By row: whether it is full, so that it has a level of its own.
    pub full: Vec<bool>,
    /// By user: whether it has all its tasks.
    pub satisfied: Vec<bool>,
    /// By user: places where it runs, the main one first: that where it could have most, so that its
    /// tasks there are what is left of its total without a loss of digits.
    pub support: Vec<Vec<usize>>,
    /// By place: the full row of least level that the user demands there; kept where it runs.
    pub bottleneck: Vec<Option<usize>>,
    /// By place: whether its user runs there.
    pub runs: Vec<bool>,
}

impl ActiveSet {
    /// Nobody runs.
    pub fn empty(model: &Model) -> Self {
        Self {
            full: vec![false; model.class_of_row.len()],
            satisfied: vec![false; model.of_user.len()],
            support: vec![Vec::new(); model.of_user.len()],
            bottleneck: vec![None; model.places.len()],
            runs: vec![false; model.places.len()],
        }
    }

    /// The full row of least level that the user of `p` demands there.
    pub fn lowest(&self, model: &Model, levels: &[f64], p: usize) -> Option<usize> {
        let rows = model.places[p].usage.iter().map(|(row, _)| *row).filter(|row| self.full[*row]);
        rows.min_by(|a, b| levels[*a].total_cmp(&levels[*b]))
    }

    /// The user of `p` runs there from now on.
    pub fn enter(&mut self, model: &Model, levels: &[f64], p: usize) {
        self.runs[p] = true;
        self.bottleneck[p] = self.lowest(model, levels, p);
        let places = &mut self.support[model.places[p].user];
        let before = places.iter().position(|q| model.places[*q].part < model.places[p].part);
        places.insert(before.unwrap_or(places.len()), p);
    }

    /// The user of `p` does not run there any more.
    pub fn leave(&mut self, model: &Model, p: usize) {
        self.runs[p] = false;
        self.support[model.places[p].user].retain(|q| *q != p);
    }

    /// Row `row` becomes full, at the highest level that there is: it blocks those whom nothing blocks.
    pub fn fill(&mut self, model: &Model, row: usize) {
        self.full[row] = true;
        for p in model.of_class[model.class_of_row[row]].clone() {
            let demands = model.places[p].usage.iter().any(|(other, _)| *other == row);
            if self.runs[p] && demands && self.bottleneck[p].is_none() {
                self.bottleneck[p] = Some(row);
            }
        }
    }

    /// Row `row` is not full any more.
    pub fn free(&mut self, model: &Model, row: usize) {
        self.full[row] = false;
        for p in model.of_class[model.class_of_row[row]].clone() {
            if self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = None;
            }
        }
    }

    /// Row `lower` falls below row `row`: it blocks instead whoever demands both.
    pub fn cross(&mut self, model: &Model, row: usize, lower: usize) {
        for p in model.of_class[model.class_of_row[row]].clone() {
            let demands = model.places[p].usage.iter().any(|(other, _)| *other == lower);
            if self.runs[p] && demands && self.bottleneck[p] == Some(row) {
                self.bottleneck[p] = Some(lower);
            }
        }
    }
}
