//! The search for the next blocking level of a part: Newton's method on the set of satisfied users.

use evenhand_problem::Rational;

use super::master::{Master, MasterBasis, MasterSolution};
use super::part::{Need, Part, Target};
use super::rounds::Settings;
use crate::error::LevelsError;
use evenhand_lp::LpError;

/// The state of the search, for doubles and for rationals.
pub struct Search<'a> {
    pub part: &'a Part<'a>,
    pub settings: Settings,
    /// The programme in HiGHS. `None` if the search uses exact arithmetic only.
    pub master: Option<Master<'a>>,
    /// Target of each group.
    pub targets: Vec<Target>,
    /// The fraction by which the programme in doubles lowers frozen levels, to allow for rounding.
    pub room: f64,
    /// The last exact optimum over all placements.
    pub last: Option<Round>,
    /// The basis of the optimum `last`.
    pub basis: Option<MasterBasis>,
    pub solves: usize,
    pub pivots: usize,
}

impl<'a> Search<'a> {
    /// Creates a search. If HiGHS refuses the programme, the search uses exact arithmetic only.
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

    /// Runs Newton's method in doubles. Returns the last solution. Afterwards `targets` are the targets of the
    /// programme of that solution.
    pub fn newton_in_doubles(&mut self) -> Result<MasterSolution, LevelsError> {
        let part = self.part;
        let mut reached = 0.0;
        for step in 0..self.settings.max_steps {
            let before = self.targets.clone();
            let mut solution = self.solve()?;
            // The level rises with every step, but rounding may make a tie alternate between two values.
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

    /// Makes all users active except the users that an earlier level has satisfied. Returns true if any user changed.
    pub fn release(&mut self) -> bool {
        let released = self.targets != self.part.targets;
        self.targets.clone_from(&self.part.targets);
        released
    }

    /// Sets the target of the active users for which `is_satisfied` returns true to all their tasks. Returns true if
    /// another step of Newton's method is needed.
    pub fn update_satisfied(&mut self, is_satisfied: impl Fn(usize) -> bool) -> bool {
        let mut targets = self.part.targets.clone();
        for (g, target) in targets.iter_mut().enumerate() {
            if *target == Target::Active && is_satisfied(g) {
                *target = Target::Tasks;
            }
        }
        if !targets.contains(&Target::Active) {
            // All users are satisfied at the level just reached, so no level is left to raise.
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
    /// Price of each row.
    pub prices: Vec<Rational>,
    /// For each group, the price of one unit of its level.
    pub level_prices: Vec<Rational>,
    /// For each group, the price of one task of its task limit.
    pub task_prices: Vec<Rational>,
    /// For each group, `(class, tasks)`, ascending by class. A group whose level has no price may have more than its
    /// target.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// For each group, the classes on which it may run in an optimum: the classes of reduced cost 0. `None` if they
    /// were not computed.
    pub stays: Option<Vec<Vec<usize>>>,
}

impl Round {
    /// Returns the cost of one unit of level of group `g` on class `c`.
    pub fn price(&self, part: &Part<'_>, g: usize, c: usize) -> Rational {
        let mut price = self.task_prices[g].clone();
        for (row, usage) in part.exact_usage(g, c) {
            if !self.prices[row].is_zero() {
                price += usage * &self.prices[row];
            }
        }
        price * part.tasks_per_level_on(g, c)
    }

    /// Returns for each group the classes of reduced cost 0. In every optimum a group runs only on these classes.
    pub fn stays(&self, part: &Part<'_>) -> Vec<Vec<usize>> {
        let of = |g: usize| {
            let classes = part.classes[g].iter().copied();
            classes.filter(|&c| self.price(part, g, c) == self.level_prices[g]).collect()
        };
        (0..part.groups.len()).map(of).collect()
    }
}
