//! The rounds: find the next blocking level, freeze whom it blocks, go on.

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use super::data::LevelData;
use super::lift::Target;
use super::master::{Master, MasterBasis, MasterSolution, Need};
use super::{exact, float, start};
use crate::error::LpError;

/// Limits of the rounds.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Exact pivots that one round may take to repair a basis.
    pub max_pivots: usize,
    /// Steps of Newton's method on the satisfied users in one round.
    pub max_steps: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_pivots: 10_000, max_steps: 10_000 }
    }
}

/// What proves that one level cannot rise: a dual of that round's programme.
#[derive(Debug, Clone)]
pub struct LevelDual {
    /// The level `t`, in units of `u_n x_n / w_n`.
    pub level: Rational,
    /// By user: `l_n`, positive for those blocked at this level, 0 for those above it.
    pub user_weights: Vec<Rational>,
    /// By capacity row: price per unit.
    pub prices: Vec<Rational>,
    /// By user: price per task of the user's task limit.
    pub user_prices: Vec<Rational>,
}

/// A lexicographic maximum.
#[derive(Debug, Clone)]
pub struct LexicographicOptimum<T> {
    /// By user: `(class, tasks)`, ascending by class.
    pub tasks: Vec<Vec<(usize, T)>>,
    /// Blocking levels with their proofs, ascending; empty in floating point.
    pub duals: Vec<LevelDual>,
    /// Rounds: how often the level was raised until somebody was blocked, or everybody had all its tasks.
    pub rounds: usize,
    /// Linear programmes solved, columns added in between not counted.
    pub solves: usize,
    /// Exact pivots that bases from floating point needed.
    pub pivots: usize,
}

/// One round in exact numbers, in the form that does not depend on how it was found.
#[derive(Debug, Clone)]
pub struct Round {
    pub level: Rational,
    /// By capacity row.
    pub prices: Vec<Rational>,
    /// By group: price of one unit of its level.
    pub level_prices: Vec<Rational>,
    /// By group: price of one task of its task limit.
    pub task_prices: Vec<Rational>,
    /// By group: `(class, tasks)`.
    pub tasks: Vec<Vec<(usize, Rational)>>,
}

