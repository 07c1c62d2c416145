//! What is tried to find PS-DSF allocations, in this order: starts, and for each of them attempts.
//!
//! A start is where sweeps over the classes begin and the order in which they go. From where they are
//! after a few sweeps a path leads to an allocation ([`path`](super::path)); where one does not end,
//! the next attempt sweeps on and takes another path.

use super::path::Reading;

/// Where sweeps begin, and the order in which they go over the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// An empty cluster, the classes in the order that `--order` names.
    Named,
    /// An empty cluster, the smallest class first.
    Ascending,
    /// An empty cluster, the largest class first.
    Descending,
    /// The allocation of DRFH, which is returned as it is where it is PS-DSF.
    Drfh,
    /// The allocation of TSF.
    Tsf,
    /// An empty cluster, the classes in a random order with this seed.
    Shuffled(u64),
}

impl Start {
    /// For people.
    pub fn name(self) -> String {
        match self {
            Self::Named => "empty, classes in the order named".to_owned(),
            Self::Ascending => "empty, the smallest class first".to_owned(),
            Self::Descending => "empty, the largest class first".to_owned(),
            Self::Drfh => "the DRFH answer".to_owned(),
            Self::Tsf => "the TSF answer".to_owned(),
            Self::Shuffled(seed) => format!("empty, classes shuffled ({seed})"),
        }
    }
}

/// Starts without `--order` and `--select`.
pub const STARTS: [Start; 6] =
    [Start::Ascending, Start::Drfh, Start::Tsf, Start::Descending, Start::Shuffled(1), Start::Shuffled(2)];
/// Shuffled starts that `--select` tries besides.
pub const SEARCHED: std::ops::RangeInclusive<u64> = 3..=32;

/// Steps after which no further start is tried: numbers that are looked at, about 10^9 a second.
pub const WORK: u64 = 1_000_000_000;
/// The same with `--select`.
pub const SEARCH_WORK: u64 = 10_000_000_000;
/// Steps after which no further attempt is made where nothing was found yet.
pub const MOST_WORK: u64 = 40_000_000_000;

/// An attempt: sweeps, and a path from where they end.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// Sweeps before it, beside those of the attempts before.
    pub sweeps: usize,
    /// How the path starts.
    pub reading: Reading,
}

const fn attempt(sweeps: usize, nothing: f64, noise: f64, above: f64, seed: u64) -> Attempt {
    Attempt { sweeps, reading: Reading { nothing, noise, above, seed } }
}

/// The attempts from one start.
pub const ATTEMPTS: [Attempt; 8] = [
    attempt(10, 1e-4, 1e-4, 2.0, 1),
    attempt(0, 1e-4, 1e-3, 10.0, 2),
    attempt(10, 1e-6, 1e-6, 2.0, 3),
    attempt(0, 1e-2, 1e-2, 2.0, 4),
    attempt(20, 1e-3, 1e-3, 10.0, 5),
    attempt(40, 1e-5, 1e-5, 10.0, 6),
    attempt(0, 1e-2, 1e-1, 10.0, 7),
    attempt(0, 1e-2, 1.0, 10.0, 8),
];

/// Paths of one attempt, each from the lowest point of the one before.
pub const RENEWALS: u64 = 4;
