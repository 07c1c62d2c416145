//! What a check may cost.

use std::cell::Cell;
use std::rc::Rc;

use rug::{Integer, Rational};

use crate::budget::TooLarge;

/// Most steps of a check, about a minute's worth. A step is an addition of machine words.
const MOST_STEPS: u64 = 30_000_000_000;
/// Most bits of scaled numbers, 256 MiB, that a check makes.
const MOST_BITS: u64 = 1 << 31;

/// What is left of the limits.
#[derive(Debug)]
pub(super) struct Work {
    steps: u64,
    bits: u64,
    exceeded: Exceeded,
}

/// Whether a limit was reached, which whoever judges learns besides the reason.
#[derive(Debug, Clone)]
pub(super) struct Exceeded {
    is_so: Rc<Cell<bool>>,
    /// Steps that are allowed.
    steps: u64,
}

impl Default for Exceeded {
    fn default() -> Self {
        Self::within(MOST_STEPS)
    }
}

impl Exceeded {
    /// Of so many steps.
    pub fn within(steps: u64) -> Self {
        Self { is_so: Rc::default(), steps }
    }

    pub fn is_so(&self) -> bool {
        self.is_so.get()
    }

    fn by(&self, limit: &TooLarge) -> String {
        self.is_so.set(true);
        limit.to_string()
    }
}

impl Work {
    pub fn new(exceeded: &Exceeded) -> Self {
        Self { steps: exceeded.steps, bits: MOST_BITS, exceeded: exceeded.clone() }
    }

    /// Pays for `times * each` steps before they are made.
    pub fn steps(&mut self, times: usize, each: usize) -> Result<(), String> {
        match self.steps.checked_sub(times.saturating_mul(each) as u64) {
            Some(left) => self.steps = left,
            None => return Err(self.exceeded.by(&TooLarge::Work { allowed: self.exceeded.steps })),
        }
        Ok(())
    }

    /// Pays for `times` sums or products of rationals of the size of `value`.
    pub fn rationals(&mut self, times: usize, value: &Rational) -> Result<(), String> {
        let bits = value.numer().significant_bits() as usize + value.denom().significant_bits() as usize;
        self.steps(times, 200 * (bits / 64 + 2))
    }

    /// Pays for `bytes` before they are allocated.
    pub fn bytes(&mut self, bytes: usize) -> Result<(), String> {
        self.numbers(bytes / 16, &Integer::new())
    }

    /// Pays for `times` numbers of the size of `value` before they are made.
    pub fn numbers(&mut self, times: usize, value: &Integer) -> Result<(), String> {
        let bits = (times as u64).saturating_mul(u64::from(value.significant_bits()) + 128);
        match self.bits.checked_sub(bits) {
            Some(left) => self.bits = left,
            None => return Err(self.exceeded.by(&TooLarge::memory(MOST_BITS / 8))),
        }
        Ok(())
    }
}
