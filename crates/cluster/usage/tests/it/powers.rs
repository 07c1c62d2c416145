//! Tests that powers of 1/2 are enclosed within the requested widths.

use evenhand_problem::Rational;
use evenhand_usage::{inverse_of_ln_2, power_of_half};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rug::ops::Pow;

use crate::q;

/// The q-th power of 2^-(p/q) is known exactly. The q-th powers of the bounds must enclose it, and the bounds
/// must be as narrow as requested.
#[test]
fn powers_are_enclosed() {
    let mut rng = Pcg64::seed_from_u64(59);
    for _ in 0..500 {
        let (p, q) = (rng.random_range(0..300_u32), rng.random_range(1..60_u32));
        let width = Rational::from(1) >> rng.random_range(1..300_u32);
        let found = power_of_half(&Rational::from((p, q)), &width);
        let power = Rational::from(1) >> p;
        assert!(found.low.clone().pow(q) <= power && power <= found.high.clone().pow(q), "{p}/{q}");
        assert!(found.width() <= width, "{p}/{q} {width}");
    }
}

#[test]
fn large_exponents_are_small() {
    let found = power_of_half(&q("1000000000001/10"), &q("1/1000000"));
    assert!(found.low >= 0 && found.high < q("1/1000000"));
    let found = power_of_half(&q("1000000000000"), &q("1/1000000"));
    assert!(found.low >= 0 && found.high < q("1/1000000"));
}

#[test]
fn ln_2_is_enclosed() {
    let found = inverse_of_ln_2(100);
    // 1 / ln 2 = 1.44269504088896340735992468100189...
    assert!(found.low < q("144269504088896340735992468101/100000000000000000000000000000"));
    assert!(found.high > q("144269504088896340735992468100/100000000000000000000000000000"));
    assert!(found.width() < Rational::from(1) >> 90);
}
