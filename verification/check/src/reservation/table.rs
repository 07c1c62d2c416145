//! The knapsack problem, solved by dynamic programming over the grid of capacities in units.

use std::ops::Add;

use rug::{Integer, Rational};

use super::packing::Packing;
use super::problem::Configuration;
use crate::names::{Amounts, at};
use crate::number::floor;
use crate::work::{self, Checked, ensure, ensure_small};

/// The largest number of cells of a table.
const CELLS: usize = 10_000_000;
/// The largest number of bits of all numbers of a table, if a number is wider than two words. The table then takes at
/// most 256 MiB.
const BITS: u64 = 1 << 31;

/// Returns the first configuration of some types (ascending) on a server of a pool. All profits are multiples of
/// `unit`. The table has to have the stated number of cells.
pub fn first(
    packing: &Packing<'_>,
    i: usize,
    stated: u64,
    types: &[usize],
    profits: &Amounts,
    unit: &Rational,
) -> Checked<Configuration> {
    let units = |amounts: &Amounts, r: usize| {
        let units = at(amounts, r).map(|amount| floor(Rational::from(amount / &packing.unit[r])));
        units.map_or(0, |units| units.to_usize().unwrap_or(CELLS).min(CELLS))
    };
    // The table has an axis for each demanded resource. The longest axis is the last. The length of an axis is its
    // number of coordinates.
    let demanded = (0..packing.unit.len()).filter(|r| !packing.unit[*r].is_zero());
    let mut axes: Vec<_> = demanded.map(|r| (units(&packing.capacity[i], r) + 1, r)).collect();
    axes.sort_unstable();
    let (lengths, resources): (Vec<usize>, Vec<usize>) = axes.into_iter().unzip();
    let cells = lengths.iter().fold(1, |cells: u64, length| cells.saturating_mul(*length as u64));
    ensure(
        cells == stated,
        "the stated number of cells of a dynamic programme differs from the computed one",
    )?;
    ensure(cells <= CELLS as u64, "a dynamic programme has more cells than the checker fills")?;
    work::spend(types.len().saturating_mul(lengths.len()))?;
    let job = |j: &usize| {
        let demand = &packing.problem.jobs[*j].demand;
        let profit = floor(at(profits, *j).cloned().unwrap_or_default() / unit);
        (*j, resources.iter().map(|r| units(demand, *r)).collect(), profit)
    };
    let jobs: Vec<Job> = types.iter().map(job).collect();
    // Every job takes at least one unit of some resource. This bounds the number of jobs.
    let most = jobs.iter().map(|(.., profit)| profit).max().cloned().unwrap_or_default();
    let bits = u64::from((most * lengths.iter().sum::<usize>() as u64).significant_bits());
    let each = if bits < 128 { 4 + bits / 16 } else { 40 * (bits / 64 + 1) };
    work::steps(cells.saturating_mul(types.len() as u64 + 1).saturating_mul(each))?;
    let is_small = bits < 128 || cells.saturating_mul(bits + 128) <= BITS;
    ensure_small(is_small, "the numbers of a dynamic programme")?;
    Ok(match bits {
        0..64 => fill(&lengths, &jobs, Integer::to_u64_wrapping),
        64..128 => fill(&lengths, &jobs, Integer::to_u128_wrapping),
        _ => fill(&lengths, &jobs, Integer::clone),
    })
}

/// A type, the units that a job of the type takes along every axis, and the profit of the job in units.
type Job = (usize, Vec<usize>, Integer);

/// Fills a table with the largest profit for every capacity, and returns the first configuration for the whole
/// capacity.
fn fill<V>(lengths: &[usize], jobs: &[Job], number: impl Fn(&Integer) -> V) -> Configuration
where
    V: Default + Clone + Ord + for<'v> Add<&'v V, Output = V>,
{
    let offset = |takes: &[usize]| lengths.iter().zip(takes).fold(0, |at, (length, take)| at * length + take);
    // Returns true if a job fits into the capacity of a cell.
    let has_room = |mut at: usize, takes: &[usize]| {
        lengths.iter().zip(takes).rev().all(|(length, take)| {
            let along = at % length;
            at /= length;
            along >= *take
        })
    };
    let mut value = vec![V::default(); lengths.iter().product()];
    let row = lengths.last().copied().unwrap_or(1);
    for (_, takes, profit) in jobs {
        let (offset, profit) = (offset(takes), number(profit));
        let first = takes.last().copied().unwrap_or(0);
        // If the job fits into the last cell of a row, then it fits into all cells of the row from some cell on.
        for end in (row..=value.len()).step_by(row).filter(|end| has_room(end - 1, takes)) {
            for at in end - row + first..end {
                let one_more = value[at - offset].clone() + &profit;
                if one_more > value[at] {
                    value[at] = one_more;
                }
            }
        }
    }
    // The configuration is read back from the table. It has as many jobs of the first type as any best filling, then as
    // many jobs of the second type as possible, and so on. A best filling of the remaining capacity contains no job of
    // an earlier type, because otherwise a best filling of the earlier cell would have contained that job too.
    let (mut k, mut at) = (Configuration::new(), value.len() - 1);
    for (j, takes, profit) in jobs {
        let (offset, profit) = (offset(takes), number(profit));
        let mut jobs = 0;
        while has_room(at, takes) && value[at - offset].clone() + &profit == value[at] {
            jobs += 1;
            at -= offset;
        }
        k.push((*j, jobs));
    }
    k.retain(|(_, jobs)| *jobs > 0);
    k
}
