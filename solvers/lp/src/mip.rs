//! Mixed-integer linear programmes in HiGHS: `max c x` over rows and bounds, some columns integer.
//!
//! Everything here is floating point. The values satisfy rows, bounds and integrality within
//! [`MipSettings::tolerance`], and the bound is HiGHS' word, no proof: a caller who needs a proof
//! takes the integer part of the answer, solves what remains exactly, and verifies that.

use highs::{HighsModelStatus, HighsSolutionStatus, RowProblem, Sense};

use crate::error::LpError;
use crate::highs::node_count;

/// One column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MipColumn {
    /// Objective coefficient.
    pub cost: f64,
    /// Least value; may be minus infinity.
    pub lower: f64,
    /// Largest value; may be infinite.
    pub upper: f64,
    /// Whether the value is an integer.
    pub is_integer: bool,
}

/// One row, `lower <= a x <= upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct MipRow {
    /// Least value; may be minus infinity.
    pub lower: f64,
    /// Largest value; may be infinite.
    pub upper: f64,
    /// `(column, coefficient)`, no column twice.
    pub entries: Vec<(usize, f64)>,
}

/// A mixed-integer linear programme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MipModel {
    columns: Vec<MipColumn>,
    rows: Vec<MipRow>,
}

/// When to stop, and how exactly to solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MipSettings {
    /// Seconds; infinite for no limit.
    pub time_limit: f64,
    /// Gap between bound and objective, as a part of the objective, at which the search ends.
    pub relative_gap: f64,
    /// The same gap in units of the objective.
    pub absolute_gap: f64,
    /// By how much a row, a bound or integrality may be missed; at least 1e-10.
    pub tolerance: f64,
}

impl Default for MipSettings {
    fn default() -> Self {
        Self { time_limit: 60.0, relative_gap: 0.0, absolute_gap: 0.0, tolerance: 1e-9 }
    }
}

/// How a search that found a solution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MipStatus {
    /// HiGHS claims that nothing is better by more than the gaps of the settings.
    Optimal,
    /// The time was up; the solution is the best found until then.
    TimeLimit,
}

/// A solution in floating point.
#[derive(Debug, Clone, PartialEq)]
pub struct MipSolution {
    /// Values by column.
    pub values: Vec<f64>,
    /// The objective at these values.
    pub objective: f64,
    /// What HiGHS claims no solution to exceed.
    pub bound: f64,
    /// How the search ended.
    pub status: MipStatus,
    /// Nodes of the branch-and-bound tree.
    pub nodes: u64,
}

impl MipModel {
    /// Adds a column and returns its index.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for NaN or an infinite cost.
    pub fn add_column(&mut self, column: MipColumn) -> Result<usize, LpError> {
        if !column.cost.is_finite() || column.lower.is_nan() || column.upper.is_nan() {
            return Err(LpError::NotFinite);
        }
        self.columns.push(column);
        Ok(self.columns.len() - 1)
    }

    /// Adds a row over columns that there are and returns its index.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for NaN or an infinite coefficient, [`LpError::NoColumn`] for a column
    /// that does not exist.
    pub fn add_row(&mut self, row: MipRow) -> Result<usize, LpError> {
        if row.lower.is_nan() || row.upper.is_nan() || row.entries.iter().any(|(_, v)| !v.is_finite()) {
            return Err(LpError::NotFinite);
        }
        if let Some(&(column, _)) = row.entries.iter().find(|(j, _)| *j >= self.columns.len()) {
            return Err(LpError::NoColumn { column });
        }
        self.rows.push(row);
        Ok(self.rows.len() - 1)
    }

    /// Number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// The best solution found within the limits of the settings.
    ///
    /// # Errors
    /// Every HiGHS status but `Optimal` is an error of its own, and so is a time limit before any
    /// solution was found.
    pub fn solve(&self, settings: &MipSettings) -> Result<MipSolution, LpError> {
        if i32::try_from(self.rows.len()).is_err() || i32::try_from(self.columns.len()).is_err() {
            return Err(LpError::TooLarge);
        }
        // The tree is not counted from outside; its time has a limit of its own.
        let entries: usize = self.rows.iter().map(|row| row.entries.len()).sum();
        let size = (self.rows.len() + self.columns.len() + entries) as u64;
        evenhand_budget::charge(1000 * size, "a programme of whole numbers");
        let mut problem = RowProblem::new();
        let columns: Vec<_> = self
            .columns
            .iter()
            .map(|c| problem.add_column_with_integrality(c.cost, c.lower..=c.upper, c.is_integer))
            .collect();
        for row in &self.rows {
            let entries = row.entries.iter().map(|(j, value)| (columns[*j], *value));
            problem.add_row(row.lower..=row.upper, entries);
        }
        let refused = |what| move |_| LpError::Call { what };
        let mut model = problem.try_optimise(Sense::Maximise).map_err(refused("pass the model"))?;
        model.make_quiet();
        let option = |name| move |_| LpError::Option(name);
        let tolerance = settings.tolerance.max(1e-10);
        for (name, value) in [
            ("time_limit", settings.time_limit),
            ("mip_rel_gap", settings.relative_gap),
            ("mip_abs_gap", settings.absolute_gap),
            ("mip_feasibility_tolerance", tolerance),
            ("primal_feasibility_tolerance", tolerance),
            ("dual_feasibility_tolerance", tolerance),
        ] {
            model.try_set_option(name, value).map_err(option(name))?;
        }
        // One thread, so that the same model has the same answer on every machine.
        model.try_set_option("parallel", "off").map_err(option("parallel"))?;
        model.try_set_option("threads", 1).map_err(option("threads"))?;

        let solved = model.try_solve().map_err(refused("solve"))?;
        // Not `primal_solution_status`, which panics where HiGHS has nothing to tell.
        let found = solved.int_info_value(c"primal_solution_status");
        let has_solution = found.is_ok_and(|found| found == HighsSolutionStatus::Feasible as i64);
        let status = match solved.status() {
            HighsModelStatus::Optimal => MipStatus::Optimal,
            HighsModelStatus::ReachedTimeLimit if has_solution => MipStatus::TimeLimit,
            other => return Err(LpError::from_status(other).unwrap_or(LpError::Status("unknown"))),
        };
        let objective = solved.objective_value();
        let bound = if self.columns.iter().any(|c| c.is_integer) {
            solved.double_info_value(c"mip_dual_bound").map_err(refused("tell its bound"))?
        } else {
            // Without integers HiGHS keeps no bound of its own; that of an optimum is its value.
            if status == MipStatus::Optimal { objective } else { f64::INFINITY }
        };
        let nodes = node_count(&solved);
        Ok(MipSolution { values: solved.get_solution().columns().to_vec(), objective, bound, status, nodes })
    }
}
