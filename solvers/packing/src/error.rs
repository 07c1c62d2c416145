//! Why a packing is not found.

use evenhand_lp::LpError;
use thiserror::Error;

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
