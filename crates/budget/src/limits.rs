//! How much there is.

use std::time::Duration;

/// Limits of a computation; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Steps: some nanoseconds each, and the same number on every machine.
    pub work: Option<u64>,
    /// Bytes of all tables that are held at one time.
    pub memory: Option<u64>,
    /// Time from now, of the clock on the wall: what is done then depends on the machine.
    pub time: Option<Duration>,
}

impl Limits {
    /// Steps that take about a minute of one core.
    pub const A_MINUTE: u64 = 10_000_000_000;
    /// Bytes of memory for a file of less than [`Limits::SMALL_FILE`].
    pub const SMALL_MEMORY: u64 = 2 << 30;
    /// Bytes of memory for a larger file.
    pub const LARGE_MEMORY: u64 = 16 << 30;
    /// A file below so many bytes is small.
    pub const SMALL_FILE: u64 = 1_000_000;

    /// What a program grants to input of so many bytes when nobody says more: a minute's work and 2 GiB below a
    /// megabyte; beyond it work in proportion to the input, and 16 GiB.
    #[must_use]
    pub fn for_input(bytes: u64) -> Self {
        let small = bytes < Self::SMALL_FILE;
        let minutes = u64::max(1, bytes.div_ceil(Self::SMALL_FILE));
        Self {
            work: Some(Self::A_MINUTE.saturating_mul(minutes)),
            memory: Some(if small { Self::SMALL_MEMORY } else { Self::LARGE_MEMORY }),
            time: None,
        }
    }
}
