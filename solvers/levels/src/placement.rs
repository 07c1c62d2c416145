//! Decides whether given totals of tasks can be placed on the classes, with a proof if they cannot.
//!
//! The programme is
//!
//! ```text
//! min s   such that   sum_n x_ni d_nir <= (1 + s) c_ir   for every capacity row,
//!                     sum x_ni d_nir <= (1 + s) L        for every limit, over its users and classes,
//!                     sum_i x_ni >= T_n                  for every user,      s >= 0
//! ```
//!
//! The totals `T` can be placed if `s = 0`. The feasible prices `p` of the programme do not depend on `T`. For any
//! `p >= 0`, all totals that can be placed satisfy `sum_n T_n min_i p d_ni <= p c`, where `c` and `p` include the
//! limits and their prices. Totals that cannot be placed violate such a bound. HiGHS guesses the basis. The prices of
//! the basis are computed in rationals, so every bound is true. Totals that reach a bound satisfy it with equality. If
//! a limit is 0, its users cannot run on its classes at all.

use evenhand_budget::each;
use evenhand_exact::tree::{Bound, ClassLimits};
use evenhand_problem::number::near;
use evenhand_problem::{Constraints, Rational};

use crate::error::LevelsError;
use crate::groups::capacity_entries;
use crate::settings::PLACING;
use evenhand_lp::LpError;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Feasibility, Sense, Variable, prices};
use evenhand_lp::highs::{ColumnBlock, FloatLp, FloatSolution};
use evenhand_lp::refine::{self, StartingPoint};
use evenhand_lp::settings::EXACT;

mod spread;

/// The number of users whose columns are built at a time. Threads share this work. Meanwhile the columns are in memory
/// twice.
const USERS_AT_A_TIME: usize = 1 << 8;

/// Tasks of each user, indexed by user: `(class, tasks)`, ascending by class.
pub type Placed = Vec<Vec<(usize, Rational)>>;

/// A placement of totals, or a bound that proves that there is none.
pub enum Place {
    /// A placement of the totals.
    Found(Placed),
    /// A bound that the totals violate.
    Broken(Bound),
}

/// Totals of tasks, one for each user, which may take long to compute exactly.
pub trait Totals {
    /// Returns the totals, exact to about 20 digits. The result is only a guess that is checked later.
    fn nearly(&self) -> Vec<Rational>;
    /// Returns true if the exact totals violate a bound.
    fn break_bound(&self, bound: &Bound) -> bool;
    /// Returns the exact totals.
    fn exactly(&mut self) -> Vec<Rational>;
}

impl Totals for Vec<Rational> {
    fn nearly(&self) -> Vec<Rational> {
        self.clone()
    }

    fn break_bound(&self, bound: &Bound) -> bool {
        bound.left(self) < 0
    }

    fn exactly(&mut self) -> Vec<Rational> {
        self.clone()
    }
}

/// A programme that decides whether totals of the users can be placed. Each search starts from the last answer.
pub struct Placements {
    /// The capacities of the rows of the classes, followed by the limits.
    capacity: Vec<Rational>,
    /// The programme, without totals.
    lp: ExactLp,
    /// The largest value that each column can have, approximately.
    units: Vec<f64>,
    /// `(user, class)` of each column from the second on. The first column is `s`.
    placements: Vec<(usize, usize)>,
    /// The number of classes.
    classes: usize,
    /// The programme in doubles, with only some of the columns.
    float: FloatLp,
    /// For each column of `float`, the index of the column in `lp`.
    inside: Vec<usize>,
    /// For each column of `lp`, true if it is in `float`.
    is_inside: Vec<bool>,
    /// For each user, the tasks that it could have alone on its columns in `float`.
    room: Vec<f64>,
    /// The totals in `float`. The unit of each is the number of tasks that the user could have alone.
    in_float: Vec<f64>,
    /// The totals that were requested last, in the same unit as `in_float`.
    asked: Vec<f64>,
    /// For each user, the number of tasks that it could have alone.
    alone: Vec<f64>,
    /// For each row of `lp`, the amount that counts as 1 in `float`.
    scales: Vec<f64>,
    /// The placement of the last totals that could be placed: `(column, value)`.
    last: Vec<(usize, f64)>,
}

