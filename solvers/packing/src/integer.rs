//! Lower and upper bounds on the optimum with whole servers and whole jobs.
//!
//! The lower bound is the reward of an assignment. HiGHS searches for the best whole assignment
//! over the configurations that the linear programme generated, and the result is evaluated
//! exactly. Greedy's assignment is used if it is better. The running time of HiGHS grows with the
//! numbers, so only the last thousand servers of each configuration are searched. All other servers
//! keep the configuration that the linear programme gave them.
//!
//! The upper bound is the exact optimum of the linear programme, rounded down to a multiple of the
//! greatest common divisor of the rewards. Whole jobs always earn such a multiple.

use crate::limits::PackingError;
use crate::settings::PACKING;
use evenhand_lp::mip::{MipColumn, MipModel, MipRow, MipSettings};
use evenhand_problem::reservation::greatest_common_divisor;
use rug::{Integer, Rational};

use super::configuration_lp::{PackingOptimum, solve_from};
use super::greedy;
use super::max_reward::MaxReward;

/// A lower and an upper bound on the optimum with whole servers and jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// The lower bound: the reward of the assignment.
    pub lower: Rational,
    /// The upper bound: no assignment earns more.
    pub upper: Rational,
    /// `(pool, configuration, servers)` of the assignment. All other servers are idle.
    pub servers: Vec<(usize, Vec<u64>, Integer)>,
    /// The optimum of the linear programme, whose prices prove the upper bound.
    pub relaxation: PackingOptimum,
}

/// Computes a lower and an upper bound on the optimum of the given jobs on the given servers.
///
/// # Errors
/// The same errors as [`solve`](super::configuration_lp::solve). A failure of the integer programme is not an error. In
/// that case the lower bound is the reward of greedy.
pub fn bracket(
    best: &mut MaxReward<'_>,
    jobs: &[Integer],
    servers: &[Integer],
    settings: &MipSettings,
) -> Result<Bracket, PackingError> {
    let loads: Vec<Rational> = jobs.iter().map(Rational::from).collect();
    let sizes: Vec<Rational> = servers.iter().map(Rational::from).collect();
    let greedy = greedy::whole(best, jobs, servers)?;
    let greedy_columns = greedy.steps.iter().map(|step| (step.pool, step.best.configuration.clone()));
    let (optimum, mut columns) = solve_from(best, &loads, &sizes, Vec::new())?;
    columns.extend(greedy_columns);
    columns.sort();
    columns.dedup();

    let mut bracket = Bracket {
        lower: greedy.reward,
        upper: optimum.value.clone(),
        servers: Vec::new(),
        relaxation: optimum,
    };
    for step in greedy.steps.iter().filter(|step| step.servers > 0) {
        bracket.servers.push((step.pool, step.best.configuration.clone(), step.servers.clone()));
    }
    let rewards = best.problem().rewards();
    if let Some(unit) = greatest_common_divisor(&rewards) {
        bracket.upper = Rational::from(&bracket.upper / &unit).floor() * unit;
    }
    if bracket.lower == bracket.upper {
        return Ok(bracket);
    }
    // The answer of HiGHS is only a guess. It is rounded, reduced to the existing number of servers, and evaluated
    // exactly.
    let settled = settled(&columns, &bracket.relaxation);
    let rest = Remainder::new(jobs, servers, &columns, &settled);
    let Ok(values) = integer_programme(best, &rest, &columns, settings) else { return Ok(bracket) };
    let mut free = rest.servers;
    let mut assignment = Vec::new();
    let mut slots = vec![Integer::new(); jobs.len()];
    for (((i, k), settled), value) in columns.into_iter().zip(settled).zip(values) {
        let found = Integer::from_f64(value.round()).unwrap_or_default();
        let found = found.max(Integer::new()).min(free[i].clone());
        free[i] -= &found;
        let x = settled + found;
        if x > 0 {
            slots.iter_mut().zip(&k).for_each(|(slots, k)| *slots += Integer::from(&x * k));
            assignment.push((i, k, x));
        }
    }
    let served = slots.iter().zip(jobs).map(|(slots, jobs)| slots.min(jobs));
    let lower: Rational = served.zip(&rewards).map(|(served, u)| Rational::from(u * served)).sum();
    if lower > bracket.lower {
        bracket = Bracket { lower, servers: assignment, ..bracket };
    }
    Ok(bracket)
}

