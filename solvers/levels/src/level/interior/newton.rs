//! Newton's equations of the interior point method, reduced to the capacity rows or to the groups.
//!
//! With `D = y / z`, `S = s / p`, `K = E D E'`, `U = A D E'` and `M = A D A' + S`:
//!
//! - by rows: `H = M - U K^-1 U'`. Its diagonal blocks are sums of positive terms, so no digits cancel.
//! - by groups: `H = K - U' M^-1 U`. Computing `M^-1` takes one small Cholesky factor for each class.
//!
//! The change of the level follows from `a dl = 1 - a l`.

use std::ops::Range;

use rayon::prelude::*;

use super::{Point, Programme, Residuals};
use crate::settings::INTERIOR;
use evenhand_lp::linear::Cholesky;

/// A change of a point.
pub struct Direction {
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    pub s: Vec<f64>,
    pub p: Vec<f64>,
    pub l: Vec<f64>,
    pub t: f64,
}

/// The factored equations at a point.
pub struct Newton<'a> {
    programme: &'a Programme,
    d: Vec<f64>,
    k: Vec<f64>,
    factors: Cholesky,
    /// Cholesky factor of the block of `M` of each class, by column of the lower triangle. `None` if the equations are
    /// reduced to rows.
    blocks: Option<Vec<Cholesky>>,
    /// `H^-1` times the column of the level, and its product with `a`.
    level: Vec<f64>,
    level_rate: f64,
}

impl<'a> Newton<'a> {
    /// Sets up and factors the equations at a point. Returns `None` if they are singular in
    /// doubles.
    pub fn new(programme: &'a Programme, point: &Point) -> Option<Self> {
        let n = if by_rows(programme) { programme.capacity.len() } else { programme.multiple.len() } as u64;
        // Factoring takes n^3 / 3 products, and 100 products are one step of the budget.
        evenhand_budget::charge(n.saturating_pow(3) / 300 + 20 * point.y.len() as u64, "a step of max-min");
        let d = programme.numbers(point.y.len(), |j| point.y[j] / point.z[j]);
        let s: Vec<f64> = point.s.iter().zip(&point.p).map(|(s, p)| s / p).collect();
        let k = programme.sums(|j| d[j]);
        let (factors, blocks) = if by_rows(programme) {
            (factor(|| rows_matrix(programme, &d, &s, &k), programme.capacity.len())?, None)
        } else {
            let blocks = class_blocks(programme, &d, &s)?;
            (factor(|| groups_matrix(programme, &d, &k, &blocks), k.len())?, Some(blocks))
        };
        let mut newton = Self { programme, d, k, factors, blocks, level: Vec::new(), level_rate: 0.0 };
        let a = &programme.multiple;
        if newton.blocks.is_none() {
            let scaled: Vec<f64> = a.iter().zip(&newton.k).map(|(a, k)| a / k).collect();
            newton.level = newton.to_rows(&scaled);
            newton.factors.solve(&mut newton.level);
            let back = newton.to_groups(&newton.level);
            newton.level_rate = (0..a.len()).map(|g| a[g] * (a[g] + back[g]) / newton.k[g]).sum();
        } else {
            newton.level = newton.solve_groups(a);
            newton.level_rate = a.iter().zip(&newton.level).map(|(a, h)| a * h).sum();
        }
        (newton.level_rate.is_finite() && newton.level_rate != 0.0).then_some(newton)
    }

    /// Computes `U v`.
    fn to_rows(&self, v: &[f64]) -> Vec<f64> {
        self.programme.loads(|j| self.d[j] * v[self.programme.group[j]])
    }

    /// Computes `U' v`.
    fn to_groups(&self, v: &[f64]) -> Vec<f64> {
        let products = self.programme.products(v);
        self.programme.sums(|j| self.d[j] * products[j])
    }

