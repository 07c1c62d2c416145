//! What all numbers of one document together may take.

use std::cell::Cell;

use thiserror::Error;

use super::MAX_RESULT_EXPONENT;

/// Digits that the numbers of one document may have together, those counted that an exponent writes
/// out: about 110 MB of limbs. A million users with five demands of ten digits use a fifth of it.
pub const MAX_TOTAL_DIGITS: u64 = 1 << 28;

/// The numbers of a document have more digits than the budget of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("too large: the numbers have more than {limit} digits together, the budget of the reader")]
pub struct TooManyDigitsTogether {
    /// [`MAX_TOTAL_DIGITS`], or what the budget was made with.
    pub limit: u64,
}

/// The digits that a reader may still turn into numbers. It is charged before a number is made.
#[derive(Debug, Clone)]
pub struct DigitBudget {
    limit: u64,
    left: Cell<u64>,
}

impl DigitBudget {
    /// A budget of so many decimal digits.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, left: Cell::new(limit) }
    }

    /// Takes what the number written as `text` will need: its digits, and those of its exponent.
    ///
    /// # Errors
    /// [`TooManyDigitsTogether`] when less is left; the budget is empty from then on.
    pub fn charge(&self, text: &str) -> Result<(), TooManyDigitsTogether> {
        let left = self.left.get().checked_sub(cost(text));
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(TooManyDigitsTogether { limit: self.limit })
    }
}

impl Default for DigitBudget {
    fn default() -> Self {
        Self::new(MAX_TOTAL_DIGITS)
    }
}

/// Digits that the number `text` has when its exponent is written out.
fn cost(text: &str) -> u64 {
    let exponent = text.split_once(['e', 'E']).map_or("", |(_, exponent)| exponent);
    // An exponent out of range is refused by the parser, which makes nothing of it.
    let exponent = exponent.trim_start_matches(['+', '-']).parse().unwrap_or(0u32);
    let written_out = if exponent > MAX_RESULT_EXPONENT { 0 } else { exponent };
    text.len() as u64 + u64::from(written_out)
}
