//! The rounds in double precision.

use evenhand_problem::Rational;
use rayon::prelude::*;

use super::data::LevelData;
use super::master::{Master, MasterSolution};
use super::part::{Part, Seat, Target};
use super::rounds::{LexicographicOptimum, Settings, by_user, first_parts};
use super::search::Search;
use super::split::components;
use crate::error::LpError;

/// Duals below this part of the largest count as 0.
const DUAL_TOLERANCE: f64 = 1e-9;
/// Duals of an active group between these parts of the largest may be rounding or not.
const UNCERTAIN: std::ops::Range<f64> = 1e-11..1e-6;
/// Reduced costs below this part of the price count as 0. Taking a positive one for 0 only keeps
/// parts together that could be split.
const REDUCED_COST_TOLERANCE: f64 = 1e-7;
/// Parts of frozen levels that are left out, one after the other, where rounding leaves no room for them.
const ROOMS: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-5];
/// Part of a capacity by which a solution may exceed it.
const SOUND: f64 = 1e-7;

/// A group that is settled, with its tasks: `(class of the problem, tasks)`.
pub type Settled = (usize, Vec<(usize, f64)>);

/// The prices of a round, and whom they concern.
#[derive(Default)]
pub struct BlockPrices {
    pub level: f64,
    /// Row of the constraints and its price, where there is one.
    pub rows: Vec<(usize, f64)>,
    /// Groups whose level has a price.
    pub priced: Vec<usize>,
    /// `(group, class of the problem)` of the placements that the prices rule out.
    pub left: Vec<(usize, usize)>,
}

/// What a round leaves.
struct Solved<'a> {
    block: BlockPrices,
    settled: Vec<Settled>,
    parts: Vec<Part<'a>>,
    solves: usize,
}

/// What all rounds found.
#[derive(Default)]
pub struct Rounds {
    pub settled: Vec<Settled>,
    /// In the order in which they were solved.
    pub blocks: Vec<BlockPrices>,
    pub rounds: usize,
    pub solves: usize,
}

pub fn run(data: &LevelData<'_>, settings: Settings) -> Result<LexicographicOptimum<f64>, LpError> {
    let Rounds { settled, rounds, solves, .. } =
        rounds(first_parts(data), |part| solve(part, settings, 0.0, false))?;
    let tasks = by_user(data, settled, |x, share| x / share as f64);
    Ok(LexicographicOptimum { tasks, duals: Vec::new(), rounds, solves, pivots: 0 })
}

/// The rounds of parts, and of what they leave, by the best guess of doubles. A part without one keeps what it has.
pub fn guess(waiting: Vec<Part<'_>>, settings: Settings) -> Rounds {
    let guessed = rounds(waiting, |part| {
        let mut tries = ROOMS.iter().map(|room| solve(part, settings, *room, true));
        Ok(tries.find_map(Result::ok).unwrap_or_else(|| given_up(part)))
    });
    guessed.unwrap_or_default()
}

/// A part that stays as it is.
fn given_up<'a>(part: &Part<'a>) -> Solved<'a> {
    let as_it_was = |(group, ran): (&usize, &Vec<(usize, Rational)>)| {
        (*group, ran.iter().map(|(c, x)| (part.class_id(*c), x.to_f64())).collect())
    };
    let settled = part.groups.iter().zip(&part.ran).map(as_it_was).collect();
    Solved { block: BlockPrices::default(), settled, parts: Vec::new(), solves: 0 }
}

/// All rounds, each solved by `solve`.
fn rounds<'a>(
    mut waiting: Vec<Part<'a>>,
    solve: impl Fn(&Part<'a>) -> Result<Solved<'a>, LpError> + Sync,
) -> Result<Rounds, LpError> {
    let mut settled = Vec::new();
    let mut blocks = Vec::new();
    let (mut rounds, mut solves) = (0, 0);
    let limits = evenhand_budget::handle();
    while !waiting.is_empty() {
        let solve = |part: &Part<'a>| limits.enter(|| solve(part));
        let solved: Vec<Result<Solved<'_>, LpError>> = waiting.par_iter().map(solve).collect();
        waiting = Vec::new();
        for solved in solved {
            let solved = solved?;
            rounds += 1;
            solves += solved.solves;
            settled.extend(solved.settled);
            blocks.push(solved.block);
            waiting.extend(solved.parts);
        }
    }
    Ok(Rounds { settled, blocks, rounds, solves })
}

