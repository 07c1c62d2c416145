//! The limits of a computation, and the error if a limit is reached.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The limits of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The number of steps of work. A step takes a few nanoseconds, and the number of steps is the same on
    /// every machine.
    pub work: Option<u64>,
    /// The number of bytes of all tables that exist at the same time.
    pub memory: Option<u64>,
    /// The wall-clock time from now on. The machine determines how much work is done in this time.
    pub time: Option<Duration>,
    /// True if limits of work and memory that are not set grow with the input ([`by_input`](Self::by_input)).
    /// Otherwise a limit that is not set means no limit.
    pub grows: bool,
}

impl Limits {
    /// The number of steps of work that take about a minute on one core.
    pub const A_MINUTE: u64 = 10_000_000_000;
    /// The number of bytes of memory that are granted for less than [`Limits::LARGE`] bytes of input.
    pub const SMALL_MEMORY: u64 = 2 << 30;
    /// The number of bytes of memory that are granted for larger inputs.
    pub const LARGE_MEMORY: u64 = 16 << 30;
    /// The number of bytes of the smallest input that counts as large.
    pub const LARGE: u64 = 1_000_000;

    /// Returns the limits that a program grants by default. For less than a megabyte of input, they are a
    /// minute of work and 2 GiB. For larger inputs, the work is proportional to the input, and the memory is
    /// 16 GiB. The input is all input that has been reported with [`read`](crate::read) so far.
    #[must_use]
    pub fn by_input() -> Self {
        Self { grows: true, ..Self::default() }
    }

    /// Returns the limit of work after `input` bytes of input.
    pub(crate) fn work_after(&self, input: u64) -> Option<u64> {
        let megabytes = u64::max(1, input.div_ceil(Self::LARGE));
        self.work.or_else(|| self.grows.then_some(Self::A_MINUTE.saturating_mul(megabytes)))
    }

    /// Returns the limit of memory after `input` bytes of input.
    pub(crate) fn memory_after(&self, input: u64) -> Option<u64> {
        let granted = if input < Self::LARGE { Self::SMALL_MEMORY } else { Self::LARGE_MEMORY };
        self.memory.or_else(|| self.grows.then_some(granted))
    }
}

/// The error if a limit is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded {
    /// The work that exceeded the limit, such as `the table of users and classes`.
    pub what: String,
    /// The limit that was reached.
    pub kind: Kind,
}

/// The kinds of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Limits::work`].
    Work {
        /// The limit in steps.
        limit: u64,
    },
    /// [`Limits::memory`].
    Memory {
        /// The number of bytes that were needed.
        needed: u64,
        /// The number of bytes that were left.
        left: u64,
    },
    /// [`Limits::time`].
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

/// A number of bytes. It is displayed in the largest unit in which the number is at least 2.
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
