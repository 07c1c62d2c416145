//! The request to stop, which a signal triggers.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A request to stop. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    /// Asks the watch to stop, and wakes the threads that wait in [`Stop::wait`].
    pub fn stop(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Returns whether the watch is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a time, or until the watch is to stop. Returns whether the watch is to stop.
    pub fn wait(&self, duration: Duration) -> bool {
        let stopped = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(stopped, duration, |stopped| !*stopped);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