/// One round of a part, with that room for frozen levels. Unless `guess`, it is an error where doubles do not tell
/// who is blocked.
fn solve<'a>(part: &Part<'a>, settings: Settings, room: f64, guess: bool) -> Result<Solved<'a>, LpError> {
    part.charge_round();
    let mut search = Search::new(part, settings)?;
    search.room = room;
    let solution = newton(&mut search)?;
    let stays = stays(part, &solution);
    let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
    let is_uncertain = |g: usize| {
        let open = part.targets[g] == Target::Active && part.satisfied_at[g] > solution.level;
        open && UNCERTAIN.contains(&(solution.group_prices[g] / most))
    };
    if !guess && (0..part.groups.len()).any(is_uncertain) {
        return Err(LpError::Uncertain);
    }
    let mut targets = part.targets.clone();
    let mut frozen_at = part.frozen_at.clone();
    let mut block = prices(part, &solution, DUAL_TOLERANCE * most);
    let mut done = 0;
    for (g, target) in targets.iter_mut().enumerate().filter(|(_, target)| **target == Target::Active) {
        if part.satisfied_at[g] <= solution.level {
            *target = Target::Tasks;
        } else if solution.group_prices[g] > DUAL_TOLERANCE * most || stays[g].is_empty() {
            *target = Target::Frozen(0);
            frozen_at[g] = solution.level;
        } else {
            continue;
        }
        done += 1;
    }
    if done == 0 {
        return Err(LpError::NoProgress { round: 1 });
    }
    for (g, classes) in part.classes.iter().enumerate() {
        let leaves = classes.iter().filter(|c| stays[g].binary_search(c).is_err());
        block.left.extend(leaves.map(|&c| (part.groups[g], part.class_id(c))));
    }
    let tasks = tasks(part, &solution, &targets, &frozen_at);
    let mut solved = split(part, tasks, stays, &targets, &frozen_at, search.master.as_mut());
    solved.block = block;
    solved.solves = search.solves;
    for rest in &mut solved.parts {
        rest.floor = solution.level;
    }
    Ok(solved)
}

/// The prices of a round.
fn prices(part: &Part<'_>, solution: &MasterSolution, least: f64) -> BlockPrices {
    let rows = part.rows.iter().copied().zip(solution.prices.iter().copied());
    let priced = (0..part.groups.len()).filter(|&g| solution.group_prices[g] > least);
    BlockPrices {
        level: solution.level,
        rows: rows.filter(|(_, price)| *price > 0.0).collect(),
        priced: priced.map(|g| part.groups[g]).collect(),
        left: Vec::new(),
    }
}

/// The settled groups, and the parts that are left.
fn split<'a>(
    part: &Part<'a>,
    mut tasks: Vec<Vec<(usize, f64)>>,
    mut stays: Vec<Vec<usize>>,
    targets: &[Target],
    frozen_at: &[f64],
    mut master: Option<&mut Master<'_>>,
) -> Solved<'a> {
    let mut solved =
        Solved { block: BlockPrices::default(), settled: Vec::new(), parts: Vec::new(), solves: 0 };
    for component in components(part, &stays) {
        if !component.iter().any(|&g| targets[g] == Target::Active) {
            for g in component {
                let list = std::mem::take(&mut tasks[g]).into_iter();
                solved.settled.push((part.groups[g], list.map(|(c, x)| (part.class_id(c), x)).collect()));
            }
            continue;
        }
        let exact = |(c, x): (usize, f64)| Some((part.class_id(c), Rational::from_f64(x)?));
        let seat = |g: usize| Seat {
            group: part.groups[g],
            classes: std::mem::take(&mut stays[g]).into_iter().map(|c| part.class_id(c)).collect(),
            target: targets[g],
            frozen_at: frozen_at[g],
            ran: std::mem::take(&mut tasks[g]).into_iter().filter_map(exact).collect(),
        };
        let seats = component.iter().copied().map(seat).collect();
        let mut rest = Part::new(part.data, seats, None, Vec::new());
        rest.carry(part, &component, master.as_deref_mut());
        solved.parts.push(rest);
    }
    solved
}

/// By group: the classes whose reduced cost may be 0, and where it runs anyway.
fn stays(part: &Part<'_>, solution: &MasterSolution) -> Vec<Vec<usize>> {
    let most = solution.group_prices.iter().copied().fold(0.0, f64::max);
    let mut stays: Vec<Vec<usize>> = vec![Vec::new(); part.groups.len()];
    for (g, list) in stays.iter_mut().enumerate() {
        let worth = solution.group_prices[g];
        let limit = worth * (1.0 + REDUCED_COST_TOLERANCE) + DUAL_TOLERANCE * most;
        part.for_each_price(g, &solution.prices, |c, price| {
            let task = solution.task_prices[g] * part.tasks_per_level_f64(g, c);
            if (price + task) * solution.unit <= limit {
                list.push(c);
            }
        });
    }
    stays
}

/// Newton's method on the satisfied users.
fn newton(search: &mut Search<'_>) -> Result<MasterSolution, LpError> {
    search.descend()?;
    let part = search.part;
    let mut reached = 0.0;
    for step in 0..search.settings.max_steps {
        let mut solution = search.solve_or_restart(step == 0)?;
        // The level rises with every step; rounding may make a tie go back and forth.
        let level = if solution.level > reached { solution.level } else { reached };
        let stalled = step > 0 && level <= reached * (1.0 + 1e-12);
        reached = level;
        if !search.update_satisfied(|g| part.satisfied_at[g] <= level) || stalled {
            solution.level = level;
            return Ok(solution);
        }
    }
    Err(LpError::NoProgress { round: 1 })
}

/// By group: `(class, tasks)`, cut down to what it was to reach.
fn tasks(
    part: &Part<'_>,
    solution: &MasterSolution,
    targets: &[Target],
    frozen_at: &[f64],
) -> Vec<Vec<(usize, f64)>> {
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
                Target::Frozen(_) => frozen_at[g],
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

/// Whether the allocation exceeds no capacity, in doubles, by more than [`SOUND`] of it.
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
    load.iter().zip(&whole.capacity).all(|(load, capacity)| *load <= capacity * (1.0 + SOUND))
}

/// An exact optimum in doubles.
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
