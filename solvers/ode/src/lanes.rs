//! Kernels over blocks of users, generic over the vector instructions of the machine.
//!
//! Sums are computed in [`LANES`] lanes and without fused operations, so the bits of the result do not depend on the
//! instructions. All functions are inlined, because only then they use the vector instructions of the caller.

use pulp::Simd;

/// The number of users in a block.
pub(crate) const BLOCK: usize = 64;
/// The number of lanes of every sum, a multiple of the lanes of any machine's vectors.
pub(crate) const LANES: usize = 8;

/// Computes the payments `sum_j prices_j r_ij` of the users of a block. `requests` is
/// `rows x BLOCK`.
#[inline(always)]
pub(crate) fn payments<S: Simd>(simd: S, requests: &[f64], prices: &[f64], paid: &mut [f64; BLOCK]) {
    paid.fill(0.0);
    let paid = S::as_mut_simd_f64s(paid).0;
    for (rows, prices) in requests.chunks_exact(2 * BLOCK).zip(prices.chunks_exact(2)) {
        let (above, below) = rows.split_at(BLOCK);
        let (above, below) = (S::as_simd_f64s(above).0, S::as_simd_f64s(below).0);
        let (first, second) = (simd.splat_f64s(prices[0]), simd.splat_f64s(prices[1]));
        for ((paid, &a), &b) in paid.iter_mut().zip(above).zip(below) {
            let sum = simd.add_f64s(*paid, simd.mul_f64s(a, first));
            *paid = simd.add_f64s(sum, simd.mul_f64s(b, second));
        }
    }
}

/// Adds the lower triangle of `sum_i weights_i r_ij r_ik` over the users of a block, in lanes.
///
/// `requests` is `rows x BLOCK`, `weighted` is scratch memory of that size, and `sums` is
/// `rows x rows x LANES`. The number of rows is even.
#[inline(always)]
pub(crate) fn add_gram<S: Simd>(
    simd: S,
    requests: &[f64],
    weights: &[f64; BLOCK],
    weighted: &mut [f64],
    sums: &mut [f64],
) {
    let weights = S::as_simd_f64s(weights).0;
    for (weighted, row) in weighted.chunks_exact_mut(BLOCK).zip(requests.chunks_exact(BLOCK)) {
        let (weighted, row) = (S::as_mut_simd_f64s(weighted).0, S::as_simd_f64s(row).0);
        for ((w, &r), &h) in weighted.iter_mut().zip(row).zip(weights) {
            *w = simd.mul_f64s(r, h);
        }
    }
    let width = requests.len() / BLOCK * LANES;
    for (j, left) in weighted.chunks_exact(2 * BLOCK).enumerate() {
        let (above, below) = sums[2 * j * width..(2 * j + 2) * width].split_at_mut(width);
        for (k, right) in requests.chunks_exact(2 * BLOCK).take(j + 1).enumerate() {
            let columns = 2 * k * LANES..(2 * k + 2) * LANES;
            add_products_2x2(simd, left, right, &mut above[columns.clone()], &mut below[columns]);
        }
    }
}

/// Adds the products of two rows to `sums`, in lanes.
#[inline(always)]
pub(crate) fn add_products<S: Simd>(simd: S, a: &[f64], b: &[f64], sums: &mut [f64]) {
    let (a, b) = (S::as_simd_f64s(a).0, S::as_simd_f64s(b).0);
    let sums = S::as_mut_simd_f64s(sums).0;
    let vectors = LANES / S::F64_LANES;
    let mut local = [simd.splat_f64s(0.0); LANES];
    local[..vectors].copy_from_slice(&sums[..vectors]);
    for (a, b) in a.chunks_exact(vectors).zip(b.chunks_exact(vectors)) {
        for v in 0..vectors {
            local[v] = simd.add_f64s(local[v], simd.mul_f64s(a[v], b[v]));
        }
    }
    sums[..vectors].copy_from_slice(&local[..vectors]);
}

/// Adds the products of two rows with two other rows, in lanes. Reading four rows yields four sums.
#[inline(always)]
fn add_products_2x2<S: Simd>(simd: S, left: &[f64], right: &[f64], above: &mut [f64], below: &mut [f64]) {
    let (a, b) = left.split_at(BLOCK);
    let (c, d) = right.split_at(BLOCK);
    let (a, b) = (S::as_simd_f64s(a).0, S::as_simd_f64s(b).0);
    let (c, d) = (S::as_simd_f64s(c).0, S::as_simd_f64s(d).0);
    let above = S::as_mut_simd_f64s(above).0;
    let below = S::as_mut_simd_f64s(below).0;
    let vectors = LANES / S::F64_LANES;
    let mut sums = [[simd.splat_f64s(0.0); LANES]; 4];
    let (above_c, above_d) = above.split_at_mut(vectors);
    let (below_c, below_d) = below.split_at_mut(vectors);
    sums[0][..vectors].copy_from_slice(above_c);
    sums[1][..vectors].copy_from_slice(above_d);
    sums[2][..vectors].copy_from_slice(below_c);
    sums[3][..vectors].copy_from_slice(below_d);
    let left = a.chunks_exact(vectors).zip(b.chunks_exact(vectors));
    let right = c.chunks_exact(vectors).zip(d.chunks_exact(vectors));
    for ((a, b), (c, d)) in left.zip(right) {
        for v in 0..vectors {
            sums[0][v] = simd.add_f64s(sums[0][v], simd.mul_f64s(a[v], c[v]));
            sums[1][v] = simd.add_f64s(sums[1][v], simd.mul_f64s(a[v], d[v]));
            sums[2][v] = simd.add_f64s(sums[2][v], simd.mul_f64s(b[v], c[v]));
            sums[3][v] = simd.add_f64s(sums[3][v], simd.mul_f64s(b[v], d[v]));
        }
    }
    above_c.copy_from_slice(&sums[0][..vectors]);
    above_d.copy_from_slice(&sums[1][..vectors]);
    below_c.copy_from_slice(&sums[2][..vectors]);
    below_d.copy_from_slice(&sums[3][..vectors]);
}

/// Adds the lanes, always in the same order.
pub(crate) fn add_lanes(sum: &[f64; LANES]) -> f64 {
    ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
}
