//! The integer types of the knapsack: machine words if all values fit, and GMP integers otherwise.

use rug::Integer;

/// An integer type of the knapsack.
///
/// A type is used only if a bound on every possible intermediate result shows that no operation overflows. The
/// workspace also checks for overflow at run time.
pub trait Number: Clone + Ord + Send + Sync {
    /// The number of bits that every intermediate result must stay below.
    const BITS: u32;
    /// Converts `value` to this type. Returns `None` if it does not fit.
    fn from_integer(value: &Integer) -> Option<Self>;
    /// Converts the value to a GMP integer.
    fn to_integer(&self) -> Integer;
    /// Converts the value to a double, rounded.
    fn to_f64(&self) -> f64;
    /// Returns 0.
    fn zero() -> Self;
    /// Returns `self + a`.
    fn plus(&self, a: &Self) -> Self;
    /// Adds `a * b` to `self`.
    fn add_product(&mut self, a: &Self, b: &Self);
    /// Adds `a * times` to `self`.
    fn add_times(&mut self, a: &Self, times: u64);
    /// Subtracts `a * times` from `self`.
    fn sub_times(&mut self, a: &Self, times: u64);
    /// Returns `self / a`, rounded down, but at most `most`. Requires `a > 0` and `self >= 0`.
    fn times(&self, a: &Self, most: u64) -> u64;
}

/// A conversion of a number of jobs, at most 10^12, to a machine word.
trait FromCount {
    fn from_count(times: u64) -> Self;
}

macro_rules! machine {
    ($type:ty, $bits:expr) => {
        impl FromCount for $type {
            fn from_count(times: u64) -> Self {
                Self::try_from(times).unwrap_or(Self::MAX)
            }
        }

        impl Number for $type {
            const BITS: u32 = $bits;

            fn from_integer(value: &Integer) -> Option<Self> {
                Self::try_from(value.to_i128()?).ok()
            }

            fn to_integer(&self) -> Integer {
                Integer::from(*self)
            }

            fn to_f64(&self) -> f64 {
                *self as f64
            }

            fn zero() -> Self {
                0
            }

            fn plus(&self, a: &Self) -> Self {
                self + a
            }

            fn add_product(&mut self, a: &Self, b: &Self) {
                *self += a * b;
            }

            fn add_times(&mut self, a: &Self, times: u64) {
                *self += a * Self::from_count(times);
            }

            fn sub_times(&mut self, a: &Self, times: u64) {
                *self -= a * Self::from_count(times);
            }

            fn times(&self, a: &Self, most: u64) -> u64 {
                if self < a {
                    return 0;
                }
                u64::try_from(self / a).map_or(most, |times| times.min(most))
            }
        }
    };
}

machine!(i64, 62);
machine!(i128, 126);

impl Number for Integer {
    const BITS: u32 = u32::MAX;

    fn from_integer(value: &Integer) -> Option<Self> {
        Some(value.clone())
    }

    fn to_integer(&self) -> Integer {
        self.clone()
    }

    fn to_f64(&self) -> f64 {
        self.to_f64()
    }

    fn zero() -> Self {
        Self::new()
    }

    fn plus(&self, a: &Self) -> Self {
        Self::from(self + a)
    }

    fn add_product(&mut self, a: &Self, b: &Self) {
        *self += a * b;
    }

    fn add_times(&mut self, a: &Self, times: u64) {
        *self += a * times;
    }

    fn sub_times(&mut self, a: &Self, times: u64) {
        *self -= a * times;
    }

    fn times(&self, a: &Self, most: u64) -> u64 {
        if self < a {
            return 0;
        }
        Self::from(self / a).to_u64().map_or(most, |times| times.min(most))
    }
}
