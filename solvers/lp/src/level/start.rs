//! A cheap guess of where everybody runs, by multiplicative weights on the capacity rows.
//!
//! Prices rise on rows that are loaded most when every user runs where it is cheapest. By duality
//! any prices bound the level from above, and the classes that a user chose most often are those
//! on which it will run at the optimum, nearly always. The guess saves the simplex method most of
//! its iterations; nothing depends on its quality.

use super::data::LevelData;

/// Iterations of the price adjustment, fewer for problems whose single pass is long.
const MAX_ITERATIONS: usize = 64;
const MIN_ITERATIONS: usize = 4;
/// Price updates (groups x classes x resources) that all iterations together may cost.
const WORK_LIMIT: usize = 400_000_000;

/// The guess.
pub struct Start {
    /// By `g`: positions in the group's `classes` that were chosen, most often first.
    pub choices: Vec<Vec<usize>>,
    /// An upper bound of the first blocking level.
    pub level: f64,
}

pub fn guess(data: &LevelData<'_>) -> Start {
    let n_groups = data.groups.len();
    let mut prices: Vec<f64> = data.capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 0.0 }).collect();
    let pass: usize =
        data.groups.iter().map(|g| g.classes.len()).sum::<usize>() * data.constraints.problem().n_resources();
    let iterations = (WORK_LIMIT / pass.max(1)).clamp(MIN_ITERATIONS, MAX_ITERATIONS);
    let mut counts: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n_groups];
    let mut cheapest = vec![(0, 0.0); n_groups];
    let mut level = f64::INFINITY;
    let mut order: Vec<usize> = (0..n_groups).collect();
    order.sort_by(|&a, &b| data.satisfied_at_f64[a].total_cmp(&data.satisfied_at_f64[b]));
    for iteration in 0..iterations {
        for (g, slot) in cheapest.iter_mut().enumerate() {
            *slot = cheapest_class(data, g, &prices);
        }
        level = level.min(affordable_level(data, &order, &cheapest, &prices));
        let mut load = vec![0.0; prices.len()];
        for (g, &(position, _)) in cheapest.iter().enumerate() {
            let i = data.groups[g].classes[position];
            let tasks = level.min(data.satisfied_at_f64[g]) * data.tasks_per_level_f64(g, i);
            for (row, usage) in data.constraints.class_rows(i).zip(data.usage(g, i).iter()) {
                load[row] += tasks * usage;
            }
            // Later prices are better: weigh them more.
            let weight = (iteration + 1) as f64;
            match counts[g].iter_mut().find(|(p, _)| *p == position) {
                Some((_, count)) => *count += weight,
                None => counts[g].push((position, weight)),
            }
        }
        let step = 1.0 / (1.0 + iteration as f64).sqrt();
        for ((price, load), capacity) in prices.iter_mut().zip(&load).zip(&data.capacity) {
            if *capacity > 0.0 {
                *price *= (step * (load / capacity - 1.0).min(3.0)).exp();
            }
        }
    }
    let choices = counts
        .into_iter()
        .map(|mut list| {
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            list.into_iter().map(|(position, _)| position).collect()
        })
        .collect();
    Start { choices, level }
}

/// `(position in classes, price of one level)` of the class that is cheapest for group `g`.
fn cheapest_class(data: &LevelData<'_>, g: usize, prices: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (position, &i) in data.groups[g].classes.iter().enumerate() {
        let usage = data.usage(g, i);
        let task: f64 =
            prices[data.constraints.class_rows(i)].iter().zip(usage.iter()).map(|(p, u)| p * u).sum();
        let price = task * data.tasks_per_level_f64(g, i);
        if price < best.1 {
            best = (position, price);
        }
    }
    best
}

/// The level at which the users' cheapest choices cost as much as all capacity is worth.
fn affordable_level(data: &LevelData<'_>, order: &[usize], cheapest: &[(usize, f64)], prices: &[f64]) -> f64 {
    let mut budget: f64 = prices.iter().zip(&data.capacity).map(|(p, c)| p * c).sum();
    let mut rate: f64 = cheapest.iter().map(|(_, price)| price).sum();
    for &g in order {
        let at = data.satisfied_at_f64[g];
        if budget <= rate * at {
            return if rate > 0.0 { (budget / rate).max(0.0) } else { f64::INFINITY };
        }
        budget -= at * cheapest[g].1;
        rate -= cheapest[g].1;
    }
    // Everybody can afford all its tasks: a higher level means nothing.
    order.last().map_or(f64::INFINITY, |&g| data.satisfied_at_f64[g])
}
