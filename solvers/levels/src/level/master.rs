//! The programme of one round in HiGHS, with only the rows and columns that matter.
//!
//! At a vertex nearly every group runs on a single class. Such a group needs neither a row nor a
//! column of its own: its usage of the class is part of the column of the level `t`, or of the
//! right-hand side if its level is fixed. A group gets a row, and columns for its classes, when
//! pricing finds a class that suits it better. The programme thus has a row for each capacity and
//! for the few groups that may be split, whatever the number of users.
//!
//! Column 0 is the level `t`. Every other column is a group on a class. All columns are measured in
//! units of the guessed level, so values are near 1 and coefficients are shares of capacity rows.
//! The model is changed in place between rounds and solved again from its last basis.

mod answer;

pub use answer::{MasterBasis, MasterSolution};

use std::collections::HashSet;

use super::inside::{self, FirstBasis};
use super::part::{GroupOnClass, Need, Part};
use super::start::{Guess, guess, rough_guess};
use super::{keys, known};
use crate::error::LevelsError;
use crate::settings::LEVELS;
use evenhand_lp::highs::{Basis, BasisStatus, ColumnBlock, FloatLp, FloatSolution};

/// The representation of a group in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// The group runs on this class alone, without row or column.
    Single(usize),
    /// The group has a row for its level. If its level does not express its task limit, the group also has a row for
    /// its tasks.
    Row { level: usize, tasks: Option<usize> },
}

/// The next method to try for a starting basis. Each method is tried once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Keys,
    InteriorPoint,
    None,
}

pub struct Master<'a> {
    part: &'a Part<'a>,
    lp: FloatLp,
    /// The HiGHS row of each capacity row. Rows without capacity are left out.
    capacity_rows: Vec<Option<usize>>,
    seats: Vec<Seat>,
    /// The group and class of each column, from column 1 on.
    columns: Vec<GroupOnClass>,
    /// The placements that the model can express: all columns, and the classes of single groups.
    known: HashSet<GroupOnClass>,
    needs: Vec<Need>,
    next: Next,
    /// Guessed price of each row. Guessed prices show which rows are scarce at high levels. The prices at a low level
    /// do not show this.
    hints: Vec<f64>,
    /// The number of simplex iterations so far.
    iterations: i32,
    /// For each capacity row, the usage of the single groups per unit of the level.
    level_load: Vec<f64>,
    /// For each capacity row, the usage of the single groups at fixed levels.
    fixed_load: Vec<f64>,
    /// The guessed level: an upper bound of the first blocking level, and the unit of all columns.
    pub unit: f64,
}

impl<'a> Master<'a> {
    /// Builds the model with every group active.
    pub fn new(part: &'a Part<'a>) -> Result<Self, LevelsError> {
        let mut bounds = Vec::new();
        let mut capacity_rows = Vec::with_capacity(part.capacity.len());
        for &capacity in &part.capacity {
            capacity_rows.push((capacity > 0.0).then(|| {
                bounds.push((f64::NEG_INFINITY, 1.0));
                bounds.len() - 1
            }));
        }
        let n_rows = part.capacity.len();
        let mut master = Self {
            part,
            lp: FloatLp::new(&bounds)?,
            capacity_rows,
            known: HashSet::new(),
            seats: Vec::new(),
            columns: Vec::new(),
            needs: vec![Need { multiple: 1.0, fixed: 0.0 }; part.groups.len()],
            level_load: vec![0.0; n_rows],
            fixed_load: vec![0.0; n_rows],
            unit: 1.0,
            next: Next::None,
            hints: Vec::new(),
            iterations: 0,
        };
        match keys::is_for(part) {
            true => master.begin(rough_guess(part), Next::Keys)?,
            false => {
                master.begin(guess(part), Next::InteriorPoint)?;
                if let Some(basis) = known::start(part) {
                    master.enter(&basis)?;
                }
            }
        }
        Ok(master)
    }

    /// Builds a new model from a guess. If the guess bounds the level, the method `next` computes a basis.
    fn begin(&mut self, first: Guess, next: Next) -> Result<(), LevelsError> {
        let is_level = first.level > 0.0 && first.level.is_finite();
        self.next = if is_level { next } else { Next::None };
        if is_level {
            self.unit = first.level;
        }
        self.clear(&first.columns.favourite)?;
        self.add(first.columns.placements)?;
        self.hints = first.prices;
        Ok(())
    }

    /// Builds a new model in which every group is on its favourite class.
    fn clear(&mut self, favourite: &[usize]) -> Result<(), LevelsError> {
        let bounds = vec![(f64::NEG_INFINITY, 1.0); self.capacity_rows.iter().flatten().count()];
        self.lp = FloatLp::new(&bounds)?;
        self.known = favourite.iter().enumerate().map(|(g, &c)| GroupOnClass { g, c }).collect();
        self.seats = favourite.iter().map(|&c| Seat::Single(c)).collect();
        self.columns.clear();
        self.level_load.fill(0.0);
        self.fixed_load.fill(0.0);
        let mut level = ColumnBlock::default();
        level.push(1.0, [])?;
        self.lp.add_columns(&level)?;
        let rows = vec![BasisStatus::Basic; bounds.len()];
        self.lp.set_basis(&Basis { columns: vec![BasisStatus::Lower], rows })?;
        // A group whose task limit needs a row always has its rows.
        let limited = (0..self.part.groups.len()).filter(|&g| self.part.has_task_row(g));
        self.open(&limited.collect::<Vec<_>>())
    }

