//! The rounds of lexicographic max-min in double precision.

use std::collections::BTreeSet;

use evenhand_problem::Rational;

use super::data::LevelData;
use super::duals::Duals;
use super::master::{Master, MasterSolution};
use super::part::{Part, Target};
use super::peel::{LikelyLevel, blocks, without};
use super::rounds::{LevelDual, LexicographicOptimum, Settings, by_user, first_parts, in_parallel};
use super::search::Search;
use super::split::{Ended, Rest, Settled};
use crate::error::LevelsError;
use crate::settings::LEVELS;

/// If the dual of an active group, as a fraction of the largest dual, is in this range, it may be only rounding.
const UNCERTAIN: std::ops::Range<f64> = 1e-11..1e-6;

/// The prices of a round, and the groups and placements that they concern.
#[derive(Default)]
pub struct BlockPrices {
    pub level: f64,
    /// The rows of the constraints with a positive price: `(row, price)`.
    pub rows: Vec<(usize, f64)>,
    /// The groups whose level has a positive price.
    pub priced: Vec<usize>,
    /// The groups in `priced`, and the groups whose price may be only rounding.
    pub perhaps_priced: Vec<usize>,
    /// The placements that the prices rule out: `(group, class of the problem)`.
    pub left: Vec<(usize, usize)>,
}

/// What a round in doubles is solved for.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// An allocation. It is an error if doubles do not tell which users are blocked.
    Allocation,
    /// Prices that prove an allocation. Frozen levels may be missed by the fraction `room`.
    Prices { room: f64 },
    /// A guess from which exact rounds start. Frozen levels may be missed by the fraction `room`.
    Guess { room: f64 },
}

/// The result of a round.
struct Solved<'a> {
    /// The earlier rounds of groups that no other group blocks.
    peeled: Vec<Solved<'a>>,
    block: BlockPrices,
    rest: Rest<'a, f64>,
    solves: usize,
}

/// The results of all rounds of several parts.
#[derive(Default)]
pub struct Rounds {
    pub settled: Vec<Settled<f64>>,
    /// The prices, in the order in which the rounds were solved.
    pub blocks: Vec<BlockPrices>,
    pub rounds: usize,
    pub solves: usize,
}

pub fn run(data: &LevelData<'_>, settings: Settings) -> Result<LexicographicOptimum<f64>, LevelsError> {
    let Rounds { settled, rounds, solves, .. } =
        rounds(first_parts(data), |part| solve(part, settings, Aim::Allocation))?;
    let tasks = by_user(data, settled, |x, share| x / share as f64);
    Ok(LexicographicOptimum { tasks, duals: Vec::new(), rounds, solves, pivots: 0 })
}

/// Computes short prices that nearly prove the levels. The prices come from doubles. Their bounds are proven exactly.
pub fn duals(data: &LevelData<'_>, settings: Settings) -> Vec<LevelDual> {
    let found = rounds_with_some_room(first_parts(data), settings, |room| Aim::Prices { room });
    Duals::of_blocks(data, found.blocks).of_problem(data)
}

/// Solves the rounds of parts, and of the parts that remain after them. If doubles do not decide a round, its outcome
/// is guessed.
pub fn guess(waiting: Vec<Part<'_>>, settings: Settings) -> Rounds {
    rounds_with_some_room(waiting, settings, |room| Aim::Guess { room })
}

/// Solves the rounds of parts, and of the parts that remain after them. Each round uses the smallest tolerance `room`
/// with which it has a solution.
///
/// The tasks of a part without a solution stay unchanged.
fn rounds_with_some_room(
    waiting: Vec<Part<'_>>,
    settings: Settings,
    aim: impl Fn(f64) -> Aim + Sync,
) -> Rounds {
    let found = rounds(waiting, |part| {
        let mut tries = LEVELS.rooms.iter().map(|room| solve(part, settings, aim(*room)));
        Ok(tries.find_map(Result::ok).unwrap_or_else(|| given_up(part)))
    });
    found.unwrap_or_default()
}

/// Returns a result that leaves the tasks of a part unchanged.
fn given_up<'a>(part: &Part<'a>) -> Solved<'a> {
    let as_it_was = |(group, ran): (&usize, &Vec<(usize, Rational)>)| {
        (*group, ran.iter().map(|(c, x)| (part.class_id(*c), x.to_f64())).collect())
    };
    let settled = part.groups.iter().zip(&part.ran).map(as_it_was).collect();
    let rest = Rest { settled, parts: Vec::new(), left: Vec::new() };
    Solved { peeled: Vec::new(), block: BlockPrices::default(), rest, solves: 0 }
}

