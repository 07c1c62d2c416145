//! What a run costs, in steps and bytes that are charged before they are spent. A task of a table, from its row to its
//! end, takes about .6 microseconds; it is charged for nearly 1, so that the steps run out before the clock's limit.

use std::time::{Duration, Instant};

use evenhand_budget::{Exceeded, Held, Limits, hold, within};

/// Steps for an arrival, with what the queues do.
pub(crate) const ARRIVAL: u64 = 20;
/// Steps for tasks that start on a server and end there.
pub(crate) const START: u64 = 110;
/// Steps for a time at which something happens: who comes, leaves or ends is looked for.
pub(crate) const MOMENT: u64 = 40;
/// Steps for a number that is drawn.
pub(crate) const DRAW: u64 = 5;
/// Bytes of a number in a table: its digits and a comma.
pub(crate) const CELL_OF_TEXT: u64 = 20;

/// Whether a run stops now with what it has.
pub(crate) fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// The least time for what a run cannot begin without, so that a small one has something to show.
pub(crate) const TO_BEGIN: Duration = Duration::from_secs(1);

/// Does a part of a run, unless the time is up before it is done; it has `least` at least.
pub(crate) fn in_time<T>(
    until: Option<Instant>,
    least: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, Exceeded> {
    let time = until.map(|until| until.saturating_duration_since(Instant::now()).max(least));
    within(&Limits { time, ..Limits::default() }, work)
}

/// Memory that grows: it is held in pieces that grow with it, so that this is charged some times only.
pub(crate) struct Growing {
    what: &'static str,
    held: Vec<Held>,
    bytes: u64,
}

impl Growing {
    pub fn new(what: &'static str) -> Self {
        Self { what, held: Vec::new(), bytes: 0 }
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// So many bytes are needed from now on.
    pub fn need(&mut self, bytes: u64) {
        /// Bytes of the least piece.
        const LEAST: u64 = 1 << 20;
        if bytes > self.bytes {
            let more = (bytes - self.bytes).max(self.bytes / 4).max(LEAST);
            self.held.push(hold(more, self.what));
            self.bytes += more;
        }
    }
}
