//! The rounds of lexicographic max-min in rationals. HiGHS guesses the basis of each round. A round counts only when
//! its optimum is proven.

use evenhand_budget::{charge, each, room, words_of_bits};
use evenhand_problem::{Integer, Rational, Sums};

use super::data::LevelData;
use super::duals::{BlockDual, Duals};
use super::float::BlockPrices;
use super::integers::Integers;
use super::lift::{LEVEL, Lift, LiftFailure, Lifted, trim};
use super::master::MasterBasis;
use super::part::{Part, Target};
use super::peel::{LikelyLevel, blocks, without};
use super::repair::{self, LastPoint};
use super::rounds::{LexicographicOptimum, Settings, by_user, first_parts, in_parallel};
use super::search::{Round, Search};
use super::split::{Ended, Rest, Settled};
use crate::error::LevelsError;
use crate::settings::LEVELS;
use evenhand_lp::LpError;

/// The result of a round.
struct Solved<'a> {
    /// The earlier rounds of groups that no other group blocks.
    peeled: Vec<Solved<'a>>,
    level: Rational,
    /// The levels that are final, with the groups that have them.
    known: Vec<(Rational, Vec<usize>)>,
    dual: BlockDual,
    /// True if the level blocks any user.
    blocks: bool,
    rest: Rest<'a, Rational>,
    solves: usize,
    pivots: usize,
}

pub fn run(data: &LevelData<'_>, settings: Settings) -> Result<LexicographicOptimum<Rational>, LevelsError> {
    let mut rounds = Rounds::new(data);
    match rounds.go_on(settings, |_| true) {
        Some(error) => Err(error),
        None => Ok(rounds.optimum(data)),
    }
}

/// The state of the rounds so far.
pub struct Rounds<'a> {
    integers: Integers,
    /// The parts whose next round is not solved yet.
    pub waiting: Vec<Part<'a>>,
    pub settled: Vec<Settled<Rational>>,
    /// The levels that are final, with the groups that have them.
    pub known: Vec<(Rational, Vec<usize>)>,
    duals: Duals,
    /// The number of rounds solved.
    pub count: usize,
    pub solves: usize,
    pivots: usize,
}

impl<'a> Rounds<'a> {
    pub fn new(data: &'a LevelData<'a>) -> Self {
        Self {
            integers: Integers::new(data),
            waiting: first_parts(data),
            settled: Vec::with_capacity(data.groups.len()),
            known: Vec::new(),
            duals: Duals::new(data),
            count: 0,
            solves: 0,
            pivots: 0,
        }
    }

    /// Solves the parts for which `wanted` returns true, and the parts that remain after their rounds, until no such
    /// part is left.
    ///
    /// A part whose round fails stays in `waiting`. The first error is returned.
    pub fn go_on(&mut self, settings: Settings, wanted: impl Fn(&Part<'_>) -> bool) -> Option<LevelsError> {
        let mut first_error = None;
        let mut late = Vec::new();
        while !self.waiting.is_empty() {
            let (now, later): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(&wanted);
            late.extend(later);
            let solved = in_parallel(now, |part| solve(part, &self.integers, settings));
            for (part, solved) in solved {
                match solved {
                    Ok(solved) => self.take_over(solved),
                    Err(error) => {
                        late.push(part);
                        first_error.get_or_insert(error);
                    }
                }
            }
        }
        self.waiting = late;
        first_error
    }

    fn take_over(&mut self, solved: Solved<'a>) {
        solved.peeled.into_iter().for_each(|peeled| self.take_over(peeled));
        self.count += 1;
        self.solves += solved.solves;
        self.pivots += solved.pivots;
        self.settled.extend(solved.rest.settled);
        self.known.extend(solved.known);
        self.duals.push(solved.level, solved.blocks, solved.dual, solved.rest.left);
        self.waiting.extend(solved.rest.parts);
    }

    /// Returns the maximum. No part may be waiting.
    pub fn optimum(self, data: &LevelData<'_>) -> LexicographicOptimum<Rational> {
        let tasks = by_user(data, self.settled, |x, share| Rational::from(x / share as u64));
        let duals = self.duals.of_problem(data);
        LexicographicOptimum { tasks, duals, rounds: self.count, solves: self.solves, pivots: self.pivots }
    }

    /// Returns the prices of the rounds so far, in doubles.
    pub fn blocks(&self) -> Vec<BlockPrices> {
        self.duals.in_doubles()
    }
}

/// Solves one round of a part, after the rounds of groups that no other group blocks.
fn solve<'a>(part: &Part<'a>, integers: &Integers, settings: Settings) -> Result<Solved<'a>, LevelsError> {
    let peel = |part: &Part<'a>, likely: &mut LikelyLevel| peel(part, likely, integers, settings);
    let (mut peeled, mut rests) = blocks(part, peel, |block| block.level.clone());
    while let Some(rest) = rests.last() {
        let mut search = Search::new(rest, settings);
        // The level in doubles shows whether an exact answer is worth its cost.
        let level = in_doubles(&mut search)?;
        let mut n_valid = match level.map(|level| level * (1.0 + LEVELS.price_tolerance)) {
            Some(most) => peeled.partition_point(|before| before.level.to_f64() <= most),
            None => 0,
        };
        if n_valid == peeled.len() {
            n_valid = match round(rest, &mut search, integers, true) {
                Ok(mut solved)
                    if !solved.blocks || peeled.last().is_some_and(|of| of.level <= solved.level) =>
                {
                    solved.peeled = peeled;
                    return Ok(solved);
                }
                Ok(solved) => peeled.partition_point(|before| before.level <= solved.level),
                Err(_) => 0,
            };
        }
        peeled.truncate(n_valid);
        rests.truncate(n_valid);
    }
    // Without HiGHS, exact pivots still reach the optimum, though more slowly.
    let mut search = Search::new(part, settings);
    let solved = in_doubles(&mut search)?.is_some();
    round(part, &mut search, integers, solved)
}