    /// Solves with the existing columns. Returns `None` if the model was replaced and must be
    /// solved again.
    fn attempt(&mut self) -> Result<Option<FloatSolution>, LevelsError> {
        match self.next {
            Next::None => return Ok(Some(self.lp.solve()?)),
            Next::Keys => {
                match keys::start(self.part, self.unit, &self.needs, &self.hints) {
                    Some((basis, level)) => {
                        self.next = Next::None;
                        self.unit = level;
                        self.enter(&basis)?;
                    }
                    None => self.begin(guess(self.part), Next::InteriorPoint)?,
                }
                return Ok(None);
            }
            Next::InteriorPoint => {}
        }
        let left = LEVELS.simplex_iterations.saturating_sub(self.iterations);
        if left > 0
            && let Some(solution) = self.lp.solve_within(left)?
        {
            self.iterations = self.iterations.saturating_add(self.lp.iterations()?);
            return Ok(Some(solution));
        }
        self.next = Next::None;
        match inside::start(self.part, self.unit, &self.needs, &self.hints) {
            Some(inside) => self.enter(&inside)?,
            None => return Ok(Some(self.lp.solve()?)),
        }
        Ok(None)
    }

    /// Uses only simplex steps from now on.
    #[cfg(test)]
    pub fn leave_other_methods(&mut self) {
        self.next = Next::None;
    }

    /// Rebuilds the model for a given basis, and continues from this basis.
    pub fn enter(&mut self, inside: &FirstBasis) -> Result<(), LevelsError> {
        self.clear(&inside.favourite)?;
        self.add(inside.others.iter().map(|(placement, _)| *placement))?;
        let basic: HashSet<GroupOnClass> =
            inside.others.iter().filter(|(_, basic)| *basic).map(|(placement, _)| *placement).collect();
        let mut basis = self.lp.basis()?;
        basis.columns[0] = BasisStatus::Basic;
        for (placement, status) in self.columns.iter().zip(&mut basis.columns[1..]) {
            let is_key = inside.favourite[placement.g] == placement.c;
            *status =
                if is_key || basic.contains(placement) { BasisStatus::Basic } else { BasisStatus::Lower };
        }
        for (&row, &tight) in self.capacity_rows.iter().zip(&inside.tight) {
            if let Some(row) = row {
                basis.rows[row] = if tight { BasisStatus::Upper } else { BasisStatus::Basic };
            }
        }
        self.load_single_groups()?;
        Ok(self.lp.set_basis(&basis)?)
    }

    /// Sets the levels that the groups must reach.
    pub fn set_needs(&mut self, needs: &[Need]) -> Result<(), LevelsError> {
        for (g, &need) in needs.iter().enumerate() {
            let old = std::mem::replace(&mut self.needs[g], need);
            if let (Seat::Row { level: row, .. }, true) = (self.seats[g], old != need) {
                if old.multiple != need.multiple {
                    self.lp.set_coefficient(row, 0, -need.multiple)?;
                }
                self.lp.set_row_bounds(row, need.fixed / self.unit, f64::INFINITY)?;
            }
        }
        Ok(())
    }

    /// Solves, and adds columns until no missing column would raise the level.
    pub fn solve(&mut self) -> Result<MasterSolution, LevelsError> {
        self.solve_within(LEVELS.price_tolerance)
    }

    /// Solves, and adds columns until each missing column would improve the level by at most the fraction `tolerance`
    /// of its worth.
    fn solve_within(&mut self, tolerance: f64) -> Result<MasterSolution, LevelsError> {
        loop {
            self.load_single_groups()?;
            let Some(solution) = self.attempt()? else { continue };
            let solution = self.read(&solution);
            let missing = self.price(&solution, tolerance);
            if missing.is_empty() {
                return Ok(solution);
            }
            self.add(missing)?;
        }
    }

    /// Computes the basis that is optimal with reduced costs [`LEVELS.sharper`](crate::settings::Levels::sharper) times
    /// as exact as the tolerance of HiGHS. Returns `None` if HiGHS fails at this precision.
    pub fn sharper_basis(&mut self) -> Result<Option<MasterBasis>, LevelsError> {
        self.lp.set_cost(0, LEVELS.sharper)?;
        let basis = match self.lp.solve() {
            Ok(_) => Some(self.basis()?),
            Err(_) => None,
        };
        self.lp.set_cost(0, 1.0)?;
        Ok(basis)
    }

