//! The knapsack by dynamic programming over the grid of capacities.

use std::cmp::Ordering;
use std::collections::HashSet;

use evenhand_exact::ratio::MOST_CELLS;

use rug::Integer;

/// What a cell of a table holds. Whole numbers below 2<sup>24</sup> are exact as `f32`, below 2<sup>53</sup> as `f64`: the
/// same table, filled several cells at a time.
pub trait Value: Clone + PartialOrd {
    /// 0.
    fn zero() -> Self;
    /// `self + a`
    fn plus(&self, a: &Self) -> Self;
    /// `self = max(self, a + b)`
    fn raise(&mut self, a: &Self, b: &Self) {
        let with = a.plus(b);
        if with > *self {
            *self = with;
        }
    }
}

macro_rules! value {
    ($($type:ty, $zero:expr;)*) => {
        $(impl Value for $type {
            fn zero() -> Self {
                $zero
            }

            fn plus(&self, a: &Self) -> Self {
                Self::from(self + a)
            }
        })*
    };
}

value! { f32, 0.0; f64, 0.0; i64, 0; i128, 0; Integer, Integer::new(); }

/// A grid of capacities, and what the types take of it.
pub struct Grid {
    /// Capacity by resource; the last one is the largest.
    capacity: Vec<usize>,
    /// Demand by type, then by resource in the order of `capacity`.
    demand: Vec<Vec<usize>>,
    stride: Vec<usize>,
    n_cells: usize,
}

/// The best values of all cells.
pub struct Filled<'a, V> {
    grid: &'a Grid,
    /// Those that fit, ascending.
    types: Vec<usize>,
    profits: &'a [V],
    value: Vec<V>,
}

impl<V: Value> Filled<'_, V> {
    /// Adds to `k` the best configuration of a cell, by resource in the order of the grid.
    // Where some best filling of a cell holds a type, those of the cell that remains hold no
    // smaller one that the first cell could not hold: the types come in ascending order.
    fn trace(&self, mut cell: Vec<usize>, k: &mut [u64]) {
        let mut at = self.grid.offset(&cell);
        for &j in &self.types {
            let offset = self.grid.offset(&self.grid.demand[j]);
            while self.grid.fits(j, &cell) && self.value[at - offset].plus(&self.profits[j]) == self.value[at]
            {
                k[j] += 1;
                at -= offset;
                self.grid.take(&mut cell, j);
            }
        }
    }

    /// For every type with a profit the best configuration that holds it, if it is worth more than `bound`;
    /// the best first, none twice.
    pub fn better(&self, bound: &V) -> Vec<Vec<u64>> {
        let end = self.value.len() - 1;
        let with =
            |&j: &usize| (self.value[end - self.grid.offset(&self.grid.demand[j])].plus(&self.profits[j]), j);
        let useful = self.types.iter().filter(|&&j| self.profits[j] > V::zero());
        let mut found: Vec<(V, usize)> = useful.map(with).filter(|(value, _)| value > bound).collect();
        found.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
        let mut known = HashSet::new();
        let configuration = |(_, j): (V, usize)| {
            let mut k = vec![0; self.grid.demand.len()];
            let mut cell = self.grid.capacity.clone();
            k[j] = 1;
            self.grid.take(&mut cell, j);
            self.trace(cell, &mut k);
            k
        };
        found.into_iter().map(configuration).filter(|k| known.insert(k.clone())).collect()
    }
}