/// Returns for each column the number of servers that the integer search does not change. These are the servers of the
/// linear programme except the last `PACKING.searched` servers of each column.
fn settled(columns: &[(usize, Vec<u64>)], optimum: &PackingOptimum) -> Vec<Integer> {
    let of = |(pool, k): &(usize, Vec<u64>)| {
        let found = optimum.servers.iter().find(|(i, other, _)| i == pool && other == k);
        let whole = found.map_or_else(Integer::new, |(_, _, x)| x.clone().floor().into_numer_denom().0);
        (whole - PACKING.searched).max(Integer::new())
    };
    columns.iter().map(of).collect()
}

/// The jobs and servers that remain for the integer search.
struct Remainder {
    /// For each type, the jobs without a slot.
    jobs: Vec<Integer>,
    /// For each pool, the servers that are not fixed. The numbers are capped to keep the integer programme small.
    servers: Vec<Integer>,
}

impl Remainder {
    fn new(
        jobs: &[Integer],
        servers: &[Integer],
        columns: &[(usize, Vec<u64>)],
        settled: &[Integer],
    ) -> Self {
        let mut rest = Self { jobs: jobs.to_vec(), servers: servers.to_vec() };
        let mut n_columns = vec![1_u32; servers.len()];
        for ((i, k), x) in columns.iter().zip(settled) {
            rest.servers[*i] -= x;
            n_columns[*i] += 1;
            rest.jobs.iter_mut().zip(k).for_each(|(jobs, k)| *jobs -= Integer::from(x * k));
        }
        rest.jobs.iter_mut().filter(|jobs| **jobs < 0).for_each(|jobs| *jobs = Integer::new());
        for (free, n) in rest.servers.iter_mut().zip(n_columns) {
            *free = free.clone().min(Integer::from(2 * PACKING.searched) * n);
        }
        rest
    }
}

/// Returns the number of servers of each column in an optimum of the integer programme, in floating point.
fn integer_programme(
    best: &MaxReward<'_>,
    rest: &Remainder,
    columns: &[(usize, Vec<u64>)],
    settings: &MipSettings,
) -> Result<Vec<f64>, PackingError> {
    let Remainder { jobs, servers } = rest;
    let rewards = best.problem().rewards();
    let largest = rewards.iter().max().filter(|u| !u.is_zero()).cloned().unwrap_or_else(|| 1.into());
    let mut model = MipModel::default();
    for (i, _) in columns {
        let upper = servers[*i].to_f64();
        model.add_column(MipColumn { cost: 0.0, lower: 0.0, upper, is_integer: true })?;
    }
    let total: Integer = servers.iter().sum();
    for (j, reward) in rewards.iter().enumerate() {
        // The number of served jobs is at most the number of slots of all servers.
        let most = (0..servers.len()).map(|i| best.problem().most(i, j)).max().unwrap_or(0);
        let upper = Integer::from(&total * most).min(jobs[j].clone()).to_f64();
        let cost = Rational::from(reward / &largest).to_f64();
        let served = model.add_column(MipColumn { cost, lower: 0.0, upper, is_integer: false })?;
        let mut entries = vec![(served, -1.0)];
        let holding = columns.iter().enumerate().filter(|(_, (_, k))| k[j] > 0);
        entries.extend(holding.map(|(column, (_, k))| (column, k[j] as f64)));
        model.add_row(MipRow { lower: 0.0, upper: f64::INFINITY, entries })?;
    }
    for (i, size) in servers.iter().enumerate() {
        let here = columns.iter().enumerate().filter(|(_, (pool, _))| *pool == i);
        let entries = here.map(|(column, _)| (column, 1.0)).collect();
        model.add_row(MipRow { lower: 0.0, upper: size.to_f64(), entries })?;
    }
    Ok(model.solve(settings)?.values[..columns.len()].to_vec())
}
