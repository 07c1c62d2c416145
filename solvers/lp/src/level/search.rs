//! The search for the next blocking level of a part: Newton's method on the satisfied users.

use super::master::{Master, MasterBasis, MasterSolution, Need};
use super::part::{Part, Target};
use super::round::Round;
use super::rounds::Settings;
use super::start;
use crate::error::LpError;

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
    pub fn new(part: &'a Part<'a>, settings: Settings) -> Result<Self, LpError> {
        let mut search = Self::without_highs(part, settings);
        search.master = Some(Master::new(part)?);
        Ok(search)
    }

    pub fn without_highs(part: &'a Part<'a>, settings: Settings) -> Self {
        let targets = part.targets.clone();
        Self {
            part,
            settings,
            master: None,
            targets,
            room: 0.0,
            last: None,
            basis: None,
            solves: 0,
            pivots: 0,
        }
    }

    /// Approaches the blocking level from above, where every programme is feasible.
    ///
    /// Given a bound `s` of the level, those that `s` satisfies are asked for all their tasks at
    /// `t = s` and in proportion below. The optimum is a better bound: what is asked for at the true
    /// level is no more than the true needs. Its prices give a better one still. The last bound tells
    /// whom to take for satisfied.
    pub fn descend(&mut self) -> Result<(), LpError> {
        const STEPS: usize = 20;
        let Some(mut bound) = self.master.as_ref().map(|master| master.unit) else { return Ok(()) };
        let part = self.part;
        let is_open = |g: usize| part.targets[g] == Target::Active && part.satisfied_at[g].is_finite();
        if !(0..part.groups.len()).any(is_open) {
            return Ok(());
        }
        let order = start::by_satisfaction(part);
        for _ in 0..STEPS {
            let need = |g: usize| match part.targets[g] {
                Target::Active if part.satisfied_at[g] <= bound => Need::Times(part.satisfied_at[g] / bound),
                other => self.need(g, other),
            };
            let needs: Vec<Need> = (0..part.groups.len()).map(need).collect();
            let master = self.master.as_mut().ok_or(LpError::Empty)?;
            master.set_needs(&needs)?;
            self.solves += 1;
            let solution = master.solve()?;
            let level = solution.level.min(start::bound(part, &order, &solution.prices));
            let stays = !part.satisfied_at.iter().any(|&at| at <= bound && at > level);
            bound = bound.min(level);
            if stays {
                break;
            }
        }
        for (target, &at) in self.targets.iter_mut().zip(&part.satisfied_at) {
            if *target == Target::Active && at <= bound {
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
        let at = |g: usize| self.part.exactly_satisfied_at(g);
        let open: Vec<usize> =
            (0..self.targets.len()).filter(|&g| self.part.targets[g] == Target::Active).collect();
        let Some(last) = open.iter().copied().max_by(|&a, &b| at(a).cmp(&at(b))) else { return };
        let together: Vec<usize> = open.into_iter().filter(|&g| at(g) == at(last)).collect();
        for g in together {
            self.targets[g] = Target::Active;
        }
    }

    fn need(&self, g: usize, target: Target) -> Need {
        match target {
            Target::Active => Need::Times(1.0),
            Target::Tasks => Need::Fixed(self.part.satisfied_at[g]),
            Target::Frozen(_) => Need::Fixed(self.part.frozen_at[g] * (1.0 - self.room)),
        }
    }

    pub fn solve(&mut self) -> Result<MasterSolution, LpError> {
        let needs: Vec<Need> = (0..self.targets.len()).map(|g| self.need(g, self.targets[g])).collect();
        let master = self.master.as_mut().ok_or(LpError::Empty)?;
        master.set_needs(&needs)?;
        self.solves += 1;
        master.solve()
    }

    /// [`Search::solve`]; when the guess of the satisfied users asks for more than there is, the
    /// guess is dropped.
    pub fn solve_or_restart(&mut self, first: bool) -> Result<MasterSolution, LpError> {
        match self.solve() {
            Err(LpError::Infeasible | LpError::UnboundedOrInfeasible) if first && self.release() => {
                self.solve()
            }
            other => other,
        }
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
