#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

/// The inverse of the fraction of inputs that are new command lines.
const NEW: u32 = 4;

/// The path of the program, which `scripts/fuzz.sh` sets.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::var_os("EVENHAND_PROGRAM").expect("EVENHAND_PROGRAM names the program").into()
});

fuzz_target!(|bytes: &[u8]| evenhand_oracles::command_line(bytes, &PROGRAM));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % NEW == 0 {
        let arguments = evenhand_oracles::grammar::random_command(seed).join("\n");
        return evenhand_fuzz::put(arguments.as_bytes(), data, max_size);
    }
    libfuzzer_sys::fuzzer_mutate(data, size, max_size)
});
