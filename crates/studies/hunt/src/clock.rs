//! The time limit of the hunt.

use std::time::Instant;

use evenhand_packing::SearchLimits;

use super::HuntError;

/// A time limit, after which no work begins. A clock may have no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock(Option<Instant>);

impl Clock {
    /// Creates a limit at the time `time`.
    #[must_use]
    pub fn until(time: Instant) -> Self {
        Self(Some(time))
    }

    /// Returns `true` if the time is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.is_some_and(|until| Instant::now() >= until)
    }

    pub(super) fn check(&self) -> Result<(), HuntError> {
        if self.is_up() { Err(HuntError::OutOfTime) } else { Ok(()) }
    }

    /// Returns the same limit for the solvers.
    pub(super) fn limits(&self) -> SearchLimits {
        self.0.map_or_else(SearchLimits::default, SearchLimits::until)
    }
}
