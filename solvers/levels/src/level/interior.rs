//! An interior point method for the programme of a round, in doubles.
//!
//! ```text
//! max t - c y   such that   A y + s = b,   E y - a t = f,   y, s >= 0
//! ```
//!
//! `A` has a row for each capacity row, and `E` one for each group. The method uses a predictor and a corrector
//! (Mehrotra), with corrections towards the centre (Gondzio). Newton's equations are reduced to the capacity rows or to
//! the groups, whichever takes less work to factor. The other two blocks of the equations are diagonal or block
//! diagonal.

mod newton;
mod point;

use std::ops::Range;

use rayon::prelude::*;

use crate::settings::INTERIOR;
use newton::{Direction, Newton};
pub use point::Point;

/// A programme in which usage is measured in fractions of capacity rows.
#[derive(Clone)]
pub struct Programme {
    /// First row of each class, and the number of rows as last entry.
    pub class_rows: Vec<usize>,
    /// First column of each group, and the number of columns as last entry.
    pub group_columns: Vec<usize>,
    /// Class of each column.
    pub class: Vec<usize>,
    /// Group of each column.
    pub group: Vec<usize>,
    /// Position in `entries` at which the entries of each column start.
    pub start: Vec<usize>,
    /// Entries of all columns, one after the other. A column has one entry for each row of its class.
    pub entries: Vec<f64>,
    /// Cost `c` of each column.
    pub cost: Vec<f64>,
    /// Capacity `b` of each row.
    pub capacity: Vec<f64>,
    /// For each group, the multiple `a` of the level `t` that the group must reach.
    pub multiple: Vec<f64>,
    /// For each group, the level `f` that the group must reach in addition to `a t`.
    pub fixed: Vec<f64>,
}

impl Programme {
    pub fn n_columns(&self) -> usize {
        self.class.len()
    }

    /// Returns true if `wider`, a programme of the same groups, has all columns of this programme.
    pub fn is_within(&self, wider: &Self) -> bool {
        let classes = |programme: &Self, g: usize| programme.group_columns[g]..programme.group_columns[g + 1];
        (0..self.multiple.len()).all(|g| {
            let theirs = &wider.class[classes(wider, g)];
            self.class[classes(self, g)].iter().all(|class| theirs.binary_search(class).is_ok())
        })
    }

    /// Returns the first row of a column, and its entries.
    pub fn column(&self, j: usize) -> (usize, &[f64]) {
        let end = self.start.get(j + 1).copied().unwrap_or(self.entries.len());
        (self.class_rows[self.class[j]], &self.entries[self.start[j]..end])
    }

    /// Computes `A' p + c`.
    fn prices(&self, p: &[f64]) -> Vec<f64> {
        let mut prices = self.products(p);
        prices.iter_mut().zip(&self.cost).for_each(|(price, cost)| *price += cost);
        prices
    }

    /// Computes `A' p`.
    fn products(&self, p: &[f64]) -> Vec<f64> {
        self.numbers(self.n_columns(), |j| {
            let (row, entries) = self.column(j);
            entries.iter().zip(&p[row..]).map(|(a, p)| a * p).sum()
        })
    }

    /// Computes `A y`.
    fn loads(&self, y: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let of = |columns: Range<usize>| {
            let mut loads = vec![0.0; self.capacity.len()];
            for j in columns {
                let (row, entries) = self.column(j);
                let y = y(j);
                entries.iter().zip(&mut loads[row..]).for_each(|(a, load)| *load += a * y);
            }
            loads
        };
        let n = self.n_columns();
        if !self.is_shared() {
            return of(0..n);
        }
        // Chunks of one size are added in a fixed order, so the sum is the same with any number of
        // threads.
        let size = n.div_ceil(INTERIOR.parts_of_loads);
        let parts: Vec<Vec<f64>> = (0..INTERIOR.parts_of_loads)
            .into_par_iter()
            .map(|at| of(at * size..n.min((at + 1) * size)))
            .collect();
        let mut loads = vec![0.0; self.capacity.len()];
        for part in &parts {
            loads.iter_mut().zip(part).for_each(|(load, more)| *load += more);
        }
        loads
    }

    /// Computes `E y`.
    fn sums(&self, y: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let sum = |g: usize| (self.group_columns[g]..self.group_columns[g + 1]).map(&y).sum();
        self.numbers(self.multiple.len(), sum)
    }