/// Solves the round of the groups that no other group seems to block. Returns this round, and the part without these
/// groups and their classes.
fn peel<'a>(
    part: &Part<'a>,
    likely: &mut LikelyLevel,
    integers: &Integers,
    settings: Settings,
) -> Option<(Solved<'a>, Part<'a>)> {
    settings.time().ok()?;
    let (few, most) = likely.few(part)?;
    let mut search = Search::new(&few, settings);
    if in_doubles(&mut search).ok()?.is_none_or(|level| level > most) {
        return None;
    }
    let solved = round(&few, &mut search, integers, true).ok()?;
    let is_satisfied = |(level, groups): &(Rational, Vec<usize>)| {
        groups.iter().any(|g| part.data.satisfied_at[*g].as_ref() == Some(level))
    };
    if !solved.blocks || solved.known.iter().any(is_satisfied) {
        return None;
    }
    let block: Vec<usize> = solved.known.iter().flat_map(|(_, groups)| groups).copied().collect();
    let (rest, left) = without(part, &block, |row| solved.dual.rows.contains_key(&row))?;
    // A blocked group with a demand of 0 may continue with other groups. In that case the block is not settled.
    let settled = solved.rest.settled;
    let is_settled = settled.len() == block.len();
    let solved = Solved { rest: Rest { settled, parts: Vec::new(), left }, ..solved };
    is_settled.then_some((solved, rest))
}

/// Runs Newton's method in doubles, where a step needs no exact basis.
///
/// Returns the level, or infinity if the level blocks no user. Returns `None` if HiGHS fails.
fn in_doubles(search: &mut Search<'_>) -> Result<Option<f64>, LevelsError> {
    search.settings.time()?;
    search.part.charge_round();
    if search.master.is_none() {
        return Ok(None);
    }
    match search.newton_in_doubles() {
        Ok(solution) if search.targets.contains(&Target::Active) => Ok(Some(solution.level)),
        Ok(_) => Ok(Some(f64::INFINITY)),
        Err(error) => give_up_highs(search, error).map(|()| None),
    }
}

