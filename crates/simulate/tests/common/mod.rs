//! What the tests of interrupted runs share.

use evenhand_simulate::{Checkpoint, Observer, SimulateError};

/// Stops after so many events and keeps the checkpoint.
pub struct Kill {
    pub after: u64,
    pub kept: Option<Checkpoint>,
}

impl Observer for Kill {
    fn every(&self) -> u64 {
        self.after
    }

    fn look(
        &mut self,
        _: f64,
        _: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        self.kept = Some(checkpoint());
        Ok(false)
    }
}
