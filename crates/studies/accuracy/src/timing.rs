//! Median times of repeated runs.

use std::time::{Duration, Instant};

/// The number of repetitions of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// The smallest number of runs, without the warm-up.
    pub least_runs: usize,
    /// The largest number of runs.
    pub most_runs: usize,
    /// The time after which no further run starts.
    pub enough: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Self { least_runs: 3, most_runs: 25, enough: Duration::from_millis(40) }
    }
}

impl Effort {
    /// Returns the effort of this number of runs, however long they take.
    #[must_use]
    pub fn of_runs(runs: usize) -> Self {
        Self { least_runs: runs, most_runs: runs, enough: Duration::ZERO }
    }
}

/// The result of repeated runs, with its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Timed<T> {
    /// The result, which is the same for all runs.
    pub result: T,
    /// The median time in seconds.
    pub seconds: f64,
    /// The number of runs for the median.
    pub runs: usize,
}

/// Runs `run` once to warm up, then as often as `effort` requires.
pub(super) fn timed<T>(effort: Effort, mut run: impl FnMut() -> T) -> Timed<T> {
    let mut result = run();
    let mut seconds = Vec::new();
    let all = Instant::now();
    while seconds.len() < effort.least_runs.max(1)
        || (seconds.len() < effort.most_runs && all.elapsed() < effort.enough)
    {
        let start = Instant::now();
        result = run();
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Timed { result, seconds: seconds[seconds.len() / 2], runs: seconds.len() }
}
