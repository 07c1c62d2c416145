//! The knapsack by dynamic programming over the grid of capacities.

use rug::Integer;

use super::proof::MOST_CELLS;
use super::shape::Scaled;
use super::work::Work;
use crate::refusal::Refusal;

/// The best value of every capacity on the grid, for some types.
pub(super) struct Table<'s> {
    scaled: &'s Scaled<'s>,
    /// Resources by `q`, the one with the largest capacity last.
    resources: Vec<usize>,
    /// Capacity by place in `resources`.
    capacity: Vec<usize>,
    stride: Vec<usize>,
    n_cells: usize,
}

/// A number that values are held in.
trait Value: Clone + Ord {
    fn of(value: &Integer) -> Self;
    fn plus(&self, other: &Self) -> Self;
}

impl Value for u64 {
    fn of(value: &Integer) -> Self {
        value.to_u64().unwrap_or(0)
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }
}

impl Value for u128 {
    fn of(value: &Integer) -> Self {
        value.to_u128().unwrap_or(0)
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }
}

impl Value for Integer {
    fn of(value: &Integer) -> Self {
        value.clone()
    }

    fn plus(&self, other: &Self) -> Self {
        Self::from(self + other)
    }
}

impl<'s> Table<'s> {
    /// The grid of pool `i`, which a proof says to have so many cells.
    pub fn new(scaled: &'s Scaled<'s>, i: usize, stated: usize) -> Result<Self, Refusal> {
        let available = scaled.capacity(i);
        let mut resources: Vec<usize> = (0..available.len()).collect();
        resources.sort_by_key(|&q| &available[q]);
        let mut capacity = Vec::new();
        let mut n_cells = 1usize;
        for &r in &resources {
            let most = available[r].to_usize().filter(|most| *most < MOST_CELLS);
            let more = most.and_then(|most| n_cells.checked_mul(most + 1)).filter(|n| *n <= MOST_CELLS);
            let (Some(most), Some(more)) = (most, more) else {
                return Err(Refusal::new(format!("the dynamic programme has more than {MOST_CELLS} cells")));
            };
            capacity.push(most);
            n_cells = more;
        }
        if n_cells != stated {
            return Err(Refusal::new(format!("the dynamic programme has {n_cells} cells, not {stated}")));
        }
        let mut stride = vec![1; capacity.len()];
        for r in (1..capacity.len()).rev() {
            stride[r - 1] = stride[r] * (capacity[r] + 1);
        }
        Ok(Self { scaled, resources, capacity, stride, n_cells })
    }

    /// The first configuration of `types` (ascending) by these profits (at least 0, by type): jobs by
    /// place in `types`, and the value.
    pub fn first(
        &self,
        types: &[usize],
        profits: &[Integer],
        work: &mut Work,
    ) -> Result<(Vec<u64>, Integer), Refusal> {
        // At most as many jobs as cells fit, since every job takes a unit of something.
        let largest = types.iter().map(|&j| &profits[j]).max().cloned().unwrap_or_default();
        let most = largest * (self.capacity.iter().sum::<usize>() + 1);
        let words = most.significant_bits() as usize / 64 + 1;
        let each = if words > 2 { 10 * words } else { words };
        work.steps(self.n_cells.saturating_mul(types.len() + 1), each)?;
        work.bytes(types.len().saturating_mul(8 * self.resources.len() + 32))?;
        if words > 2 {
            // One table at a time is in memory, and of a bounded size.
            work.table(self.n_cells, &most)?;
            return Ok(self.fill::<Integer>(types, profits));
        }
        Ok(if words == 1 { self.fill::<u64>(types, profits) } else { self.fill::<u128>(types, profits) })
    }

    fn fill<V: Value>(&self, types: &[usize], profits: &[Integer]) -> (Vec<u64>, Integer) {
        let demands: Vec<Option<Vec<usize>>> = types.iter().map(|&j| self.demand(j)).collect();
        let profit = |place: usize| V::of(&profits[types[place]]);
        let mut value = vec![V::of(&Integer::new()); self.n_cells];
        for (place, demand) in demands.iter().enumerate() {
            if let Some(demand) = demand {
                self.add_type(&mut value, demand, &profit(place));
            }
        }
        // Jobs are taken back, of the first type as many as any best filling holds, and so on. Best
        // fillings of what then remains hold none of the types before: the cell would have held it.
        let mut k = vec![0; types.len()];
        let mut at = self.n_cells - 1;
        let mut cell = self.capacity.clone();
        let mut total = Integer::new();
        for (place, demand) in demands.iter().enumerate() {
            let Some(demand) = demand else { continue };
            let offset = self.offset(demand);
            while demand.iter().zip(&cell).all(|(demand, left)| demand <= left)
                && value[at - offset].plus(&profit(place)) == value[at]
            {
                k[place] += 1;
                total += &profits[types[place]];
                at -= offset;
                cell.iter_mut().zip(demand).for_each(|(left, demand)| *left -= demand);
            }
        }
        (k, total)
    }

    /// What a job of type `j` takes; `None` where it does not fit.
    fn demand(&self, j: usize) -> Option<Vec<usize>> {
        let stated = &self.scaled.demand[j];
        let amount = |q: &usize| match stated.binary_search_by_key(q, |(q, _)| *q) {
            Ok(at) => stated[at].1.to_usize(),
            Err(_) => Some(0),
        };
        let each = self.resources.iter().zip(&self.capacity);
        each.map(|(q, most)| amount(q).filter(|demand| demand <= most)).collect()
    }

    fn offset(&self, demand: &[usize]) -> usize {
        demand.iter().zip(&self.stride).map(|(demand, stride)| demand * stride).sum()
    }

    /// Allows any number of jobs of one more type.
    fn add_type<V: Value>(&self, value: &mut [V], demand: &[usize], profit: &V) {
        let offset = self.offset(demand);
        let (Some((&first, outer)), Some(&last)) = (demand.split_last(), self.capacity.last()) else {
            return;
        };
        let mut row = outer.to_vec();
        loop {
            let start: usize = row.iter().zip(&self.stride).map(|(x, stride)| x * stride).sum();
            for at in start + first..=start + last {
                let with = value[at - offset].plus(profit);
                if with > value[at] {
                    value[at] = with;
                }
            }
            // The next row, as an odometer.
            let Some(r) = (0..row.len()).rev().find(|&r| row[r] < self.capacity[r]) else { break };
            row[r] += 1;
            row[r + 1..].clone_from_slice(&outer[r + 1..]);
        }
    }
}