/// Runs all rounds. `solve` solves the round of one part.
fn rounds<'a>(
    mut waiting: Vec<Part<'a>>,
    solve: impl Fn(&Part<'a>) -> Result<Solved<'a>, LevelsError> + Sync,
) -> Result<Rounds, LevelsError> {
    let mut all = Rounds::default();
    while !waiting.is_empty() {
        for (_, solved) in in_parallel(std::mem::take(&mut waiting), &solve) {
            waiting.extend(all.take_over(solved?));
        }
    }
    Ok(all)
}

impl Rounds {
    /// Records a round. Returns the parts that remain after it.
    fn take_over<'a>(&mut self, solved: Solved<'a>) -> Vec<Part<'a>> {
        let Solved { peeled, mut block, rest, solves } = solved;
        // A peeled round leaves no parts.
        for peeled in peeled {
            self.take_over(peeled);
        }
        self.rounds += 1;
        self.solves += solves;
        self.settled.extend(rest.settled);
        block.left = rest.left;
        self.blocks.push(block);
        rest.parts
    }
}

/// Solves one round of a part, after the rounds of groups that no other group blocks.
fn solve<'a>(part: &Part<'a>, settings: Settings, aim: Aim) -> Result<Solved<'a>, LevelsError> {
    let peel = |part: &Part<'a>, likely: &mut LikelyLevel| peel(part, likely, settings, aim);
    let (mut peeled, mut rests) = blocks(part, peel, |block| block.block.level);
    while let Some(rest) = rests.last() {
        let Ok(mut solved) = round(rest, settings, aim) else { break };
        let n_valid = peeled.partition_point(|before| before.block.level <= solved.block.level);
        if n_valid == peeled.len() {
            solved.peeled = peeled;
            return Ok(solved);
        }
        peeled.truncate(n_valid);
        rests.truncate(n_valid);
    }
    round(part, settings, aim)
}

/// Solves the round of the groups that no other group seems to block. Returns this round, and the part without these
/// groups and their classes.
fn peel<'a>(
    part: &Part<'a>,
    likely: &mut LikelyLevel,
    settings: Settings,
    aim: Aim,
) -> Option<(Solved<'a>, Part<'a>)> {
    let (few, most) = likely.few(part)?;
    let mut solved = round(&few, settings, aim).ok()?;
    let BlockPrices { level, rows, priced, .. } = &solved.block;
    let is_satisfied = |g: usize| few.satisfied_at[g] <= *level;
    if *level > most || (0..few.groups.len()).any(is_satisfied) {
        return None;
    }
    let worth = |(row, price): &(usize, f64)| price * part.data.constraints.rows()[*row].capacity.to_f64();
    let least = LEVELS.dual_tolerance * rows.iter().map(worth).sum::<f64>();
    let prices: BTreeSet<usize> = rows.iter().filter(|row| worth(row) > least).map(|(row, _)| *row).collect();
    let (rest, left) = without(part, priced, |row| prices.contains(&row))?;
    // Only priced groups are settled here. A blocked group with a demand of 0 may remain in the rest.
    solved.rest.settled.retain(|(g, _)| priced.contains(g));
    let is_settled = solved.rest.settled.len() == priced.len();
    solved.rest = Rest { parts: Vec::new(), left, ..solved.rest };
    is_settled.then_some((solved, rest))
}

/// Solves one round of a part.
fn round<'a>(part: &Part<'a>, settings: Settings, aim: Aim) -> Result<Solved<'a>, LevelsError> {
    part.charge_round();
    let mut search = Search::new(part, settings);
    if let Aim::Prices { room } | Aim::Guess { room } = aim {
        search.room = room;
    }
    let mut solution = search.newton_in_doubles()?;
    // A solution that HiGHS accepts as optimal may leave a little capacity unused. For a small group this may be much.
    if !matches!(aim, Aim::Guess { .. })
        && let Some(Ok(sharp)) = search.master.as_mut().map(Master::solve_sharply)
    {
        solution = sharp;
    }
    let stays = stays(part, &solution);
    let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
    let is_uncertain = |g: usize| {
        let open = part.targets[g] == Target::Active && part.satisfied_at[g] > solution.level;
        open && UNCERTAIN.contains(&(solution.group_prices[g] / most))
    };
    if aim == Aim::Allocation && (0..part.groups.len()).any(is_uncertain) {
        return Err(LevelsError::Uncertain);
    }
    let mut targets = part.targets.clone();
    let block = prices(part, &solution, LEVELS.dual_tolerance * most);
    let mut done = 0;
    for (g, target) in targets.iter_mut().enumerate().filter(|(_, target)| **target == Target::Active) {
        if part.satisfied_at[g] <= solution.level {
            *target = Target::Tasks;
        } else if solution.group_prices[g] > LEVELS.dual_tolerance * most || stays[g].is_empty() {
            *target = Target::Frozen(part.levels.len());
        } else {
            continue;
        }
        done += 1;
    }
    let level = Rational::from_f64(solution.level).filter(|_| done > 0);
    let level = level.ok_or(LevelsError::NoProgress { round: 1 })?;
    let tasks = tasks(part, &solution, &targets);
    let ended = Ended { level, targets, tasks };
    let rest = ended.rest(part, |_| stays, |_, _, list| list, Rational::from_f64);
    Ok(Solved { peeled: Vec::new(), block, rest, solves: search.solves })
}

