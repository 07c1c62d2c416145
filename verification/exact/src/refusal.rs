//! Why evidence does not show what it should, and why an axiom does not apply.

use std::fmt;

use crate::budget::TooLarge;

/// Why evidence does not show what it should, in words that name what is false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: String,
    is_too_large: bool,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_too_large: false }
    }

    /// Whether nothing was found false: judging would take more than it is allowed.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<TooLarge> for Refusal {
    fn from(error: TooLarge) -> Self {
        Self { reason: error.to_string(), is_too_large: true }
    }
}

/// Why an axiom does not apply, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inapplicable {
    reason: String,
}

impl Inapplicable {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Inapplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Inapplicable {}

impl From<Inapplicable> for String {
    fn from(why: Inapplicable) -> Self {
        why.reason
    }
}

impl From<Inapplicable> for Refusal {
    fn from(why: Inapplicable) -> Self {
        Self::new(why.reason)
    }
}
