//! The rounds: find the next blocking level, freeze whom it blocks, go on.

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use super::data::LevelData;
use super::lift::{Integers, Lift, LiftFailure, Lifted, Target, target_tasks, trim};
use super::master::{Master, MasterSolution, Need};
use super::{repair, start};
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
    /// Blocking levels found.
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
    let mut rounds = Rounds::new(&data, *settings)?;
    rounds.exact()
}

/// [`lexicographic`] in double precision: nothing is proven.
///
/// # Errors
/// [`LpError`] when HiGHS fails or the rounds make no progress.
pub fn lexicographic_float(
    constraints: &Constraints<'_>,
    coefficients: &ShareCoefficients,
    settings: &Settings,
) -> Result<LexicographicOptimum<f64>, LpError> {
    let data = LevelData::new(constraints, coefficients);
    let mut rounds = Rounds::new(&data, *settings)?;
    rounds.float()
}

/// Duals below this part of the largest count as 0 in floating point.
const DUAL_TOLERANCE: f64 = 1e-9;

struct Rounds<'a> {
    data: &'a LevelData<'a>,
    settings: Settings,
    master: Option<Master<'a>>,
    targets: Vec<Target>,
    /// By group: the level that freezes it, in doubles.
    frozen_at: Vec<f64>,
    solves: usize,
    pivots: usize,
}

impl<'a> Rounds<'a> {
    fn new(data: &'a LevelData<'a>, settings: Settings) -> Result<Self, LpError> {
        let n_groups = data.groups.len();
        // HiGHS has nothing to do when nobody takes part.
        let master = if n_groups == 0 { None } else { Some(Master::new(data)?) };
        Ok(Self {
            data,
            settings,
            master,
            targets: vec![Target::Active; n_groups],
            frozen_at: vec![f64::NAN; n_groups],
            solves: 0,
            pivots: 0,
        })
    }

