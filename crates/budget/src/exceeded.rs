//! Which limit was reached.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// A limit was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded {
    /// What was to be done then, for people: `the table of users and classes`.
    pub what: String,
    /// Which limit it was.
    pub kind: Kind,
}

/// The kinds of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Limits::work`](crate::Limits::work).
    Work {
        /// The limit, in steps.
        limit: u64,
    },
    /// [`Limits::memory`](crate::Limits::memory).
    Memory {
        /// Bytes that were needed.
        needed: u64,
        /// Bytes that were left.
        left: u64,
    },
    /// [`Limits::time`](crate::Limits::time).
    Time,
}

impl Display for Exceeded {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let what = &self.what;
        match self.kind {
            Kind::Work { limit } => {
                write!(
                    f,
                    "{what} is too large: it takes more than {limit} steps of work (--work raises the limit)"
                )
            }
            Kind::Memory { needed, left } => write!(
                f,
                "{what} is too large: it takes {} of memory, and {} are left (--memory raises the limit)",
                Bytes(needed),
                Bytes(left)
            ),
            Kind::Time => write!(f, "the time was up before {what} was done (--seconds raises the limit)"),
        }
    }
}

impl Error for Exceeded {}

/// Bytes in the largest unit of which there are at least two.
struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let found = units.into_iter().find(|(_, shift)| self.0 >> shift >= 2);
        match found {
            Some((unit, shift)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}
