//! The time of day. Tests use a simulated clock.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::stop::Stop;

/// A clock that determines when rounds start.
pub trait Clock: Debug + Send + Sync {
    /// Returns the time in milliseconds since 1970.
    fn now(&self) -> i64;

    /// Waits for a time, or until the watch is asked to stop.
    fn sleep(&self, duration: Duration, stop: &Stop);
}

/// The clock of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, duration: Duration, stop: &Stop) {
        stop.wait(duration);
    }
}
