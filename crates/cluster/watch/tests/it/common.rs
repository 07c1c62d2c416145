//! A clock that does not wait, and watches whose commands print files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use evenhand_budget::Limits;
use evenhand_dumps::Options;
use evenhand_problem::Rational;
use evenhand_watch::client::CommandLine;
use evenhand_watch::{Board, Clock, History, Log, Outcome, Settings, Source, Stop, Watcher};

/// The time at which simulated clocks begin: 1 January 2026 in milliseconds since 1970.
pub const BEGIN: i64 = 1_767_225_600_000;
/// A snapshot in which a queue is below its fair share by a whole task.
pub const CLUSTER: &str = include_str!("../../../../../examples/cluster.json");

/// A clock that skips the time of each wait.
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

/// Returns the command line with the words `words`.
pub fn command(words: &[&str]) -> CommandLine {
    CommandLine::new(words.iter().map(ToString::to_string))
}

/// Returns a source whose command runs a shell script in a folder. The script must print a snapshot.
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

/// A watch with a simulated clock, and the entries of its log.
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

    /// Runs a number of rounds, which are one minute apart.
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
        // Skip the wait before the next round.
        self.clock.sleep(self.board.every, &Stop::default());
        outcome
    }

    /// Returns the log messages about rounds without a verdict and about rounds that could not be written to
    /// the history.
    pub fn failures(&self) -> Vec<&str> {
        let failures = self.lines.iter().filter_map(|line| match line {
            Log::Failure(text) | Log::History(text) => Some(text.as_str()),
            Log::Verdict(_) => None,
        });
        failures.collect()
    }

    /// Returns the value of a metric. `name` is the name of the metric with its labels.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let text = self.board.metrics(self.clock.now());
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        Some(line.parse().unwrap())
    }
}
