//! The interface to HiGHS: one linear programme that stays in memory and is changed in place.
//!
//! This module and one line of `linear/cholesky.rs` are the only places in the workspace with `unsafe`. The safe
//! `highs` crate builds and owns the model, but it can neither read nor set a basis, and it cannot change coefficients
//! in place. This module calls the C interface for these operations on the same model.

use std::ffi::c_int;

use evenhand_budget::{charge, work_left};
use highs::{ColProblem, HighsModelStatus, HighsStatus, Model, Sense, SolvedModel};

use crate::error::LpError;
use crate::exact_lp::Variable;
use crate::settings::HIGHS;

/// The option `simplex_strategy` of HiGHS for the primal method.
const PRIMAL_SIMPLEX: i32 = 4;
/// The option `simplex_strategy` of HiGHS for the dual method.
const DUAL_SIMPLEX: i32 = 1;

/// The status of a variable or a row in a basis, in the numbers of HiGHS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum BasisStatus {
    /// Not basic, at its lower bound.
    Lower,
    /// Basic.
    Basic,
    /// Not basic, at its upper bound.
    Upper,
    /// Not basic and free, at zero.
    Zero,
}

/// A basis: the status of every column and of every row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    /// The status of the columns.
    pub columns: Vec<BasisStatus>,
    /// The status of the rows.
    pub rows: Vec<BasisStatus>,
}

impl Basis {
    /// Returns the basic variables: columns first, then the slacks of rows.
    pub fn variables(&self) -> impl Iterator<Item = Variable> {
        let basic = |(at, status): (usize, &BasisStatus)| (*status == BasisStatus::Basic).then_some(at);
        let columns = self.columns.iter().enumerate().filter_map(basic).map(Variable::Column);
        columns.chain(self.rows.iter().enumerate().filter_map(basic).map(Variable::Slack))
    }
}

/// An optimal solution in floating point.
#[derive(Debug, Clone, Default)]
pub struct FloatSolution {
    /// Value of each column.
    pub columns: Vec<f64>,
    /// Dual value of each row: the change of the optimum for one more unit of the right-hand side.
    pub row_duals: Vec<f64>,
}

/// A block of columns to be added, with their bounds.
#[derive(Debug, Clone, Default)]
pub struct ColumnBlock {
    costs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    starts: Vec<c_int>,
    rows: Vec<c_int>,
    values: Vec<f64>,
}

