//! The best NJC allocation for a goal, over all faces: a mixed-integer programme without big constants.
//!
//! The variables are the tasks `x >= 0`, binaries `s_j` that say which rows are saturated, and binaries that say which
//! witness each user has (`z_nj` for row `j`, `z_n0` for having all its tasks):
//!
//! ```text
//! sum_n x_ni d_nj <= C_j,   sum_n x_ni d_nj >= C_j s_j          for every row j,
//! x_ni d_nj >= e_n C_j z_nj,   z_nj <= s_j                      for every user and row,
//! x_n <= T_n,   x_n >= T_n z_n0                                 for every user,
//! z_n0 + sum_j z_nj = 1                                         for every active user.
//! ```
//!
//! The equation requires exactly one witness per user, which is enough. No coefficient is larger than necessary, so the
//! relaxation is as tight as the rows allow. The answer of HiGHS is only a guess. Its witnesses name a face, and the
//! exact optimum over that face is the result. A face that has no point in exact arithmetic is cut off, and the
//! programme is solved again.

use std::collections::BTreeSet;
use std::time::Instant;

use evenhand_problem::{Constraints, Rational};

use super::face::{Face, Witness};
use super::goal::{Goal, Shares};
use super::market::{ClusterModel, Tasks};
use super::polytope;
use crate::error::LevelsError;
use evenhand_lp::LpError;
use evenhand_lp::mip::{MipColumn, MipModel, MipRow, MipSettings, MipSolution, MipStatus};
use evenhand_lp::settings::HIGHS;

/// The limits of [`select`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectSettings {
    /// The time limit (for all programmes together), gaps and tolerance of HiGHS.
    pub mip: MipSettings,
    /// The number of faces without an exact point that are cut off before the search ends with an error.
    pub max_cuts: usize,
}

/// The amount by which an exact value may exceed the bound of HiGHS, in units of the objective: the tolerance of HiGHS.
const CLAIM: f64 = 1e-6;

impl Default for SelectSettings {
    fn default() -> Self {
        Self { mip: MipSettings::default(), max_cuts: 100 }
    }
}

/// An exact NJC allocation, and HiGHS's claims about all other NJC allocations.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The vertex of the face that is best for the goal, exactly.
    pub tasks: Tasks,
    /// The face that HiGHS chose.
    pub face: Face,
    /// The exact value of `tasks`: a proven lower bound of the best value.
    pub value: Rational,
    /// The value that no NJC allocation exceeds, according to HiGHS. It is accurate to about the tolerance of HiGHS,
    /// but not proven. `None` if `value` refutes it.
    pub bound: Option<f64>,
    /// The claim of HiGHS whether an allocation may be better by more than the gaps of the settings. Without a bound,
    /// the claim has no meaning.
    pub status: MipStatus,
    /// The number of nodes of the branch-and-bound trees.
    pub nodes: u64,
    /// The number of faces that turned out to be empty in exact arithmetic and were cut off.
    pub cuts: usize,
}

/// Computes an exact NJC allocation that is best for the goal, according to HiGHS.
///
/// # Errors
/// [`LpError::TimeLimit`](evenhand_lp::LpError::TimeLimit) when the time was up before any solution was found.
/// [`LpError::Infeasible`](evenhand_lp::LpError::Infeasible) when entitlements are so far apart (1e9 and more) that
/// HiGHS finds no solution. [`LevelsError::FacesRefuted`] after too many faces that are empty in exact arithmetic.
/// Every other error of HiGHS is also returned.
pub fn select(
    constraints: &Constraints<'_>,
    goal: Goal,
    settings: &SelectSettings,
) -> Result<Selection, LevelsError> {
    let start = Instant::now();
    let market = ClusterModel::new(constraints);
    let mut model = Model::new(&market, goal)?;
    let (mut nodes, mut cuts) = (0, 0);
    loop {
        let left = settings.mip.time_limit - start.elapsed().as_secs_f64();
        if left <= 0.0 {
            return Err(LevelsError::Lp(LpError::TimeLimit));
        }
        let solution = model.solve(&MipSettings { time_limit: left, ..settings.mip })?;
        nodes += solution.nodes;
        let (face, chosen) = model.face(&market, &solution);
        if let Some(tasks) = polytope::best(&market, &face, Some(goal))? {
            let value = goal.value(constraints, &tasks);
            let bound = Some(solution.bound * model.unit);
            let bound = bound.filter(|bound| value.to_f64() <= bound + CLAIM * model.unit);
            return Ok(Selection { tasks, face, value, bound, status: solution.status, nodes, cuts });
        }
        cuts += 1;
        if cuts > settings.max_cuts {
            return Err(LevelsError::FacesRefuted { faces: cuts });
        }
        // No allocation has all of these witnesses together, so every later choice must leave out at least one of them.
        let all_but_one = chosen.len() as f64 - 1.0;
        let entries = chosen.into_iter().map(|z| (z, 1.0)).collect();
        model.mip.add_row(MipRow { lower: f64::NEG_INFINITY, upper: all_but_one, entries })?;
    }
}

