//! What the answers about one reservation problem may cost together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::error::PackingError;

/// Turns of all searches together, about ten seconds' worth.
const MOST_TURNS: usize = 100_000_000;
/// Scaled numbers of all knapsacks together, about 100 MB.
const MOST_NUMBERS: usize = 2_000_000;
/// Nodes of all proofs together: less than 64 MiB when they are written.
const MOST_NODES: usize = 4_000_000;
/// Bytes of one table of a dynamic programme.
const MOST_TABLE_BYTES: usize = 1 << 28;

/// Limits that clones share: turns of searches, numbers, nodes of proofs, and a time.
#[derive(Debug, Clone)]
pub struct SearchLimits {
    turns: Arc<AtomicUsize>,
    numbers: Arc<AtomicUsize>,
    nodes: Arc<AtomicUsize>,
    until: Option<Instant>,
    trees: bool,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            turns: Arc::new(AtomicUsize::new(MOST_TURNS)),
            numbers: Arc::new(AtomicUsize::new(MOST_NUMBERS)),
            nodes: Arc::new(AtomicUsize::new(MOST_NODES)),
            until: None,
            trees: false,
        }
    }
}

impl SearchLimits {
    /// The same, and no longer than until then.
    #[must_use]
    pub fn until(time: Instant) -> Self {
        Self { until: Some(time), ..Self::default() }
    }

    /// The same, and proofs are branch trees, also where a table is the shorter word: a checker without tables
    /// can follow them.
    #[must_use]
    pub fn with_trees(self) -> Self {
        Self { trees: true, ..self }
    }

    /// Whether proofs have to be branch trees.
    pub(super) fn trees(&self) -> bool {
        self.trees
    }

    /// Takes turns away before they are taken.
    ///
    /// # Errors
    /// [`PackingError::Budget`] or [`PackingError::OutOfTime`].
    pub fn turns(&self, turns: usize) -> Result<(), PackingError> {
        self.time()?;
        // A turn takes about 100 ns.
        evenhand_budget::charge(20 * turns as u64, "a search among configurations");
        take(&self.turns, turns, "turns of the searches", MOST_TURNS)
    }

    /// Gives the turns back, for another question about the same problem.
    pub fn renew(&self) {
        self.turns.store(MOST_TURNS, Ordering::Relaxed);
    }

    /// Takes numbers away before they are made.
    ///
    /// # Errors
    /// [`PackingError::Budget`]
    pub fn numbers(&self, numbers: usize) -> Result<(), PackingError> {
        take(&self.numbers, numbers, "numbers of the knapsacks", MOST_NUMBERS)
    }

    /// Takes nodes of proofs away before they are kept.
    ///
    /// # Errors
    /// [`PackingError::Budget`]
    pub fn nodes(&self, nodes: usize) -> Result<(), PackingError> {
        take(&self.nodes, nodes, "nodes of the proofs", MOST_NODES)
    }

    /// Whether there is time left.
    ///
    /// # Errors
    /// [`PackingError::OutOfTime`]
    pub fn time(&self) -> Result<(), PackingError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(PackingError::OutOfTime),
            _ => Ok(()),
        }
    }

    /// Whether a table of so many cells with values of so many bits may be filled.
    ///
    /// # Errors
    /// [`PackingError::Budget`] or [`PackingError::OutOfTime`].
    pub fn table(&self, cells: usize, bits: u32) -> Result<(), PackingError> {
        self.time()?;
        // A long number has a header beside its words.
        let words = bits as usize / 64 + 1;
        let each = if words > 2 { 8 * words + 32 } else { 8 * words };
        if cells.saturating_mul(each) > MOST_TABLE_BYTES {
            return Err(PackingError::Budget { what: "bytes of a table", limit: MOST_TABLE_BYTES });
        }
        evenhand_budget::table(cells, 1, each, "the table of a knapsack");
        Ok(())
    }
}

fn take(left: &AtomicUsize, count: usize, what: &'static str, limit: usize) -> Result<(), PackingError> {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
    taken.map(|_| ()).map_err(|_| PackingError::Budget { what, limit })
}