    /// Solves again with the level worth [`LEVELS.sharper`](crate::settings::Levels::sharper).
    ///
    /// The tolerance of HiGHS is absolute, so a larger worth makes it a smaller fraction of reduced
    /// costs. Prices are returned in units of the level, as always.
    pub fn solve_sharply(&mut self) -> Result<MasterSolution, LevelsError> {
        self.lp.set_cost(0, LEVELS.sharper)?;
        let solution = self.solve_within(LEVELS.sharper_price_tolerance);
        self.lp.set_cost(0, 1.0)?;
        let mut solution = solution?;
        let all = [&mut solution.prices, &mut solution.group_prices, &mut solution.task_prices];
        all.into_iter().flatten().for_each(|price| *price /= LEVELS.sharper);
        Ok(solution)
    }

    /// Adds columns for the placements that the model cannot express yet. Returns how many were
    /// added.
    pub fn add(&mut self, placements: impl IntoIterator<Item = GroupOnClass>) -> Result<usize, LevelsError> {
        let new: Vec<GroupOnClass> = placements.into_iter().filter(|p| !self.known.contains(p)).collect();
        let mut closed: Vec<usize> =
            new.iter().map(|p| p.g).filter(|&g| matches!(self.seats[g], Seat::Single(_))).collect();
        closed.sort_unstable();
        closed.dedup();
        self.open(&closed)?;
        self.add_columns(&new)?;
        Ok(new.len())
    }

    /// Gives single groups their rows, and a basic column for their class.
    fn open(&mut self, groups: &[usize]) -> Result<(), LevelsError> {
        if groups.is_empty() {
            return Ok(());
        }
        let mut basis = self.lp.basis()?;
        // Each new row is `(lower bound, entry in column 0, upper bound)`. Column 0 is the level.
        let mut rows = Vec::new();
        let mut columns = Vec::with_capacity(groups.len());
        for &g in groups {
            let Seat::Single(c) = self.seats[g] else { continue };
            let level = basis.rows.len();
            let need = self.needs[g];
            rows.push((need.fixed / self.unit, -need.multiple, f64::INFINITY));
            basis.rows.push(BasisStatus::Lower);
            let tasks = self.part.has_task_row(g).then(|| {
                rows.push((f64::NEG_INFINITY, 0.0, 1.0));
                basis.rows.push(BasisStatus::Basic);
                basis.rows.len() - 1
            });
            self.seats[g] = Seat::Row { level, tasks };
            columns.push(GroupOnClass { g, c });
            basis.columns.push(BasisStatus::Basic);
        }
        self.lp.add_rows(&rows)?;
        self.add_columns(&columns)?;
        Ok(self.lp.set_basis(&basis)?)
    }

    /// Adds columns for placements of groups that have rows.
    fn add_columns(&mut self, placements: &[GroupOnClass]) -> Result<(), LevelsError> {
        let mut block = ColumnBlock::default();
        for &placement in placements {
            let GroupOnClass { g, c } = placement;
            let Seat::Row { level, tasks } = self.seats[g] else { continue };
            let mut entries = Vec::new();
            self.for_each_usage(placement, |row, usage| entries.push((row, usage)));
            entries.push((level, 1.0));
            if let (Some(row), Some(limit)) = (tasks, &self.part.group(g).tasks) {
                entries.push((row, self.tasks_per_unit(g, c) / limit.to_f64()));
            }
            block.push(0.0, entries)?;
            self.columns.push(placement);
            self.known.insert(placement);
        }
        Ok(self.lp.add_columns(&block)?)
    }

    /// Adds the usage of the single groups to the column of the level and to the right-hand sides.
    fn load_single_groups(&mut self) -> Result<(), LevelsError> {
        let n_rows = self.lp.n_rows();
        let mut level_load = vec![0.0; n_rows];
        let mut fixed_load = vec![0.0; n_rows];
        for (g, seat) in self.seats.iter().enumerate() {
            let Seat::Single(c) = *seat else { continue };
            let (multiple, fixed) = (self.needs[g].multiple, self.needs[g].fixed / self.unit);
            self.for_each_usage(GroupOnClass { g, c }, |row, usage| {
                level_load[row] += multiple * usage;
                fixed_load[row] += fixed * usage;
            });
        }
        for (row, &highs_row) in self.capacity_rows.iter().enumerate() {
            let Some(at) = highs_row else { continue };
            if level_load[at] != self.level_load[row] {
                self.level_load[row] = level_load[at];
                self.lp.set_coefficient(at, 0, level_load[at])?;
            }
            if fixed_load[at] != self.fixed_load[row] {
                self.fixed_load[row] = fixed_load[at];
                self.lp.set_row_bounds(at, f64::NEG_INFINITY, 1.0 - fixed_load[at])?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with every HiGHS capacity row that a placement uses, and the fraction of the
    /// capacity that one unit of level takes.
    fn for_each_usage(&self, GroupOnClass { g, c }: GroupOnClass, mut visit: impl FnMut(usize, f64)) {
        let tasks = self.tasks_per_unit(g, c);
        for (row, usage) in self.part.usage(g, c) {
            if let (Some(at), true) = (self.capacity_rows[row], usage != 0.0) {
                visit(at, usage * tasks / self.part.capacity[row]);
            }
        }
    }

    fn tasks_per_unit(&self, g: usize, c: usize) -> f64 {
        self.part.tasks_per_level_f64(g, c) * self.unit
    }
}
