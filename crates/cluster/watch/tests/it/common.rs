//! A clock that does not wait, and watches of commands that print files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use evenhand_budget::Limits;
use evenhand_dumps::Options;
use evenhand_problem::Rational;
use evenhand_watch::client::CommandLine;
use evenhand_watch::{Board, Clock, History, Log, Outcome, Settings, Source, Stop, Watcher};

/// The time at which simulated clocks begin: 1 January 2026.
pub const BEGIN: i64 = 1_767_225_600_000;
/// A snapshot in which a queue is below its fair share by a whole task.
pub const CLUSTER: &str = include_str!("../../../../../examples/cluster.json");

/// A clock that shows a later time after each wait, without waiting.
#[derive(Debug)]
pub struct Simulated(AtomicI64);

impl Simulated {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(BEGIN)))
    }

    pub fn set(&self, time: i64) {
        self.0.store(time, Ordering::Relaxed);
    }
}

impl Clock for Simulated {
    fn now(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn sleep(&self, duration: Duration, _: &Stop) {
        self.0.fetch_add(i64::try_from(duration.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

/// Returns a command of these words.
pub fn command(words: &[&str]) -> CommandLine {
    CommandLine::new(words.iter().map(ToString::to_string))
}

/// Returns a source whose command runs a script of the shell in a folder, and prints a snapshot.
pub fn script(folder: &Path, script: &str) -> Source {
    let script = format!("cd '{}' && {script}", folder.display());
    Source::Snapshot(command(&["sh", "-c", &script]))
}

pub fn settings(source: Source) -> Settings {
    Settings {
        source,
        timeout: Duration::from_secs(60),
        rule: None,
        tolerance: Rational::new(),
        import: Options::default(),
        limits: Limits::by_input(),
        is_shown: false,
    }
}

/// A watch on a simulated clock, with the lines of its log.
pub struct Watch {
    pub settings: Settings,
    pub clock: Arc<Simulated>,
    pub board: Arc<Board>,
    pub history: Option<PathBuf>,
    pub keep: Duration,
    pub lines: Vec<Log>,
}

impl Watch {
    pub fn new(settings: Settings, history: Option<PathBuf>) -> Self {
        let every = Duration::from_secs(60);
        let board = Board::new(settings.source.system(), every, settings.timeout, history.clone(), BEGIN);
        Self {
            settings,
            clock: Simulated::new(),
            board: Arc::new(board),
            history,
            keep: Duration::from_secs(30 * 86_400),
            lines: Vec::new(),
        }
    }

    /// Runs some rounds, one minute apart.
    pub fn run(&mut self, rounds: u64) -> Outcome {
        let system = self.settings.source.system();
        let history = self.history.as_deref().map(|file| History::open(file, system, self.keep).unwrap());
        let lines = &mut self.lines;
        let mut log = |line| lines.push(line);
        let mut watcher = Watcher {
            settings: self.settings.clone(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            stop: Stop::default(),
            history,
            board: Arc::clone(&self.board),
            log: &mut log,
        };
        let outcome = watcher.run(Some(rounds));
        drop(watcher);
        // The next round would begin after another wait.
        self.clock.sleep(self.board.every, &Stop::default());
        outcome
    }

    /// Returns the messages of rounds without a verdict, and of rounds that are not in the history.
    pub fn failures(&self) -> Vec<&str> {
        let failures = self.lines.iter().filter_map(|line| match line {
            Log::Failure(text) | Log::History(text) => Some(text.as_str()),
            Log::Verdict(_) => None,
        });
        failures.collect()
    }

    /// Returns the value of a metric, which is named with its labels.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let text = self.board.metrics(self.clock.now());
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        Some(line.parse().unwrap())
    }
}
