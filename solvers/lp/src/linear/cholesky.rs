//! Cholesky factors of a dense symmetric matrix in doubles.
//!
//! Blocked, right-looking. Every sum has one order, and products are added without being rounded first, so
//! that the factors have the same bits on every machine, whatever the width of its registers, and with any number of threads.

use rayon::prelude::*;

/// Columns that are factored before the rest is updated. More of them take longer for themselves than they save of going over
/// the rest: at 400 rows 96 took half as long again, at 1,000 a third.
const PANEL: usize = 32;
/// Rows and columns of a tile of the update.
const TILE: usize = 8;
/// Rows below a panel from which threads share the update: they hand it on in less time than one of its strips takes.
const SHARED: usize = 256;

/// A lower triangular factor `L` with `L L' = A`.
pub struct Cholesky {
    n: usize,
    /// By row, `n` entries each; those right of the diagonal mean nothing.
    rows: Vec<f64>,
}

impl Cholesky {
    /// Factors the matrix whose lower triangle is given by row, `n` entries each. `None` where it is not
    /// positive definite in doubles.
    ///
    /// # Panics
    /// When there are not `n * n` entries.
    pub fn factor(mut rows: Vec<f64>, n: usize) -> Option<Self> {
        assert_eq!(rows.len(), n * n);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("fma") {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has these instructions.
                unsafe { factor_widest(&mut rows, n)? };
                return Some(Self { n, rows });
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has these instructions.
                unsafe { factor_wide(&mut rows, n)? };
                return Some(Self { n, rows });
            }
        }
        factor_in_place(&mut rows, n, &|rows, panel| update_strip::<4>(rows, panel))?;
        Some(Self { n, rows })
    }

    /// Replaces `b` by `x` with `L x = b`.
    pub fn forward(&self, b: &mut [f64]) {
        for i in 0..self.n {
            let row = &self.rows[i * self.n..=i * self.n + i];
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
    }

    /// Replaces `b` by `x` with `A x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        for i in (0..self.n).rev() {
            let row = &self.rows[i * self.n..=i * self.n + i];
            let value = b[i] / row[i];
            b[i] = value;
            for (x, l) in b[..i].iter_mut().zip(&row[..i]) {
                *x -= value * l;
            }
        }
    }
}

/// [`factor_in_place`] with registers of four doubles: the same operations in the same order. What other threads run is a
/// closure of this function, which has its instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn factor_wide(rows: &mut [f64], n: usize) -> Option<()> {
    factor_in_place(rows, n, &|rows, panel| update_strip::<4>(rows, panel))
}

/// The same with registers of eight, of which twice as many sums are on the way at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn factor_widest(rows: &mut [f64], n: usize) -> Option<()> {
    factor_in_place(rows, n, &|rows, panel| update_strip::<8>(rows, panel))
}

/// A panel that is factored, and some rows below it.
struct Panel<'s> {
    n: usize,
    /// The first column right of it.
    end: usize,
    /// The first of the rows.
    first: usize,
    /// The rows in it.
    strip: &'s [f64],
    /// All rows below it.
    strips: &'s [f64],
}