impl Placements {
    /// Returns the bound that follows from prices of the rows.
    fn bound(&self, prices: &[Rational]) -> Bound {
        Bound::new(prices, |prices| {
            let mut worth = Vec::new();
            let columns = self.placements.iter().zip(&self.lp.columns[1..]);
            let columns: Vec<(usize, &ExactColumn)> = columns.map(|((n, _), column)| (*n, column)).collect();
            for of_user in columns.chunk_by(|a, b| a.0 == b.0) {
                let cost = |(_, column): &(usize, &ExactColumn)| -> Rational {
                    let priced = |row: usize| prices.get(row).is_some_and(|price| !price.is_zero());
                    let entries = column.entries.iter().filter(|(row, _)| priced(*row));
                    entries.map(|(row, usage)| Rational::from(usage * &prices[*row])).sum()
                };
                let least = of_user.iter().map(cost).min();
                worth.extend(least.filter(|least| *least > 0).map(|least| (of_user[0].0, least)));
            }
            let rows = self.capacity.iter().zip(prices);
            (worth, rows.map(|(capacity, price)| Rational::from(capacity * price)).sum())
        })
    }

    /// Builds the programme of a problem for one kind of sharing, with limits on server classes.
    ///
    /// # Errors
    /// [`LevelsError`] when HiGHS refuses the model.
    pub fn new(constraints: &Constraints<'_>, limits: &ClassLimits) -> Result<Self, LevelsError> {
        let problem = constraints.problem();
        let users = problem.n_users();
        let capacity = constraints.rows().iter().map(|row| &row.capacity);
        let capacity: Vec<Rational> =
            capacity.chain(limits.list.iter().map(|of| &of.most)).cloned().collect();
        let rows = &capacity;
        let mut lp = ExactLp::default();
        lp.rows.extend(rows.iter().map(|capacity| (Sense::AtMost, capacity.clone())));
        lp.rows.extend((0..users).map(|_| (Sense::AtLeast, Rational::new())));
        let all = rows.iter().enumerate().map(|(row, capacity)| (row, Rational::from(-capacity)));
        let entries = all.filter(|(_, capacity)| !capacity.is_zero()).collect();
        lp.columns.push(ExactColumn { cost: Rational::from(-1), entries });
        let column = |n: usize, i: usize| {
            let mut entries = capacity_entries(constraints, n, i);
            let counted = limits.counts(problem, n, i);
            entries.extend(counted.map(|(at, d)| (constraints.rows().len() + at, d.clone())));
            entries.push((rows.len() + n, Rational::from(1)));
            ExactColumn { cost: Rational::new(), entries }
        };
        // Returns the columns of a user with their units, and the tasks that the user could have alone.
        let of_user = |n: usize| {
            let gamma: Vec<(usize, f64)> =
                problem.classes_of(n).map(|i| (i, near(&problem.gamma(n, i)))).collect();
            let all: f64 = gamma.iter().map(|(_, unit)| unit).sum();
            let unit = |i: usize| gamma.binary_search_by_key(&i, |(i, _)| *i).map_or(0.0, |at| gamma[at].1);
            let columns = limits.allowed(problem, n).map(|i| (i, unit(i), column(n, i)));
            (columns.collect::<Vec<_>>(), if all > 0.0 { all } else { 1.0 })
        };
        let (mut units, mut placements, mut alone) = (vec![1.0], Vec::new(), Vec::with_capacity(users));
        lp.columns.reserve_exact((0..users).map(|n| problem.classes_of(n).count()).sum());
        for first in (0..users).step_by(USERS_AT_A_TIME) {
            let some = USERS_AT_A_TIME.min(users - first);
            let found = each(some, problem.n_servers(), |at| of_user(first + at));
            for (n, (columns, all)) in (first..).zip(found) {
                for (i, unit, column) in columns {
                    units.push(unit);
                    placements.push((n, i));
                    lp.columns.push(column);
                }
                alone.push(all);
            }
        }
        let scales = rows.iter().map(near).chain(alone.iter().copied()).collect();
        let bounds = |row: usize| match rows.get(row) {
            Some(capacity) => (f64::NEG_INFINITY, if capacity.is_zero() { 0.0 } else { 1.0 }),
            None => (0.0, f64::INFINITY),
        };
        let mut float = FloatLp::new(&(0..lp.rows.len()).map(bounds).collect::<Vec<_>>())?;
        float.without_scaling()?;
        let classes = problem.n_servers();
        let (asked, room, is_inside) = (vec![0.0; users], vec![0.0; users], vec![false; lp.columns.len()]);
        let inside = Vec::new();
        let mut all = Self {
            capacity,
            lp,
            units,
            placements,
            classes,
            float,
            inside,
            is_inside,
            room,
            in_float: asked.clone(),
            asked,
            alone,
            scales,
            last: Vec::new(),
        };
        let first = all.first();
        all.admit_columns(first)?;
        Ok(all)
    }

