//! The PS-DSF problem in units in which all numbers are about 1, so that one tolerance fits all of them.
//!
//! The tasks of a user on a class are in units of `gamma_ni`, and its total is in units of `gamma_n` (docs/theory.md,
//! section 1). Rows are in units of their capacity. The unit of a class's levels is such that its users gain at most
//! one unit of total for each unit of the level.

use super::super::pairs::{PairModel, Point};

/// A user on a class on which it can run, in scaled units.
#[derive(Debug, Clone)]
pub struct ScaledPair {
    /// The user `n`.
    pub user: usize,
    /// The class `i`.
    pub class: usize,
    /// `gamma_ni / gamma_n`: the fraction of the user's total that the whole class is worth.
    pub gamma_share: f64,
    /// The total tasks of the user for each unit of the level. It is at most 1, and exactly 1 for one user of
    /// the class.
    pub tasks_per_level: f64,
    /// The pairs `(row, d_nir gamma_ni / c_r)`: the fraction of the row that the user takes if it has as many tasks
    /// there as possible.
    pub usage: Vec<(usize, f64)>,
}

/// A [`PairModel`] in scaled units.
#[derive(Debug, Clone)]
pub struct ScaledModel {
    /// The pairs, in the order of the [`PairModel`].
    pub pairs: Vec<ScaledPair>,
    /// The pairs of each user.
    pub of_user: Vec<Vec<usize>>,
    /// The pairs of each class.
    pub of_class: Vec<std::ops::Range<usize>>,
    /// The class of each row.
    pub class_of_row: Vec<usize>,
    /// `T_n / gamma_n` of each user, infinite without a limit.
    pub limits: Vec<f64>,
    /// The level of rows of each class that are not full. It is above any level that a user can reach.
    pub highest: Vec<f64>,
    /// `gamma_ni` of each pair.
    gamma: Vec<f64>,
    /// The number of scaled levels for each level of the [`PairModel`], for each class.
    unit: Vec<f64>,
}

/// The smallest highest level of a class, in scaled units. It is needed if no user has any tasks yet.
const LEAST_CEILING: f64 = 1e-3;

impl ScaledModel {
    /// Converts `model` to scaled units.
    pub fn new(model: &PairModel<f64>) -> Self {
        let all = |p: &super::super::pairs::Pair<f64>| {
            p.usage.iter().map(|(row, d)| model.capacity[*row] / d).fold(f64::INFINITY, f64::min)
        };
        let gamma: Vec<f64> = model.pairs.iter().map(all).collect();
        let total: Vec<f64> =
            model.of_user.iter().map(|pairs| pairs.iter().map(|p| gamma[*p]).sum()).collect();
        let mut unit = vec![0.0_f64; model.n_classes()];
        for pair in &model.pairs {
            unit[pair.class] = unit[pair.class].max(pair.tasks_per_level / total[pair.user]);
        }
        let pairs: Vec<ScaledPair> = (model.pairs.iter().zip(&gamma))
            .map(|(pair, gamma)| ScaledPair {
                user: pair.user,
                class: pair.class,
                gamma_share: gamma / total[pair.user],
                tasks_per_level: pair.tasks_per_level / total[pair.user] / unit[pair.class],
                usage: pair.usage.iter().map(|(r, d)| (*r, d * gamma / model.capacity[*r])).collect(),
            })
            .collect();
        let mut class_of_row = vec![0; model.capacity.len()];
        for (class, rows) in model.rows_of_class.iter().enumerate() {
            class_of_row[rows.clone()].fill(class);
        }
        let limits = model.limits.iter().zip(&total);
        let limit = |limit: &Option<f64>, total: f64| {
            limit.filter(|_| total > 0.0).map_or(f64::INFINITY, |limit| limit / total)
        };
        let limits = limits.map(|(tasks, total)| limit(tasks, *total)).collect();
        Self {
            pairs,
            of_user: model.of_user.clone(),
            of_class: model.of_class.clone(),
            class_of_row,
            limits,
            highest: vec![f64::INFINITY; model.n_classes()],
            gamma,
            unit,
        }
    }

    /// Sets the highest level of every class to at least `headroom` times the level of its users with these totals.
    pub fn bound_levels(&mut self, totals: &[f64], headroom: f64) {
        self.highest.fill(LEAST_CEILING);
        for pair in &self.pairs {
            let highest = &mut self.highest[pair.class];
            *highest = highest.max(headroom * totals[pair.user] / pair.tasks_per_level);
        }
        // A power of 2 is short as a rational. If the value matters at all, it only selects one of many
        // answers.
        for (highest, unit) in self.highest.iter_mut().zip(&self.unit) {
            *highest = (*highest / unit).log2().ceil().exp2() * unit;
        }
    }

    /// Converts the tasks of all pairs to scaled units.
    pub fn in_units(&self, point: &Point<f64>) -> Vec<f64> {
        point.tasks.iter().zip(&self.gamma).map(|(tasks, gamma)| tasks / gamma).collect()
    }

    /// Converts the levels of rows to scaled units.
    pub fn levels_in_units(&self, levels: &[Option<f64>]) -> Vec<Option<f64>> {
        let in_units =
            |(row, level): (usize, &Option<f64>)| level.map(|x| x * self.unit[self.class_of_row[row]]);
        levels.iter().enumerate().map(in_units).collect()
    }

    /// Returns the level of rows of each class that are not full, in the units of the [`PairModel`]. The
    /// levels are powers of 2.
    pub fn highest_levels(&self) -> Vec<f64> {
        let highest = self.highest.iter().zip(&self.unit);
        highest.map(|(highest, unit)| (highest / unit).log2().round().exp2()).collect()
    }

    /// Converts tasks of all pairs from scaled units.
    pub fn in_tasks(&self, in_units: &[f64]) -> Vec<f64> {
        in_units.iter().zip(&self.gamma).map(|(x, gamma)| (x * gamma).max(0.0)).collect()
    }
}
