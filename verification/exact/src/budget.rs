//! A budget for judging. Work is charged to it before the work is done.
//!
//! A small file can state numbers and sizes that would keep a reader busy for hours. Every operation whose cost grows
//! faster than the file is charged to a [`Budget`] before it starts. When the budget is used up, the answer is that the
//! input is too large. This answer is neither a verdict nor an error in the input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rug::Integer;
use thiserror::Error;

/// The number of steps of work that are allowed by default. A step is about one operation on a number of up to 64 bits
/// and takes some nanoseconds, so all steps together take about a minute.
pub const DEFAULT_WORK: u64 = 10_000_000_000;

/// The error that judging would exceed the budget.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// Judging takes too many steps of work.
    #[error("too large: judging this needs more than {allowed} steps of work (--work raises the limit)")]
    Work {
        /// The steps that were allowed.
        allowed: u64,
    },
    /// Common denominators need too much memory.
    #[error("too large: the common denominators of the numbers need more than {allowed} bytes")]
    Memory {
        /// The bytes that were allowed.
        allowed: u64,
    },
}

impl TooLarge {
    pub(crate) fn memory(allowed: u64) -> Self {
        Self::Memory { allowed }
    }
}

/// The work that may still be done, shared by all clones. Charges also count against the limits in force
/// ([`evenhand_budget`]).
#[derive(Debug, Clone)]
pub struct Budget {
    left: Arc<AtomicU64>,
    allowed: u64,
    /// True if the budget was created from the remaining limits in force.
    is_in_force: bool,
}

impl Default for Budget {
    fn default() -> Self {
        match evenhand_budget::work_left() {
            Some(steps) => Self { is_in_force: true, ..Self::of(steps) },
            None => Self::of(DEFAULT_WORK),
        }
    }
}

impl Budget {
    /// Returns a budget of `steps` steps.
    #[must_use]
    pub fn of(steps: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(steps)), allowed: steps, is_in_force: false }
    }

    /// Charges `steps` before they are taken.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if fewer steps are left. After that, every further charge fails.
    pub fn charge(&self, steps: u64) -> Result<(), TooLarge> {
        let taken = |left: u64| left.checked_sub(steps);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken) {
            Ok(_) => {
                evenhand_budget::charge(steps, "judging this");
                Ok(())
            }
            Err(_) => {
                // Without this work, the answer would depend on the limits, so the computation ends instead.
                if self.is_in_force {
                    evenhand_budget::charge(steps, "judging this");
                }
                self.left.store(0, Ordering::Relaxed);
                Err(TooLarge::Work { allowed: self.allowed })
            }
        }
    }
}

/// Returns the number of steps for an operation on fractions of numbers of `words` words. The time for computing common
/// factors grows with the square of the number of words.
pub(crate) fn wide(words: u64) -> u64 {
    4 * words.saturating_add(words.saturating_mul(words) / 16)
}

/// Returns the number of 64-bit words that a number occupies, at least 1.
pub(crate) fn words(value: &Integer) -> u64 {
    u64::from(value.significant_bits()) / 64 + 1
}
