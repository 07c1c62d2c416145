//! The loop over the rounds of a watch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use evenhand_report::over_time::{duration, utc};

use crate::board::Board;
use crate::clock::Clock;
use crate::error::Failure;
use crate::history::{Entry, History};
use crate::round::{Judged, Settings, round};
use crate::stop::Stop;

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Log {
    /// A round gave a verdict.
    Verdict(String),
    /// A round gave no verdict.
    Failure(String),
    /// A round could not be written to the history.
    History(String),
}

/// The result of the last round.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The round gave a verdict.
    Judged(Arc<Judged>),
    /// The round gave no verdict.
    Failed(Failure),
    /// The watch ran no round.
    None,
}

/// A watch: it runs rounds, logs them, and publishes their results.
pub struct Watcher<'w> {
    /// The settings of each round.
    pub settings: Settings,
    /// The clock that determines when rounds start.
    pub clock: Arc<dyn Clock>,
    /// The request to stop the watch.
    pub stop: Stop,
    /// The history. `None` if the watch has no history.
    pub history: Option<History>,
    /// The board on which results are published.
    pub board: Arc<Board>,
    /// The function that receives the entries of the log.
    pub log: &'w mut dyn FnMut(Log),
}

impl Watcher<'_> {
    /// Runs `most` rounds, or runs rounds until the watch is asked to stop. Returns the result of the last
    /// round.
    ///
    /// A round begins a fixed time after the beginning of the previous round. If the previous round took
    /// longer, the next round begins at once.
    pub fn run(&mut self, most: Option<u64>) -> Outcome {
        let mut outcome = Outcome::None;
        let mut done = 0;
        while most.is_none_or(|most| done < most) && !self.stop.is_stopped() {
            let begun = self.clock.now();
            outcome = self.round(begun);
            done += 1;
            if most.is_none_or(|most| done < most) {
                // If the clock was set back, the elapsed time counts as 0. The wait is therefore never longer
                // than the time between two rounds.
                let past = self.clock.now().saturating_sub(begun).max(0);
                let past = Duration::from_millis(past.unsigned_abs());
                self.clock.sleep(self.board.every.saturating_sub(past), &self.stop);
            }
        }
        outcome
    }

    fn round(&mut self, begun: i64) -> Outcome {
        let started = Instant::now();
        let result = round(&self.settings, begun, &self.stop).map(Arc::new);
        if let Err(Failure::Stopped) = result {
            return Outcome::Failed(Failure::Stopped);
        }
        let took = started.elapsed();
        let time = utc(begun);
        let entry = Entry { time: begun, took, result: result.as_ref().map(AsRef::as_ref) };
        let added = self.history.as_mut().map(|history| history.add(&entry));
        let history_failure = added.and_then(Result::err).map(|error| error.to_string());
        let of_board = result.as_ref().map(Arc::clone);
        self.board.put(begun, self.clock.now(), took.as_secs_f64(), of_board, history_failure.clone());
        // The round is logged last. An entry in the log therefore means that the row is in the history and
        // that the server returns the answer.
        (self.log)(match &result {
            Ok(judged) => {
                Log::Verdict(format!("{time}: {} ({})", judged.answer, duration(took.as_secs_f64())))
            }
            Err(failure) => Log::Failure(format!("{time}: no verdict: {failure}")),
        });
        if let Some(failure) = &history_failure {
            (self.log)(Log::History(format!("{time}: this round is not in the history: {failure}")));
        }
        match result {
            Ok(judged) => Outcome::Judged(judged),
            Err(failure) => Outcome::Failed(failure),
        }
    }
}
