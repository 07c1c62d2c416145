//! The knapsack by dynamic programming over the grid of capacities, in units.

use std::ops::Add;

use rug::{Integer, Rational};

use super::packing::{Packing, Profits};
use super::problem::Configuration;
use crate::names::{Amounts, at};
use crate::number::floor;
use crate::work::{self, Checked, ensure, ensure_small};

/// Most cells of a table.
const CELLS: u64 = 10_000_000;
/// Most bits of the numbers of a table wider than two words, so that it takes at most 256 MiB.
const BITS: u64 = 1 << 31;

/// The first configuration of some types (ascending) on a server of a pool by profits that are multiples of a
/// unit, with a table that is stated to have so many cells.
pub fn first(
    packing: &Packing<'_>,
    i: usize,
    stated: u64,
    types: &[usize],
    (profits, unit): Profits<'_>,
) -> Checked<Configuration> {
    let in_units = |amounts: &Amounts, r: usize| {
        at(amounts, r)
            .zip(packing.unit[r].as_ref())
            .map_or_else(Integer::new, |(a, unit)| floor(Rational::from(a / unit)))
    };
    // The largest coordinate along every axis, a demanded resource each, the longest axis last.
    let most = |r: usize| in_units(&packing.capacity[i], r).to_u64().unwrap_or(CELLS).min(CELLS);
    let demanded = (0..packing.unit.len()).filter(|r| packing.unit[*r].is_some());
    let mut axes: Vec<(usize, usize)> = demanded.map(|r| (most(r) as usize, r)).collect();
    let cells = axes.iter().fold(1_u64, |cells, (most, _)| cells.saturating_mul(*most as u64 + 1));
    ensure(cells == stated, "the dynamic programme has another number of cells")?;
    ensure(cells <= CELLS, "the dynamic programme has more cells than are filled")?;
    work::spend(types.len().saturating_mul(axes.len()))?;
    axes.sort_unstable();
    // What a job of a type that fits takes along every axis.
    let take = |j: &usize| {
        let demand = &packing.problem.jobs[*j].demand;
        let along = |(most, r): &(usize, usize)| in_units(demand, *r).to_usize().filter(|d| d <= most);
        Some((*j, axes.iter().map(along).collect::<Option<Vec<usize>>>()?))
    };
    let fitting: Vec<(usize, Vec<usize>)> = types.iter().filter_map(take).collect();
    let axes: Vec<usize> = axes.into_iter().map(|(most, _)| most).collect();
    let profit = |j: usize| floor(at(profits, j).cloned().unwrap_or_default() / unit);
    // Every job takes a unit of something.
    let most =
        types.iter().map(|j| profit(*j)).max().unwrap_or_default() * (axes.iter().sum::<usize>() as u64 + 1);
    let bits = u64::from(most.significant_bits());
    let each = if bits < 128 { 4 + bits / 16 } else { 40 * (bits / 64 + 1) };
    work::steps(cells.saturating_mul(types.len() as u64 + 1).saturating_mul(each))?;
    let is_small = bits < 128 || cells.saturating_mul(bits + 128) <= BITS;
    ensure_small(is_small, "the numbers of a dynamic programme")?;
    Ok(match bits {
        0..64 => fill(&axes, &fitting, |j| profit(j).to_u64_wrapping()),
        64..128 => fill(&axes, &fitting, |j| profit(j).to_u128_wrapping()),
        _ => fill(&axes, &fitting, profit),
    })
}

fn fill<V>(axes: &[usize], fitting: &[(usize, Vec<usize>)], profit: impl Fn(usize) -> V) -> Configuration
where
    V: Default + Clone + Ord + for<'v> Add<&'v V, Output = V>,
{
    let mut value = vec![V::default(); axes.iter().map(|most| most + 1).product()];
    let offset =
        |demand: &[usize]| axes.iter().zip(demand).fold(0, |offset, (most, d)| offset * (most + 1) + d);
    for (j, demand) in fitting {
        let (offset, profit) = (offset(demand), profit(*j));
        each_cell(axes, demand, 0, &mut |at| {
            let one_more = value[at - offset].clone() + &profit;
            if one_more > value[at] {
                value[at] = one_more;
            }
        });
    }
    // Jobs are taken back, of the first type as many as any best filling holds, and so on. Best fillings of
    // what then remains hold none of the types before: the cell would have held it.
    let mut k = Configuration::new();
    let (mut at, mut left) = (value.len() - 1, axes.to_vec());
    for (j, demand) in fitting {
        let (offset, profit) = (offset(demand), profit(*j));
        let mut jobs = 0;
        while demand.iter().zip(&left).all(|(d, left)| d <= left)
            && value[at - offset].clone() + &profit == value[at]
        {
            jobs += 1;
            at -= offset;
            left.iter_mut().zip(demand).for_each(|(left, d)| *left -= d);
        }
        if jobs > 0 {
            k.push((*j, jobs));
        }
    }
    k
}

/// Every cell with coordinates of at least these, in ascending order.
fn each_cell(axes: &[usize], least: &[usize], from: usize, each: &mut dyn FnMut(usize)) {
    match (axes, least) {
        ([most], [least]) => (*least..=*most).for_each(|along| each(from * (most + 1) + along)),
        ([most, axes @ ..], [least, under @ ..]) => {
            (*least..=*most).for_each(|along| each_cell(axes, under, from * (most + 1) + along, each));
        }
        _ => each(from),
    }
}
