//! The search for the next blocking level of a part: Newton's method on the satisfied users.

use evenhand_problem::Rational;

use super::master::{Master, MasterBasis, MasterSolution};
use super::part::{Need, Part, Target};
use super::rounds::Settings;
use crate::error::LevelsError;
use evenhand_lp::LpError;

/// The state of the search, in whatever arithmetic.
pub struct Search<'a> {
    pub part: &'a Part<'a>,
    pub settings: Settings,
    /// The programme in HiGHS; none to do without HiGHS.
    pub master: Option<Master<'a>>,
    /// By group.
    pub targets: Vec<Target>,
    /// Part of a level that froze somebody by which the programme in doubles asks for less, for rounding.
    pub room: f64,
    /// The last exact optimum over all placements.
    pub last: Option<Round>,
    /// The basis at which it ended.
    pub basis: Option<MasterBasis>,
    pub solves: usize,
    pub pivots: usize,
}

impl<'a> Search<'a> {
    /// A search that does without HiGHS where that refuses the programme.
    pub fn new(part: &'a Part<'a>, settings: Settings) -> Self {
        Self {
            part,
            settings,
            master: Master::new(part).ok(),
            targets: part.targets.clone(),
            room: 0.0,
            last: None,
            basis: None,
            solves: 0,
            pivots: 0,
        }
    }

    fn need(&self, g: usize, target: Target) -> Need {
        let (multiple, fixed) = match target {
            Target::Active => (1.0, 0.0),
            Target::Tasks => (0.0, self.part.satisfied_at[g]),
            Target::Frozen(_) => (0.0, self.part.frozen_at[g] * (1.0 - self.room)),
        };
        Need { multiple, fixed }
    }

    pub fn solve(&mut self) -> Result<MasterSolution, LevelsError> {
        let needs: Vec<Need> = (0..self.targets.len()).map(|g| self.need(g, self.targets[g])).collect();
        let master = self.master.as_mut().ok_or(LevelsError::Lp(LpError::Empty))?;
        master.set_needs(&needs)?;
        self.solves += 1;
        master.solve()
    }

    /// Newton's method in doubles: the last solution, with the targets of its programme in place.
    pub fn newton_in_doubles(&mut self) -> Result<MasterSolution, LevelsError> {
        let part = self.part;
        let mut reached = 0.0;
        for step in 0..self.settings.max_steps {
            let before = self.targets.clone();
            let mut solution = self.solve()?;
            // The level rises with every step; rounding may make a tie go back and forth.
            let level = if solution.level > reached { solution.level } else { reached };
            let stalled = step > 0 && level <= reached * (1.0 + 1e-12);
            reached = level;
            if !self.update_satisfied(|g| part.satisfied_at[g] <= level) || stalled {
                self.targets = before;
                solution.level = level;
                return Ok(solution);
            }
        }
        Err(LevelsError::NoProgress { round: part.levels.len() + 1 })
    }

    /// Makes everybody active that no earlier level has satisfied; returns whether anybody was not.
    pub fn release(&mut self) -> bool {
        let released = self.targets != self.part.targets;
        self.targets.clone_from(&self.part.targets);
        released
    }

    /// Marks the satisfied among those that are open; returns whether that calls for another step.
    pub fn update_satisfied(&mut self, is_satisfied: impl Fn(usize) -> bool) -> bool {
        let mut targets = self.part.targets.clone();
        for (g, target) in targets.iter_mut().enumerate() {
            if *target == Target::Active && is_satisfied(g) {
                *target = Target::Tasks;
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

/// The blocking level of a part, with prices that prove it and an allocation that reaches it.
#[derive(Debug, Clone)]
pub struct Round {
    pub level: Rational,
    /// By row.
    pub prices: Vec<Rational>,
    /// By group: price of one unit of its level.
    pub level_prices: Vec<Rational>,
    /// By group: price of one task of its task limit.
    pub task_prices: Vec<Rational>,
    /// By group: `(class, tasks)`, ascending; more than the target where its level has no price.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// By group: the classes on which it may run in an optimum, those of reduced cost 0; `None` where
    /// it has not been looked for.
    pub stays: Option<Vec<Vec<usize>>>,
}

impl Round {
    /// What one unit of level costs group `g` on class `c`.
    pub fn price(&self, part: &Part<'_>, g: usize, c: usize) -> Rational {
        let mut price = self.task_prices[g].clone();
        for (row, usage) in part.exact_usage(g, c) {
            if !self.prices[row].is_zero() {
                price += usage * &self.prices[row];
            }
        }
        price * part.tasks_per_level_on(g, c)
    }

    /// By group: the classes of reduced cost 0. A group runs on no others in any optimum.
    pub fn stays(&self, part: &Part<'_>) -> Vec<Vec<usize>> {
        let of = |g: usize| {
            let classes = part.classes[g].iter().copied();
            classes.filter(|&c| self.price(part, g, c) == self.level_prices[g]).collect()
        };
        (0..part.groups.len()).map(of).collect()
    }
}
