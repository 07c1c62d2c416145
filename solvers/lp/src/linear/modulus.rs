//! Arithmetic modulo the prime `2^61 - 1`.

use rug::Integer;

/// The prime.
pub const P: u64 = (1 << 61) - 1;

/// `a b`, for numbers below `P`.
pub fn mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 is 1 here: the high part is added to the low one. Both are below 2^61.
    let sum = (product & u128::from(P)) as u64 + (product >> 61) as u64;
    if sum >= P { sum - P } else { sum }
}

/// `a - b`, for numbers below `P`.
pub fn sub(a: u64, b: u64) -> u64 {
    if a >= b { a - b } else { a + P - b }
}

/// `1 / a`, for a number that is not 0; 0 for 0.
pub fn inverse(a: u64) -> u64 {
    // Fermat: a^(P - 2).
    let (mut power, mut result, mut exponent) = (a, 1, P - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, power);
        }
        power = mul(power, power);
        exponent >>= 1;
    }
    result
}

/// An integer modulo `P`.
pub fn of(value: &Integer) -> u64 {
    if let Some(value) = value.to_i64() {
        return of_i64(value);
    }
    let rest = Integer::from(value % P);
    // The remainder has the sign of the value, and fits.
    of_i64(rest.to_i64().unwrap_or_default())
}

/// A small integer modulo `P`.
pub fn of_i64(value: i64) -> u64 {
    let rest = value.unsigned_abs() % P;
    if value < 0 { sub(0, rest) } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_are_inverse() {
        for a in [1, 2, 3, 12_345_678_901, P - 1] {
            assert_eq!(mul(a, inverse(a)), 1);
        }
        assert_eq!(of(&(Integer::from(-3) * Integer::from(P) - 5)), P - 5);
        assert_eq!(sub(0, 1), of_i64(-1));
    }
}