    /// Returns the columns with which the programme in doubles starts.
    fn first(&self) -> Vec<usize> {
        let part = |column: &usize| self.units[*column] / self.alone[self.placements[column - 1].0];
        let mut of_user = vec![Vec::new(); self.alone.len()];
        let mut of_class = vec![Vec::new(); self.classes];
        for (at, (n, i)) in self.placements.iter().enumerate() {
            of_user[*n].push(1 + at);
            of_class[*i].push(1 + at);
        }
        let mut first = vec![0];
        for (lists, most) in [(&mut of_user, PLACING.first_of_user), (&mut of_class, PLACING.first_of_class)]
        {
            for list in lists {
                list.sort_by(|a, b| part(b).total_cmp(&part(a)));
                first.extend(list.iter().take(most));
            }
        }
        first.sort_unstable();
        first.dedup();
        first
    }

    /// Adds columns to the programme in doubles.
    fn admit_columns(&mut self, columns: Vec<usize>) -> Result<(), LevelsError> {
        let mut block = ColumnBlock::default();
        for column in &columns {
            let entries: Vec<(usize, f64)> = self.entries(*column).collect();
            block.push(self.lp.columns[*column].cost.to_f64(), entries)?;
            self.is_inside[*column] = true;
            if let Some(at) = column.checked_sub(1) {
                self.room[self.placements[at].0] += self.units[*column];
            }
        }
        self.float.add_columns(&block)?;
        self.inside.extend(columns);
        Ok(())
    }

    /// Returns the scaled entries of a column, in doubles.
    fn entries(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        scaled(&self.lp.columns[column], self.units[column], &self.scales)
    }

    /// Returns the columns that would lower `s` at these prices: the best columns of each user.
    fn wanted(&self, prices: &[f64]) -> Vec<usize> {
        let mut wanted: Vec<(usize, f64, usize)> = Vec::new();
        let Self { lp, units, scales, is_inside, .. } = self;
        let gain = |column: usize| match is_inside[column] {
            true => 0.0,
            false => {
                let entries = scaled(&lp.columns[column], units[column], scales);
                -entries.map(|(row, value)| prices[row] * value).sum::<f64>()
            }
        };
        for (column, gain) in each(is_inside.len(), 1, gain).into_iter().enumerate() {
            if gain > PLACING.cheaper {
                wanted.push((self.placements[column - 1].0, gain, column));
            }
        }
        let most = if wanted.len() <= PLACING.few { PLACING.few } else { PLACING.more_of_user };
        wanted.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let of_user = wanted.chunk_by(|a, b| a.0 == b.0);
        of_user.flat_map(|list| list.iter().take(most)).map(|(_, _, column)| *column).collect()
    }

    /// Returns a bound that the totals violate, if doubles show one.
    ///
    /// # Errors
    /// [`LevelsError`] when HiGHS fails.
    pub fn broken(&mut self, totals: &[Rational]) -> Result<Option<Bound>, LevelsError> {
        self.set_totals(totals);
        if let Some(placed) = self.place_in_doubles() {
            self.last = placed;
            return Ok(None);
        }
        self.set_totals_in_float()?;
        let solution = self.float.solve_again()?;
        let excess = Rational::from_f64(PLACING.excess).unwrap_or_default();
        self.beyond(solution, |bound| bound.left(totals) < -Rational::from(&excess * &bound.most))
    }

