//! The programme of one round in HiGHS, with only the columns that matter.
//!
//! Column 0 is the level `t`; every other column is a group on a class. Both are measured in the
//! guessed level, so that values are near 1 and coefficients are shares of capacity rows. Columns that no optimal solution needs are never
//! built: all of them are priced after each solve, and those that could help are added. The model
//! is changed in place between rounds and re-solved from its last basis.

use std::collections::HashSet;

use super::data::LevelData;
use super::start::{Start, guess};
use crate::error::LpError;
use crate::highs::{Basis, BasisStatus, ColumnBlock, FloatLp, FloatSolution};

/// Columns of one group that the first model holds.
const FIRST_CHOICES: usize = 2;
/// Reduced costs below this are taken for 0: columns are priced in units of level per level.
const PRICE_TOLERANCE: f64 = 1e-9;

/// What a group must reach in this round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Need {
    /// The common level `t`.
    Level,
    /// A fixed level.
    Fixed(f64),
}

/// One column but the first: group `g` on class `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Placement {
    pub g: usize,
    pub i: usize,
}

pub struct Master<'a> {
    data: &'a LevelData<'a>,
    lp: FloatLp,
    /// HiGHS row of each capacity row; rows without capacity are left out.
    capacity_rows: Vec<Option<usize>>,
    /// HiGHS row of group 0; the groups' rows follow each other.
    first_group_row: usize,
    /// HiGHS row of the task limit of a group, where its level does not express it.
    task_rows: Vec<Option<usize>>,
    /// By column, from column 1 on.
    pub placements: Vec<Placement>,
    known: HashSet<Placement>,
    needs: Vec<Need>,
    /// The guessed level: the unit of all columns, and where Newton's method on the satisfied users
    /// starts.
    pub unit: f64,
}

impl<'a> Master<'a> {
    pub fn new(data: &'a LevelData<'a>) -> Result<Self, LpError> {
        let mut bounds = Vec::new();
        let mut capacity_rows = Vec::with_capacity(data.capacity.len());
        for &capacity in &data.capacity {
            capacity_rows.push((capacity > 0.0).then(|| {
                bounds.push((f64::NEG_INFINITY, 1.0));
                bounds.len() - 1
            }));
        }
        let first_group_row = bounds.len();
        bounds.extend(data.groups.iter().map(|_| (0.0, f64::INFINITY)));
        let task_rows = (0..data.groups.len())
            .map(|g| {
                data.has_task_row(g).then(|| {
                    bounds.push((f64::NEG_INFINITY, 1.0));
                    bounds.len() - 1
                })
            })
            .collect();
        let start = guess(data);
        let mut master = Self {
            data,
            lp: FloatLp::new(&bounds)?,
            capacity_rows,
            first_group_row,
            task_rows,
            placements: Vec::new(),
            known: HashSet::new(),
            needs: vec![Need::Level; data.groups.len()],
            unit: if start.level > 0.0 && start.level.is_finite() { start.level } else { 1.0 },
        };
        let mut level = ColumnBlock::default();
        level.push(1.0, (0..data.groups.len()).map(|g| (first_group_row + g, -1.0)))?;
        master.lp.add_columns(&level)?;
        master.add(first_placements(data, &start))?;
        master.start_basis(&start, &bounds)?;
        Ok(master)
    }

    /// Every group on its first choice; `t` stays nonbasic at 0.
    fn start_basis(&mut self, start: &Start, bounds: &[(f64, f64)]) -> Result<(), LpError> {
        let mut columns = vec![BasisStatus::Lower; 1 + self.placements.len()];
        let mut rows = vec![BasisStatus::Basic; bounds.len()];
        for (position, placement) in self.placements.iter().enumerate() {
            let first = start.choices[placement.g][0];
            if placement.i == self.data.groups[placement.g].classes[first] {
                columns[1 + position] = BasisStatus::Basic;
                rows[self.first_group_row + placement.g] = BasisStatus::Lower;
            }
        }
        self.lp.set_basis(&Basis { columns, rows })
    }

    /// States what every group must reach.
    pub fn set_needs(&mut self, needs: &[Need]) -> Result<(), LpError> {
        for (g, &need) in needs.iter().enumerate() {
            let old = self.needs[g];
            if old == need {
                continue;
            }
            let row = self.first_group_row + g;
            let (coefficient, lower) = match need {
                Need::Level => (-1.0, 0.0),
                Need::Fixed(level) => (0.0, level / self.unit),
            };
            if (old == Need::Level) != (need == Need::Level) {
                self.lp.set_coefficient(row, 0, coefficient)?;
            }
            self.lp.set_row_bounds(row, lower, f64::INFINITY)?;
            self.needs[g] = need;
        }
        Ok(())
    }

    /// Solves, adding columns until none prices out.
    pub fn solve(&mut self) -> Result<MasterSolution, LpError> {
        loop {
            let solution = self.lp.solve()?;
            let solution = self.read(&solution);
            let missing = self.price(&solution);
            if missing.is_empty() {
                return Ok(solution);
            }
            self.add(missing)?;
        }
    }

