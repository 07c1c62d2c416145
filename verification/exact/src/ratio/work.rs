//! What a check may cost.

use rug::{Integer, Rational};

/// Most steps of a check, about a minute's worth. A step is an addition of machine words.
const MOST_STEPS: u64 = 30_000_000_000;
/// Most bits of scaled numbers, 1 GiB, that a check makes.
const MOST_BITS: u64 = 1 << 33;

/// What is left of the limits.
#[derive(Debug)]
pub(super) struct Work {
    steps: u64,
    bits: u64,
}

impl Work {
    pub fn new() -> Self {
        Self { steps: MOST_STEPS, bits: MOST_BITS }
    }

    /// Pays for `times * each` steps before they are made.
    pub fn steps(&mut self, times: usize, each: usize) -> Result<(), String> {
        match self.steps.checked_sub(times.saturating_mul(each) as u64) {
            Some(left) => self.steps = left,
            None => return Err(format!("the check would take more than {MOST_STEPS} steps")),
        }
        Ok(())
    }

    /// Pays for `times` sums or products of rationals of the size of `value`.
    pub fn rationals(&mut self, times: usize, value: &Rational) -> Result<(), String> {
        let bits = value.numer().significant_bits() as usize + value.denom().significant_bits() as usize;
        self.steps(times, 200 * (bits / 64 + 2))
    }

    /// Pays for `times` numbers of the size of `value` before they are made.
    pub fn numbers(&mut self, times: usize, value: &Integer) -> Result<(), String> {
        let bits = (times as u64).saturating_mul(u64::from(value.significant_bits()) + 128);
        match self.bits.checked_sub(bits) {
            Some(left) => self.bits = left,
            None => return Err(format!("the check would need more than {} MiB", MOST_BITS >> 23)),
        }
        Ok(())
    }
}
