//! The board: the latest verdict and the counts of a watch. The server reads them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenhand_report::metrics::{self, Metric};
use evenhand_report::over_time::{duration, utc};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::round::{Judged, STEPS};

const MILLISECONDS: f64 = 1000.0;
/// The time that a round may take in addition to the time for its commands. A watch whose round takes longer
/// counts as stuck.
const SLACK: Duration = Duration::from_secs(120);

/// The state of a watch. The watcher writes it, and the server reads it.
#[derive(Debug)]
pub struct Board {
    /// The name of the system. Empty if the watch reads snapshots.
    pub system: &'static str,
    /// The time from the start of a round to the start of the next round.
    pub every: Duration,
    /// The time limit for all commands of a round.
    pub timeout: Duration,
    /// The file of the history. `None` if the watch has no history.
    pub history: Option<PathBuf>,
    /// The time at which the watch began, in milliseconds since 1970.
    pub begun: i64,
    state: Mutex<State>,
}

/// The state of a watch: its latest verdict, and the counts of its rounds and failures.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The latest verdict. `None` before the first verdict.
    pub judged: Option<Arc<Judged>>,
    /// The number of rounds.
    pub rounds: u64,
    /// The number of rounds without a verdict, by reason.
    pub failures: BTreeMap<&'static str, u64>,
    /// The number of rounds that could not be written to the history.
    pub history_failures: u64,
    /// The time at which the latest round began, in milliseconds since 1970. `None` before the first round.
    pub last_round: Option<i64>,
    /// The time at which the latest round ended, in milliseconds since 1970. `None` before the first round
    /// has ended.
    pub ended: Option<i64>,
    /// The seconds that the latest round took.
    pub seconds: f64,
    /// The reason why the latest round gave no verdict. `None` if it gave a verdict.
    pub failure: Option<String>,
    /// The reason why the latest round is not in the history. `None` if it is in the history.
    pub history_failure: Option<String>,
}

