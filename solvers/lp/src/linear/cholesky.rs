//! Cholesky factors of a dense symmetric matrix in doubles.
//!
//! Blocked, right-looking. Every sum has one order and no fused operation, so that the factors have the
//! same bits on every machine, also where wider registers do more of it at once.

/// Columns that are factored before the rest is updated.
const PANEL: usize = 64;
/// Rows and columns of a tile of the update: its sums fit into registers.
const TILE: usize = 4;

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
        let mut strips = Vec::new();
        for start in (0..n).step_by(PANEL) {
            let end = (start + PANEL).min(n);
            factor_panel(&mut rows, n, start, end)?;
            pack(&rows, n, start, end, &mut strips);
            update(&mut rows, n, end, end - start, &strips);
        }
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

/// Columns `start..end` of the factor.
fn factor_panel(rows: &mut [f64], n: usize, start: usize, end: usize) -> Option<()> {
    for i in start..n {
        let (above, below) = rows.split_at_mut(i * n);
        let row = &mut below[..n];
        for j in start..end.min(i) {
            let other = &above[j * n..j * n + n];
            row[j] = (row[j] - dot(&row[start..j], &other[start..j])) / other[j];
        }
        if i < end {
            let square = row[i] - dot(&row[start..i], &row[start..i]);
            if square.is_nan() || square <= 0.0 {
                return None;
            }
            row[i] = square.sqrt();
        }
    }
    Some(())
}

/// The rows below the panel in strips of [`TILE`] rows, each by column, with zeros after the last row.
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

/// Subtracts the products of the panel's rows from the triangle right of it.
fn update(rows: &mut [f64], n: usize, end: usize, depth: usize, strips: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { update_wide(rows, n, end, depth, strips) };
    }
    update_tiles(rows, n, end, depth, strips);
}

/// [`update_tiles`] with registers of four doubles: the same operations in the same order.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_wide(rows: &mut [f64], n: usize, end: usize, depth: usize, strips: &[f64]) {
    update_tiles(rows, n, end, depth, strips);
}

#[inline(always)]
fn update_tiles(rows: &mut [f64], n: usize, end: usize, depth: usize, strips: &[f64]) {
    let size = depth * TILE;
    for (a, first) in strips.chunks_exact(size.max(1)).zip((end..n).step_by(TILE)) {
        for (b, column) in strips.chunks_exact(size.max(1)).zip((end..=first).step_by(TILE)) {
            let tile = product(a, b);
            for (i, sums) in (first..n).zip(&tile) {
                for (j, sum) in (column..n.min(column + TILE)).zip(sums) {
                    rows[i * n + j] -= sum;
                }
            }
        }
    }
}

/// The products of the rows of two strips.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> [[f64; TILE]; TILE] {
    let mut sums = [[0.0; TILE]; TILE];
    for (a, b) in a.chunks_exact(TILE).zip(b.chunks_exact(TILE)) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
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

    #[test]
    fn solutions_satisfy_their_equations() {
        for n in [1, 2, 3, 5, 63, 64, 65, 150] {
            // A diagonally dominant matrix with entries that look random.
            let entry = |i: usize, j: usize| {
                let (i, j) = (i.max(j), i.min(j));
                if i == j { n as f64 } else { ((i * 7919 + j * 104_729) % 101) as f64 / 101.0 - 0.5 }
            };
            let rows = (0..n * n).map(|k| entry(k / n, k % n)).collect();
            let factors = Cholesky::factor(rows, n).unwrap();
            let b: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 1.0).collect();
            let mut x = b.clone();
            factors.solve(&mut x);
            for (i, b) in b.iter().enumerate() {
                let sum: f64 = (0..n).map(|j| entry(i, j) * x[j]).sum();
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
