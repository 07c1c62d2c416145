//! One pass over all users: what they take at given prices, and how that changes with the prices.
//!
//! Sums are taken in lanes and without fused operations, so that the bits do not depend
//! on the vector instructions that the machine has; in chunks of users that are added in a fixed
//! order, so that they do not depend on the number of threads.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::blocks::Blocks;
use super::response;
use crate::lanes::{BLOCK, LANES, add_gram, add_lanes, add_products};

/// What a sweep returns for the resources kept.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// `sum_i x_i r_ij`, one per row.
    pub usage: Vec<f64>,
    /// `sum_i (-dx_i/dpi_i) r_ij r_ik`, `rows x rows`, lower triangle; empty if not asked for.
    pub hessian: Vec<f64>,
}

/// Memory that sweeps use again and again.
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

    /// Usage at `prices` (one per row), and its derivative if asked for.
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

/// Adds records of the given length, neighbours first, into the first one.
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

/// Values of one block, and the lanes of the sums of one chunk.
#[derive(Debug)]
struct Scratch {
    x: [f64; BLOCK],
    slope: [f64; BLOCK],
    /// Requests times slope, `rows x BLOCK`.
    weighted: Vec<f64>,
    /// Lanes of the sums, `(rows + rows^2) x LANES`.
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

/// The sums of one chunk, compiled once for each set of vector instructions.
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

    // Inlined, here and below, because only then the vector instructions of the caller are used.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.prices.len();
        let Scratch { x, slope, weighted, lanes } = self.scratch;
        let lanes = &mut lanes[..self.sums.len() * LANES];
        lanes.fill(0.0);
        let (usage, hessian) = lanes.split_at_mut(rows * LANES);
        for block in self.blocks.chunk(self.chunk) {
            response::of_users(simd, block, self.prices, self.mu, x, slope);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;

    /// The bits must not depend on the machine: plain scalar code against what this machine has.
    #[test]
    fn same_bits_without_vector_instructions() {
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
