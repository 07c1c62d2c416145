//! The integers of the knapsack: machine words where everything fits, GMP where it does not.

use rug::Integer;

/// An integer type of the knapsack. That nothing overflows is seen to before a type is chosen, by a
/// bound on everything that can be computed; the workspace checks overflow besides.
pub trait Number: Clone + Ord + Send + Sync {
    /// Bits that every intermediate result must stay below.
    const BITS: u32;
    /// The value, if it fits.
    fn from_integer(value: &Integer) -> Option<Self>;
    /// The value.
    fn to_integer(&self) -> Integer;
    /// The value, rounded.
    fn to_f64(&self) -> f64;
    /// 0.
    fn zero() -> Self;
    /// `self + a`
    fn plus(&self, a: &Self) -> Self;
    /// `self += a b`
    fn add_product(&mut self, a: &Self, b: &Self);
    /// `self += a times`
    fn add_times(&mut self, a: &Self, times: u64);
    /// `self -= a times`
    fn sub_times(&mut self, a: &Self, times: u64);
    /// How often `a > 0` goes into `self >= 0`, at most `most`.
    fn times(&self, a: &Self, most: u64) -> u64;
}

/// A number of jobs, at most 10^12, as a machine word.
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