#[inline(always)]
fn factor_in_place(
    rows: &mut [f64],
    n: usize,
    update_strip: &(impl Fn(&mut [f64], &Panel<'_>) + Sync),
) -> Option<()> {
    let mut strips = Vec::new();
    for start in (0..n).step_by(PANEL) {
        let end = (start + PANEL).min(n);
        factor_corner(rows, n, start, end)?;
        pack(rows, n, start, end, &mut strips);
        solve_strips(rows, n, start, end, &mut strips);
        update(rows, n, end, &strips, update_strip);
    }
    Some(())
}

/// The factor of rows and columns `start..end`.
#[inline(always)]
fn factor_corner(rows: &mut [f64], n: usize, start: usize, end: usize) -> Option<()> {
    for i in start..end {
        let (above, below) = rows.split_at_mut(i * n);
        let row = &mut below[..n];
        for j in start..i {
            let other = &above[j * n..j * n + n];
            row[j] = (row[j] - dot(&row[start..j], &other[start..j])) / other[j];
        }
        let square = row[i] - dot(&row[start..i], &row[start..i]);
        if square.is_nan() || square <= 0.0 {
            return None;
        }
        row[i] = square.sqrt();
    }
    Some(())
}

/// The rows below the corner in strips of [`TILE`] rows, each by column, with zeros after the last row.
#[inline(always)]
fn pack(rows: &[f64], n: usize, start: usize, end: usize, strips: &mut Vec<f64>) {
    strips.clear();
    for first in (end..n).step_by(TILE) {
        for k in start..end {
            for i in first..first + TILE {
                strips.push(if i < n { rows[i * n + k] } else { 0.0 });
            }
        }
    }
}

/// The factor of the rows below the corner, in the strips and in their places.
#[inline(always)]
fn solve_strips(rows: &mut [f64], n: usize, start: usize, end: usize, strips: &mut [f64]) {
    let depth = end - start;
    for (strip, first) in strips.chunks_exact_mut((depth * TILE).max(1)).zip((end..n).step_by(TILE)) {
        for k in 0..depth {
            let (done, later) = strip.split_at_mut((k + 1) * TILE);
            let column = &mut done[k * TILE..];
            let pivot = rows[(start + k) * n + start + k];
            column.iter_mut().for_each(|value| *value /= pivot);
            for (l, other) in later.chunks_exact_mut(TILE).enumerate() {
                let factor = -rows[(start + k + 1 + l) * n + start + k];
                for (value, x) in other.iter_mut().zip(&*column) {
                    *value = factor.mul_add(*x, *value);
                }
            }
        }
        for (i, row) in (first..n.min(first + TILE)).zip(0..) {
            for k in 0..depth {
                rows[i * n + start + k] = strip[k * TILE + row];
            }
        }
    }
}

/// Subtracts the products of the panel's rows from the triangle right of it.
#[inline(always)]
fn update(
    rows: &mut [f64],
    n: usize,
    end: usize,
    strips: &[f64],
    update_strip: &(impl Fn(&mut [f64], &Panel<'_>) + Sync),
) {
    let n_strips = (n - end).div_ceil(TILE);
    let below = rows[end * n..]
        .chunks_mut(TILE * n)
        .zip(strips.chunks_exact((strips.len() / n_strips.max(1)).max(1)));
    let below: Vec<_> = (end..n).step_by(TILE).zip(below).collect();
    let update_one = |(first, (rows, strip)): (usize, (&mut [f64], &[f64]))| {
        update_strip(rows, &Panel { n, end, first, strip, strips });
    };
    if n - end < SHARED {
        below.into_iter().for_each(update_one);
    } else {
        below.into_par_iter().for_each(update_one);
    }
}

/// The same for some rows. `AT_ONCE`: how many of them have sums that fit into registers.
#[inline(always)]
fn update_strip<const AT_ONCE: usize>(rows: &mut [f64], panel: &Panel<'_>) {
    let &Panel { n, end, first, strip, strips } = panel;
    for (other, column) in strips.chunks_exact(strip.len()).zip((end..=first).step_by(TILE)) {
        for part in (0..TILE).step_by(AT_ONCE) {
            let tile = product::<AT_ONCE>(strip, other, part);
            for (row, sums) in rows.chunks_exact_mut(n).skip(part).zip(&tile) {
                for (value, sum) in row[column..n.min(column + TILE)].iter_mut().zip(sums) {
                    *value -= sum;
                }
            }
        }
    }
}

/// The products of some rows of a strip and all of another.
#[inline(always)]
fn product<const AT_ONCE: usize>(a: &[f64], b: &[f64], part: usize) -> [[f64; TILE]; AT_ONCE] {
    let mut sums = [[0.0; TILE]; AT_ONCE];
    for (a, b) in a.chunks_exact(TILE).zip(b.chunks_exact(TILE)) {
        for (sums, a) in sums.iter_mut().zip(&a[part..part + AT_ONCE]) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = a.mul_add(*b, *sum);
            }
        }
    }
    sums
}

/// A scalar product in four sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_whole, a_rest) = a.as_chunks::<4>();
    let (b_whole, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_whole.iter().zip(b_whole) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a diagonally dominant matrix whose entries look random.
    fn entry(n: usize, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        if i == j { n as f64 } else { ((i * 7919 + j * 104_729) % 101) as f64 / 101.0 - 0.5 }
    }

    fn matrix(n: usize) -> Vec<f64> {
        (0..n * n).map(|k| entry(n, k / n, k % n)).collect()
    }

    /// The lower triangle, in bits.
    fn bits(n: usize, rows: &[f64]) -> Vec<u64> {
        rows.chunks(n).enumerate().flat_map(|(i, row)| row[..=i].iter().map(|x| x.to_bits())).collect()
    }

    #[test]
    fn factors_are_the_same_on_all_machines_and_with_any_number_of_threads() {
        for n in [97, 361, 403] {
            let mut plain = matrix(n);
            factor_in_place(&mut plain, n, &|rows, panel| update_strip::<4>(rows, panel)).unwrap();
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let factors = pool.install(|| Cholesky::factor(matrix(n), n)).unwrap();
                assert_eq!(bits(n, &factors.rows), bits(n, &plain), "{n}, {threads} threads");
            }
        }
    }

    #[test]
    fn solutions_satisfy_their_equations() {
        for n in [1, 2, 3, 5, 7, 8, 9, 95, 96, 97, 150, 201, 405] {
            let factors = Cholesky::factor(matrix(n), n).unwrap();
            let b: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 1.0).collect();
            let mut x = b.clone();
            factors.solve(&mut x);
            for (i, b) in b.iter().enumerate() {
                let sum: f64 = (0..n).map(|j| entry(n, i, j) * x[j]).sum();
                assert!((sum - b).abs() < 1e-12, "{n}: {sum} for {b}");
            }
        }
    }

    #[test]
    fn indefinite_matrices_have_no_factor() {
        assert!(Cholesky::factor(vec![1.0, 0.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::factor(vec![f64::NAN], 1).is_none());
    }
}