impl<V: Value> Filled<'_, V> {
    /// The best value.
    pub fn largest(&self) -> &V {
        &self.value[self.value.len() - 1]
    }

    /// All configurations of types with a profit that are worth at least `least`, above 0; `None` where more than `most` partial
    /// ones reach that far.
    pub fn reaching(&self, least: &V, most: usize) -> Option<Vec<Vec<u64>>> {
        let grid = self.grid;
        let types: Vec<usize> = self.types.iter().copied().filter(|&j| self.profits[j] > V::zero()).collect();
        let mut found = Vec::new();
        let mut k = vec![0; grid.demand.len()];
        // Jobs so far, in the order of types, each with the value before it.
        let mut jobs: Vec<(usize, V)> = Vec::new();
        let (mut next, mut settled, mut cell) = (0, V::zero(), grid.capacity.clone());
        let mut n_visited = 0;
        loop {
            let at = grid.offset(&cell);
            let reaches = |&place: &usize| {
                let j = types[place];
                grid.fits(j, &cell)
                    && settled.plus(&self.profits[j]).plus(&self.value[at - grid.offset(&grid.demand[j])])
                        >= *least
            };
            if let Some(place) = (next..types.len()).find(reaches) {
                n_visited += 1;
                if n_visited > most {
                    return None;
                }
                let j = types[place];
                let with = settled.plus(&self.profits[j]);
                jobs.push((place, std::mem::replace(&mut settled, with)));
                grid.take(&mut cell, j);
                k[j] += 1;
                next = place;
                if settled >= *least {
                    found.push(k.clone());
                }
            } else {
                let Some((place, before)) = jobs.pop() else { return Some(found) };
                let j = types[place];
                cell.iter_mut().zip(&grid.demand[j]).for_each(|(left, demand)| *left += demand);
                k[j] -= 1;
                settled = before;
                next = place + 1;
            }
        }
    }
}

impl Grid {
    /// The grid of these demands and capacities; `None` when it has more than [`MOST_CELLS`] cells.
    pub fn new(demand: &[Vec<Integer>], capacity: &[Integer]) -> Option<Self> {
        let mut n_cells = 1usize;
        for c in capacity {
            n_cells = n_cells.checked_mul(c.to_usize()?.checked_add(1)?).filter(|n| *n <= MOST_CELLS)?;
        }
        let mut order: Vec<usize> = (0..capacity.len()).collect();
        order.sort_by_key(|&r| &capacity[r]);
        let capacity: Vec<usize> = order.iter().filter_map(|&r| capacity[r].to_usize()).collect();
        // A demand above every capacity fits as little as a larger one.
        let size = |d: &Integer| d.to_usize().unwrap_or(usize::MAX);
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
    pub fn best<V: Value>(&self, types: &[usize], profits: &[V]) -> (V, Vec<u64>) {
        let filled = self.fill(types, profits);
        let mut k = vec![0; self.demand.len()];
        filled.trace(self.capacity.clone(), &mut k);
        (filled.value[self.n_cells - 1].clone(), k)
    }

    /// The table over `types` (ascending).
    pub fn fill<'a, V: Value>(&'a self, types: &[usize], profits: &'a [V]) -> Filled<'a, V> {
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.fits(j, &self.capacity)).collect();
        let mut value = vec![V::zero(); self.n_cells];
        for &j in &types {
            // Without profit there is no better value, only a tie.
            if profits[j] > V::zero() {
                self.add_type(&mut value, &self.demand[j], &profits[j]);
            }
        }
        Filled { grid: self, types, profits, value }
    }

    fn fits(&self, j: usize, cell: &[usize]) -> bool {
        self.demand[j].iter().zip(cell).all(|(demand, left)| demand <= left)
    }

    fn take(&self, cell: &mut [usize], j: usize) {
        cell.iter_mut().zip(&self.demand[j]).for_each(|(left, demand)| *left -= demand);
    }

    fn offset(&self, demand: &[usize]) -> usize {
        demand.iter().zip(&self.stride).map(|(demand, stride)| demand * stride).sum()
    }

    /// Allows any number of jobs of one more type.
    fn add_type<V: Value>(&self, value: &mut [V], demand: &[usize], profit: &V) {
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
                    here.raise(from, profit);
                }
            } else {
                for at in first..end {
                    let (before, here) = value.split_at_mut(at);
                    here[0].raise(&before[at - offset], profit);
                }
            }
            // The next row, as an odometer.
            let Some(r) = (0..row.len()).rev().find(|&r| row[r] < self.capacity[r]) else { break };
            row[r] += 1;
            row[r + 1..].clone_from_slice(&outer[r + 1..]);
        }
    }
}
