//! What a check may cost.

use rug::{Integer, Rational};

use crate::budget::TooLarge;

/// Most steps of a check, about a minute of them. A step is an addition of machine words.
pub(super) const MOST_STEPS: u64 = 30_000_000_000;
/// Most bits of scaled numbers, 256 MiB, that a check makes.
const MOST_BITS: u64 = 1 << 31;

/// Bits that `times` numbers of the size of `value` take.
fn bits(times: usize, value: &Integer) -> u64 {
    (times as u64).saturating_mul(u64::from(value.significant_bits()) + 128)
}

/// What is left of the limits.
#[derive(Debug)]
pub(super) struct Work {
    steps: u64,
    bits: u64,
    /// Steps that were allowed.
    allowed: u64,
}

impl Work {
    /// Of so many steps.
    pub fn within(steps: u64) -> Self {
        Self { steps, bits: MOST_BITS, allowed: steps }
    }

    /// Pays for `times * each` steps before they are made.
    pub fn steps(&mut self, times: usize, each: usize) -> Result<(), TooLarge> {
        match self.steps.checked_sub(times.saturating_mul(each) as u64) {
            Some(left) => self.steps = left,
            None => return Err(TooLarge::Work { allowed: self.allowed }),
        }
        Ok(())
    }

    /// Pays for `times` sums or products of rationals of the size of `value`.
    pub fn rationals(&mut self, times: usize, value: &Rational) -> Result<(), TooLarge> {
        let bits = value.numer().significant_bits() as usize + value.denom().significant_bits() as usize;
        self.steps(times, 200 * (bits / 64 + 2))
    }

    /// Pays for `bytes` before they are allocated.
    pub fn bytes(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.numbers(bytes / 16, &Integer::new())
    }

    /// Pays for `times` numbers of the size of `value` before they are made.
    pub fn numbers(&mut self, times: usize, value: &Integer) -> Result<(), TooLarge> {
        match self.bits.checked_sub(bits(times, value)) {
            Some(left) => self.bits = left,
            None => return Err(TooLarge::memory(MOST_BITS / 8)),
        }
        Ok(())
    }

    /// Whether a table of `cells` numbers of the size of `value` may be made: one at a time is in memory.
    pub fn table(&self, cells: usize, value: &Integer) -> Result<(), TooLarge> {
        if bits(cells, value) > MOST_BITS { Err(TooLarge::memory(MOST_BITS / 8)) } else { Ok(()) }
    }
}
