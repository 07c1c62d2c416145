//! Test runners.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::{RngSeed, TestRunner};

/// Returns a test runner. The environment variable `EVENHAND_TEST_FACTOR` multiplies the number of cases, for a long
/// search.
pub fn runner(cases: u32, file: &'static str) -> TestRunner {
    TestRunner::new(ProptestConfig {
        source_file: Some(file),
        ..ProptestConfig::with_cases(cases * factor())
    })
}

/// Returns a [`runner`] with the same cases every time, for data on which rounding errors matter.
///
/// Another version of HiGHS may fail for a few other cases, but the same version may not. With a factor above 1, the
/// cases are different every time.
pub fn fixed_runner(cases: u32) -> TestRunner {
    let rng_seed = if factor() == 1 { RngSeed::Fixed(2) } else { RngSeed::Random };
    TestRunner::new(ProptestConfig {
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..ProptestConfig::with_cases(cases * factor())
    })
}

pub fn factor() -> u32 {
    std::env::var("EVENHAND_TEST_FACTOR").ok().and_then(|f| f.parse().ok()).unwrap_or(1)
}