/// Solves the round of a part exactly. `solved` says whether HiGHS has already solved the last
/// programme of the part in doubles.
fn round<'a>(
    part: &Part<'a>,
    search: &mut Search<'_>,
    integers: &Integers,
    solved: bool,
) -> Result<Solved<'a>, LevelsError> {
    let mut round = newton(search, integers, solved)?;
    let (mut known, mut blocked) = (Vec::new(), Vec::new());
    let mut targets = part.targets.clone();
    // Satisfied groups keep all their tasks. Blocked groups (active groups whose level has a price) keep the level of
    // this round.
    let near = round.level.to_f64();
    for (g, target) in targets.iter_mut().enumerate().filter(|(_, target)| **target == Target::Active) {
        if part.is_satisfied_at(g, &round.level, near) {
            *target = Target::Tasks;
            let level = part.exactly_satisfied_at(g).cloned().unwrap_or_default();
            known.push((level, vec![part.groups[g]]));
        } else if round.level_prices[g] > 0 {
            *target = Target::Frozen(part.levels.len());
            blocked.push(part.groups[g]);
        }
    }
    let blocks = !blocked.is_empty();
    if blocks {
        known.push((round.level.clone(), blocked));
    }
    if known.is_empty() {
        return Err(LevelsError::NoProgress { round: part.levels.len() + 1 });
    }
    let dual = BlockDual::new(part, &round);
    let level = round.level.clone();
    let stays = round.stays.take();
    let ended = Ended { level: level.clone(), targets, tasks: std::mem::take(&mut round.tasks) };
    let stays = |_: &Ended<Rational>| stays.unwrap_or_else(|| round.stays(part));
    let rest = ended.rest(part, stays, |ended, g, list| settled(part, ended, g, list), Some);
    let (solves, pivots) = (search.solves.max(1), search.pivots);
    Ok(Solved { peeled: Vec::new(), level, known, dual, blocks, rest, solves, pivots })
}

/// Returns the final tasks of a group. If the level determines the number of tasks, the group gets
/// no more than its target.
fn settled(
    part: &Part<'_>,
    ended: &Ended<Rational>,
    g: usize,
    mut list: Vec<(usize, Rational)>,
) -> Vec<(usize, Rational)> {
    if part.tasks_per_level(g).is_some() {
        let target = match ended.targets[g] {
            Target::Frozen(at) if at == part.levels.len() => Target::Active,
            other => other,
        };
        let target = part.target_tasks(g, target, &ended.level);
        if !matches!(&list[..], [(_, placed)] if *placed == target) {
            let mut surplus = Sums::of(&[-target]);
            list.iter().for_each(|(_, x)| surplus.add_over(x.numer(), &Integer::from(1), x.denom()));
            trim(&mut list, surplus.first());
        }
    }
    list.retain(|(_, x)| !x.is_zero());
    list
}

/// Computes the optimum of the programme whose satisfied users are exactly the users that have all their tasks at its
/// level.
fn newton(search: &mut Search<'_>, integers: &Integers, mut solved: bool) -> Result<Round, LevelsError> {
    for _ in 0..search.settings.max_steps {
        search.settings.time()?;
        let round = match optimum(search, integers, solved) {
            // Rounding marked a user as satisfied that cannot have all its tasks.
            Err(LevelsError::Lp(LpError::ExactlyInfeasible) | LevelsError::Lp(LpError::Infeasible))
                if search.release() =>
            {
                solved = false;
                continue;
            }
            Err(error) if search.master.is_some() => {
                solved = false;
                give_up_highs(search, error)?;
                continue;
            }
            other => other?,
        };
        solved = false;
        let (part, level, near) = (search.part, &round.level, round.level.to_f64());
        if !search.update_satisfied(|g| part.is_satisfied_at(g, level, near)) {
            return Ok(round);
        }
    }
    Err(LevelsError::NoProgress { round: search.part.levels.len() + 1 })
}

/// Switches from the programme with few rows and columns, in which rounding misled HiGHS, to the
/// whole programme around the exact point of the previous round.
fn give_up_highs(search: &mut Search<'_>, error: LevelsError) -> Result<(), LevelsError> {
    if !error.is_of_highs()
        && !matches!(
            error,
            LevelsError::Lp(LpError::PivotLimit { .. }) | LevelsError::Lp(LpError::ExactlyInfeasible)
        )
    {
        return Err(error);
    }
    search.master = None;
    search.release();
    Ok(())
}

