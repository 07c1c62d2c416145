//! Bounds on what judging may cost, charged before it is spent.
//!
//! A small file can state numbers and sizes that would keep a reader busy for hours. Everything whose
//! cost grows faster than the file asks a [`Budget`] first; when it is spent the answer is that the
//! input is too large, which is neither a verdict nor an error of the input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rug::Integer;
use thiserror::Error;

/// Steps of work that are allowed where nothing else is said. A step is about one operation on a
/// number of up to 64 bits, some nanoseconds: all of them take in the order of a minute.
pub const DEFAULT_WORK: u64 = 10_000_000_000;

/// Judging would take more than it is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// The work.
    #[error("too large: judging this needs more than {allowed} steps of work (--work raises the limit)")]
    Work {
        /// Steps that were allowed.
        allowed: u64,
    },
    /// Common denominators that are too wide.
    #[error("too large: the common denominators of the numbers need more than {allowed} bytes")]
    Memory {
        /// Bytes that were allowed.
        allowed: u64,
    },
}

impl TooLarge {
    pub(crate) fn memory(allowed: u64) -> Self {
        Self::Memory { allowed }
    }
}

/// Work that may still be spent; clones share it. What is taken is charged to the limits in force too.
#[derive(Debug, Clone)]
pub struct Budget {
    left: Arc<AtomicU64>,
    allowed: u64,
    /// Whether it is what was left of the limits in force.
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
    /// So many steps.
    #[must_use]
    pub fn of(steps: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(steps)), allowed: steps, is_in_force: false }
    }

    /// Takes `steps` away before they are taken.
    ///
    /// # Errors
    /// [`TooLarge`] when they are not left; nothing can be charged after that.
    pub fn charge(&self, steps: u64) -> Result<(), TooLarge> {
        let taken = |left: u64| left.checked_sub(steps);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken) {
            Ok(_) => {
                evenhand_budget::charge(steps, "judging this");
                Ok(())
            }
            Err(_) => {
                // An answer that goes without this would depend on the limits: the computation ends at them instead.
                if self.is_in_force {
                    evenhand_budget::charge(steps, "judging this");
                }
                self.left.store(0, Ordering::Relaxed);
                Err(TooLarge::Work { allowed: self.allowed })
            }
        }
    }
}

/// Steps that fractions of numbers of so many words take: their common factors are looked for, which grows
/// with the square.
pub(crate) fn wide(words: u64) -> u64 {
    4 * words.saturating_add(words.saturating_mul(words) / 16)
}

/// Words of 64 bits that a number takes, at least 1.
pub(crate) fn words(value: &Integer) -> u64 {
    u64::from(value.significant_bits()) / 64 + 1
}