    fn set_totals(&mut self, totals: &[Rational]) {
        let parts = totals.iter().zip(&self.alone).map(|(total, alone)| near(total) / alone);
        self.asked = parts.collect();
    }

    /// Sets the totals that were requested last in the programme in doubles.
    fn set_totals_in_float(&mut self) -> Result<(), LevelsError> {
        let rows = self.capacity.len();
        for (n, asked) in self.asked.iter().enumerate() {
            if *asked != self.in_float[n] {
                self.float.set_row_bounds(rows + n, *asked, f64::INFINITY)?;
                self.in_float[n] = *asked;
            }
        }
        let is_tight = |n: usize| self.asked[n] * self.alone[n] * PLACING.room > self.room[n];
        let outside = (1..self.is_inside.len()).filter(|column| !self.is_inside[*column]);
        let needed = outside.filter(|column| is_tight(self.placements[column - 1].0)).collect();
        self.admit_columns(needed)
    }

    /// Solves the programme for the last totals. If a greedy placement of nearly all of them exists, the solver starts
    /// from it.
    fn near(&mut self) -> Result<FloatSolution, LevelsError> {
        self.set_totals_in_float()?;
        let Some((columns, rows)) = self.nearly() else { return Ok(self.float.solve_again()?) };
        self.admit_columns(columns.iter().copied().filter(|column| !self.is_inside[*column]).collect())?;
        let basis = self.basis_of(&columns, rows);
        self.float.set_basis(&basis)?;
        Ok(self.float.solve()?)
    }

    /// Returns a bound that the last totals violate, derived from a solution of the programme in doubles.
    fn beyond(
        &mut self,
        mut solution: FloatSolution,
        is_broken: impl Fn(&Bound) -> bool,
    ) -> Result<Option<Bound>, LevelsError> {
        let rows = self.capacity.len();
        loop {
            let needed = solution.columns.first().copied().unwrap_or_default();
            if needed <= 0.0 {
                self.store_placement(&solution.columns);
                return Ok(None);
            }
            let wanted = self.wanted(&solution.row_duals);
            if wanted.is_empty() {
                break;
            }
            self.admit_columns(wanted)?;
            // The last basis is still feasible, so the primal method continues from it. The dual
            // method would start again.
            solution = self.float.solve()?;
        }
        let prices = self.prices(&solution)?;
        let bound = self.bound(&prices[..rows]);
        let is_broken = is_broken(&bound);
        if !is_broken {
            self.store_placement(&solution.columns);
        }
        Ok(is_broken.then_some(bound))
    }

    /// Computes the exact prices of the basis of a solution in doubles. Most rows have the price 0 and are left out.
    fn prices(&mut self, solution: &FloatSolution) -> Result<Vec<Rational>, LevelsError> {
        let mut place = vec![None; self.lp.rows.len()];
        let mut lp = ExactLp::default();
        for (row, _) in solution.row_duals.iter().enumerate().filter(|(_, price)| **price != 0.0) {
            place[row] = Some(lp.rows.len());
            lp.rows.push(self.lp.rows[row].clone());
        }
        for variable in self.basis()? {
            let Variable::Column(column) = variable else { continue };
            let ExactColumn { cost, entries } = &self.lp.columns[column];
            let entries = entries.iter().filter_map(|(row, value)| Some((place[*row]?, value.clone())));
            let entries: Vec<(usize, Rational)> = entries.collect();
            if !entries.is_empty() {
                lp.columns.push(ExactColumn { cost: cost.clone(), entries });
            }
        }
        let basis: Vec<Variable> = (0..lp.columns.len()).map(Variable::Column).collect();
        let priced = prices(&lp, &basis);
        Ok(place.into_iter().map(|at| at.map_or_else(Rational::new, |at| priced[at].clone())).collect())
    }

    /// Stores the placement of the last totals. `values` has one value for each column of `float`.
    fn store_placement(&mut self, values: &[f64]) {
        let all = self.inside.iter().copied().zip(values.iter().copied());
        self.last = all.filter(|(column, value)| *column > 0 && *value != 0.0).collect();
    }

