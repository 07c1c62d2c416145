//! One pass over all users: their demand at given prices, and its derivatives with respect to the prices.
//!
//! Sums are computed in lanes and without fused operations, so the bits do not depend on the vector instructions of the
//! machine. The sums of chunks of users are added in a fixed order, so the bits do not depend on the number of threads.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::blocks::{Block, Blocks};
use crate::lanes::{BLOCK, LANES, add_gram, add_lanes, add_products, payments};

/// The sums of a sweep over the priced resources.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// The usage `sum_i x_i r_ij` of each row.
    pub usage: Vec<f64>,
    /// The Hessian `sum_i (-dx_i/dpi_i) r_ij r_ik`, `rows x rows`, lower triangle. Empty if it was not requested.
    pub hessian: Vec<f64>,
}

/// The memory that sweeps reuse.
#[derive(Debug)]
pub(super) struct Sweeper {
    arch: Arch,
    sums: Vec<f64>,
    scratch: Scratch,
}

impl Sweeper {
    pub fn new(blocks: &Blocks) -> Self {
        let length = blocks.rows * (blocks.rows + 1);
        Self {
            arch: Arch::new(),
            sums: vec![0.0; blocks.n_chunks() * length],
            scratch: Scratch::new(blocks.rows),
        }
    }

    /// Computes the usage at `prices` (one for each row), and its derivative if `with_hessian` is true.
    pub fn sweep(&mut self, blocks: &Blocks, prices: &[f64], mu: f64, with_hessian: bool) -> Sums {
        let rows = blocks.rows;
        let length = if with_hessian { rows * (rows + 1) } else { rows };
        let sums = &mut self.sums[..blocks.n_chunks() * length];
        let arch = self.arch;
        let sweep_chunk = |scratch: &mut Scratch, (chunk, sums): (usize, &mut [f64])| {
            arch.dispatch(SweepChunk { blocks, chunk, prices, mu, scratch, sums });
        };
        if length > 0 {
            if blocks.parallel {
                sums.par_chunks_mut(length).enumerate().for_each_init(|| Scratch::new(rows), sweep_chunk);
            } else {
                let scratch = &mut self.scratch;
                sums.chunks_mut(length).enumerate().for_each(|item| sweep_chunk(scratch, item));
            }
        }
        add_pairwise(sums, length);
        let (usage, hessian) = sums[..length].split_at(rows);
        Sums { usage: usage.to_vec(), hessian: hessian.to_vec() }
    }
}

/// Adds all records of the given length into the first record, pair by pair of neighbours.
fn add_pairwise(records: &mut [f64], length: usize) {
    let mut stride = length;
    while stride > 0 && stride < records.len() {
        for pair in records.chunks_mut(2 * stride) {
            if pair.len() > stride {
                let (left, right) = pair.split_at_mut(stride);
                for (l, r) in left[..length].iter_mut().zip(&right[..length]) {
                    *l += r;
                }
            }
        }
        stride *= 2;
    }
}

/// The values of one block, and the lanes of the sums of one chunk.
#[derive(Debug)]
struct Scratch {
    x: [f64; BLOCK],
    slope: [f64; BLOCK],
    /// The requests times the slopes, `rows x BLOCK`.
    weighted: Vec<f64>,
    /// The lanes of the sums, `(rows + rows^2) x LANES`.
    lanes: Vec<f64>,
}

impl Scratch {
    fn new(rows: usize) -> Self {
        Self {
            x: [0.0; BLOCK],
            slope: [0.0; BLOCK],
            weighted: vec![0.0; rows * BLOCK],
            lanes: vec![0.0; rows * (rows + 1) * LANES],
        }
    }
}

/// The computation of the sums of one chunk, compiled once for each set of vector instructions.
struct SweepChunk<'a> {
    blocks: &'a Blocks,
    chunk: usize,
    prices: &'a [f64],
    mu: f64,
    scratch: &'a mut Scratch,
    sums: &'a mut [f64],
}

impl WithSimd for SweepChunk<'_> {
    type Output = ();

    // These closures are inlined, because only then they use the vector instructions of the caller.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.prices.len();
        let Scratch { x, slope, weighted, lanes } = self.scratch;
        let lanes = &mut lanes[..self.sums.len() * LANES];
        lanes.fill(0.0);
        let (usage, hessian) = lanes.split_at_mut(rows * LANES);
        for block in self.blocks.chunk(self.chunk) {
            user_demands(simd, block, self.prices, self.mu, x, slope);
            for (sums, row) in usage.chunks_exact_mut(LANES).zip(block.requests.chunks_exact(BLOCK)) {
                add_products(simd, x, row, sums);
            }
            if !hessian.is_empty() {
                add_gram(simd, block.requests, slope, weighted, hessian);
            }
        }
        for (sum, lanes) in self.sums.iter_mut().zip(lanes.as_chunks().0) {
            *sum = add_lanes(lanes);
        }
    }
}