impl Board {
    /// Returns the board of a watch before its first round.
    #[must_use]
    pub fn new(
        system: &'static str,
        every: Duration,
        timeout: Duration,
        history: Option<PathBuf>,
        begun: i64,
    ) -> Self {
        Self { system, every, timeout, history, begun, state: Mutex::new(State::default()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the state.
    #[must_use]
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// Records the result of a round that began at `begun` and ended at `ended`.
    pub(crate) fn put(
        &self,
        begun: i64,
        ended: i64,
        seconds: f64,
        result: Result<Arc<Judged>, &Failure>,
        history_failure: Option<String>,
    ) {
        let mut state = self.lock();
        state.rounds += 1;
        (state.last_round, state.ended, state.seconds) = (Some(begun), Some(ended), seconds);
        state.history_failures += u64::from(history_failure.is_some());
        state.history_failure = history_failure;
        match result {
            Ok(judged) => {
                state.judged = Some(judged);
                state.failure = None;
            }
            Err(failure) => {
                *state.failures.entry(failure.reason()).or_default() += 1;
                state.failure = Some(failure.to_string());
            }
        }
    }

    /// Returns `true` if rounds end on time, with or without a verdict.
    #[must_use]
    pub fn is_healthy(&self, now: i64) -> bool {
        let last = self.lock().ended.unwrap_or(self.begun);
        let most = self.every + self.timeout + SLACK;
        now.saturating_sub(last) <= i64::try_from(most.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the sentences that stand above the page if its verdict is old or not from the latest round.
    /// Returns no sentences in all other cases.
    #[must_use]
    pub fn notice(&self, now: i64) -> Vec<String> {
        let state = self.state();
        let Some(judged) = &state.judged else { return Vec::new() };
        let age = Duration::from_millis(now.saturating_sub(judged.time).max(0).unsigned_abs());
        let mut said = Vec::new();
        if let Some(failure) = &state.failure {
            said.push(format!("The latest round gave no verdict: {failure}."));
        }
        if state.failure.is_some() || age > 2 * self.every + self.timeout {
            said.push(format!(
                "This page is about the cluster at {}, {} ago.",
                utc(judged.time),
                duration(age.as_secs_f64())
            ));
        }
        said
    }

    /// Returns the JSON document about the rounds.
    #[must_use]
    pub fn status(&self, now: i64) -> Value {
        let state = self.state();
        let judged = state.judged.as_ref();
        let failures: BTreeMap<&str, u64> = Failure::REASONS
            .into_iter()
            .map(|reason| (reason, state.failures.get(reason).copied().unwrap_or(0)))
            .collect();
        let fields = json!({
            "system": self.system,
            "healthy": self.is_healthy(now),
            "rounds": state.rounds,
            "failures": failures,
            "last_round": state.last_round,
            "last_verdict": judged.map(|of| of.time),
            "snapshot_sha256": judged.map(|of| of.sha256.as_str()),
            "fair": judged.map(|of| of.is_fair),
            "answer": judged.map(|of| of.answer.as_str()),
            "failure": state.failure,
            "history_failure": state.history_failure,
        });
        evenhand_report::json::document("watch-status", fields)
    }

    /// Returns all metrics in the text format of OpenMetrics.
    #[must_use]
    pub fn metrics(&self, now: i64) -> String {
        let state = self.state();
        let mut lists = vec![Arc::new(self.own_metrics(&state, now))];
        lists.extend(state.judged.map(|judged| Arc::clone(&judged.metrics)));
        metrics::text(lists)
    }

    fn own_metrics(&self, state: &State, now: i64) -> Vec<Metric> {
        let failures = Failure::REASONS.map(|reason| {
            let count = state.failures.get(reason).copied().unwrap_or(0);
            (vec![("reason", reason.to_owned())], count as f64)
        });
        let judged = state.judged.as_ref();
        let steps = judged.map(|of| {
            let of_step = |(step, seconds): (&&str, &f64)| (vec![("step", (*step).to_owned())], *seconds);
            STEPS.iter().zip(&of.seconds).map(of_step).collect::<Vec<_>>()
        });
        let seconds = |time: i64| time as f64 / MILLISECONDS;
        let age = judged.map(|of| (Vec::new(), seconds(now.saturating_sub(of.time).max(0))));
        let yes = |holds: bool| f64::from(u8::from(holds));
        vec![
            Metric::gauge("evenhand_up", "Whether the latest round gave a verdict.")
                .of(yes(judged.is_some() && state.failure.is_none())),
            Metric::counter("evenhand_rounds", "Number of rounds since the watch began.")
                .of(state.rounds as f64),
            Metric::counter(
                "evenhand_failures",
                "Number of rounds without a verdict since the watch began, by reason.",
            )
            .with(failures),
            Metric::counter(
                "evenhand_history_failures",
                "Number of rounds since the watch began that could not be written to the history.",
            )
            .of(state.history_failures as f64),
            Metric::gauge(
                "evenhand_interval",
                "Time from the start of a round to the start of the next one.",
            )
            .in_unit("seconds")
            .of(self.every.as_secs_f64()),
            Metric::gauge("evenhand_round_duration", "Time that the latest round took.")
                .in_unit("seconds")
                .with(state.last_round.map(|_| (Vec::new(), state.seconds))),
            Metric::gauge("evenhand_step_duration", "Time that the steps of the latest verdict took.")
                .in_unit("seconds")
                .with(steps.unwrap_or_default()),
            Metric::gauge("evenhand_snapshot_age", "Time since the dump of the latest verdict was begun.")
                .in_unit("seconds")
                .with(age),
            Metric::gauge(
                "evenhand_snapshot_timestamp",
                "Time at which the dump of the latest verdict was begun, since 1970.",
            )
            .in_unit("seconds")
            .with(judged.map(|of| (Vec::new(), seconds(of.time)))),
        ]
    }
}
