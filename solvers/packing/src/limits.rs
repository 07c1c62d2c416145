//! The limits that all computations about one reservation problem share, and the errors of this crate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use evenhand_lp::LpError;
use thiserror::Error;

use crate::settings::PACKING;

/// Limits on search turns, numbers, proof nodes and time. Clones share the same remaining amounts.
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
    /// Returns the default limits with a deadline.
    #[must_use]
    pub fn until(time: Instant) -> Self {
        Self { until: Some(time), ..Self::default() }
    }

    /// Returns these limits with the requirement that every proof is a branch tree, even if a table
    /// is shorter.
    ///
    /// A checker without tables can verify branch trees.
    #[must_use]
    pub fn with_trees(self) -> Self {
        Self { trees: true, ..self }
    }

    /// Returns true if proofs must be branch trees.
    pub(super) fn trees(&self) -> bool {
        self.trees
    }

    /// Charges turns of a search before they are done.
    ///
    /// # Errors
    /// [`PackingError::Budget`] when the turns are used up, or [`PackingError::OutOfTime`] when the deadline has
    /// passed.
    pub fn turns(&self, turns: usize) -> Result<(), PackingError> {
        self.time()?;
        // A turn takes about 100 ns.
        evenhand_budget::charge(20 * turns as u64, "a search among configurations");
        take(&self.turns, turns, "turns of the searches", PACKING.all_turns)
    }

    /// Resets the number of turns for another computation about the same problem.
    pub fn renew(&self) {
        self.turns.store(PACKING.all_turns, Ordering::Relaxed);
    }

    /// Charges scaled numbers before they are computed.
    ///
    /// # Errors
    /// [`PackingError::Budget`] when the limit is exceeded.
    pub fn numbers(&self, numbers: usize) -> Result<(), PackingError> {
        take(&self.numbers, numbers, "numbers of the knapsacks", PACKING.all_numbers)
    }

    /// Charges nodes of proofs before they are stored.
    ///
    /// # Errors
    /// [`PackingError::Budget`] when the limit is exceeded.
    pub fn nodes(&self, nodes: usize) -> Result<(), PackingError> {
        take(&self.nodes, nodes, "nodes of the proofs", PACKING.all_nodes)
    }

    /// Returns an error if the deadline has passed.
    ///
    /// # Errors
    /// [`PackingError::OutOfTime`] when the deadline has passed.
    pub fn time(&self) -> Result<(), PackingError> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(PackingError::OutOfTime),
            _ => Ok(()),
        }
    }

    /// Returns an error if a table of `cells` cells with values of `bits` bits may not be filled. Otherwise charges the
    /// table.
    ///
    /// # Errors
    /// [`PackingError::Budget`] when the table is too large, or [`PackingError::OutOfTime`] when the deadline has
    /// passed.
    pub fn table(&self, cells: usize, bits: u32) -> Result<(), PackingError> {
        self.time()?;
        // A long number has a header in addition to its words.
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

/// The reason why a packing, or a proof about it, was not computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PackingError {
    /// A linear programme was not solved.
    #[error(transparent)]
    Lp(#[from] LpError),
    /// The computation is defined for one pool of servers only, but the problem has several.
    #[error("this is defined for one pool of identical servers only")]
    SeveralPools,
    /// A search would exceed its limits.
    #[error("too large: more than {limit} {what}")]
    Budget {
        /// The quantity that would exceed the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Exact arithmetic did not confirm the result.
    #[error("the exact levels were not confirmed")]
    Inexact,
    /// The deadline has passed.
    #[error("the time is up")]
    OutOfTime,
}