/// The least payment of a user, which keeps the squares of allocations in range.
///
/// It is far below any price that matters, since an allocation is at most `LARGEST_MAGNITUDE`
/// squared.
const LEAST_PRICE: f64 = 1e-120;

/// Computes the demand of the users of a block, and the slopes `-dx/dpi`.
///
/// At prices `p` and barrier parameter `mu`, user `i` pays `pi = sum_j p_j r_ij` for its request. The user takes the
/// `x` with `e / x = pi + e mu / (cap - x)`. With `a = e / cap`, `m = mu a`:
///
/// ```text
/// D = sqrt((pi - a)^2 + m (m + 2 (pi + a))),   x = 2 e / (pi + a + m + D),
/// -dx/dpi = x / (pi + a + m + D) * (D + pi - a + m) / D.
/// ```
///
/// All terms of `x` are non-negative, so no digits cancel. At `mu = 0`, `x` is `min(cap, e / pi)`.
#[inline(always)]
fn user_demands<S: Simd>(
    simd: S,
    block: Block<'_>,
    prices: &[f64],
    mu: f64,
    x: &mut [f64; BLOCK],
    slope: &mut [f64; BLOCK],
) {
    let entitlements = S::as_simd_f64s(block.entitlements).0;
    let capped_prices = S::as_simd_f64s(block.capped_prices).0;
    payments(simd, block.requests, prices, x);
    let x = S::as_mut_simd_f64s(x).0;
    let slope = S::as_mut_simd_f64s(slope).0;
    let zero = simd.splat_f64s(0.0);
    let one = simd.splat_f64s(1.0);
    let mu = simd.splat_f64s(mu);
    let least_price = simd.splat_f64s(LEAST_PRICE);
    let least_root = simd.splat_f64s(f64::MIN_POSITIVE);
    for ((x, slope), (&e, &a)) in x.iter_mut().zip(slope).zip(entitlements.iter().zip(capped_prices)) {
        let pi = simd.max_f64s(*x, least_price);
        let m = simd.mul_f64s(mu, a);
        let excess = simd.sub_f64s(pi, a);
        let sum = simd.add_f64s(pi, a);
        let barrier = simd.mul_f64s(m, simd.add_f64s(m, simd.add_f64s(sum, sum)));
        let square = simd.add_f64s(simd.mul_f64s(excess, excess), barrier);
        let root = simd.max_f64s(simd.sqrt_f64s(square), least_root);
        let inverse = simd.div_f64s(one, simd.add_f64s(simd.add_f64s(sum, m), root));
        *x = simd.mul_f64s(simd.add_f64s(e, e), inverse);
        let rising = simd.max_f64s(simd.add_f64s(simd.add_f64s(root, excess), m), zero);
        *slope = simd.mul_f64s(simd.mul_f64s(*x, inverse), simd.div_f64s(rising, root));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;

    /// Checks that plain scalar code gives the same bits as the vector instructions of this machine.
    #[test]
    fn vector_instructions_do_not_change_bits() {
        let (n, m) = (777, 5);
        let requests = (0..n * m).map(|k| ((k * k) % 101) as f64 / 37.0).collect();
        let entitlements = (0..n).map(|k| 1.0 + (k % 7) as f64).collect();
        let caps = (0..n).map(|k| if k % 2 == 0 { 0.003 } else { f64::INFINITY }).collect();
        let blocks = Blocks::new(&Pool::new(m, requests, entitlements, caps).unwrap());
        let prices: Vec<f64> =
            (0..blocks.rows).map(|j| if j < m { 0.1 + 0.03 * j as f64 } else { 0.0 }).collect();
        let length = blocks.rows * (blocks.rows + 1);
        for mu in [0.0, 1e-3] {
            let mut fast = vec![0.0; length];
            let mut plain = vec![0.0; length];
            let mut scratch = Scratch::new(blocks.rows);
            let chunk = SweepChunk {
                blocks: &blocks,
                chunk: 0,
                prices: &prices,
                mu,
                scratch: &mut scratch,
                sums: &mut fast,
            };
            Arch::new().dispatch(chunk);
            let chunk = SweepChunk {
                blocks: &blocks,
                chunk: 0,
                prices: &prices,
                mu,
                scratch: &mut scratch,
                sums: &mut plain,
            };
            pulp::Scalar::new().vectorize(chunk);
            assert!(fast[..m].iter().all(|&usage| usage > 0.0));
            assert_eq!(fast, plain);
        }
    }
}
