//! One pass over all users: what they take at given prices, and how that changes with the prices.
//!
//! At prices `p` and barrier parameter `mu`, user `i` pays `pi = sum_j p_j r_ij` for its request
//! and takes the `x` with `e / x = pi + mu / (cap - x)`. With `a = e / cap`, `m = mu / cap`:
//!
//! ```text
//! D = sqrt((pi - a)^2 + m (m + 2 (pi + a))),   x = 2 e / (pi + a + m + D),
//! -dx/dpi = x / (pi + a + m + D) * (D + pi - a + m) / D.
//! ```
//!
//! All terms of `x` are non-negative, so nothing cancels; at `mu = 0` it is `min(cap, e / pi)`.
//! Sums are taken in lanes of fixed number without fused operations, so that the bits do not
//! depend on the vector instructions that the machine has.

use pulp::Arch;
use rayon::prelude::*;

use super::blocks::{BLOCK, Block, Blocks};

/// Lanes of every sum.
const LANES: usize = 8;
/// A user never pays less: keeps the squares of allocations in range. Far below any price that
/// matters, since an allocation is at most `LARGEST_MAGNITUDE` squared.
const LEAST_PRICE: f64 = 1e-120;

type Lanes = [f64; LANES];

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
}

impl Sweeper {
    pub fn new(blocks: &Blocks) -> Self {
        let length = blocks.rows * (blocks.rows + 1);
        Self { arch: Arch::new(), sums: vec![0.0; blocks.n_chunks() * length] }
    }

    /// Usage at `prices` (one per row), and its derivative if asked for.
    pub fn sweep(&mut self, blocks: &Blocks, prices: &[f64], mu: f64, with_hessian: bool) -> Sums {
        let rows = blocks.rows;
        let length = if with_hessian { rows * (rows + 1) } else { rows };
        let sums = &mut self.sums[..blocks.n_chunks() * length];
        let arch = self.arch;
        let sweep_chunk = |(chunk, sums): (usize, &mut [f64])| {
            sums.fill(0.0);
            let mut scratch = Scratch::new(rows);
            arch.dispatch(|| {
                for block in blocks.chunk(chunk) {
                    sweep_block(block, prices, mu, &mut scratch, sums);
                }
            });
        };
        if length > 0 {
            if blocks.parallel {
                sums.par_chunks_mut(length).enumerate().for_each(sweep_chunk);
            } else {
                sums.chunks_mut(length).enumerate().for_each(sweep_chunk);
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

/// Values of one block.
struct Scratch {
    x: [f64; BLOCK],
    slope: [f64; BLOCK],
    /// Requests times slope, `rows x BLOCK`.
    weighted: Vec<f64>,
}

impl Scratch {
    fn new(rows: usize) -> Self {
        Self { x: [0.0; BLOCK], slope: [0.0; BLOCK], weighted: vec![0.0; rows * BLOCK] }
    }
}

#[inline(always)]
fn sweep_block(block: Block<'_>, prices: &[f64], mu: f64, scratch: &mut Scratch, sums: &mut [f64]) {
    let rows = prices.len();
    user_responses(block, prices, mu, &mut scratch.x, &mut scratch.slope);
    let (usage, hessian) = sums.split_at_mut(rows);
    let x = lanes(&scratch.x);
    for (sum, row) in usage.iter_mut().zip(block.requests.chunks_exact(BLOCK)) {
        *sum += dot(x, lanes(row));
    }
    if hessian.is_empty() {
        return;
    }
    for (weighted, row) in scratch.weighted.chunks_exact_mut(BLOCK).zip(block.requests.chunks_exact(BLOCK)) {
        for ((w, &r), &h) in weighted.iter_mut().zip(row).zip(&scratch.slope) {
            *w = r * h;
        }
    }
    for j in (0..rows).step_by(2) {
        let (left, right) = scratch.weighted[j * BLOCK..(j + 2) * BLOCK].split_at(BLOCK);
        for k in (0..=j).step_by(2) {
            let (up, down) = block.requests[k * BLOCK..(k + 2) * BLOCK].split_at(BLOCK);
            let products = dots(lanes(left), lanes(right), lanes(up), lanes(down));
            hessian[j * rows + k] += products[0];
            hessian[j * rows + k + 1] += products[1];
            hessian[(j + 1) * rows + k] += products[2];
            hessian[(j + 1) * rows + k + 1] += products[3];
        }
    }
}

/// What the users of a block take, and `-dx/dpi`.
#[inline(always)]
pub(super) fn user_responses(
    block: Block<'_>,
    prices: &[f64],
    mu: f64,
    x: &mut [f64; BLOCK],
    slope: &mut [f64; BLOCK],
) {
    for group in (0..BLOCK).step_by(LANES) {
        let mut paid = [0.0; LANES];
        for (row, &price) in block.requests.chunks_exact(BLOCK).zip(prices) {
            let row = &row[group..group + LANES];
            for l in 0..LANES {
                paid[l] += row[l] * price;
            }
        }
        let e = &block.entitlements[group..group + LANES];
        let a = &block.capped_prices[group..group + LANES];
        let inverse_cap = &block.inverse_caps[group..group + LANES];
        for l in 0..LANES {
            let pi = paid[l].max(LEAST_PRICE);
            let m = mu * inverse_cap[l];
            let excess = pi - a[l];
            let sum = pi + a[l];
            let root = (excess * excess + m * (m + 2.0 * sum)).sqrt().max(f64::MIN_POSITIVE);
            let inverse = 1.0 / (sum + m + root);
            x[group + l] = 2.0 * e[l] * inverse;
            slope[group + l] = x[group + l] * inverse * ((root + excess + m).max(0.0) / root);
        }
    }
}

#[inline(always)]
fn lanes(values: &[f64]) -> &[Lanes] {
    values.as_chunks().0
}

#[inline(always)]
fn dot(a: &[Lanes], b: &[Lanes]) -> f64 {
    let mut sum = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sum[l] += a[l] * b[l];
        }
    }
    add_lanes(sum)
}

/// The four products of two rows with two others.
#[inline(always)]
fn dots(a: &[Lanes], b: &[Lanes], c: &[Lanes], d: &[Lanes]) -> [f64; 4] {
    let mut sums = [[0.0; LANES]; 4];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for l in 0..LANES {
            sums[0][l] += a[l] * c[l];
            sums[1][l] += a[l] * d[l];
            sums[2][l] += b[l] * c[l];
            sums[3][l] += b[l] * d[l];
        }
    }
    sums.map(add_lanes)
}

#[inline(always)]
fn add_lanes(sum: Lanes) -> f64 {
    ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
}