impl ColumnBlock {
    /// Adds one column with the lower bound 0.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for a number that is not finite (HiGHS would accept it), and [`LpError::TooLarge`] for an
    /// index that is too large for HiGHS.
    pub fn push(
        &mut self,
        cost: f64,
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<(), LpError> {
        self.push_above(cost, 0.0, entries)
    }

    /// Adds one column with another lower bound.
    ///
    /// # Errors
    /// The same errors as [`ColumnBlock::push`].
    pub fn push_above(
        &mut self,
        cost: f64,
        lower: f64,
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<(), LpError> {
        self.push_between(cost, finite(lower)?, f64::INFINITY, entries)
    }

    /// Adds one column with these bounds, which may be infinite.
    ///
    /// # Errors
    /// The same errors as [`ColumnBlock::push`], and [`LpError::NotFinite`] for a bound that is NaN.
    pub fn push_between(
        &mut self,
        cost: f64,
        lower: f64,
        upper: f64,
        entries: impl IntoIterator<Item = (usize, f64)>,
    ) -> Result<(), LpError> {
        if lower.is_nan() || upper.is_nan() {
            return Err(LpError::NotFinite);
        }
        // If a column is refused, none of its entries may remain.
        let entries = entries.into_iter().map(|(row, value)| Ok((index(row)?, finite(value)?)));
        let entries: Vec<(c_int, f64)> = entries.collect::<Result<_, LpError>>()?;
        let (cost, start) = (finite(cost)?, index(self.rows.len())?);
        self.costs.push(cost);
        self.lower.push(lower);
        self.upper.push(upper);
        self.starts.push(start);
        self.rows.extend(entries.iter().map(|(row, _)| *row));
        self.values.extend(entries.iter().map(|(_, value)| *value));
        Ok(())
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// Returns true if there is no column.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }
}

/// A linear programme `max c x` over rows with bounds and columns with lower bounds, in HiGHS.
pub struct FloatLp {
    model: Option<Model>,
    n_columns: usize,
    n_rows: usize,
    n_entries: usize,
    /// The largest number of simplex iterations of a solve.
    most_iterations: i32,
    /// True if the model has a basis that was optimal.
    is_solved: bool,
}

impl FloatLp {
    /// Creates a programme with rows `lower <= a x <= upper` and no columns. An infinite bound means that there is no
    /// bound.
    ///
    /// # Errors
    /// [`LpError`] when HiGHS refuses the model.
    pub fn new(rows: &[(f64, f64)]) -> Result<Self, LpError> {
        let mut problem = ColProblem::new();
        for (lower, upper) in rows {
            if lower.is_nan() || upper.is_nan() {
                return Err(LpError::NotFinite);
            }
            problem.add_row(*lower..=*upper);
        }
        let mut model = problem.try_optimise(Sense::Maximise).map_err(call("pass the model"))?;
        model.make_quiet();
        let mut lp = Self {
            model: None,
            n_columns: 0,
            n_rows: rows.len(),
            n_entries: 0,
            most_iterations: i32::MAX,
            is_solved: false,
        };
        // Primal simplex without presolve is fastest on these programmes, and it keeps the basis.
        for (option, value) in [("presolve", "off"), ("solver", "simplex"), ("parallel", "off")] {
            model.try_set_option(option, value).map_err(|_| LpError::Option(option))?;
        }
        model.try_set_option("threads", 1).map_err(|_| LpError::Option("threads"))?;
        lp.model = Some(model);
        lp.set_method(PRIMAL_SIMPLEX, HIGHS.tolerance)?;
        Ok(lp)
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds columns. The basis is kept, and the new columns are nonbasic at 0.
    ///
    /// # Errors
    /// [`LpError::Call`] when HiGHS refuses.
    pub fn add_columns(&mut self, block: &ColumnBlock) -> Result<(), LpError> {
        if block.is_empty() {
            return Ok(());
        }
        let count = index(block.len())?;
        let nonzeros = index(block.rows.len())?;
        let model = self.pointer()?;
        // SAFETY: the model is alive, and every array has the length that the call documents:
        // `count` costs, bounds and starts, `nonzeros` indices and values.
        let status = unsafe {
            highs_sys::Highs_addCols(
                model,
                count,
                block.costs.as_ptr(),
                block.lower.as_ptr(),
                block.upper.as_ptr(),
                nonzeros,
                block.starts.as_ptr(),
                block.rows.as_ptr(),
                block.values.as_ptr(),
            )
        };
        accept(status, "add columns")?;
        self.n_columns += block.len();
        self.n_entries += block.rows.len();
        Ok(())
    }

    /// Adds rows `(lower, entry, upper)` that have an entry only in column 0. They are basic.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for NaN, or for an entry that is not finite, and [`LpError::Call`]
    /// when HiGHS refuses.
    pub fn add_rows(&mut self, rows: &[(f64, f64, f64)]) -> Result<(), LpError> {
        if rows.iter().any(|(lower, entry, upper)| lower.is_nan() || !entry.is_finite() || upper.is_nan()) {
            return Err(LpError::NotFinite);
        }
        let count = index(rows.len())?;
        let lower: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let upper: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let (mut starts, mut values) = (Vec::with_capacity(rows.len()), Vec::new());
        for (_, entry, _) in rows {
            starts.push(index(values.len())?);
            values.extend((*entry != 0.0).then_some(*entry));
        }
        let columns: Vec<c_int> = vec![0; values.len()];
        let n_entries = index(values.len())?;
        let model = self.pointer()?;
        // SAFETY: the model is alive; bounds and starts have `count` entries, columns and values `n_entries`.
        let status = unsafe {
            highs_sys::Highs_addRows(
                model,
                count,
                lower.as_ptr(),
                upper.as_ptr(),
                n_entries,
                starts.as_ptr(),
                columns.as_ptr(),
                values.as_ptr(),
            )
        };
        accept(status, "add rows")?;
        self.n_rows += rows.len();
        self.n_entries += values.len();
        Ok(())
    }

    /// Sets one coefficient.
    ///
    /// # Errors
    /// [`LpError::NotFinite`], or [`LpError::Call`] when HiGHS refuses.
    pub fn set_coefficient(&mut self, row: usize, column: usize, value: f64) -> Result<(), LpError> {
        let (row, column, value) = (index(row)?, index(column)?, finite(value)?);
        let model = self.pointer()?;
        // SAFETY: the model is alive; HiGHS checks the indices itself.
        let status = unsafe { highs_sys::Highs_changeCoeff(model, row, column, value) };
        accept(status, "change a coefficient")
    }

    /// Sets the cost of one column.
    ///
    /// # Errors
    /// [`LpError::NotFinite`], or [`LpError::Call`] when HiGHS refuses.
    pub fn set_cost(&mut self, column: usize, cost: f64) -> Result<(), LpError> {
        let (column, cost) = (index(column)?, finite(cost)?);
        let model = self.pointer()?;
        // SAFETY: the model is alive; HiGHS checks the index itself.
        let status = unsafe { highs_sys::Highs_changeColCost(model, column, cost) };
        accept(status, "change a cost")
    }

    /// Sets the bounds of one row.
    ///
    /// # Errors
    /// [`LpError::NotFinite`] for NaN, or [`LpError::Call`] when HiGHS refuses.
    pub fn set_row_bounds(&mut self, row: usize, lower: f64, upper: f64) -> Result<(), LpError> {
        if lower.is_nan() || upper.is_nan() {
            return Err(LpError::NotFinite);
        }
        let row = index(row)?;
        let model = self.pointer()?;
        // SAFETY: the model is alive; HiGHS checks the index itself.
        let status = unsafe { highs_sys::Highs_changeRowBounds(model, row, lower, upper) };
        accept(status, "change row bounds")
    }

    /// Sets the basis from which the next solve starts.
    ///
    /// # Errors
    /// [`LpError::BasisLength`] for a basis of another size, or [`LpError::Call`].
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), LpError> {
        if basis.columns.len() != self.n_columns || basis.rows.len() != self.n_rows {
            return Err(LpError::BasisLength);
        }
        let columns: Vec<c_int> = basis.columns.iter().map(|s| *s as c_int).collect();
        let rows: Vec<c_int> = basis.rows.iter().map(|s| *s as c_int).collect();
        let model = self.pointer()?;
        // SAFETY: the model is alive and the arrays have one entry per column and per row.
        let status = unsafe { highs_sys::Highs_setBasis(model, columns.as_ptr(), rows.as_ptr()) };
        accept(status, "set the basis")
    }

    /// Returns the basis of the last solve.
    ///
    /// # Errors
    /// [`LpError::Call`] when there is no basis.
    pub fn basis(&mut self) -> Result<Basis, LpError> {
        let mut columns: Vec<c_int> = vec![0; self.n_columns];
        let mut rows: Vec<c_int> = vec![0; self.n_rows];
        let model = self.pointer()?;
        // SAFETY: the model is alive and the arrays have room for every column and row.
        let status = unsafe { highs_sys::Highs_getBasis(model, columns.as_mut_ptr(), rows.as_mut_ptr()) };
        accept(status, "read the basis")?;
        let read = |codes: Vec<c_int>| codes.into_iter().map(BasisStatus::from_highs).collect();
        Ok(Basis { columns: read(columns), rows: read(rows) })
    }

    /// Solves the programme, starting from the basis of the last solve.
    ///
    /// If numbers are far apart, the primal simplex method of HiGHS sometimes calls a programme unbounded, or gives up.
    /// Such a programme is tried again with the dual method, and then with wider tolerances.
    ///
    /// # Errors
    /// Each HiGHS status except `Optimal` has its own error. The error of the last attempt is returned.
    pub fn solve(&mut self) -> Result<FloatSolution, LpError> {
        let first = self.attempt();
        if first.is_ok() {
            return first;
        }
        let mut last = first;
        for tolerance in [HIGHS.tolerance, HIGHS.wide_tolerance] {
            self.set_method(DUAL_SIMPLEX, tolerance)?;
            last = self.attempt();
            if last.is_ok() {
                break;
            }
        }
        self.set_method(PRIMAL_SIMPLEX, HIGHS.tolerance)?;
        last
    }

    /// Solves a programme of any kind with the defaults of HiGHS (presolve and the dual simplex method), within a time
    /// limit in seconds. If that fails, both simplex methods are tried without presolve.
    ///
    /// # Errors
    /// The same errors as [`FloatLp::solve`], and [`LpError::TimeLimit`] when the time limit is reached.
    pub fn solve_presolved(&mut self, seconds: Option<f64>) -> Result<FloatSolution, LpError> {
        self.set_option("time_limit", seconds.unwrap_or(f64::INFINITY))?;
        self.set_option("presolve", "on")?;
        self.set_method(DUAL_SIMPLEX, HIGHS.tolerance)?;
        let first = self.attempt();
        self.set_option("presolve", "off")?;
        match first {
            Err(
                LpError::TimeLimit
                | LpError::Infeasible
                | LpError::Unbounded
                | LpError::UnboundedOrInfeasible,
            )
            | Ok(_) => first,
            Err(_) => self.solve_again(),
        }
    }

    fn set_option<V: highs::HighsOptionValue>(
        &mut self,
        name: &'static str,
        value: V,
    ) -> Result<(), LpError> {
        let model = self.model.as_mut().ok_or(LpError::Lost)?;
        model.try_set_option(name, value).map_err(|_| LpError::Option(name))
    }

    /// Turns off the scaling of HiGHS, which programmes with numbers near 1 do not need.
    ///
    /// # Errors
    /// [`LpError`] when HiGHS refuses the option.
    pub fn without_scaling(&mut self) -> Result<(), LpError> {
        const NAME: &str = "simplex_scale_strategy";
        let model = self.model.as_mut().ok_or(LpError::Lost)?;
        model.try_set_option(NAME, 0).map_err(|_| LpError::Option(NAME))
    }

    /// Solves again after the bounds of rows have changed. The dual method is used, because the last basis is feasible
    /// for it.
    ///
    /// HiGHS perturbs costs only if there is no last basis, since a nearly optimal basis needs few steps.
    ///
    /// # Errors
    /// The same errors as [`FloatLp::solve`].
    pub fn solve_again(&mut self) -> Result<FloatSolution, LpError> {
        const PERTURBATION: &str = "dual_simplex_cost_perturbation_multiplier";
        self.set_method(DUAL_SIMPLEX, HIGHS.tolerance)?;
        let perturbed = if self.is_solved { 0.0 } else { 1.0 };
        let model = self.model.as_mut().ok_or(LpError::Lost)?;
        model.try_set_option(PERTURBATION, perturbed).map_err(|_| LpError::Option(PERTURBATION))?;
        let first = self.attempt();
        self.set_method(PRIMAL_SIMPLEX, HIGHS.tolerance)?;
        first.or_else(|_| self.solve())
    }

    /// Solves the programme if at most `iterations` iterations suffice. Returns `None` otherwise.
    ///
    /// # Errors
    /// The same errors as [`FloatLp::solve`].
    pub fn solve_within(&mut self, iterations: i32) -> Result<Option<FloatSolution>, LpError> {
        self.most_iterations = iterations;
        let first = self.attempt();
        self.most_iterations = i32::MAX;
        match first {
            Err(LpError::IterationLimit) => Ok(None),
            Ok(solution) => Ok(Some(solution)),
            Err(_) => self.solve().map(Some),
        }
    }

    /// Returns the number of simplex iterations of the last solve. The result is 0 if HiGHS does not report it.
    pub fn iterations(&mut self) -> Result<i32, LpError> {
        let mut count: c_int = 0;
        let model = self.pointer()?;
        // SAFETY: the model is alive, the name is a string that ends with 0, and `count` outlives the
        // call, which writes one integer or nothing.
        let status = unsafe {
            highs_sys::Highs_getIntInfoValue(model, c"simplex_iteration_count".as_ptr(), &raw mut count)
        };
        Ok(if status == 0 { count } else { 0 })
    }

    fn set_limit(&mut self, iterations: i32) -> Result<(), LpError> {
        const NAME: &str = "simplex_iteration_limit";
        let model = self.model.as_mut().ok_or(LpError::Lost)?;
        model.try_set_option(NAME, iterations).map_err(|_| LpError::Option(NAME))
    }

    /// Calls HiGHS once and charges the work.
    ///
    /// The size of the programme is charged before the call. The iterations are limited by the work
    /// that is left.
    fn attempt(&mut self) -> Result<FloatSolution, LpError> {
        const WHAT: &str = "a linear programme";
        // HiGHS factors the basis again from time to time. Every iteration solves with the factors and prices columns.
        let size = (self.n_rows + self.n_columns + self.n_entries) as u64;
        charge(4 * size, WHAT);
        let each = 2 * self.n_rows as u64 + size / 16 + 100;
        // HiGHS may do one iteration more than the budget allows, so that the charge below stops a programme that
        // exceeds the budget.
        let payable = work_left().map_or(i32::MAX, |left| i32::try_from(left / each + 1).unwrap_or(i32::MAX));
        self.set_limit(self.most_iterations.min(payable))?;
        let model = self.model.take().ok_or(LpError::Lost)?;
        let solved = model.try_solve().map_err(call("solve"))?;
        let status = solved.status();
        let solution = solved.get_solution();
        self.model = Some(solved.into());
        let taken = u64::try_from(self.iterations()?).unwrap_or(0);
        charge(taken.saturating_mul(each), WHAT);
        match LpError::from_status(status) {
            Some(error) => Err(error),
            None => {
                self.is_solved = true;
                let (columns, row_duals) = (solution.columns().to_vec(), solution.dual_rows().to_vec());
                Ok(FloatSolution { columns, row_duals })
            }
        }
    }

    fn set_method(&mut self, strategy: i32, tolerance: f64) -> Result<(), LpError> {
        let model = self.model.as_mut().ok_or(LpError::Lost)?;
        let option = |name| move |_| LpError::Option(name);
        model.try_set_option("simplex_strategy", strategy).map_err(option("simplex_strategy"))?;
        for name in ["primal_feasibility_tolerance", "dual_feasibility_tolerance"] {
            model.try_set_option(name, tolerance).map_err(option(name))?;
        }
        Ok(())
    }

    fn pointer(&mut self) -> Result<*mut std::ffi::c_void, LpError> {
        Ok(self.model.as_mut().ok_or(LpError::Lost)?.as_mut_ptr())
    }
}

impl BasisStatus {
    /// Converts a status code of HiGHS. Code 4 ("nonbasic, bound not stated") counts as the lower bound.
    fn from_highs(code: c_int) -> Self {
        match code {
            1 => Self::Basic,
            2 => Self::Upper,
            3 => Self::Zero,
            _ => Self::Lower,
        }
    }
}

impl LpError {
    /// Returns the error of a status. `None` for `Optimal`.
    pub(crate) fn from_status(status: HighsModelStatus) -> Option<Self> {
        Some(match status {
            HighsModelStatus::Optimal => return None,
            HighsModelStatus::ModelEmpty => Self::Empty,
            HighsModelStatus::Infeasible => Self::Infeasible,
            HighsModelStatus::UnboundedOrInfeasible => Self::UnboundedOrInfeasible,
            HighsModelStatus::Unbounded => Self::Unbounded,
            HighsModelStatus::ReachedTimeLimit => Self::TimeLimit,
            HighsModelStatus::ReachedIterationLimit => Self::IterationLimit,
            HighsModelStatus::LoadError => Self::Status("load error"),
            HighsModelStatus::ModelError => Self::Status("model error"),
            HighsModelStatus::PresolveError => Self::Status("presolve error"),
            HighsModelStatus::SolveError => Self::Status("solve error"),
            HighsModelStatus::PostsolveError => Self::Status("postsolve error"),
            HighsModelStatus::ReachedMemoryLimit => Self::Status("memory limit"),
            // This crate sets no limit on objectives or solutions, so these statuses do not occur. A status that this
            // version does not know is not a success.
            _ => Self::Status("unknown"),
        })
    }
}

/// Returns the number of nodes of the branch-and-bound tree of a solution. The result is 0 if there was no tree.
///
/// The safe interface cannot read 64-bit numbers.
pub(crate) fn node_count(solved: &SolvedModel) -> u64 {
    let mut count: i64 = 0;
    // SAFETY: the model is alive, the name is a string that ends with 0, and `count` outlives the
    // call, which writes one 64-bit integer or nothing.
    let status = unsafe {
        highs_sys::Highs_getInt64InfoValue(solved.as_ptr(), c"mip_node_count".as_ptr(), &raw mut count)
    };
    if status == 0 { u64::try_from(count).unwrap_or(0) } else { 0 }
}

fn accept(status: c_int, what: &'static str) -> Result<(), LpError> {
    // In HiGHS, 0 is success, 1 is a warning (such as a coefficient too small to matter), and -1 is an error.
    if status < 0 { Err(LpError::Call { what }) } else { Ok(()) }
}

fn call(what: &'static str) -> impl Fn(HighsStatus) -> LpError {
    move |_| LpError::Call { what }
}

fn index(value: usize) -> Result<c_int, LpError> {
    c_int::try_from(value).map_err(|_| LpError::TooLarge)
}

fn finite(value: f64) -> Result<f64, LpError> {
    if value.is_finite() { Ok(value) } else { Err(LpError::NotFinite) }
}