    /// Computes `H^-1 v` by groups.
    ///
    /// Cancellation in `H`, and the numbers added to its diagonal, cost digits in the last
    /// iterations. Therefore the residual is computed from the factors, and the equations are
    /// solved once more for this residual.
    fn solve_groups(&self, v: &[f64]) -> Vec<f64> {
        let mut solution = v.to_vec();
        self.factors.solve(&mut solution);
        let mut by_row = self.to_rows(&solution);
        if let Some(blocks) = &self.blocks {
            Self::divide(blocks, self.programme, &mut by_row);
        }
        let back = self.to_groups(&by_row);
        let mut rest: Vec<f64> = (0..v.len()).map(|g| v[g] - (self.k[g] * solution[g] - back[g])).collect();
        self.factors.solve(&mut rest);
        solution.iter_mut().zip(&rest).for_each(|(x, rest)| *x += rest);
        solution
    }

    /// Replaces `v` by `M^-1 v`. `blocks` are the factors of `M`.
    fn divide(blocks: &[Cholesky], programme: &Programme, v: &mut [f64]) {
        for (block, ends) in blocks.iter().zip(programme.class_rows.windows(2)) {
            block.solve(&mut v[ends[0]..ends[1]]);
        }
    }

    /// Computes the direction along which the products `y z` change by `columns` and the products `s p` by `rows`.
    pub fn direction(
        &self,
        programme: &Programme,
        point: &Point,
        rest: &Residuals,
        columns: &[f64],
        rows: &[f64],
    ) -> Direction {
        let a = &programme.multiple;
        // Eliminate `dy`, `dz` and `ds`. Then solve for the level, the prices `p` and the prices `l` of the levels, and
        // substitute back.
        let r = programme.numbers(columns.len(), |j| rest.columns[j] + columns[j] / point.y[j]);
        let mut by_row = programme.loads(|j| self.d[j] * r[j]);
        for (k, value) in by_row.iter_mut().enumerate() {
            *value += rows[k] / point.p[k] - rest.rows[k];
        }
        let mut by_group = programme.sums(|j| self.d[j] * r[j]);
        for (value, rest) in by_group.iter_mut().zip(&rest.groups) {
            *value = rest - *value;
        }
        let (p, l, t) = match &self.blocks {
            None => {
                let scaled: Vec<f64> = by_group.iter().zip(&self.k).map(|(v, k)| v / k).collect();
                let mut p = self.to_rows(&scaled);
                p.iter_mut().zip(&by_row).for_each(|(p, v)| *p += v);
                self.factors.solve(&mut p);
                let back = self.to_groups(&p);
                let taken: f64 = (0..a.len()).map(|g| a[g] * (by_group[g] + back[g]) / self.k[g]).sum();
                let t = (rest.level - taken) / self.level_rate;
                p.iter_mut().zip(&self.level).for_each(|(p, h)| *p += h * t);
                let back = self.to_groups(&p);
                let l = (0..a.len()).map(|g| (by_group[g] + back[g] + a[g] * t) / self.k[g]);
                (p, l.collect::<Vec<f64>>(), t)
            }
            Some(blocks) => {
                let mut divided = by_row.clone();
                Self::divide(blocks, programme, &mut divided);
                let mut l = self.to_groups(&divided);
                l.iter_mut().zip(&by_group).for_each(|(l, v)| *l += v);
                let mut l = self.solve_groups(&l);
                let taken: f64 = a.iter().zip(&l).map(|(a, l)| a * l).sum();
                let t = (rest.level - taken) / self.level_rate;
                l.iter_mut().zip(&self.level).for_each(|(l, h)| *l += h * t);
                let mut p = self.to_rows(&l);
                p.iter_mut().zip(&by_row).for_each(|(p, v)| *p += v);
                Self::divide(blocks, programme, &mut p);
                (p, l, t)
            }
        };
        let priced = programme.products(&p);
        let y = programme.numbers(r.len(), |j| self.d[j] * (r[j] - priced[j] + l[programme.group[j]]));
        let z = programme.numbers(y.len(), |j| (columns[j] - point.z[j] * y[j]) / point.y[j]);
        let s = (0..p.len()).map(|k| (rows[k] - point.s[k] * p[k]) / point.p[k]).collect();
        Direction { y, z, s, p, l, t }
    }
}

