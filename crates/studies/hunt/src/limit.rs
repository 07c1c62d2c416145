//! Compares ratios exactly with `1 - 1/e`, the limit of the example in the paper.

use std::cmp::Ordering;

use evenhand_problem::Rational;

/// Compares `ratio` with `1 - 1/e`, which it never equals.
///
/// The partial sums of the series of `e` enclose `e`: `sum_(i <= n) 1/i! < e < sum_(i <= n) 1/i! + 1/(n n!)`.
/// Terms are added until the comparison is decided.
///
/// # Examples
/// ```
/// use evenhand_hunt::against_limit;
/// use evenhand_problem::Rational;
/// assert!(against_limit(&Rational::from((3, 4))).is_gt());
/// assert!(against_limit(&Rational::from((632, 1000))).is_lt());
/// ```
#[must_use]
pub fn against_limit(ratio: &Rational) -> Ordering {
    let lost = Rational::from(1 - ratio);
    if lost <= 0 {
        return Ordering::Greater;
    }
    // The ratio is below `1 - 1/e` if and only if `e` is above `1 / lost`.
    let inverse = lost.recip();
    let (mut term, mut sum) = (Rational::from(1), Rational::from(1));
    let mut n = 0u32;
    loop {
        n += 1;
        term /= n;
        sum += &term;
        if inverse <= sum {
            return Ordering::Less;
        }
        if inverse >= Rational::from(&term / n) + &sum {
            return Ordering::Greater;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_compared_with_the_digits_of_the_limit() {
        // 1 - 1/e = 0.63212055882855767840447622983853...
        let digits = "63212055882855767840447622983853".parse::<evenhand_problem::Integer>().unwrap();
        let unit = evenhand_problem::Integer::from(10).pow(32);
        assert!(against_limit(&Rational::from((digits.clone(), unit.clone()))).is_lt());
        assert!(against_limit(&Rational::from((digits + 1, unit))).is_gt());
        assert!(against_limit(&Rational::from((1, 2))).is_lt());
        assert!(against_limit(&Rational::from(1)).is_gt());
        assert!(against_limit(&Rational::from(2)).is_gt());
    }

    use rug::ops::Pow;
}
