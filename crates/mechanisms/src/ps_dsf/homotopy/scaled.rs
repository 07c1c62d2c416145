//! The PS-DSF problem in units in which everything is about 1, so that one tolerance fits all of it.
//!
//! Tasks of a user on a class are counted in `gamma_ni`, its total in `gamma_n` (docs/theory.md, section 1), rows
//! in their capacity, and the levels of a class so that its users gain at most one unit of total per level.

use super::super::pairs::{PairModel, Point};

/// A user on a class on which it can run, in these units.
#[derive(Debug, Clone)]
pub struct ScaledPair {
    /// User `n`.
    pub user: usize,
    /// Class `i`.
    pub class: usize,
    /// `gamma_ni / gamma_n`: what all of the class is worth to the user.
    pub gamma_share: f64,
    /// Total of the user for each unit of the level, in these units; at most 1, and 1 for one user of the class.
    pub tasks_per_level: f64,
    /// `(row, d_nir gamma_ni / c_r)`: part of the row that the user takes when it has all it can.
    pub usage: Vec<(usize, f64)>,
}

/// A [`PairModel`] in units of about 1.
#[derive(Debug, Clone)]
pub struct ScaledModel {
    /// Pairs, as in the [`PairModel`].
    pub pairs: Vec<ScaledPair>,
    /// By user: its pairs.
    pub of_user: Vec<Vec<usize>>,
    /// By class: its pairs.
    pub of_class: Vec<std::ops::Range<usize>>,
    /// By row: its class.
    pub class_of_row: Vec<usize>,
    /// By user: `T_n / gamma_n`, infinite without a limit.
    pub limits: Vec<f64>,
    /// By class: the level of its rows that are not full, above any that a user can reach.
    pub highest: Vec<f64>,
    /// By pair: `gamma_ni`.
    gamma: Vec<f64>,
    /// By class: levels in these units for each level of the [`PairModel`].
    unit: Vec<f64>,
}

/// Least ceiling of the levels of a class, in the units of the model: of use where no user has anything yet.
const LEAST_CEILING: f64 = 1e-3;

impl ScaledModel {
    /// `model` in these units.
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

    /// Sets the highest level of every class to at least `headroom` times that of its users with these totals.
    pub fn bound_levels(&mut self, totals: &[f64], headroom: f64) {
        self.highest.fill(LEAST_CEILING);
        for pair in &self.pairs {
            let highest = &mut self.highest[pair.class];
            *highest = highest.max(headroom * totals[pair.user] / pair.tasks_per_level);
        }
        // Powers of 2, which are short as rationals: what they decide, if anything, is a choice among many.
        for (highest, unit) in self.highest.iter_mut().zip(&self.unit) {
            *highest = (*highest / unit).log2().ceil().exp2() * unit;
        }
    }

    /// Tasks at all pairs in these units.
    pub fn in_units(&self, point: &Point<f64>) -> Vec<f64> {
        point.tasks.iter().zip(&self.gamma).map(|(tasks, gamma)| tasks / gamma).collect()
    }

    /// Levels by row in these units.
    pub fn levels_in_units(&self, levels: &[Option<f64>]) -> Vec<Option<f64>> {
        let in_units =
            |(row, level): (usize, &Option<f64>)| level.map(|x| x * self.unit[self.class_of_row[row]]);
        levels.iter().enumerate().map(in_units).collect()
    }

    /// By class: the level of its rows that are not full, as the [`PairModel`] counts: a power of 2.
    pub fn highest_levels(&self) -> Vec<f64> {
        let highest = self.highest.iter().zip(&self.unit);
        highest.map(|(highest, unit)| (highest / unit).log2().round().exp2()).collect()
    }

    /// Tasks at all pairs from those in the units of this model.
    pub fn in_tasks(&self, in_units: &[f64]) -> Vec<f64> {
        in_units.iter().zip(&self.gamma).map(|(x, gamma)| (x * gamma).max(0.0)).collect()
    }
}
