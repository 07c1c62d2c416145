//! What the answers about one reservation problem may cost together, and why there may be none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use evenhand_lp::LpError;
use thiserror::Error;

use crate::settings::PACKING;

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
            turns: Arc::new(AtomicUsize::new(PACKING.all_turns)),
            numbers: Arc::new(AtomicUsize::new(PACKING.all_numbers)),
            nodes: Arc::new(AtomicUsize::new(PACKING.all_nodes)),
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
        take(&self.turns, turns, "turns of the searches", PACKING.all_turns)
    }

    /// Gives the turns back, for another question about the same problem.
    pub fn renew(&self) {
        self.turns.store(PACKING.all_turns, Ordering::Relaxed);
    }

    /// Takes numbers away before they are made.
    ///
    /// # Errors
    /// [`PackingError::Budget`]
    pub fn numbers(&self, numbers: usize) -> Result<(), PackingError> {
        take(&self.numbers, numbers, "numbers of the knapsacks", PACKING.all_numbers)
    }

    /// Takes nodes of proofs away before they are kept.
    ///
    /// # Errors
    /// [`PackingError::Budget`]
    pub fn nodes(&self, nodes: usize) -> Result<(), PackingError> {
        take(&self.nodes, nodes, "nodes of the proofs", PACKING.all_nodes)
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
        if cells.saturating_mul(each) > PACKING.most_table_bytes {
            return Err(PackingError::Budget { what: "bytes of a table", limit: PACKING.most_table_bytes });
        }
        evenhand_budget::table(cells, 1, each, "the table of a knapsack");
        Ok(())
    }
}

fn take(left: &AtomicUsize, count: usize, what: &'static str, limit: usize) -> Result<(), PackingError> {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
    taken.map(|_| ()).map_err(|_| PackingError::Budget { what, limit })
}

/// Why a packing, or a proof about it, is not found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PackingError {
    /// A linear programme has no answer.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// A question about one pool of servers, asked of several.
    #[error("this is defined for one pool of identical servers only")]
    SeveralPools,
    /// A search would be larger than its limits allow.
    #[error("too large: more than {limit} {what}")]
    Budget {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The time that was given is over.
    #[error("the time is up")]
    OutOfTime,
}
