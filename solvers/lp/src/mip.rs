//! Mixed-integer linear programmes in HiGHS: `max c x` over rows and bounds, with some integer columns.
//!
//! All numbers in this module are floating point. The values satisfy rows, bounds and integrality within
//! [`MipSettings::tolerance`]. The bound is only a claim of HiGHS, not a proof. A caller that needs a proof takes the
//! integer components of the answer, solves the rest exactly, and verifies the result.

use highs::{HighsModelStatus, HighsSolutionStatus, RowProblem, Sense};

use crate::error::LpError;
use crate::highs::node_count;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MipColumn {
    /// The objective coefficient.
    pub cost: f64,
    /// The least value. It may be minus infinity.
    pub lower: f64,
    /// The largest value. It may be infinite.
    pub upper: f64,
    /// True if the value must be an integer.
    pub is_integer: bool,
}

/// A row `lower <= a x <= upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct MipRow {
    /// The least value of `a x`. It may be minus infinity.
    pub lower: f64,
    /// The largest value of `a x`. It may be infinite.
    pub upper: f64,
    /// `(column, coefficient)`. No column may be listed twice.
    pub entries: Vec<(usize, f64)>,
}

/// A mixed-integer linear programme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MipModel {
    columns: Vec<MipColumn>,
    rows: Vec<MipRow>,
}

/// The limits at which a search ends, and the tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MipSettings {
    /// The time limit in seconds. Infinite for no limit.
    pub time_limit: f64,
    /// The gap between bound and objective, as a fraction of the objective, at which the search ends.
    pub relative_gap: f64,
    /// The gap between bound and objective, in units of the objective, at which the search ends.
    pub absolute_gap: f64,
    /// The largest allowed violation of a row, a bound or integrality. It must be at least 1e-10.
    pub tolerance: f64,
}

impl Default for MipSettings {
    fn default() -> Self {
        Self { time_limit: 60.0, relative_gap: 0.0, absolute_gap: 0.0, tolerance: 1e-9 }
    }
}

/// The reason why a search that found a solution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MipStatus {
    /// HiGHS claims that no solution is better by more than the gaps of the settings.
    Optimal,
    /// The time limit was reached. The solution is the best one found until then.
    TimeLimit,
}

/// A solution in floating point.
#[derive(Debug, Clone, PartialEq)]
pub struct MipSolution {
    /// Value of each column.
    pub values: Vec<f64>,
    /// The objective at these values.
    pub objective: f64,
    /// The value that no solution exceeds, according to HiGHS.
    pub bound: f64,
    /// The reason why the search ended.
    pub status: MipStatus,
    /// The number of nodes of the branch-and-bound tree.
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

    /// Adds a row over existing columns and returns its index.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for NaN or an infinite coefficient, [`LpError::NoColumn`] for a
    /// column that does not exist.
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

    /// Returns the number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Searches for the best solution within the limits of the settings.
    ///
    /// # Errors
    /// Each HiGHS status except `Optimal` has its own error. A time limit that is reached before any solution was found
    /// is also an error.
    pub fn solve(&self, settings: &MipSettings) -> Result<MipSolution, LpError> {
        if i32::try_from(self.rows.len()).is_err() || i32::try_from(self.columns.len()).is_err() {
            return Err(LpError::TooLarge);
        }
        // The number of nodes is unknown here, so the work on the tree cannot be charged. The time limit bounds it
        // instead.
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
        // HiGHS uses one thread, so that the same model has the same answer on every machine.
        model.try_set_option("parallel", "off").map_err(option("parallel"))?;
        model.try_set_option("threads", 1).map_err(option("threads"))?;

        let solved = model.try_solve().map_err(refused("solve"))?;
        // The method `primal_solution_status` would panic if HiGHS has no status.
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
            // For a programme without integers, HiGHS computes no bound. The bound of an optimum is its value.
            if status == MipStatus::Optimal { objective } else { f64::INFINITY }
        };
        let nodes = node_count(&solved);
        Ok(MipSolution { values: solved.get_solution().columns().to_vec(), objective, bound, status, nodes })
    }
}