/// Returns true if the equations by rows are less work than the equations by groups.
fn by_rows(programme: &Programme) -> bool {
    let cube = |n: usize| (n as f64).powi(3) / 3.0;
    let (mut pairs_by_rows, mut pairs_by_groups) = (0.0, 0.0);
    let mut on_class = vec![0.0; programme.class_rows.len() - 1];
    for &class in &programme.class {
        on_class[class] += 1.0;
    }
    for ends in programme.group_columns.windows(2) {
        let rows: f64 = (ends[0]..ends[1]).map(|j| programme.column(j).1.len() as f64).sum();
        pairs_by_rows += rows * rows / 2.0;
    }
    for (count, ends) in on_class.iter().zip(programme.class_rows.windows(2)) {
        pairs_by_groups += count * count * (ends[1] - ends[0]) as f64 / 2.0;
    }
    cube(programme.capacity.len()) + INTERIOR.scattered * pairs_by_rows
        <= cube(programme.multiple.len()) + INTERIOR.scattered * pairs_by_groups
}

/// Computes the lower triangle of `M - U K^-1 U'`, row by row.
fn rows_matrix(programme: &Programme, d: &[f64], s: &[f64], k: &[f64]) -> Vec<f64> {
    let n = programme.capacity.len();
    // `others[j]`: the sum of `d` over the other columns of the group of column `j`. For the largest column the other
    // columns are added up, since a difference would lose digits.
    let mut others = Vec::with_capacity(d.len());
    for (ends, k) in programme.group_columns.windows(2).zip(k) {
        let columns = ends[0]..ends[1];
        let largest = columns.clone().max_by(|&a, &b| d[a].total_cmp(&d[b]));
        let rest: f64 = columns.clone().filter(|j| Some(*j) != largest).map(|j| d[j]).sum();
        others.extend(columns.map(|j| if Some(j) == largest { rest } else { k - d[j] }));
    }
    let fill = |(classes, rows): (Range<usize>, &mut [f64])| {
        let first = programme.class_rows[classes.start];
        for (at, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
            row[first + at] = s[first + at];
        }
        for (ends, k) in programme.group_columns.windows(2).zip(k) {
            for j in (ends[0]..ends[1]).filter(|j| classes.contains(&programme.class[*j])) {
                let (row, entries) = programme.column(j);
                let own = (row - first, entries);
                outer(rows, n, own, (row, entries), d[j] * others[j] / k);
                for other in ends[0]..j {
                    // Columns of a group are ordered by class, so this entry is in the lower triangle.
                    outer(rows, n, own, programme.column(other), -d[j] * d[other] / k);
                }
            }
        }
    };
    let mut matrix = vec![0.0; n * n];
    strips(programme, &mut matrix).into_par_iter().for_each(fill);
    matrix
}

/// Splits the rows of a matrix into strips for threads, each with the rows of some classes. Each number is computed by
/// one thread.
fn strips<'m>(programme: &Programme, matrix: &'m mut [f64]) -> Vec<(Range<usize>, &'m mut [f64])> {
    let (n, classes) = (programme.capacity.len(), programme.class_rows.len() - 1);
    let count = if n < INTERIOR.shared_rows { 1 } else { INTERIOR.strips.min(classes) };
    let (mut rest, mut strips) = (matrix, Vec::with_capacity(count));
    for strip in 0..count {
        let [first, end] = [strip, strip + 1].map(|at| at * classes / count);
        let (rows, later) = rest.split_at_mut((programme.class_rows[end] - programme.class_rows[first]) * n);
        strips.push((first..end, rows));
        rest = later;
    }
    strips
}

/// Adds `factor` times the outer product of `a` and `b` to `matrix`, which has `n` columns. `a` and `b` are vectors
/// `(first row, entries)`.
fn outer(matrix: &mut [f64], n: usize, a: (usize, &[f64]), b: (usize, &[f64]), factor: f64) {
    for (i, a_entry) in (a.0..).zip(a.1) {
        let value = factor * a_entry;
        let start = i * n + b.0;
        for (target, b_entry) in matrix[start..start + b.1.len()].iter_mut().zip(b.1) {
            *target += value * b_entry;
        }
    }
}

