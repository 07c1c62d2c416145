//! When the hunt has to stop, whatever it is doing.

use std::time::Instant;

use evenhand_packing::SearchLimits;

use super::HuntError;

/// A time after which nothing is begun; without one there is no hurry.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock(Option<Instant>);

impl Clock {
    /// Until then.
    #[must_use]
    pub fn until(time: Instant) -> Self {
        Self(Some(time))
    }

    /// Whether the time is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.0.is_some_and(|until| Instant::now() >= until)
    }

    pub(super) fn check(&self) -> Result<(), HuntError> {
        if self.is_up() { Err(HuntError::OutOfTime) } else { Ok(()) }
    }

    /// The same for the solvers.
    pub(super) fn limits(&self) -> SearchLimits {
        self.0.map_or_else(SearchLimits::default, SearchLimits::until)
    }
}