    /// Computes `of(0)`, ..., `of(count - 1)`, in parallel if there are many columns.
    fn numbers(&self, count: usize, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        if !self.is_shared() {
            return (0..count).map(of).collect();
        }
        let mut numbers = vec![0.0; count];
        let size = INTERIOR.numbers_for_a_thread;
        let chunks = numbers.par_chunks_mut(size).enumerate();
        chunks.for_each(|(at, chunk)| {
            for (number, index) in chunk.iter_mut().zip(at * size..) {
                *number = of(index);
            }
        });
        numbers
    }

    /// Computes two values from all columns, each on its own thread if there are many.
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        if self.is_shared() { rayon::join(a, b) } else { (a(), b()) }
    }

    /// Returns true if the loops over all columns are divided among threads.
    fn is_shared(&self) -> bool {
        self.n_columns() >= INTERIOR.shared_columns
    }
}

/// The residuals at a point.
struct Residuals {
    rows: Vec<f64>,
    groups: Vec<f64>,
    columns: Vec<f64>,
    /// The residual `1 - a l` of the equation of the level.
    level: f64,
    /// The mean of the products `y z` and `s p`, which are 0 at the optimum.
    mu: f64,
    /// The distance between the level and the bound that the prices prove, relative to the level.
    gap: f64,
}

/// The result of [`solve`].
pub struct Solved {
    pub point: Point,
    /// An intermediate point that is still far from the bounds. A solve with more columns can start from this point.
    pub early: Option<Point>,
}

/// Solves the programme to a relative gap, starting from a point.
///
/// Returns `None` if rounding prevents a gap of
/// [`Interior::enough`](crate::settings::Interior::enough).
pub fn solve(programme: &Programme, mut point: Point, tolerance: f64) -> Option<Solved> {
    let (mut early, mut good) = (None, None);
    let has_costs = programme.cost.iter().any(|c| *c != 0.0);
    let mut least = f64::INFINITY;
    for iteration in 0..INTERIOR.most_iterations {
        let rest = residuals(programme, &point);
        let n_products = (point.y.len() + point.s.len()) as f64;
        let largest = |values: &[f64]| values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let is_feasible = largest(&rest.rows) < INTERIOR.feasible
            && largest(&rest.groups) < INTERIOR.feasible * point.t.max(1.0);
        // Without costs, the gap itself proves the level.
        let is_dual = rest.level.abs() < INTERIOR.feasible
            && largest(&rest.columns) < INTERIOR.feasible * largest(&point.l)
            || !has_costs;
        let nothing_left = iteration > 3 && rest.mu * n_products < INTERIOR.nothing_left * point.t.max(1.0);
        if (rest.gap.abs() < tolerance && is_feasible && is_dual) || nothing_left {
            return (is_feasible && is_dual).then_some(Solved { point, early });
        }
        if !rest.mu.is_finite() || rest.mu > INTERIOR.lost * least {
            break;
        }
        least = rest.mu.min(least);
        if early.is_none() && rest.mu * n_products < INTERIOR.early * point.t {
            early = Some(point.clone());
        }
        if rest.gap.abs() < INTERIOR.enough && is_feasible && is_dual {
            good = Some(point.clone());
        }
        let Some(newton) = Newton::new(programme, &point) else { break };
        step(programme, &newton, &mut point, &rest);
        if !point.t.is_finite() {
            break;
        }
    }
    Some(Solved { point: good?, early })
}

/// Computes the residuals of a point, and its gap.
fn residuals(programme: &Programme, point: &Point) -> Residuals {
    let Point { y, z, s, p, l, t } = point;
    let rows = programme
        .loads(|j| y[j])
        .into_iter()
        .zip(&programme.capacity)
        .zip(s)
        .map(|((load, b), s)| b - load - s);
    let sums = programme.sums(|j| y[j]);
    let groups =
        sums.iter().zip(&programme.fixed).zip(&programme.multiple).map(|((sum, f), a)| f - sum + a * t);
    let prices = programme.prices(p);
    let columns = programme.numbers(y.len(), |j| l[programme.group[j]] + z[j] - prices[j]);
    let value = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let (mut fixed_worth, mut rate) = (0.0, 0.0);
    let least_of = |g: usize| {
        let columns = programme.group_columns[g]..programme.group_columns[g + 1];
        prices[columns].iter().copied().fold(f64::INFINITY, f64::min)
    };
    for (g, least) in programme.numbers(programme.multiple.len(), least_of).into_iter().enumerate() {
        fixed_worth += least * programme.fixed[g];
        rate += least * programme.multiple[g];
    }
    let mu = (value(y, z) + value(s, p)) / (y.len() + s.len()) as f64;
    let has_costs = programme.cost.iter().any(|c| *c != 0.0);
    let gap = if has_costs {
        mu * (y.len() + s.len()) as f64 / t.abs()
    } else {
        ((value(p, &programme.capacity) - fixed_worth) / rate - t) / t.abs()
    };
    Residuals {
        rows: rows.collect(),
        groups: groups.collect(),
        columns,
        level: 1.0 - value(&programme.multiple, l),
        mu,
        gap,
    }
}