    /// Approaches the first blocking level from above, where every programme is feasible.
    ///
    /// Given a bound `s` of the level, those that `s` satisfies are asked for all their tasks at
    /// `t = s` and in proportion below. The optimum is a better bound: what is asked for at the true
    /// level is no more than the true needs. Its prices give a better one still. The last bound tells
    /// whom to take for satisfied.
    fn descend(&mut self) -> Result<(), LpError> {
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

    fn is_done(&self) -> bool {
        !self.targets.contains(&Target::Active)
    }

    fn solve(&mut self) -> Result<MasterSolution, LpError> {
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
    fn solve_or_restart(&mut self, first: bool) -> Result<MasterSolution, LpError> {
        match self.solve() {
            Err(LpError::Infeasible | LpError::UnboundedOrInfeasible) if first => {
                self.targets.fill(Target::Active);
                self.solve()
            }
            other => other,
        }
    }

    fn float(&mut self) -> Result<LexicographicOptimum<f64>, LpError> {
        let mut rounds = 0;
        let mut last = None;
        while !self.is_done() {
            rounds += 1;
            let solution = self.float_round(rounds)?;
            let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
            let mut blocked = 0;
            for g in 0..self.targets.len() {
                if self.targets[g] != Target::Active {
                    continue;
                }
                if self.data.satisfied_at_f64[g] <= solution.level {
                    self.targets[g] = Target::Tasks;
                } else if solution.group_prices[g] > DUAL_TOLERANCE * most {
                    self.targets[g] = Target::Frozen(rounds - 1);
                    self.frozen_at[g] = solution.level;
                } else {
                    continue;
                }
                blocked += 1;
            }
            if blocked == 0 && !self.is_done() {
                return Err(LpError::NoProgress { round: rounds });
            }
            last = Some(solution);
        }
        let tasks = match &last {
            Some(solution) => self.float_tasks(solution),
            None => vec![Vec::new(); self.data.constraints.problem().n_users()],
        };
        Ok(LexicographicOptimum { tasks, duals: Vec::new(), rounds, solves: self.solves, pivots: 0 })
    }

    /// Newton's method on the satisfied users.
    fn float_round(&mut self, round: usize) -> Result<MasterSolution, LpError> {
        if round == 1 {
            self.descend()?;
        }
        let mut reached = 0.0;
        for step in 0..self.settings.max_steps {
            let solution = self.solve_or_restart(round == 1 && step == 0)?;
            // The level rises with every step; rounding may make a tie go back and forth.
            let level = if solution.level > reached { solution.level } else { reached };
            let stalled = step > 0 && level <= reached * (1.0 + 1e-12);
            reached = level;
            if !self.update_satisfied(|g| self.data.satisfied_at_f64[g] <= level) || stalled {
                return Ok(solution);
            }
        }
        Err(LpError::NoProgress { round })
    }

    /// Marks the satisfied among those not frozen; returns whether that calls for another step.
    fn update_satisfied(&mut self, is_satisfied: impl Fn(usize) -> bool) -> bool {
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

    fn float_tasks(&self, solution: &MasterSolution) -> Vec<Vec<(usize, f64)>> {
        let mut groups: Vec<Vec<(usize, f64)>> = vec![Vec::new(); self.data.groups.len()];
        for (placement, level) in &solution.placed {
            if *level > 0.0 {
                let tasks = level * self.data.tasks_per_level_f64(placement.g, placement.i);
                groups[placement.g].push((placement.i, tasks));
            }
        }
        let mut users = vec![Vec::new(); self.data.constraints.problem().n_users()];
        for (g, mut list) in groups.into_iter().enumerate() {
            list.sort_by_key(|(i, _)| *i);
            let group = &self.data.groups[g];
            if self.data.tasks_per_level[g].is_some() {
                let level = match self.targets[g] {
                    Target::Frozen(_) => self.frozen_at[g],
                    _ => self.data.satisfied_at_f64[g],
                };
                let target =
                    group.classes.first().map_or(0.0, |&i| level * self.data.tasks_per_level_f64(g, i));
                let mut surplus = list.iter().map(|(_, x)| x).sum::<f64>() - target;
                for (_, tasks) in list.iter_mut().rev() {
                    let cut = tasks.min(surplus.max(0.0));
                    *tasks -= cut;
                    surplus -= cut;
                }
                list.retain(|(_, tasks)| *tasks > 0.0);
            }
            let share = group.members.len() as f64;
            for &n in &group.members {
                users[n] = list.iter().map(|&(i, x)| (i, x / share)).collect();
            }
        }
        users
    }

    fn exact(&mut self) -> Result<LexicographicOptimum<Rational>, LpError> {
        let integers = Integers::new(self.data);
        let mut levels: Vec<Rational> = Vec::new();
        let mut duals = Vec::new();
        let mut last = None;
        while !self.is_done() {
            let number = levels.len();
            let round = self.exact_round(&integers, &levels)?;
            let mut blocked = Vec::new();
            let mut done = 0;
            for g in 0..self.targets.len() {
                if self.targets[g] != Target::Active {
                    continue;
                }
                if self.data.satisfied_at[g].as_ref().is_some_and(|at| *at <= round.level) {
                    self.targets[g] = Target::Tasks;
                } else if round.level_prices[g] > 0 {
                    self.targets[g] = Target::Frozen(number);
                    self.frozen_at[g] = round.level.to_f64();
                    blocked.push(g);
                } else {
                    continue;
                }
                done += 1;
            }
            if done == 0 && !self.is_done() {
                return Err(LpError::NoProgress { round: number + 1 });
            }
            levels.push(round.level.clone());
            if !blocked.is_empty() {
                duals.push(self.dual(&round));
            }
            last = Some(round);
        }
        let tasks = self.exact_tasks(last, &levels);
        let rounds = levels.len();
        Ok(LexicographicOptimum { tasks, duals, rounds, solves: self.solves, pivots: self.pivots })
    }

    /// One round, exactly: the optimum of the programme whose satisfied users are exactly those
    /// that its level satisfies.
    fn exact_round(&mut self, integers: &Integers, levels: &[Rational]) -> Result<Round, LpError> {
        for step in 0..self.settings.max_steps {
            // Newton's method in doubles first: a step there costs no lift.
            if step == 0 {
                self.float_round_unless_done(levels.len() + 1)?;
            }
            let round = self.lift(integers, levels, step == 0)?;
            let satisfied_at = &self.data.satisfied_at;
            let level = &round.level;
            if !self.update_satisfied(|g| satisfied_at[g].as_ref().is_some_and(|at| at <= level)) {
                return Ok(round);
            }
        }
        Err(LpError::NoProgress { round: levels.len() + 1 })
    }

    /// [`Rounds::float_round`], which leaves the satisfied users of its last solve in place.
    fn float_round_unless_done(&mut self, round: usize) -> Result<(), LpError> {
        if round == 1 {
            self.descend()?;
        }
        let mut reached = 0.0;
        for step in 0..self.settings.max_steps {
            let before = self.targets.clone();
            let solution = self.solve_or_restart(round == 1 && step == 0)?;
            let solved = if round == 1 && step == 0 { self.targets.clone() } else { before };
            let level = solution.level;
            let again = self.update_satisfied(|g| self.data.satisfied_at_f64[g] <= level);
            if !again || (step > 0 && level <= reached * (1.0 + 1e-12)) {
                self.targets = solved;
                return Ok(());
            }
            reached = level;
        }
        Err(LpError::NoProgress { round })
    }

    /// The exact optimum for the current targets, whose basis HiGHS holds when `solved`.
    fn lift(&mut self, integers: &Integers, levels: &[Rational], solved: bool) -> Result<Round, LpError> {
        let mut solved = solved;
        loop {
            if !solved {
                self.solve()?;
            }
            solved = false;
            let master = self.master.as_mut().ok_or(LpError::Empty)?;
            let basis = master.basis()?;
            let lift = Lift::new(self.data, integers, &self.targets, levels);
            let missing = match lift.lift(&basis) {
                Ok(lifted) => return Ok(self.round(lifted, levels)),
                Err(LiftFailure::Improvable(found)) => found,
                Err(LiftFailure::Structure | LiftFailure::PrimalInfeasible) => Vec::new(),
            };
            if master.add(missing)? > 0 {
                continue;
            }
            let (round, pivots) = repair::solve(
                self.data,
                &basis,
                &self.targets,
                levels,
                self.settings.max_pivots,
            )?;
            self.pivots += pivots;
            let missing = repair::improving(self.data, &round);
            if missing.is_empty() {
                return Ok(round);
            }
            master.add(missing)?;
        }
    }

    fn round(&self, lifted: Lifted, levels: &[Rational]) -> Round {
        let level_prices = lifted
            .group_prices
            .iter()
            .zip(&self.data.tasks_per_level)
            .map(|(price, per_level)| {
                per_level.as_ref().map_or_else(Rational::new, |t| Rational::from(price * t))
            })
            .collect();
        let tasks = lifted
            .split
            .into_iter()
            .enumerate()
            .map(|(g, split)| {
                split.unwrap_or_else(|| {
                    let tasks = target_tasks(self.data, g, self.targets[g], levels, &lifted.level);
                    vec![(lifted.key[g], tasks)]
                })
            })
            .collect();
        Round {
            level: lifted.level,
            prices: lifted.prices,
            level_prices,
            task_prices: vec![Rational::new(); self.data.groups.len()],
            tasks,
        }
    }

    fn dual(&self, round: &Round) -> LevelDual {
        let n_users = self.data.constraints.problem().n_users();
        let mut user_weights = vec![Rational::new(); n_users];
        let mut user_prices = vec![Rational::new(); n_users];
        for (g, group) in self.data.groups.iter().enumerate() {
            for &n in &group.members {
                user_weights[n] = Rational::from(&round.level_prices[g] / group.members.len() as u64);
                user_prices[n].clone_from(&round.task_prices[g]);
            }
        }
        LevelDual { level: round.level.clone(), user_weights, prices: round.prices.clone(), user_prices }
    }

    fn exact_tasks(&self, last: Option<Round>, levels: &[Rational]) -> Vec<Vec<(usize, Rational)>> {
        let mut users = vec![Vec::new(); self.data.constraints.problem().n_users()];
        let Some(round) = last else { return users };
        for (g, mut list) in round.tasks.into_iter().enumerate() {
            let group = &self.data.groups[g];
            if self.data.tasks_per_level[g].is_some() {
                let target = target_tasks(self.data, g, self.targets[g], levels, &round.level);
                let placed: Rational = list.iter().map(|(_, x)| x).sum();
                trim(&mut list, placed - target);
            }
            list.retain(|(_, x)| !x.is_zero());
            let share = group.members.len() as u64;
            for &n in &group.members {
                users[n] = list.iter().map(|(i, x)| (*i, Rational::from(x / share))).collect();
            }
        }
        users
    }
}
