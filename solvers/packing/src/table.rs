//! Dynamic programming for the knapsack problem, over the grid of capacities.

use std::cmp::Ordering;
use std::collections::HashSet;

use evenhand_exact::ratio::MOST_CELLS;

use rug::Integer;

/// The number type of a table cell.
///
/// `f32` is exact for whole numbers below 2<sup>24</sup>, and `f64` below 2<sup>53</sup>. The processor computes
/// several cells of these types at a time.
pub trait Value: Clone + PartialOrd {
    /// Returns 0.
    fn zero() -> Self;
    /// Returns `self + a`.
    fn plus(&self, a: &Self) -> Self;
    /// Sets `self` to `max(self, a + b)`.
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

/// A grid of capacities, and the demands of the types.
pub struct Grid {
    /// Capacity of each resource. Resources are in ascending order of capacity.
    capacity: Vec<usize>,
    /// For each type, the demand for each resource, in the order of `capacity`.
    demand: Vec<Vec<usize>>,
    stride: Vec<usize>,
    n_cells: usize,
}

/// A filled table: for every cell, the best value with the capacities of the cell.
pub struct Filled<'a, V> {
    grid: &'a Grid,
    /// The types that fit, in ascending order.
    types: Vec<usize>,
    profits: &'a [V],
    value: Vec<V>,
}

impl<V: Value> Filled<'_, V> {
    /// Adds the best configuration of a cell to `k`. `cell` has one entry for each resource, in the order of the grid.
    // The types are tried in ascending order. Each type is added as often as some best filling contains it. No smaller
    // type can follow later: a best filling of the remaining cell with such a type would extend to a best filling of
    // the earlier cell with this type.
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

    /// Returns for every type with a profit the best configuration that contains the type, if it is worth more than
    /// `bound`.
    ///
    /// The best configuration comes first, and no configuration is returned twice.
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
    /// Returns the best value on a whole server.
    pub fn largest(&self) -> &V {
        &self.value[self.value.len() - 1]
    }

    /// Returns all configurations of types with a profit that are worth at least `least > 0`.
    ///
    /// Returns `None` if more than `most` partial configurations can still reach that value.
    pub fn reaching(&self, least: &V, most: usize) -> Option<Vec<Vec<u64>>> {
        let grid = self.grid;
        let types: Vec<usize> = self.types.iter().copied().filter(|&j| self.profits[j] > V::zero()).collect();
        let mut found = Vec::new();
        let mut k = vec![0; grid.demand.len()];
        // The jobs so far. Each is given by the position of its type, with the value before the job was added.
        let mut jobs: Vec<(usize, V)> = Vec::new();
        let (mut next, mut settled, mut cell) = (0, V::zero(), grid.capacity.clone());
        let mut n_visited = 0;
        loop {
            let at = grid.offset(&cell);
            let reaches = |&position: &usize| {
                let j = types[position];
                grid.fits(j, &cell)
                    && settled.plus(&self.profits[j]).plus(&self.value[at - grid.offset(&grid.demand[j])])
                        >= *least
            };
            if let Some(position) = (next..types.len()).find(reaches) {
                n_visited += 1;
                if n_visited > most {
                    return None;
                }
                let j = types[position];
                let with = settled.plus(&self.profits[j]);
                jobs.push((position, std::mem::replace(&mut settled, with)));
                grid.take(&mut cell, j);
                k[j] += 1;
                next = position;
                if settled >= *least {
                    found.push(k.clone());
                }
            } else {
                let Some((position, before)) = jobs.pop() else { return Some(found) };
                let j = types[position];
                cell.iter_mut().zip(&grid.demand[j]).for_each(|(left, demand)| *left += demand);
                k[j] -= 1;
                settled = before;
                next = position + 1;
            }
        }
    }
}

impl Grid {
    /// Returns the grid of the given demands and capacities, or `None` if it has more than
    /// [`MOST_CELLS`] cells.
    pub fn new(demand: &[Vec<Integer>], capacity: &[Integer]) -> Option<Self> {
        let mut n_cells = 1usize;
        for c in capacity {
            n_cells = n_cells.checked_mul(c.to_usize()?.checked_add(1)?).filter(|n| *n <= MOST_CELLS)?;
        }
        let mut order: Vec<usize> = (0..capacity.len()).collect();
        order.sort_by_key(|&r| &capacity[r]);
        let capacity: Vec<usize> = order.iter().filter_map(|&r| capacity[r].to_usize()).collect();
        // Demands that exceed every capacity are equivalent, whatever their size.
        let size = |d: &Integer| d.to_usize().unwrap_or(usize::MAX);
        let demand = demand.iter().map(|d| order.iter().map(|&r| size(&d[r])).collect()).collect();
        let mut stride = vec![1; capacity.len()];
        for r in (1..capacity.len()).rev() {
            stride[r - 1] = stride[r] * (capacity[r] + 1);
        }
        Some(Self { capacity, demand, stride, n_cells })
    }

    /// Returns the number of cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Computes the best configuration of `types` (ascending) and its value.
    ///
    /// Among configurations of equal value, the configuration with more jobs at the first type where they differ is
    /// returned.
    pub fn best<V: Value>(&self, types: &[usize], profits: &[V]) -> (V, Vec<u64>) {
        let filled = self.fill(types, profits);
        let mut k = vec![0; self.demand.len()];
        filled.trace(self.capacity.clone(), &mut k);
        (filled.value[self.n_cells - 1].clone(), k)
    }

    /// Fills the table for `types` (ascending).
    pub fn fill<'a, V: Value>(&'a self, types: &[usize], profits: &'a [V]) -> Filled<'a, V> {
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.fits(j, &self.capacity)).collect();
        let mut value = vec![V::zero(); self.n_cells];
        for &j in &types {
            // A type without profit never improves a value.
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

    /// Updates the table for any number of jobs of one more type.
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
            // Advance to the next row, like an odometer.
            let Some(r) = (0..row.len()).rev().find(|&r| row[r] < self.capacity[r]) else { break };
            row[r] += 1;
            row[r + 1..].clone_from_slice(&outer[r + 1..]);
        }
    }
}
