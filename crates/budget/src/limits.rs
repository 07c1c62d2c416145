//! How much there is, and which limit was reached.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// Limits of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Steps: some nanoseconds each, and the same number on every machine.
    pub work: Option<u64>,
    /// Bytes of all tables that are held at one time.
    pub memory: Option<u64>,
    /// Time from now, of the clock on the wall: what is done then depends on the machine.
    pub time: Option<Duration>,
    /// Whether work and memory that are not stated have the limits of [`by_input`](Self::by_input), and not none.
    pub grows: bool,
}

impl Limits {
    /// Steps that take about a minute of one core.
    pub const A_MINUTE: u64 = 10_000_000_000;
    /// Bytes of memory for less input than [`Limits::LARGE`].
    pub const SMALL_MEMORY: u64 = 2 << 30;
    /// Bytes of memory for more input.
    pub const LARGE_MEMORY: u64 = 16 << 30;
    /// So many bytes of input are large.
    pub const LARGE: u64 = 1_000_000;

    /// What a program grants unless stated: for less than a megabyte of input a minute's work and 2 GiB; for
    /// more, work in proportion to it and 16 GiB. The input is what has been [`read`](crate::read) so far.
    #[must_use]
    pub fn by_input() -> Self {
        Self { grows: true, ..Self::default() }
    }

    /// Steps that may be taken after so many bytes of input.
    pub(crate) fn work_after(&self, input: u64) -> Option<u64> {
        let megabytes = u64::max(1, input.div_ceil(Self::LARGE));
        self.work.or_else(|| self.grows.then_some(Self::A_MINUTE.saturating_mul(megabytes)))
    }

    /// Bytes that may be held after so many bytes of input.
    pub(crate) fn memory_after(&self, input: u64) -> Option<u64> {
        let granted = if input < Self::LARGE { Self::SMALL_MEMORY } else { Self::LARGE_MEMORY };
        self.memory.or_else(|| self.grows.then_some(granted))
    }
}

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
    /// [`Limits::work`].
    Work {
        /// The limit, in steps.
        limit: u64,
    },
    /// [`Limits::memory`].
    Memory {
        /// Bytes that were needed.
        needed: u64,
        /// Bytes that were left.
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