    /// The basis of the last solve.
    pub fn basis(&mut self) -> Result<MasterBasis, LpError> {
        let basis = self.lp.basis()?;
        let is_basic = |status: BasisStatus| status == BasisStatus::Basic;
        Ok(MasterBasis {
            level: is_basic(basis.columns[0]),
            placements: basis.columns[1..].iter().map(|&s| is_basic(s)).collect(),
            capacity_slacks: self
                .capacity_rows
                .iter()
                .map(|row| row.is_none_or(|row| is_basic(basis.rows[row])))
                .collect(),
            group_slacks: (0..self.data.groups.len())
                .map(|g| is_basic(basis.rows[self.first_group_row + g]))
                .collect(),
            task_slacks: self
                .task_rows
                .iter()
                .map(|row| row.is_none_or(|row| is_basic(basis.rows[row])))
                .collect(),
        })
    }

    /// Adds columns for placements that the model does not hold yet.
    pub fn add(&mut self, placements: impl IntoIterator<Item = Placement>) -> Result<(), LpError> {
        let mut block = ColumnBlock::default();
        for placement in placements {
            if !self.known.insert(placement) {
                continue;
            }
            let Placement { g, i } = placement;
            let tasks = self.tasks_per_unit(g, i);
            let usage = self.data.usage(g, i);
            let mut entries = Vec::with_capacity(usage.len() + 2);
            for (row, &usage) in self.data.constraints.class_rows(i).zip(usage.iter()) {
                if let (Some(highs_row), true) = (self.capacity_rows[row], usage != 0.0) {
                    entries.push((highs_row, usage * tasks / self.data.capacity[row]));
                }
            }
            entries.push((self.first_group_row + g, 1.0));
            if let (Some(row), Some(limit)) = (self.task_rows[g], &self.data.groups[g].tasks) {
                entries.push((row, tasks / limit.to_f64()));
            }
            block.push(0.0, entries)?;
            self.placements.push(placement);
        }
        self.lp.add_columns(&block)
    }

    fn tasks_per_unit(&self, g: usize, i: usize) -> f64 {
        self.data.tasks_per_level_f64(g, i) * self.unit
    }

    fn read(&self, solution: &FloatSolution) -> MasterSolution {
        let duals = &solution.row_duals;
        MasterSolution {
            level: solution.columns[0] * self.unit,
            prices: self
                .capacity_rows
                .iter()
                .zip(&self.data.capacity)
                .map(|(row, capacity)| row.map_or(0.0, |row| duals[row].max(0.0) / capacity))
                .collect(),
            // `>=` rows of a maximum have duals of at most 0.
            group_prices: (0..self.data.groups.len())
                .map(|g| (-duals[self.first_group_row + g]).max(0.0))
                .collect(),
            task_prices: self
                .task_rows
                .iter()
                .enumerate()
                .map(|(g, row)| match (row, &self.data.groups[g].tasks) {
                    (Some(row), Some(tasks)) => duals[*row].max(0.0) / tasks.to_f64(),
                    _ => 0.0,
                })
                .collect(),
            levels: solution.columns[1..].iter().map(|value| value * self.unit).collect(),
        }
    }

    /// For every group the column that helps most, if any would.
    fn price(&self, solution: &MasterSolution) -> Vec<Placement> {
        let mut missing = Vec::new();
        for (g, group) in self.data.groups.iter().enumerate() {
            let worth = solution.group_prices[g];
            if worth == 0.0 {
                continue;
            }
            let mut best = worth - PRICE_TOLERANCE * worth.max(1e-3);
            let mut choice = None;
            for &i in &group.classes {
                let usage = self.data.usage(g, i);
                let prices = &solution.prices[self.data.constraints.class_rows(i)];
                let task: f64 = prices.iter().zip(usage.iter()).map(|(p, u)| p * u).sum();
                let price = (task + solution.task_prices[g]) * self.tasks_per_unit(g, i);
                if price < best && !self.known.contains(&Placement { g, i }) {
                    best = price;
                    choice = Some(i);
                }
            }
            missing.extend(choice.map(|i| Placement { g, i }));
        }
        missing
    }
}

/// A solution of the round's programme in doubles.
pub struct MasterSolution {
    /// `t`
    pub level: f64,
    /// By placement: what it contributes to its group's level.
    pub levels: Vec<f64>,
    /// By capacity row: price per unit of the row.
    pub prices: Vec<f64>,
    /// By group: price of one unit of its level column.
    pub group_prices: Vec<f64>,
    /// By group: price per task of its task limit.
    pub task_prices: Vec<f64>,
}

/// The basis of the round's programme.
pub struct MasterBasis {
    pub level: bool,
    /// By placement.
    pub placements: Vec<bool>,
    /// By capacity row of [`evenhand_problem::Constraints`].
    pub capacity_slacks: Vec<bool>,
    /// By group.
    pub group_slacks: Vec<bool>,
    /// By group.
    pub task_slacks: Vec<bool>,
}

fn first_placements<'s>(data: &'s LevelData<'_>, start: &'s Start) -> impl Iterator<Item = Placement> + 's {
    start.choices.iter().enumerate().flat_map(move |(g, choices)| {
        choices
            .iter()
            .take(FIRST_CHOICES)
            .map(move |&position| Placement { g, i: data.groups[g].classes[position] })
    })
}
