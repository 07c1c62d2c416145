//! A cheap guess of prices, of the first blocking level, and of the placements of all users.
//!
//! Prices rise on rows that are overloaded when every user runs on its cheapest class, and fall on the others. Users
//! split smoothly between their cheapest classes, so loads react to prices without jumps. The split becomes sharper
//! from iteration to iteration. By duality any prices bound the level from above. The guess is the best of these
//! bounds. The guess saves HiGHS most of its simplex iterations and columns. The quality of the guess does not change
//! the result.

use super::part::{GroupOnClass, Part, Target};
use crate::settings::GUESS;

/// A guess of the level, the columns and the prices.
pub struct Guess {
    /// An upper bound of the first blocking level.
    pub level: f64,
    pub columns: FirstColumns,
    /// For each row, its price in the prices that gave the bound `level`.
    pub prices: Vec<f64>,
}

/// The placements of the first model.
pub struct FirstColumns {
    /// For each `g`, a class on which the group runs.
    pub favourite: Vec<usize>,
    /// The other placements that get a column in the first model.
    pub placements: Vec<GroupOnClass>,
}

impl FirstColumns {
    /// Returns the first columns at the given prices. Each group runs on its cheapest class.
    pub fn at(part: &Part<'_>, prices: &[f64]) -> Self {
        let cheapest = |g: usize| {
            let mut best = (f64::INFINITY, part.classes[g][0]);
            part.for_each_price(g, prices, |c, price| {
                if price < best.0 {
                    best = (price, c);
                }
            });
            best.1
        };
        Self {
            favourite: (0..part.groups.len()).map(cheapest).collect(),
            placements: first_placements(part, prices),
        }
    }
}

pub fn guess(part: &Part<'_>) -> Guess {
    let pass: usize =
        part.classes.iter().map(Vec::len).sum::<usize>() * part.data.constraints.problem().n_resources();
    let most = if part.rows.len() < GUESS.few_rows {
        GUESS.max_iterations_on_few_rows
    } else {
        GUESS.max_iterations
    };
    guess_in(part, (GUESS.work_limit / pass.max(1)).clamp(GUESS.min_iterations, most))
}

/// Computes a rough guess for the method of [`super::keys`], which computes prices itself.
pub fn rough_guess(part: &Part<'_>) -> Guess {
    guess_in(part, GUESS.rough_iterations)
}

/// Computes a guess in the given number of iterations.
fn guess_in(part: &Part<'_>, iterations: usize) -> Guess {
    let mut prices = first_prices(part);
    let order = by_satisfaction(part);
    let mut level = f64::INFINITY;
    let mut best_prices = prices.clone();
    let mut load = vec![0.0; prices.len()];
    // `costs`: the classes of a group with the cost of a unit of level on each class. `least`: the least such cost of
    // each group.
    let mut costs: Vec<(usize, f64)> = Vec::new();
    let mut least = vec![0.0; part.groups.len()];
    let mut split: Vec<(usize, f64)> = Vec::new();
    let mut counts: Vec<Vec<(usize, f64)>> = vec![Vec::new(); part.groups.len()];
    for iteration in 0..iterations {
        let progress = iteration as f64 / iterations as f64;
        let sharpness = GUESS.sharpness.0 * libm::pow(GUESS.sharpness.1 / GUESS.sharpness.0, progress);
        costs.clear();
        for (g, least) in least.iter_mut().enumerate() {
            *least = f64::INFINITY;
            part.for_each_price(g, &prices, |c, price| {
                costs.push((c, price));
                *least = least.min(price);
            });
        }
        let bound = affordable_level(part, &order, &least, &prices);
        if bound < level {
            level = bound;
            best_prices.clone_from(&prices);
        }
        load.fill(0.0);
        let mut costs = costs.as_slice();
        for (g, &least) in least.iter().enumerate() {
            let level = needed(part, g, bound);
            let own;
            (own, costs) = costs.split_at(part.classes[g].len());
            split.clear();
            for &(c, price) in own {
                let extra = if least > 0.0 { sharpness * (price / least - 1.0) } else { price };
                if extra < GUESS.most_extra {
                    split.push((c, libm::exp(-extra)));
                }
            }
            let sum: f64 = split.iter().map(|(_, weight)| weight).sum();
            for &(c, weight) in &split {
                let share = weight / sum;
                if share < GUESS.nothing {
                    continue;
                }
                let tasks = share * level * part.tasks_per_level_f64(g, c);
                for (row, usage) in part.usage(g, c) {
                    load[row] += tasks * usage;
                }
                // Later prices are better and get more weight.
                let weight = share * (iteration + 1) as f64;
                match counts[g].iter_mut().find(|(class, _)| *class == c) {
                    Some((_, count)) => *count += weight,
                    None => counts[g].push((c, weight)),
                }
            }
        }
        // A price moves demand by about `sharpness` times its relative change.
        let step = 4.0 / sharpness.max(4.0);
        for ((price, load), capacity) in prices.iter_mut().zip(&load).zip(&part.capacity) {
            if *capacity > 0.0 {
                *price *= libm::exp(step * (load / capacity - 1.0).clamp(-3.0, 3.0));
            }
        }
    }
    // If prices are out of the range of doubles, no class is preferred.
    let most = |(list, on): (&Vec<(usize, f64)>, &Vec<usize>)| {
        let most = list.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        most.map_or(on[0], |(c, _)| *c)
    };
    let columns = FirstColumns {
        favourite: counts.iter().zip(&part.classes).map(most).collect(),
        placements: first_placements(part, &best_prices),
    };
    Guess { level, columns, prices: best_prices }
}

