#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

/// The inverse of the fraction of mutations that change bytes. Compressed files and traces need such
/// mutations.
const BYTES: u32 = 4;

fuzz_target!(|bytes: &[u8]| evenhand_oracles::importers(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % BYTES == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    evenhand_fuzz::put(&evenhand_oracles::mutated_dump(&data[..size], seed), data, max_size)
});
