//! What users take at given prices.
//!
//! At prices `p` and barrier parameter `mu`, user `i` pays `pi = sum_j p_j r_ij` for its request
//! and takes the `x` with `e / x = pi + e mu / (cap - x)`. With `a = e / cap`, `m = mu a`:
//!
//! ```text
//! D = sqrt((pi - a)^2 + m (m + 2 (pi + a))),   x = 2 e / (pi + a + m + D),
//! -dx/dpi = x / (pi + a + m + D) * (D + pi - a + m) / D.
//! ```
//!
//! All terms of `x` are non-negative, so nothing cancels; at `mu = 0` it is `min(cap, e / pi)`.

use pulp::Simd;

use super::blocks::Block;
use crate::lanes::{BLOCK, payments};

/// A user never pays less: keeps the squares of allocations in range. Far below any price that
/// matters, since an allocation is at most `LARGEST_MAGNITUDE` squared.
const LEAST_PRICE: f64 = 1e-120;

/// What the users of a block take, and `-dx/dpi`.
#[inline(always)]
pub(super) fn of_users<S: Simd>(
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