/// The programme in scaled units: placements relative to their largest possible value, rows
/// relative to their capacity.
struct Model {
    mip: MipModel,
    /// `(user, witness, column of the binary of this witness)`.
    witnesses: Vec<(usize, Witness, usize)>,
    /// The unit of the objective.
    unit: f64,
}

impl Model {
    /// Builds the programme of a goal.
    fn new(market: &ClusterModel<'_>, goal: Goal) -> Result<Self, LevelsError> {
        let mut model = Self { mip: MipModel::default(), witnesses: Vec::new(), unit: 1.0 };
        let worths: Option<Vec<f64>> = (0..market.placements.len())
            .map(|k| goal.worth(market, k).map(|w| (w * &market.placements[k].most).to_f64()))
            .collect();
        let largest = worths.iter().flatten().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            model.unit = largest;
        }
        for k in 0..market.placements.len() {
            let cost = worths.as_ref().map_or(0.0, |worths| worths[k] / model.unit);
            model.mip.add_column(MipColumn { cost, lower: 0.0, upper: 1.0, is_integer: false })?;
        }
        let saturated = model.capacities(market)?;
        for &n in &market.users {
            model.user(market, n, &saturated)?;
        }
        if worths.is_none() {
            model.least_share(market)?;
        }
        Ok(model)
    }

    fn binary(&mut self) -> Result<usize, LevelsError> {
        Ok(self.mip.add_column(MipColumn { cost: 0.0, lower: 0.0, upper: 1.0, is_integer: true })?)
    }

    fn at_least(&mut self, lower: f64, entries: Vec<(usize, f64)>) -> Result<(), LevelsError> {
        self.mip.add_row(MipRow { lower, upper: f64::INFINITY, entries })?;
        Ok(())
    }

    /// Adds the capacity rows. Returns for each row the binary that says whether the row is saturated.
    fn capacities(&mut self, market: &ClusterModel<'_>) -> Result<Vec<Option<usize>>, LevelsError> {
        let n_rows = market.constraints.rows().len();
        let mut rows = vec![Vec::new(); n_rows];
        for (k, placement) in market.placements.iter().enumerate() {
            for (row, usage) in &placement.usage {
                if !market.capacity(*row).is_zero() {
                    let part = Rational::from(usage * &placement.most) / market.capacity(*row);
                    rows[*row].push((k, part.to_f64()));
                }
            }
        }
        let useful: BTreeSet<usize> =
            market.users.iter().flat_map(|&n| market.candidates(n)).map(|c| c.row).collect();
        let mut saturated = vec![None; n_rows];
        for (row, mut entries) in rows.into_iter().enumerate() {
            self.mip.add_row(MipRow { lower: f64::NEG_INFINITY, upper: 1.0, entries: entries.clone() })?;
            if useful.contains(&row) {
                let s = self.binary()?;
                saturated[row] = Some(s);
                entries.push((s, -1.0));
                self.at_least(0.0, entries)?;
            }
        }
        Ok(saturated)
    }

    /// Adds the tasks of one user and its witnesses.
    fn user(
        &mut self,
        market: &ClusterModel<'_>,
        n: usize,
        saturated: &[Option<usize>],
    ) -> Result<(), LevelsError> {
        let first = self.witnesses.len();
        if let Some(limit) = market.limit(n) {
            let part = |k: usize| (k, Rational::from(&market.placements[k].most / limit).to_f64());
            let mut entries: Vec<(usize, f64)> = market.placements_of(n).map(part).collect();
            self.mip.add_row(MipRow { lower: f64::NEG_INFINITY, upper: 1.0, entries: entries.clone() })?;
            if market.can_be_satisfied(n) {
                let z = self.binary()?;
                self.witnesses.push((n, Witness::Satisfied, z));
                entries.push((z, -1.0));
                self.at_least(0.0, entries)?;
            }
        }
        for candidate in market.candidates(n) {
            let Some(s) = saturated[candidate.row] else { continue };
            let z = self.binary()?;
            self.witnesses.push((n, Witness::Row(candidate.row), z));
            let floor = candidate.floor / &market.placements[candidate.placement].most;
            self.at_least(0.0, vec![(candidate.placement, 1.0), (z, -floor.to_f64())])?;
            self.at_least(0.0, vec![(s, 1.0), (z, -1.0)])?;
        }
        let entries = self.witnesses[first..].iter().map(|(_, _, z)| (*z, 1.0)).collect();
        self.mip.add_row(MipRow { lower: 1.0, upper: 1.0, entries })?;
        Ok(())
    }

    /// Adds the goal of the least share, in units of the largest possible share.
    ///
    /// `t` is at most the share of every user that is not satisfied. If a user has all its tasks, the binary `z_n0`
    /// raises this bound to 1, which is no less than any share.
    fn least_share(&mut self, market: &ClusterModel<'_>) -> Result<(), LevelsError> {
        let shares = Shares::new(market);
        self.unit = shares.largest.to_f64();
        if shares.largest.is_zero() {
            self.unit = 1.0;
            return Ok(());
        }
        let t = self.mip.add_column(MipColumn { cost: 1.0, lower: 0.0, upper: 1.0, is_integer: false })?;
        for &n in &market.users {
            let Some(share) = &shares.by_user[n] else { continue };
            let share = Rational::from(share / &shares.largest);
            let part = |k: usize| (k, Rational::from(&market.placements[k].most * &share).to_f64());
            let mut entries: Vec<(usize, f64)> = market.placements_of(n).map(part).collect();
            entries.push((t, -1.0));
            let satisfied = self.witnesses.iter().find(|(user, w, _)| (*user, *w) == (n, Witness::Satisfied));
            if let (Some((_, _, z)), Some(tasks)) = (satisfied, market.limit(n)) {
                let lift: Rational = 1 - share * tasks;
                entries.push((*z, lift.to_f64()));
            }
            self.at_least(0.0, entries)?;
        }
        Ok(())
    }

    /// Solves the programme, with wider tolerances if HiGHS finds no solution.
    fn solve(&self, settings: &MipSettings) -> Result<MipSolution, LevelsError> {
        if self.mip.n_columns() == 0 {
            let (values, status) = (Vec::new(), MipStatus::Optimal);
            return Ok(MipSolution { values, objective: 0.0, bound: 0.0, status, nodes: 0 });
        }
        let mut result = self.mip.solve(settings);
        // There is always an NJC allocation, but HiGHS may miss it if numbers are far apart.
        for tolerance in HIGHS.wider_tolerances {
            if !matches!(result, Err(LpError::Infeasible | LpError::UnboundedOrInfeasible)) {
                break;
            }
            result = self.mip.solve(&MipSettings { tolerance, ..*settings });
        }
        Ok(result?)
    }

    /// Returns the face of a solution, with only the bottlenecks that its witnesses need, and the
    /// binaries of the witnesses.
    fn face(&self, market: &ClusterModel<'_>, solution: &MipSolution) -> (Face, Vec<usize>) {
        let mut witnesses = vec![None; market.constraints.problem().n_users()];
        let mut bottlenecks = BTreeSet::new();
        let mut chosen = Vec::new();
        for &(n, witness, z) in &self.witnesses {
            if solution.values[z] > 0.5 {
                witnesses[n] = Some(witness);
                chosen.push(z);
                if let Witness::Row(row) = witness {
                    bottlenecks.insert(row);
                }
            }
        }
        (Face { bottlenecks: bottlenecks.into_iter().collect(), witnesses }, chosen)
    }
}