/// Computes the exact optimum for the current targets. If `solved` is true, HiGHS already has the basis.
fn optimum(search: &mut Search<'_>, integers: &Integers, mut solved: bool) -> Result<Round, LevelsError> {
    if search.master.is_none() {
        return whole(search);
    }
    let (mut next, mut is_sharp) = (None, false);
    loop {
        search.settings.time()?;
        if next.is_none() && !solved {
            search.solve()?;
        }
        solved = false;
        let master = search.master.as_mut().ok_or(LevelsError::Lp(LpError::Empty))?;
        let basis = match next.take() {
            Some(basis) => basis,
            None => master.basis()?,
        };
        // Lift the basis. If columns are missing, add them and solve again. If that does not help,
        // repair the basis.
        let lift = Lift::new(search.part, integers, &search.targets, search.settings);
        let (missing, is_improvable) = match lift.lift(&basis) {
            Ok(lifted) => return Ok(lifted_round(search.part, &search.targets, lifted)),
            Err(LiftFailure::OutOfTime) => return Err(LevelsError::OutOfTime),
            Err(LiftFailure::Improvable(found)) => (found, true),
            Err(LiftFailure::Structure | LiftFailure::PrimalInfeasible) => (Vec::new(), false),
        };
        if master.add(missing)? > 0 {
            is_sharp = false;
            continue;
        }
        // Some column would raise the level, but by less than the tolerance of HiGHS.
        if is_improvable && !std::mem::replace(&mut is_sharp, true) {
            next = master.sharper_basis()?;
            if next.is_some() {
                continue;
            }
        }
        let repaired = repair::solve(search.part, basis, None, &search.targets, search.settings.max_pivots)?;
        search.pivots += repaired.pivots;
        let missing = repair::improving(search.part, &repaired.round);
        if missing.is_empty() {
            return Ok(repaired.round);
        }
        master.add(missing)?;
    }
}

/// Computes the exact optimum for the current targets over all placements. The search starts from the basis of the
/// previous optimum.
fn whole(search: &mut Search<'_>) -> Result<Round, LevelsError> {
    let part = search.part;
    let basis = search.basis.take().unwrap_or_else(|| MasterBasis::of_slacks(part));
    let last = match (&search.last, &part.reached) {
        (Some(round), _) => Some(LastPoint { level: &round.level, tasks: &round.tasks }),
        (None, Some(level)) => Some(LastPoint { level, tasks: &part.ran }),
        (None, None) => None,
    };
    let repaired = repair::solve(part, basis, last, &search.targets, search.settings.max_pivots)?;
    search.solves += 1;
    search.pivots += repaired.pivots;
    search.basis = Some(repaired.basis);
    search.last = Some(repaired.round.clone());
    Ok(repaired.round)
}

/// Converts a lifted optimum to a round.
fn lifted_round(part: &Part<'_>, targets: &[Target], lifted: Lifted) -> Round {
    charge_tasks(part, targets, &lifted.level);
    let level_prices = each(part.groups.len(), 1, |g| {
        part.tasks_per_level(g).map_or_else(Rational::new, |t| Rational::from(&lifted.group_prices[g] * t))
    });
    let on_keys = each(part.groups.len(), 1, |g| {
        let on_key = |c: usize| vec![(c, part.target_tasks(g, targets[g], &lifted.level))];
        if lifted.split[g].is_none() { lifted.key[g].map(on_key) } else { None }
    });
    let tasks = lifted.split.into_iter().zip(on_keys);
    let tasks = tasks.map(|(split, on_key)| split.or(on_key).unwrap_or_default()).collect();
    Round {
        level: lifted.level,
        prices: lifted.prices,
        level_prices,
        task_prices: vec![Rational::new(); part.groups.len()],
        tasks,
        stays: Some(lifted.stays),
    }
}

/// Charges the budget for the tasks of groups at a level, and for their memory, before they are computed. Each number
/// of tasks is as long as the level.
fn charge_tasks(part: &Part<'_>, targets: &[Target], level: &Rational) {
    let words =
        |x: &Rational| words_of_bits(u64::from(x.numer().significant_bits() + x.denom().significant_bits()));
    let active = (0..part.groups.len()).filter(|g| targets[*g] == Target::Active);
    let factors = active.filter_map(|g| part.tasks_per_level(g)).map(words);
    let (count, all) = factors.fold((0, 0_u64), |(count, all), factor| (count + 1, all + factor + 4));
    let level = words(level);
    room(level.saturating_mul(8 * count), LEVEL);
    charge(level.saturating_mul(all), LEVEL);
}

#[cfg(test)]
mod tests;
