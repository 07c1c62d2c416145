#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

/// The inverse of the fraction of inputs that are new scenarios with a checkpoint.
const NEW: u32 = 8;

fuzz_target!(|bytes: &[u8]| evenhand_oracles::checkpoints(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % NEW == 0 {
        return evenhand_fuzz::put(&evenhand_oracles::random_checkpoint(seed), data, max_size);
    }
    match evenhand_oracles::other_checkpoint(&data[..size], seed) {
        Some(changed) => evenhand_fuzz::put(&changed, data, max_size),
        None => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
});
