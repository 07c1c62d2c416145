//! Users in blocks, each a structure of arrays, as the sweeps want them.
//!
//! A block holds [`BLOCK`] users: one row of requests per resource, then the rows of entitlements
//! and of entitlement / cap. Every user is scaled by a power of two (exact), so that
//! its largest request lies in [1, 2); allocations are scaled back at the end.

use rayon::prelude::*;

use crate::lanes::BLOCK;
use crate::pool::{LARGEST_MAGNITUDE, Pool};
use crate::settings::PATH;

/// Users whose sums are added before anything else is: fixes the order of summation, and so the
/// bits of the result, for any number of threads.
pub(super) const CHUNK_BLOCKS: usize = 16;

/// Rows that follow the requests in a block.
const EXTRA_ROWS: usize = 2;

/// The users of a pool in blocks, restricted to the resources that may bind.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Number of users.
    pub n_users: usize,
    /// Resources of the pool that are kept, in their order.
    pub kept: Vec<usize>,
    /// Rows of requests in a block: the resources kept, and a row of zeros if their number is odd.
    pub rows: usize,
    /// Whether several threads are worth while.
    pub parallel: bool,
    data: Vec<f64>,
}

/// One block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// Requests, `rows x BLOCK`.
    pub requests: &'a [f64],
    /// Entitlements, of sum 1 over all users.
    pub entitlements: &'a [f64],
    /// Entitlement / cap.
    pub capped_prices: &'a [f64],
}

impl Blocks {
    /// Packs the users of a pool.
    pub fn new(pool: &Pool) -> Self {
        let n_users = pool.n_users();
        let kept = resources_that_may_bind(pool);
        let rows = kept.len().next_multiple_of(2);
        let n_blocks = n_users.div_ceil(BLOCK);
        let length = (rows + EXTRA_ROWS) * BLOCK;
        let parallel = n_users.saturating_mul(kept.len()) >= PATH.parallel_from;
        let mut data = vec![0.0; n_blocks * length];
        let total = pool.total_entitlement();
        let pack = |(block, chunk): (usize, &mut [f64])| pack_block(pool, &kept, total, block, rows, chunk);
        if parallel {
            data.par_chunks_mut(length).enumerate().for_each(pack);
        } else {
            data.chunks_mut(length).enumerate().for_each(pack);
        }
        Self { n_users, kept, rows, parallel, data }
    }

    /// Number of doubles that a block takes.
    fn block_length(&self) -> usize {
        (self.rows + EXTRA_ROWS) * BLOCK
    }

    /// Number of chunks: the units of summation.
    pub fn n_chunks(&self) -> usize {
        self.n_users.div_ceil(BLOCK * CHUNK_BLOCKS)
    }

    /// The blocks of one chunk.
    pub fn chunk(&self, chunk: usize) -> impl Iterator<Item = Block<'_>> {
        let length = self.block_length();
        let start = chunk * CHUNK_BLOCKS * length;
        let end = (start + CHUNK_BLOCKS * length).min(self.data.len());
        self.data[start..end].chunks_exact(length).map(move |data| {
            let (requests, rest) = data.split_at(self.rows * BLOCK);
            let (entitlements, capped_prices) = rest.split_at(BLOCK);
            Block { requests, entitlements, capped_prices }
        })
    }
}

/// Power of two by which a user's requests are divided: the one at or below the largest of them.
pub(super) fn user_scale(row: &[f64]) -> f64 {
    let largest = row.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 { 1.0 } else { f64::from_bits(largest.to_bits() & (0x7ff << 52)) }
}

/// Resources that are not plainly in excess: the others (no user requests them, or all users at
/// their caps leave some of them) have price 0 at the optimum.
fn resources_that_may_bind(pool: &Pool) -> Vec<usize> {
    let mut largest_usage = vec![0.0; pool.n_resources()];
    for (user, &cap) in pool.caps().iter().enumerate() {
        // Without a cap, any request at all may be too much.
        let cap = cap.min(LARGEST_MAGNITUDE * LARGEST_MAGNITUDE);
        for (usage, &request) in largest_usage.iter_mut().zip(pool.request_row(user)) {
            *usage += cap * request;
        }
    }
    // The margin covers the rounding of this sum.
    (0..pool.n_resources()).filter(|&j| largest_usage[j] > 1.0 - 1e-6).collect()
}

fn pack_block(pool: &Pool, kept: &[usize], total: f64, block: usize, rows: usize, data: &mut [f64]) {
    let first = block * BLOCK;
    let (requests, rest) = data.split_at_mut(rows * BLOCK);
    let (entitlements, capped_prices) = rest.split_at_mut(BLOCK);
    // Places without a user request nothing and have a cap: no division by zero.
    entitlements.fill(1.0);
    capped_prices.fill(1.0);
    for user in first..(first + BLOCK).min(pool.n_users()) {
        let place = user - first;
        let row = pool.request_row(user);
        let scale = user_scale(row);
        let inverse_scale = 1.0 / scale;
        for (j, &resource) in kept.iter().enumerate() {
            requests[j * BLOCK + place] = row[resource] * inverse_scale;
        }
        let entitlement = pool.entitlements()[user] / total;
        entitlements[place] = entitlement;
        capped_prices[place] = entitlement / (pool.caps()[user] * scale);
    }
}
