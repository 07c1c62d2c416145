#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};

/// The inverse of the fraction of inputs that are new problems.
const NEW: u32 = 8;

fuzz_target!(|bytes: &[u8]| evenhand_oracles::pipeline(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % NEW == 0 {
        return evenhand_fuzz::put(&evenhand_oracles::random_problem(seed), data, max_size);
    }
    evenhand_fuzz::mutate(data, size, max_size, seed)
});

fuzz_crossover!(|data1: &[u8], data2: &[u8], out: &mut [u8], seed: u32| {
    evenhand_fuzz::cross(data1, data2, out, seed)
});