/// Factors the blocks of `M`, one for each class.
fn class_blocks(programme: &Programme, d: &[f64], s: &[f64]) -> Option<Vec<Cholesky>> {
    let mut starts = Vec::with_capacity(programme.class_rows.len());
    let mut end = 0;
    for ends in programme.class_rows.windows(2) {
        starts.push(end);
        end += (ends[1] - ends[0]).pow(2);
    }
    let mut entries = vec![0.0; end];
    for j in 0..d.len() {
        let (_, column) = programme.column(j);
        let start = starts[programme.class[j]];
        for (i, a) in column.iter().enumerate() {
            for (k, b) in column[..=i].iter().enumerate() {
                entries[start + i * column.len() + k] += d[j] * a * b;
            }
        }
    }
    let mut blocks = Vec::with_capacity(starts.len());
    for (ends, &start) in programme.class_rows.windows(2).zip(&starts) {
        let size = ends[1] - ends[0];
        let mut block = entries[start..start + size * size].to_vec();
        for i in 0..size {
            block[i * size + i] += s[ends[0] + i];
        }
        blocks.push(Cholesky::factor(block, size)?);
    }
    Some(blocks)
}

/// Computes the lower triangle of `K - U' M^-1 U`, row by row.
fn groups_matrix(programme: &Programme, d: &[f64], k: &[f64], blocks: &[Cholesky]) -> Vec<f64> {
    let n = k.len();
    let mut matrix = vec![0.0; n * n];
    for (g, k) in k.iter().enumerate() {
        matrix[g * n + g] = *k;
    }
    // `halves[class]`: `L^-1` times the columns of the class, by row of the class. `groups[class]`: the groups of these
    // columns. `place[j]`: the position of column `j` among the columns of its class.
    let mut halves: Vec<Vec<Vec<f64>>> =
        programme.class_rows.windows(2).map(|ends| vec![Vec::new(); ends[1] - ends[0]]).collect();
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut place = Vec::with_capacity(d.len());
    let mut half: Vec<f64> = Vec::new();
    for (j, &class) in programme.class.iter().enumerate() {
        half.clear();
        half.extend(programme.column(j).1.iter().map(|a| a * d[j]));
        blocks[class].forward(&mut half);
        halves[class].iter_mut().zip(&half).for_each(|(row, value)| row.push(*value));
        place.push(groups[class].len());
        groups[class].push(programme.group[j]);
    }
    // The loop goes group by group, so that the row to which all products are added stays in the cache.
    let fill = |products: &mut Vec<f64>, (row, ends): (&mut [f64], &[usize])| {
        for (j, &at) in (ends[0]..ends[1]).zip(&place[ends[0]..ends[1]]) {
            let class = programme.class[j];
            products.clear();
            products.resize(at + 1, 0.0);
            for half in &halves[class] {
                let mine = half[at];
                products.iter_mut().zip(half).for_each(|(sum, theirs)| *sum += mine * theirs);
            }
            for (&other, product) in groups[class].iter().zip(&*products) {
                row[other] -= *product;
            }
        }
    };
    let rows = matrix.chunks_exact_mut(n.max(1)).zip(programme.group_columns.windows(2));
    if n < INTERIOR.shared_rows {
        let mut products = Vec::new();
        rows.for_each(|row| fill(&mut products, row));
    } else {
        rows.collect::<Vec<_>>().into_par_iter().for_each_init(Vec::new, fill);
    }
    matrix
}

/// Factors a matrix of `n` rows. If rounding made the matrix indefinite, its diagonal is increased more and more.
///
/// This is rare. In that case the large matrix is built again, which is cheaper than copying it every time.
fn factor(matrix: impl Fn() -> Vec<f64>, n: usize) -> Option<Cholesky> {
    let mut more = INTERIOR.regular;
    for attempt in 0..=INTERIOR.attempts {
        let mut trial = matrix();
        for i in 0..n {
            trial[i * n + i] *= 1.0 + more;
        }
        if let Some(factors) = Cholesky::factor(trial, n) {
            return Some(factors);
        }
        more = if attempt == 0 { INTERIOR.first_more } else { more * INTERIOR.more };
    }
    None
}