    /// Returns a placement of nearly all of the last totals, in doubles: `(class, tasks)` for each user.
    ///
    /// The totals are those for which [`Placements::broken`] returned no bound.
    #[must_use]
    pub fn in_doubles(&self) -> Vec<Vec<(usize, f64)>> {
        let mut left: Vec<f64> = self
            .asked
            .iter()
            .zip(&self.alone)
            .map(|(asked, alone)| asked * alone * PLACING.nearly_all)
            .collect();
        let mut placed = vec![Vec::new(); left.len()];
        for (column, value) in &self.last {
            let (n, i) = self.placements[column - 1];
            let tasks = (value * self.units[*column] * PLACING.nearly_all).min(left[n]);
            if tasks > 0.0 {
                left[n] -= tasks;
                placed[n].push((i, tasks));
            }
        }
        placed.iter_mut().for_each(|list| list.sort_unstable_by_key(|(i, _)| *i));
        placed
    }

    /// Computes a placement of totals, or a bound that they violate. Both are exact.
    ///
    /// The totals are computed exactly only if their first digits do not already violate a bound.
    ///
    /// # Errors
    /// [`LevelsError`] when the programme could not be solved.
    pub fn place(&mut self, totals: &mut impl Totals) -> Result<Place, LevelsError> {
        let nearly = totals.nearly();
        self.set_totals(&nearly);
        let is_seen = self.place_in_doubles().is_some();
        if is_seen && let Some(placed) = self.place_exactly(&totals.exactly()) {
            return Ok(Place::Found(placed));
        }
        let near = self.near()?;
        if let Some(bound) = self.beyond(near, |bound| totals.break_bound(bound))? {
            return Ok(Place::Broken(bound));
        }
        // Prices are short numbers. Numbers that depend on long totals are long. So first check whether these prices
        // give a violated bound.
        let rows = self.capacity.len();
        let mut lp = self.lp.clone();
        let state = |lp: &mut ExactLp, totals: Vec<Rational>| {
            lp.rows[rows..].iter_mut().zip(totals).for_each(|(row, total)| row.1 = total);
        };
        state(&mut lp, nearly);
        let basis = self.basis().unwrap_or_default();
        let basis = refine::nearly(&lp, &self.units, &basis);
        let bound = self.bound(&prices(&self.lp, &basis)[..rows]);
        if totals.break_bound(&bound) {
            return Ok(Place::Broken(bound));
        }
        let totals = totals.exactly();
        state(&mut lp, totals.clone());
        let start = StartingPoint { point: None, basis: &basis };
        match refine::solve(&lp, &self.units, start, EXACT.max_pivots)? {
            Feasibility::Feasible(optimum) if optimum.x[0].is_zero() => {
                Ok(Place::Found(self.read(&totals, &optimum.x)))
            }
            Feasibility::Feasible(optimum) => Ok(Place::Broken(self.bound(&optimum.y[..rows]))),
            Feasibility::Infeasible(_) => Err(LevelsError::Lp(LpError::ExactlyInfeasible)),
        }
    }

    fn basis(&mut self) -> Result<Vec<Variable>, LevelsError> {
        let of_programme = |variable| match variable {
            Variable::Column(k) => Variable::Column(self.inside[k]),
            slack => slack,
        };
        Ok(self.float.basis()?.variables().map(of_programme).collect())
    }

    /// Returns the tasks of the columns, without the tasks that exceed the totals.
    fn read(&self, totals: &[Rational], x: &[Rational]) -> Placed {
        let mut left = totals.to_vec();
        let mut placed = vec![Vec::new(); left.len()];
        for ((n, i), x) in self.placements.iter().zip(&x[1..]) {
            let tasks = x.min(&left[*n]).clone();
            if !tasks.is_zero() {
                left[*n] -= &tasks;
                placed[*n].push((*i, tasks));
            }
        }
        placed
    }
}

/// Returns the entries of a column in doubles, in its unit and in the scales of the rows.
fn scaled(column: &ExactColumn, unit: f64, scales: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    let entries = column.entries.iter().filter(|(row, _)| scales[*row] > 0.0);
    entries.map(move |(row, value)| (*row, near(value) * unit / scales[*row]))
}