/// Takes one step of the method.
fn step(programme: &Programme, newton: &Newton<'_>, point: &mut Point, rest: &Residuals) {
    let n_products = (point.y.len() + point.s.len()) as f64;
    let mut columns = programme.numbers(point.y.len(), |j| -point.y[j] * point.z[j]);
    let mut rows: Vec<f64> = point.s.iter().zip(&point.p).map(|(s, p)| -s * p).collect();
    // Predictor: the direction towards products of 0.
    let affine = newton.direction(programme, point, rest, &columns, &rows);
    let (primal, dual) = affine.lengths(programme, point);
    let after = |a: &[f64], da: &[f64], b: &[f64], db: &[f64]| -> f64 {
        (0..a.len()).map(|k| (a[k] + primal * da[k]) * (b[k] + dual * db[k])).sum()
    };
    let left =
        after(&point.y, &affine.y, &point.z, &affine.z) + after(&point.s, &affine.s, &point.p, &affine.p);
    let centre = {
        let ratio = left / n_products / rest.mu;
        ratio * ratio * ratio * rest.mu
    };
    columns = programme.numbers(columns.len(), |j| columns[j] + (centre - affine.y[j] * affine.z[j]));
    for (k, product) in rows.iter_mut().enumerate() {
        *product += centre - affine.s[k] * affine.p[k];
    }
    // Corrector: the direction towards equal products. It also removes the second-order change of the predictor.
    let mut best = newton.direction(programme, point, rest, &columns, &rows);
    let (mut primal, mut dual) = best.lengths(programme, point);
    for _ in 0..INTERIOR.corrections {
        let (longer, longer_dual) = ((1.3 * primal + 0.1).min(1.0), (1.3 * dual + 0.1).min(1.0));
        // Moves products that are far from the centre towards it.
        let correction = |value: f64| (value.clamp(0.1 * centre, 10.0 * centre) - value).max(-10.0 * centre);
        let next_columns = programme.numbers(columns.len(), |j| {
            let product = (point.y[j] + longer * best.y[j]) * (point.z[j] + longer_dual * best.z[j]);
            columns[j] + correction(product)
        });
        let mut next_rows = rows.clone();
        for (k, product) in next_rows.iter_mut().enumerate() {
            *product +=
                correction((point.s[k] + longer * best.s[k]) * (point.p[k] + longer_dual * best.p[k]));
        }
        let next = newton.direction(programme, point, rest, &next_columns, &next_rows);
        let (next_primal, next_dual) = next.lengths(programme, point);
        if next_primal + next_dual <= primal + dual + 0.05 {
            break;
        }
        (best, primal, dual) = (next, next_primal, next_dual);
        (columns, rows) = (next_columns, next_rows);
    }
    let short = (1.0 - rest.mu).clamp(0.9, 0.9995);
    let shortened = |length: f64| if length < 1.0 { length * short } else { length };
    point.advance(programme, &best, shortened(primal), shortened(dual));
}

impl Direction {
    /// Returns the longest primal and dual steps, at most 1.
    fn lengths(&self, programme: &Programme, point: &Point) -> (f64, f64) {
        let length = |values: &[f64], change: &[f64]| {
            let limits = values.iter().zip(change).filter(|(_, d)| **d < 0.0).map(|(v, d)| -v / d);
            limits.fold(1.0, f64::min)
        };
        let primal = || length(&point.y, &self.y).min(length(&point.s, &self.s));
        let dual = || length(&point.z, &self.z).min(length(&point.p, &self.p));
        programme.both(primal, dual)
    }
}
