//! The laws of the durations of tasks, with entries for single users and tasks.

use std::collections::BTreeMap;

use evenhand_mechanisms::filling::Draw;

/// The law of the duration of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// The task runs until the time limit that the snapshot states. Without a limit it never ends.
    Limits,
    /// The task runs for this many nanoseconds.
    Fixed(u64),
    /// The duration is random, from the exponential distribution with this mean in nanoseconds. The remaining time does
    /// not depend on how long a task has run.
    Exponential(u64),
}

/// The laws for the tasks of one user, or for one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The law for waiting tasks, from their start on.
    pub duration: Law,
    /// The law for the remaining time of running tasks.
    pub left: Law,
}

impl Entry {
    /// Returns the entry with one law for waiting and running tasks.
    #[must_use]
    pub fn of(law: Law) -> Self {
        Self { duration: law, left: law }
    }
}

/// The laws of the durations of all tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    /// The laws of tasks without an entry of their own. `None` if every user needs an entry.
    pub others: Option<Entry>,
    /// The laws by the name of a task or a user. An entry for a task takes precedence over an entry for its user.
    pub by_name: BTreeMap<String, Entry>,
}

impl Durations {
    /// Returns the laws of a task. Returns `None` if no law is stated for the task.
    pub(super) fn of(&self, task: Option<&str>, user: &str) -> Option<Entry> {
        let own = task.and_then(|task| self.by_name.get(task));
        own.or_else(|| self.by_name.get(user)).copied().or(self.others)
    }
}

/// The duration of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// A fixed number of nanoseconds.
    Fixed(u64),
    /// A random number of nanoseconds with this mean.
    Exponential(u64),
    /// The task never ends.
    Endless,
}

/// The duration of a job: the longest duration of its tasks. The duration of each task is cut off at its time
/// limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lengths {
    /// The durations of the tasks, with their time limits. Tasks with equal entries share one random number, because
    /// the tasks of a job end together.
    list: Vec<(Length, Option<u64>)>,
}

impl Lengths {
    /// Adds the duration of a task with its time limit.
    pub fn add(&mut self, law: Law, limit: Option<u64>) {
        let length = match (law, limit) {
            (Law::Limits, Some(limit)) => Length::Fixed(limit),
            (Law::Limits, None) => Length::Endless,
            (Law::Fixed(time), _) => Length::Fixed(time),
            (Law::Exponential(mean), _) => Length::Exponential(mean),
        };
        if !self.list.contains(&(length, limit)) {
            self.list.push((length, limit));
        }
    }

    /// Returns the time limit of the job. Returns `None` if one of its tasks has no limit.
    pub fn limit(&self) -> Option<u64> {
        self.longest(|_, limit| limit)
    }

    pub fn is_random(&self) -> bool {
        self.list.iter().any(|(length, _)| matches!(length, Length::Exponential(_)))
    }

    pub fn is_endless(&self) -> bool {
        self.list.contains(&(Length::Endless, None))
    }

    /// Returns the duration in nanoseconds of a job whose duration is not random. Returns `None` if the job
    /// never ends.
    pub fn fixed(&self) -> Option<u64> {
        self.draw(&mut Draw::new(0, 0))
    }

    /// Draws the duration of the job in nanoseconds. Returns `None` if the job never ends.
    pub fn draw(&self, draw: &mut Draw) -> Option<u64> {
        self.longest(|length, limit| {
            let time = match length {
                Length::Fixed(time) => Some(time),
                // Doubles beyond 64 bits become the largest number of 64 bits, which is more than 500 years.
                Length::Exponential(mean) => Some(draw.exponential(mean as f64) as u64),
                Length::Endless => None,
            };
            time.map_or(limit, |time| Some(limit.map_or(time, |limit| time.min(limit))))
        })
    }

    /// Returns the longest duration of the tasks. Returns `None` if some task never ends.
    fn longest(&self, mut time: impl FnMut(Length, Option<u64>) -> Option<u64>) -> Option<u64> {
        let mut longest = Some(0);
        for (length, limit) in &self.list {
            longest = longest.zip(time(*length, *limit)).map(|(a, b): (u64, u64)| a.max(b));
        }
        longest
    }
}
