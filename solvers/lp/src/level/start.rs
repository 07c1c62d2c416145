//! A cheap guess of prices, of the first blocking level, and of where everybody runs.
//!
//! Prices rise on rows that are overloaded when every user runs where it is cheapest, and fall on
//! the others. Users split smoothly between their two cheapest classes, more sharply from
//! iteration to iteration, so that loads answer to prices without jumping. By duality any prices
//! bound the level from above; the best bound is the guess. It saves the simplex method most of
//! its iterations and HiGHS most of its columns; nothing depends on its quality.

use super::data::LevelData;
use super::master::GroupOnClass;

/// Iterations, fewer for problems whose single pass is long.
const MAX_ITERATIONS: usize = 60;
const MIN_ITERATIONS: usize = 6;
/// Prices of a task (groups x classes x resources) that all iterations together may compute.
const WORK_LIMIT: usize = 400_000_000;
/// Sharpness of the split at the first and at the last iteration.
const SHARPNESS: (f64, f64) = (5.0, 400.0);
/// Groups of each class that get a column there in the first model.
const GROUPS_PER_CLASS: usize = 10;

/// The guess.
pub struct FirstColumns {
    /// An upper bound of the first blocking level.
    pub level: f64,
    /// By `g`: the class on which the group runs for the most part.
    pub favourite: Vec<usize>,
    /// Other placements worth a column in the first model.
    pub placements: Vec<GroupOnClass>,
}

/// A group's two cheapest classes.
#[derive(Clone, Copy)]
struct Choice {
    class: usize,
    price: f64,
    second_class: usize,
    second_price: f64,
}

pub fn guess(data: &LevelData<'_>) -> FirstColumns {
    let mut prices: Vec<f64> = data.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 0.0 }).collect();
    let pass: usize =
        data.groups.iter().map(|g| g.classes.len()).sum::<usize>() * data.constraints.problem().n_resources();
    let iterations = (WORK_LIMIT / pass.max(1)).clamp(MIN_ITERATIONS, MAX_ITERATIONS);
    let order = by_satisfaction(data);
    let mut level = f64::INFINITY;
    let mut best_prices = prices.clone();
    let mut load = vec![0.0; prices.len()];
    let mut counts: Vec<Vec<(usize, f64)>> = vec![Vec::new(); data.groups.len()];
    for iteration in 0..iterations {
        let progress = iteration as f64 / iterations as f64;
        let sharpness = SHARPNESS.0 * libm::pow(SHARPNESS.1 / SHARPNESS.0, progress);
        let choices: Vec<Choice> = (0..data.groups.len()).map(|g| choose(data, g, &prices)).collect();
        let bound = affordable_level(data, &order, &choices, &prices);
        if bound < level {
            level = bound;
            best_prices.clone_from(&prices);
        }
        load.fill(0.0);
        for (g, choice) in choices.iter().enumerate() {
            let level = bound.min(data.satisfied_at_f64[g]);
            let away = if choice.price > 0.0 && choice.second_price.is_finite() {
                1.0 / (1.0 + libm::exp(sharpness * (choice.second_price / choice.price - 1.0)))
            } else {
                0.0
            };
            for (i, part) in [(choice.class, 1.0 - away), (choice.second_class, away)] {
                if part < 1e-3 {
                    continue;
                }
                let tasks = part * level * data.tasks_per_level_f64(g, i);
                for (row, usage) in data.usage(g, i) {
                    load[row] += tasks * usage;
                }
                // Later prices are better: weigh them more.
                let weight = part * (iteration + 1) as f64;
                match counts[g].iter_mut().find(|(class, _)| *class == i) {
                    Some((_, count)) => *count += weight,
                    None => counts[g].push((i, weight)),
                }
            }
        }
        // A price moves demand by about `sharpness` times its relative change.
        let step = 4.0 / sharpness.max(4.0);
        for ((price, load), capacity) in prices.iter_mut().zip(&load).zip(&data.capacity) {
            if *capacity > 0.0 {
                *price *= libm::exp(step * (load / capacity - 1.0).clamp(-3.0, 3.0));
            }
        }
    }
    for list in &mut counts {
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    FirstColumns {
        level,
        favourite: counts.iter().map(|list| list[0].0).collect(),
        placements: first_placements(data, &best_prices),
    }
}

fn choose(data: &LevelData<'_>, g: usize, prices: &[f64]) -> Choice {
    let mut best = Choice {
        class: data.groups[g].classes.first().copied().unwrap_or_default(),
        price: f64::INFINITY,
        second_class: 0,
        second_price: f64::INFINITY,
    };
    data.for_each_price(g, prices, |i, price| {
        if price < best.price {
            best.second_class = best.class;
            best.second_price = best.price;
            best.class = i;
            best.price = price;
        } else if price < best.second_price {
            best.second_class = i;
            best.second_price = price;
        }
    });
    best
}

/// For every class the groups that like it best, so that all classes have a price at once.
fn first_placements(data: &LevelData<'_>, prices: &[f64]) -> Vec<GroupOnClass> {
    let mut fans: Vec<Vec<(f64, usize)>> = vec![Vec::new(); data.constraints.problem().n_servers()];
    for g in 0..data.groups.len() {
        let least = choose(data, g, prices).price;
        data.for_each_price(g, prices, |i, price| {
            let extra = if least > 0.0 { price / least - 1.0 } else { price };
            keep_least(&mut fans[i], (extra, g), GROUPS_PER_CLASS);
        });
    }
    let by_class = fans.into_iter().enumerate();
    by_class.flat_map(|(i, list)| list.into_iter().map(move |(_, g)| GroupOnClass { g, i })).collect()
}

/// Inserts into a sorted list of at most `limit` entries.
pub fn keep_least(list: &mut Vec<(f64, usize)>, entry: (f64, usize), limit: usize) {
    if list.len() == limit && list.last().is_some_and(|last| last.0 <= entry.0) {
        return;
    }
    let at = list.partition_point(|other| other.0 <= entry.0);
    list.insert(at, entry);
    list.truncate(limit);
}

/// An upper bound of the first blocking level, from any prices: what everybody needs at its
/// cheapest class must not cost more than all capacity is worth.
pub fn bound(data: &LevelData<'_>, order: &[usize], prices: &[f64]) -> f64 {
    let choices: Vec<Choice> = (0..data.groups.len()).map(|g| choose(data, g, prices)).collect();
    affordable_level(data, order, &choices, prices)
}

/// Groups by the level at which they are satisfied.
pub fn by_satisfaction(data: &LevelData<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.groups.len()).collect();
    order.sort_by(|&a, &b| data.satisfied_at_f64[a].total_cmp(&data.satisfied_at_f64[b]));
    order
}

/// The level at which the users' cheapest choices cost as much as all capacity is worth.
fn affordable_level(data: &LevelData<'_>, order: &[usize], choices: &[Choice], prices: &[f64]) -> f64 {
    let mut budget: f64 = prices.iter().zip(&data.capacity).map(|(p, c)| p * c).sum();
    let mut rate: f64 = choices.iter().map(|choice| choice.price).sum();
    for &g in order {
        let at = data.satisfied_at_f64[g];
        if budget <= rate * at {
            return if rate > 0.0 { (budget / rate).max(0.0) } else { f64::INFINITY };
        }
        budget -= at * choices[g].price;
        rate -= choices[g].price;
    }
    // Everybody can afford all its tasks: a higher level means nothing.
    order.last().map_or(f64::INFINITY, |&g| data.satisfied_at_f64[g])
}
