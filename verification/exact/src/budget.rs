//! A budget for judging, which is charged before work is done.
//!
//! A small file can state numbers and sizes that would keep a reader busy for hours. Every operation whose cost grows
//! faster than the file asks a [`Budget`] first. When the budget is used up, the answer is that the input is too
//! large. This is neither a verdict nor an error in the input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rug::Integer;
use thiserror::Error;

/// The steps of work that are allowed by default. A step is about one operation on a number of up to 64 bits and
/// takes some nanoseconds, so all of them take about a minute.
pub const DEFAULT_WORK: u64 = 10_000_000_000;

/// The error that judging would cost more than it is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// Too many steps of work.
    #[error("too large: judging this needs more than {allowed} steps of work (--work raises the limit)")]
    Work {
        /// The steps that were allowed.
        allowed: u64,
    },
    /// Common denominators that are too wide.
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

/// The work that may still be done, shared by all clones. Charges also count against the limits in force.
#[derive(Debug, Clone)]
pub struct Budget {
    left: Arc<AtomicU64>,
    allowed: u64,
    /// Whether the budget was created from the remaining limits in force.
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
    /// Returns a budget of this many steps.
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
                // An answer without this work would depend on the limits, so the computation ends instead.
                if self.is_in_force {
                    evenhand_budget::charge(steps, "judging this");
                }
                self.left.store(0, Ordering::Relaxed);
                Err(TooLarge::Work { allowed: self.allowed })
            }
        }
    }
}

/// Returns the steps for an operation on fractions of numbers of this many words. Computing the common factors grows
/// with the square of the width.
pub(crate) fn wide(words: u64) -> u64 {
    4 * words.saturating_add(words.saturating_mul(words) / 16)
}

/// Returns the words of 64 bits that a number occupies, at least 1.
pub(crate) fn words(value: &Integer) -> u64 {
    u64::from(value.significant_bits()) / 64 + 1
}
