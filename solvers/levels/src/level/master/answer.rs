//! Conversion of HiGHS's answers to groups, classes and rows, and the search for columns that the model lacks.

use super::super::part::{GroupOnClass, Part};
use super::super::start::keep_least;
use super::{Master, Seat};
use crate::error::LevelsError;
use crate::settings::LEVELS;
use evenhand_lp::highs::{BasisStatus, FloatSolution};

/// A solution of the round's programme in doubles.
pub struct MasterSolution {
    /// The level `t`.
    pub level: f64,
    /// `(placement, level)`: the contribution of each placement to its group's level.
    pub placed: Vec<(GroupOnClass, f64)>,
    /// Price of one unit of each capacity row.
    pub prices: Vec<f64>,
    /// For each group, the price of one unit of its level. The unit is [`MasterSolution::unit`].
    pub group_prices: Vec<f64>,
    /// For each group, the price per task of its task limit.
    pub task_prices: Vec<f64>,
    /// The level that corresponds to one unit of a column.
    pub unit: f64,
}

/// The basis of the round's programme, including the rows and columns that are not in HiGHS.
pub struct MasterBasis {
    pub level: bool,
    /// Every placement that the model can express, and whether it is basic.
    pub placements: Vec<(GroupOnClass, bool)>,
    /// For each capacity row of [`evenhand_problem::Constraints`], true if its slack is basic.
    pub capacity_slacks: Vec<bool>,
    /// For each group, true if the slack of its level is basic.
    pub group_slacks: Vec<bool>,
    /// For each group, true if the slack of its task limit is basic.
    pub task_slacks: Vec<bool>,
}

impl MasterBasis {
    /// Returns the basis in which all slacks and no placements are basic.
    pub fn of_slacks(part: &Part<'_>) -> Self {
        let by_group = part.classes.iter().enumerate();
        Self {
            level: false,
            placements: by_group
                .flat_map(|(g, classes)| classes.iter().map(move |&c| (GroupOnClass { g, c }, false)))
                .collect(),
            capacity_slacks: vec![true; part.capacity.len()],
            group_slacks: vec![true; part.groups.len()],
            task_slacks: vec![true; part.groups.len()],
        }
    }
}

impl Master<'_> {
    /// Returns the basis of the last solve. Single groups are basic on their classes.
    pub fn basis(&mut self) -> Result<MasterBasis, LevelsError> {
        let basis = self.lp.basis()?;
        let is_basic = |status: BasisStatus| status == BasisStatus::Basic;
        let mut placements: Vec<(GroupOnClass, bool)> = self
            .columns
            .iter()
            .zip(&basis.columns[1..])
            .map(|(placement, status)| (*placement, is_basic(*status)))
            .collect();
        let row_is_basic = |row: Option<usize>| row.is_none_or(|row| is_basic(basis.rows[row]));
        let mut group_slacks = Vec::with_capacity(self.seats.len());
        let mut task_slacks = Vec::with_capacity(self.seats.len());
        for (g, seat) in self.seats.iter().enumerate() {
            let (group_slack, task_slack) = match *seat {
                Seat::Single(c) => {
                    placements.push((GroupOnClass { g, c }, true));
                    (false, true)
                }
                Seat::Row { level, tasks } => (is_basic(basis.rows[level]), row_is_basic(tasks)),
            };
            group_slacks.push(group_slack);
            task_slacks.push(task_slack);
        }
        Ok(MasterBasis {
            level: is_basic(basis.columns[0]),
            placements,
            capacity_slacks: self.capacity_rows.iter().map(|row| row_is_basic(*row)).collect(),
            group_slacks,
            task_slacks,
        })
    }

    /// Converts a solution of HiGHS to levels, placements and prices.
    pub(super) fn read(&self, solution: &FloatSolution) -> MasterSolution {
        let duals = &solution.row_duals;
        let level = solution.columns[0];
        let prices: Vec<f64> = self
            .capacity_rows
            .iter()
            .zip(&self.part.capacity)
            .map(|(row, capacity)| row.map_or(0.0, |row| duals[row].max(0.0) / capacity))
            .collect();
        let mut placed: Vec<(GroupOnClass, f64)> = self
            .columns
            .iter()
            .zip(&solution.columns[1..])
            .map(|(placement, value)| (*placement, value * self.unit))
            .collect();
        let mut group_prices = Vec::with_capacity(self.seats.len());
        let mut task_prices = vec![0.0; self.seats.len()];
        for (g, seat) in self.seats.iter().enumerate() {
            match *seat {
                Seat::Single(c) => {
                    let need = self.needs[g];
                    placed.push((GroupOnClass { g, c }, need.multiple * level * self.unit + need.fixed));
                    group_prices.push(self.part.price(g, c, &prices) * self.unit);
                }
                Seat::Row { level, tasks } => {
                    // Rows `>=` of a maximisation have duals of at most 0.
                    group_prices.push((-duals[level]).max(0.0));
                    if let (Some(row), Some(limit)) = (tasks, &self.part.group(g).tasks) {
                        task_prices[g] = duals[row].max(0.0) / limit.to_f64();
                    }
                }
            }
        }
        MasterSolution {
            level: level * self.unit,
            placed,
            prices,
            group_prices,
            task_prices,
            unit: self.unit,
        }
    }

    /// Returns for each class the columns that would raise the level most, with at most a few for each group.
    ///
    /// Among classes whose price is still 0, classes that are cheap at the guessed prices come first.
    pub(super) fn price(&self, solution: &MasterSolution, tolerance: f64) -> Vec<GroupOnClass> {
        let mut helpful: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.part.n_classes()];
        let prices: Vec<f64> =
            solution.prices.iter().zip(&self.hints).map(|(price, hint)| price + hint * LEVELS.hint).collect();
        let mut best: Vec<(f64, (usize, f64))> = Vec::new();
        for g in 0..self.part.groups.len() {
            let worth = solution.group_prices[g];
            if worth == 0.0 {
                continue;
            }
            let limit = worth * (1.0 - tolerance);
            best.clear();
            self.part.for_each_price(g, &solution.prices, |c, price| {
                let mut price = price * self.unit;
                if solution.task_prices[g] != 0.0 {
                    price += solution.task_prices[g] * self.tasks_per_unit(g, c);
                }
                if price < limit && !self.known.contains(&GroupOnClass { g, c }) {
                    best.push((self.part.price(g, c, &prices), (c, price)));
                }
            });
            best.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.0.cmp(&b.1.0)));
            for &(_, (c, price)) in best.iter().take(LEVELS.columns_per_group) {
                keep_least(&mut helpful[c], (price / worth, g), LEVELS.columns_per_class);
            }
        }
        let by_class = helpful.into_iter().enumerate();
        by_class.flat_map(|(c, list)| list.into_iter().map(move |(_, g)| GroupOnClass { g, c })).collect()
    }
}