/// Returns an upper bound of the first blocking level, from prices that ignore scarcity.
pub fn rough_level(part: &Part<'_>) -> f64 {
    let prices = first_prices(part);
    let least: Vec<f64> = (0..part.groups.len()).map(|g| least_price(part, g, &prices)).collect();
    affordable_level(part, &by_satisfaction(part), &least, &prices)
}

/// Returns prices at which the whole capacity of each row costs 1.
fn first_prices(part: &Part<'_>) -> Vec<f64> {
    part.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 0.0 }).collect()
}

/// Returns the level that group `g` needs if the common level is `level`.
fn needed(part: &Part<'_>, g: usize, level: f64) -> f64 {
    match part.targets[g] {
        Target::Frozen(_) => part.frozen_at[g],
        Target::Active | Target::Tasks => level.min(part.satisfied_at[g]),
    }
}

/// Returns the cost of one unit of level on the cheapest class of group `g`.
fn least_price(part: &Part<'_>, g: usize, prices: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    part.for_each_price(g, prices, |_, price| least = least.min(price));
    least
}

/// Returns for every class the groups for which the class is relatively cheapest, so that all classes get a price at
/// once.
fn first_placements(part: &Part<'_>, prices: &[f64]) -> Vec<GroupOnClass> {
    let mut fans: Vec<Vec<(f64, usize)>> = vec![Vec::new(); part.n_classes()];
    for g in 0..part.groups.len() {
        let least = least_price(part, g, prices);
        part.for_each_price(g, prices, |c, price| {
            let extra = if least > 0.0 { price / least - 1.0 } else { price };
            keep_least(&mut fans[c], (extra, g), GUESS.groups_per_class);
        });
    }
    let by_class = fans.into_iter().enumerate();
    by_class.flat_map(|(c, list)| list.into_iter().map(move |(_, g)| GroupOnClass { g, c })).collect()
}

/// Inserts `entry` into a sorted list that keeps its `limit` least entries.
pub fn keep_least(list: &mut Vec<(f64, usize)>, entry: (f64, usize), limit: usize) {
    if list.len() == limit && list.last().is_some_and(|last| last.0 <= entry.0) {
        return;
    }
    let at = list.partition_point(|other| other.0 <= entry.0);
    list.insert(at, entry);
    list.truncate(limit);
}

/// Returns the groups that are not frozen, in order of the level at which they are satisfied.
fn by_satisfaction(part: &Part<'_>) -> Vec<usize> {
    let is_frozen = |g: usize| matches!(part.targets[g], Target::Frozen(_));
    let mut order: Vec<usize> = (0..part.groups.len()).filter(|&g| !is_frozen(g)).collect();
    order.sort_by(|&a, &b| part.satisfied_at[a].total_cmp(&part.satisfied_at[b]));
    order
}

/// Returns the level at which the cost of all groups on their cheapest classes equals the worth of all capacity.
///
/// `least[g]` is the price of one unit of level of group `g` on its cheapest class.
fn affordable_level(part: &Part<'_>, order: &[usize], least: &[f64], prices: &[f64]) -> f64 {
    let mut budget: f64 = prices.iter().zip(&part.capacity).map(|(p, c)| p * c).sum();
    let mut rate: f64 = order.iter().map(|&g| least[g]).sum();
    for (g, price) in least.iter().enumerate() {
        if let Target::Frozen(_) = part.targets[g] {
            budget -= part.frozen_at[g] * price;
        }
    }
    for &g in order {
        let at = part.satisfied_at[g];
        if budget <= rate * at {
            return if rate > 0.0 { (budget / rate).max(0.0) } else { f64::INFINITY };
        }
        budget -= at * least[g];
        rate -= least[g];
    }
    // All groups can afford all their tasks, so a higher level has no meaning.
    order.last().map_or(f64::INFINITY, |&g| part.satisfied_at[g])
}