/// Returns the prices of a round. Prices of levels up to `least` may be only rounding.
fn prices(part: &Part<'_>, solution: &MasterSolution, least: f64) -> BlockPrices {
    let rows = part.rows.iter().copied().zip(solution.prices.iter().copied());
    let above = |least: f64| {
        let above = (0..part.groups.len()).filter(move |&g| solution.group_prices[g] > least);
        above.map(|g| part.groups[g]).collect()
    };
    BlockPrices {
        level: solution.level,
        rows: rows.filter(|(_, price)| *price > 0.0).collect(),
        priced: above(least),
        perhaps_priced: above(0.0),
        left: Vec::new(),
    }
}

/// Returns for each group the classes whose reduced cost may be 0, including the classes on which the group runs.
fn stays(part: &Part<'_>, solution: &MasterSolution) -> Vec<Vec<usize>> {
    let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
    let mut stays: Vec<Vec<usize>> = vec![Vec::new(); part.groups.len()];
    for (g, list) in stays.iter_mut().enumerate() {
        let worth = solution.group_prices[g];
        let limit = worth * (1.0 + LEVELS.reduced_cost_tolerance) + LEVELS.dual_tolerance * most;
        part.for_each_price(g, &solution.prices, |c, price| {
            let task = solution.task_prices[g] * part.tasks_per_level_f64(g, c);
            if (price + task) * solution.unit <= limit {
                list.push(c);
            }
        });
    }
    stays
}

/// Returns `(class, tasks)` for each group, cut down to the target of the group.
fn tasks(part: &Part<'_>, solution: &MasterSolution, targets: &[Target]) -> Vec<Vec<(usize, f64)>> {
    let mut groups: Vec<Vec<(usize, f64)>> = vec![Vec::new(); part.groups.len()];
    for (placement, level) in &solution.placed {
        if *level > 0.0 {
            let tasks = level * part.tasks_per_level_f64(placement.g, placement.c);
            groups[placement.g].push((placement.c, tasks));
        }
    }
    for (g, list) in groups.iter_mut().enumerate() {
        list.sort_by_key(|(c, _)| *c);
        if part.tasks_per_level(g).is_some() {
            let level = match targets[g] {
                Target::Frozen(at) if at == part.levels.len() => solution.level,
                Target::Frozen(_) => part.frozen_at[g],
                _ => part.satisfied_at[g],
            };
            let first = part.classes[g].first();
            let target = first.map_or(0.0, |&c| level * part.tasks_per_level_f64(g, c));
            let mut surplus = list.iter().map(|(_, x)| x).sum::<f64>() - target;
            for (_, tasks) in list.iter_mut().rev() {
                let cut = tasks.min(surplus.max(0.0));
                *tasks -= cut;
                surplus -= cut;
            }
            list.retain(|(_, tasks)| *tasks > 0.0);
        }
    }
    groups
}

/// Returns true if the allocation exceeds no capacity, in doubles, by more than the fraction
/// [`Levels::sound`](crate::settings::Levels::sound).
pub fn is_sound(data: &LevelData<'_>, optimum: &LexicographicOptimum<f64>) -> bool {
    let whole = Part::whole(data);
    let mut load = vec![0.0; whole.capacity.len()];
    for (g, &group) in whole.groups.iter().enumerate() {
        for &n in &data.groups[group].members {
            for &(i, tasks) in &optimum.tasks[n] {
                let Some(c) = whole.class_here(i) else { return false };
                for (row, usage) in whole.usage(g, c) {
                    load[row] += tasks * usage;
                }
            }
        }
    }
    load.iter().zip(&whole.capacity).all(|(load, capacity)| *load <= capacity * (1.0 + LEVELS.sound))
}

/// Rounds an exact optimum to doubles.
pub fn rounded(optimum: LexicographicOptimum<Rational>) -> LexicographicOptimum<f64> {
    let round = |(i, x): (usize, Rational)| (i, evenhand_problem::number::to_f64(&x));
    LexicographicOptimum {
        tasks: optimum.tasks.into_iter().map(|list| list.into_iter().map(round).collect()).collect(),
        duals: Vec::new(),
        rounds: optimum.rounds,
        solves: optimum.solves,
        pivots: optimum.pivots,
    }
}
