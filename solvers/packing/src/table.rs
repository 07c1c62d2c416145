//! The knapsack by dynamic programming over the grid of capacities.

use evenhand_exact::ratio::MOST_CELLS;

use super::number::Number;

/// A grid of capacities, and what the types take of it.
pub struct Grid {
    /// Capacity by resource; the last one is the largest.
    capacity: Vec<usize>,
    /// Demand by type, then by resource in the order of `capacity`.
    demand: Vec<Vec<usize>>,
    stride: Vec<usize>,
    n_cells: usize,
}

impl Grid {
    /// The grid of these demands and capacities; `None` when it has more than [`MOST_CELLS`] cells.
    pub fn new(demand: &[Vec<rug::Integer>], capacity: &[rug::Integer]) -> Option<Self> {
        let mut n_cells = 1usize;
        for c in capacity {
            n_cells = n_cells.checked_mul(c.to_usize()?.checked_add(1)?).filter(|n| *n <= MOST_CELLS)?;
        }
        let mut order: Vec<usize> = (0..capacity.len()).collect();
        order.sort_by_key(|&r| &capacity[r]);
        let capacity: Vec<usize> = order.iter().filter_map(|&r| capacity[r].to_usize()).collect();
        // A demand above every capacity fits as little as a larger one.
        let size = |d: &rug::Integer| d.to_usize().unwrap_or(usize::MAX);
        let demand = demand.iter().map(|d| order.iter().map(|&r| size(&d[r])).collect()).collect();
        let mut stride = vec![1; capacity.len()];
        for r in (1..capacity.len()).rev() {
            stride[r - 1] = stride[r] * (capacity[r] + 1);
        }
        Some(Self { capacity, demand, stride, n_cells })
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// The best configuration of `types` (ascending) and its value; of equals the one with more
    /// jobs at the first type where they differ.
    pub fn best<N: Number>(&self, types: &[usize], profits: &[N]) -> (N, Vec<u64>) {
        let fits = |j: &&usize| {
            self.demand[**j].iter().zip(&self.capacity).all(|(demand, capacity)| demand <= capacity)
        };
        let types: Vec<usize> = types.iter().filter(fits).copied().collect();
        let mut value = vec![N::zero(); self.n_cells];
        for &j in &types {
            // Without profit there is no better value, only a tie.
            if profits[j] > N::zero() {
                self.add_type(&mut value, &self.demand[j], &profits[j]);
            }
        }
        let mut k = vec![0; self.demand.len()];
        let mut cell = self.capacity.clone();
        let mut at = self.n_cells - 1;
        let best = value[at].clone();
        // Where some best filling of a cell holds a type, those of the cell that remains hold no
        // smaller one that the first cell could not hold: the types come in ascending order.
        for &j in &types {
            let offset = self.offset(&self.demand[j]);
            while self.demand[j].iter().zip(&cell).all(|(demand, left)| demand <= left)
                && value[at - offset].plus(&profits[j]) == value[at]
            {
                k[j] += 1;
                at -= offset;
                cell.iter_mut().zip(&self.demand[j]).for_each(|(left, demand)| *left -= demand);
            }
        }
        (best, k)
    }

    fn offset(&self, demand: &[usize]) -> usize {
        demand.iter().zip(&self.stride).map(|(demand, stride)| demand * stride).sum()
    }

    /// Allows any number of jobs of one more type.
    fn add_type<N: Number>(&self, value: &mut [N], demand: &[usize], profit: &N) {
        let offset = self.offset(demand);
        let Some((&last_demand, outer)) = demand.split_last() else { return };
        let last = self.capacity[self.capacity.len() - 1];
        let mut row: Vec<usize> = outer.to_vec();
        loop {
            let start = row.iter().zip(&self.stride).map(|(x, stride)| x * stride).sum::<usize>();
            let (first, end) = (start + last_demand, start + last + 1);
            if offset > last {
                let (before, here) = value.split_at_mut(first);
                let from = &before[first - offset..end - offset];
                for (here, from) in here[..end - first].iter_mut().zip(from) {
                    let with = from.plus(profit);
                    if with > *here {
                        *here = with;
                    }
                }
            } else {
                for at in first..end {
                    let with = value[at - offset].plus(profit);
                    if with > value[at] {
                        value[at] = with;
                    }
                }
            }
            // The next row, as an odometer.
            let Some(r) = (0..row.len()).rev().find(|&r| row[r] < self.capacity[r]) else { break };
            row[r] += 1;
            row[r + 1..].clone_from_slice(&outer[r + 1..]);
        }
    }
}
