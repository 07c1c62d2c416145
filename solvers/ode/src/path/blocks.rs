//! Users in blocks, each a structure of arrays, in the layout of the sweeps.
//!
//! A block contains [`BLOCK`] users: one row of requests for each resource, then the row of entitlements and the row of
//! entitlement / cap. Every user is scaled by a power of two (exactly), so that its largest request lies in [1, 2).
//! Allocations are scaled back at the end.

use rayon::prelude::*;

use crate::lanes::BLOCK;
use crate::pool::{LARGEST_MAGNITUDE, Pool};
use crate::settings::PATH;

/// The number of blocks in a chunk. The sums of a chunk are completed before chunks are added.
///
/// This fixes the order of summation, and so the bits of the result, for any number of threads.
pub(super) const CHUNK_BLOCKS: usize = 16;

/// The number of rows that follow the requests in a block.
const EXTRA_ROWS: usize = 2;

/// The users of a pool in blocks, restricted to the resources that may bind.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The number of users.
    pub n_users: usize,
    /// The resources of the pool that may have a positive price, in ascending order.
    pub priced: Vec<usize>,
    /// The number of rows of requests in a block: the priced resources, and a row of zeros if their
    /// number is odd.
    pub rows: usize,
    /// True if the pool is large enough for several threads.
    pub parallel: bool,
    data: Vec<f64>,
}

/// The data of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// The requests, `rows x BLOCK`.
    pub requests: &'a [f64],
    /// The entitlements, with sum 1 over all users.
    pub entitlements: &'a [f64],
    /// The entitlements divided by the caps.
    pub capped_prices: &'a [f64],
}

impl Blocks {
    /// Packs the users of a pool.
    pub fn new(pool: &Pool) -> Self {
        let n_users = pool.n_users();
        let priced = resources_that_may_bind(pool);
        let rows = priced.len().next_multiple_of(2);
        let n_blocks = n_users.div_ceil(BLOCK);
        let length = (rows + EXTRA_ROWS) * BLOCK;
        let parallel = n_users.saturating_mul(priced.len()) >= PATH.parallel_from;
        let mut data = vec![0.0; n_blocks * length];
        let total = pool.total_entitlement();
        let pack = |(block, chunk): (usize, &mut [f64])| pack_block(pool, &priced, total, block, rows, chunk);
        if parallel {
            data.par_chunks_mut(length).enumerate().for_each(pack);
        } else {
            data.chunks_mut(length).enumerate().for_each(pack);
        }
        Self { n_users, priced, rows, parallel, data }
    }

    /// Returns the number of doubles in a block.
    fn block_length(&self) -> usize {
        (self.rows + EXTRA_ROWS) * BLOCK
    }

    /// Returns the number of chunks, the units of summation.
    pub fn n_chunks(&self) -> usize {
        self.n_users.div_ceil(BLOCK * CHUNK_BLOCKS)
    }

    /// Returns an iterator over the blocks of one chunk.
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

/// Returns the power of two by which a user's requests are divided: the largest power of two that is at most its
/// largest request.
pub(super) fn user_scale(row: &[f64]) -> f64 {
    let largest = row.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 { 1.0 } else { f64::from_bits(largest.to_bits() & (0x7ff << 52)) }
}

/// Returns the resources that may bind.
///
/// The other resources have price 0 at the optimum, because no user requests them, or because they are not used up even
/// if all users are at their caps.
fn resources_that_may_bind(pool: &Pool) -> Vec<usize> {
    let mut largest_usage = vec![0.0; pool.n_resources()];
    for (user, &cap) in pool.caps().iter().enumerate() {
        // Without a cap, any positive request may exceed the capacity.
        let cap = cap.min(LARGEST_MAGNITUDE * LARGEST_MAGNITUDE);
        for (usage, &request) in largest_usage.iter_mut().zip(pool.request_row(user)) {
            *usage += cap * request;
        }
    }
    // The margin covers the rounding of this sum.
    (0..pool.n_resources()).filter(|&j| largest_usage[j] > 1.0 - 1e-6).collect()
}

/// Writes the users of one block.
fn pack_block(pool: &Pool, priced: &[usize], total: f64, block: usize, rows: usize, data: &mut [f64]) {
    let first = block * BLOCK;
    let (requests, rest) = data.split_at_mut(rows * BLOCK);
    let (entitlements, capped_prices) = rest.split_at_mut(BLOCK);
    // Unused lanes request nothing and have a cap, which avoids a division by zero.
    entitlements.fill(1.0);
    capped_prices.fill(1.0);
    for user in first..(first + BLOCK).min(pool.n_users()) {
        let lane = user - first;
        let row = pool.request_row(user);
        let scale = user_scale(row);
        let inverse_scale = 1.0 / scale;
        for (j, &resource) in priced.iter().enumerate() {
            requests[j * BLOCK + lane] = row[resource] * inverse_scale;
        }
        let entitlement = pool.entitlements()[user] / total;
        entitlements[lane] = entitlement;
        capped_prices[lane] = entitlement / (pool.caps()[user] * scale);
    }
}
