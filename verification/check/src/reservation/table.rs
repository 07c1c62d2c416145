//! The knapsack by dynamic programming over the grid of capacities, in units.

use std::ops::AddAssign;

use rug::Integer;

use super::packing::Packing;
use super::problem::Configuration;
use crate::problem::at;
use crate::work::{self, Checked, ensure, refuse};

/// Most cells of a table.
const CELLS: u64 = 10_000_000;

pub struct Table<'a, 'p> {
    packing: &'a Packing<'p>,
    /// The demanded resources, the one with the largest capacity last, with their capacities.
    axes: Vec<(usize, usize)>,
    cells: usize,
}

impl<'a, 'p> Table<'a, 'p> {
    /// The grid of a pool, which a proof says to have so many cells.
    pub fn new(packing: &'a Packing<'p>, i: usize, stated: u64) -> Checked<Self> {
        let free = packing.free(i);
        let mut axes = Vec::new();
        let mut cells = 1_u64;
        for (r, free) in free.iter().enumerate().filter(|(r, _)| packing.unit[*r].is_some()) {
            let along = free.to_u64().filter(|most| *most < CELLS).map_or(CELLS + 1, |most| most + 1);
            cells = cells.saturating_mul(along);
            axes.push((r, along as usize - 1));
        }
        if cells > CELLS {
            return refuse(format!("the dynamic programme has more than {CELLS} cells"));
        }
        ensure(cells == stated, "the dynamic programme has another number of cells")?;
        axes.sort_by_key(|(_, most)| *most);
        Ok(Self { packing, axes, cells: cells as usize })
    }

    /// The first configuration of some types (ascending) by these profits, and what it is worth.
    pub fn first(&self, types: &[usize], profits: &[Integer]) -> Checked<(Configuration, Integer)> {
        // At most as many jobs as cells fit, since every job takes a unit of something.
        let most = types.iter().map(|j| &profits[*j]).max().cloned().unwrap_or_default() * self.cells as u64;
        let words = u64::from(most.significant_bits() / 64 + 1);
        let each = if words > 1 { 40 * words } else { 1 };
        work::steps((self.cells as u64).saturating_mul(types.len() as u64 + 1).saturating_mul(each))?;
        let k = match words {
            1 => self.fill(types, |j| profits[j].to_u64().unwrap_or(0)),
            _ => self.fill(types, |j| profits[j].clone()),
        };
        let value = k.iter().map(|(j, k)| Integer::from(&profits[*j] * *k)).sum();
        Ok((k, value))
    }

    fn fill<V>(&self, types: &[usize], profit: impl Fn(usize) -> V) -> Configuration
    where
        V: Default + Clone + Ord + for<'v> AddAssign<&'v V>,
    {
        let fitting: Vec<(usize, Vec<usize>)> =
            types.iter().filter_map(|j| Some((*j, self.demand(*j)?))).collect();
        let mut value = vec![V::default(); self.cells];
        let with = |from: &V, profit: &V| {
            let mut with = from.clone();
            with += profit;
            with
        };
        for (j, demand) in &fitting {
            let (offset, profit) = (self.offset(demand), profit(*j));
            self.each_row(demand, |from, to| {
                for at in from..=to {
                    let one_more = with(&value[at - offset], &profit);
                    if one_more > value[at] {
                        value[at] = one_more;
                    }
                }
            });
        }
        // Jobs are taken back, of the first type as many as any best filling holds, and so on. Best fillings of
        // what then remains hold none of the types before: the cell would have held it.
        let mut k = Configuration::new();
        let mut at = self.cells - 1;
        let mut left: Vec<usize> = self.axes.iter().map(|(_, most)| *most).collect();
        for (j, demand) in &fitting {
            let (offset, profit) = (self.offset(demand), profit(*j));
            let mut jobs = 0;
            while demand.iter().zip(&left).all(|(d, left)| d <= left)
                && with(&value[at - offset], &profit) == value[at]
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

    /// What a job takes along every axis; `None` where it does not fit.
    fn demand(&self, j: usize) -> Option<Vec<usize>> {
        let of = |(r, most): &(usize, usize)| {
            at(&self.packing.demand[j], *r).map_or(Some(0), Integer::to_usize).filter(|d| d <= most)
        };
        self.axes.iter().map(of).collect()
    }

    fn offset(&self, demand: &[usize]) -> usize {
        self.axes.iter().zip(demand).fold(0, |offset, ((_, most), d)| offset * (most + 1) + d)
    }

    /// The first and the last cell of every row along the last axis in which all coordinates are at least these.
    fn each_row(&self, least: &[usize], mut row: impl FnMut(usize, usize)) {
        let mut place = least.to_vec();
        loop {
            let from = self.offset(&place);
            let along = self.axes.last().map_or(0, |(_, most)| *most) - place.last().copied().unwrap_or(0);
            row(from, from + along);
            let outer = self.axes.len().saturating_sub(1);
            let Some(axis) = (0..outer).rev().find(|axis| place[*axis] < self.axes[*axis].1) else { return };
            place[axis] += 1;
            place[axis + 1..].clone_from_slice(&least[axis + 1..]);
        }
    }
}