/// The weighted lexicographic max-min allocation in exact rationals: `x_n` is unique; of the
/// placements that reach it, the vertex at which the method ends, the same one every time.
///
/// # Errors
/// [`LpError`] when HiGHS fails or no exactly optimal basis is found within the limits. An
/// unverified answer is never returned.
pub fn lexicographic(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<Rational>, LpError> {
    let data = LevelData::new(constraints, coefficients);
    match Rounds::new(&data, *settings).and_then(|mut rounds| exact::run(&mut rounds)) {
        // What HiGHS cannot do, exact pivots can, at their own pace.
        Err(error) if error.is_of_highs() => exact::run(&mut Rounds::without_highs(&data, *settings)),
        other => other,
    }
}

/// [`lexicographic`] in double precision: nothing is proven. Where HiGHS fails, or what it gives is no
/// solution within 1e-7, the exact optimum is rounded.
///
/// # Errors
/// [`LpError`] when HiGHS fails or the rounds make no progress.
pub fn lexicographic_float(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<f64>, LpError> {
    let data = LevelData::new(constraints, coefficients);
    match Rounds::new(&data, *settings).and_then(|mut rounds| float::run(&mut rounds)) {
        Ok(optimum) if float::is_sound(&data, &optimum) => Ok(optimum),
        // Numbers too far apart for doubles on the way, though perhaps not in the end.
        Ok(_) => lexicographic(constraints, coefficients, settings).map(float::rounded),
        Err(error) if error.is_of_highs() => {
            lexicographic(constraints, coefficients, settings).map(float::rounded)
        }
        Err(error) => Err(error),
    }
}

/// The state of the rounds, in whatever arithmetic.
pub(super) struct Rounds<'a> {
    pub data: &'a LevelData<'a>,
    pub settings: Settings,
    /// The programme in HiGHS; none when nobody takes part, or to do without HiGHS.
    pub master: Option<Master<'a>>,
    /// By group.
    pub targets: Vec<Target>,
    /// By group: the level that freezes it, in doubles.
    pub frozen_at: Vec<f64>,
    /// The last exact round, in exact arithmetic.
    pub last: Option<Round>,
    /// The basis at which the last programme over all placements ended.
    pub basis: Option<MasterBasis>,
    pub solves: usize,
    pub pivots: usize,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(data: &'a LevelData<'a>, settings: Settings) -> Result<Self, LpError> {
        let mut rounds = Self::without_highs(data, settings);
        if !data.groups.is_empty() {
            rounds.master = Some(Master::new(data)?);
        }
        Ok(rounds)
    }

    pub(super) fn without_highs(data: &'a LevelData<'a>, settings: Settings) -> Self {
        let n_groups = data.groups.len();
        Self {
            data,
            settings,
            master: None,
            targets: vec![Target::Active; n_groups],
            frozen_at: vec![f64::NAN; n_groups],
            last: None,
            basis: None,
            solves: 0,
            pivots: 0,
        }
    }

    /// Approaches the first blocking level from above, where every programme is feasible.
    ///
    /// Given a bound `s` of the level, those that `s` satisfies are asked for all their tasks at
    /// `t = s` and in proportion below. The optimum is a better bound: what is asked for at the true
    /// level is no more than the true needs. Its prices give a better one still. The last bound tells
    /// whom to take for satisfied.
    pub(super) fn descend(&mut self) -> Result<(), LpError> {
        const STEPS: usize = 20;
        let Some(mut bound) = self.master.as_ref().map(|master| master.unit) else { return Ok(()) };
        let order = start::by_satisfaction(self.data);
        for _ in 0..STEPS {
            let at = &self.data.satisfied_at_f64;
            let needs: Vec<Need> =
                at.iter().map(|&at| Need::Times(if at <= bound { at / bound } else { 1.0 })).collect();
            let master = self.master.as_mut().ok_or(LpError::Empty)?;
            master.set_needs(&needs)?;
            self.solves += 1;
            let solution = master.solve()?;
            let level = solution.level.min(start::bound(self.data, &order, &solution.prices));
            let stays = !at.iter().any(|&at| at <= bound && at > level);
            bound = bound.min(level);
            if stays {
                break;
            }
        }
        for (target, &at) in self.targets.iter_mut().zip(&self.data.satisfied_at_f64) {
            if at <= bound {
                *target = Target::Tasks;
            }
        }
        self.keep_somebody_active();
        Ok(())
    }

    /// A level needs somebody to carry it: where everybody that is not frozen would be satisfied,
    /// those that are satisfied last stay active. Whether all are satisfied is then seen at the
    /// level they reach.
    fn keep_somebody_active(&mut self) {
        if self.targets.contains(&Target::Active) {
            return;
        }
        let satisfied = (0..self.targets.len()).filter(|&g| self.targets[g] == Target::Tasks);
        let Some(last) =
            satisfied.clone().max_by(|&a, &b| self.data.satisfied_at[a].cmp(&self.data.satisfied_at[b]))
        else {
            return;
        };
        let level = &self.data.satisfied_at[last];
        let together: Vec<usize> = satisfied.filter(|&g| self.data.satisfied_at[g] == *level).collect();
        for g in together {
            self.targets[g] = Target::Active;
        }
    }

    pub(super) fn is_done(&self) -> bool {
        !self.targets.contains(&Target::Active)
    }

    pub(super) fn solve(&mut self) -> Result<MasterSolution, LpError> {
        let master = self.master.as_mut().ok_or(LpError::Empty)?;
        let mut needs = Vec::with_capacity(self.targets.len());
        for (g, target) in self.targets.iter().enumerate() {
            needs.push(match target {
                Target::Active => Need::Times(1.0),
                Target::Tasks => Need::Fixed(self.data.satisfied_at_f64[g]),
                Target::Frozen(_) => Need::Fixed(self.frozen_at[g]),
            });
        }
        master.set_needs(&needs)?;
        self.solves += 1;
        master.solve()
    }

    /// [`Rounds::solve`]; when the guess of the satisfied users asks for more than there is, the
    /// guess is dropped.
    pub(super) fn solve_or_restart(&mut self, first: bool) -> Result<MasterSolution, LpError> {
        match self.solve() {
            Err(LpError::Infeasible | LpError::UnboundedOrInfeasible) if first => {
                self.targets.fill(Target::Active);
                self.solve()
            }
            other => other,
        }
    }

    /// Marks the satisfied among those not frozen; returns whether that calls for another step.
    pub(super) fn update_satisfied(&mut self, is_satisfied: impl Fn(usize) -> bool) -> bool {
        let mut targets = self.targets.clone();
        for (g, target) in targets.iter_mut().enumerate() {
            if !matches!(target, Target::Frozen(_)) {
                *target = if is_satisfied(g) { Target::Tasks } else { Target::Active };
            }
        }
        if !targets.contains(&Target::Active) {
            // Everybody is satisfied at the level just reached: nothing is left to raise.
            self.targets = targets;
            return false;
        }
        let changed = targets != self.targets;
        self.targets = targets;
        changed
    }
}
