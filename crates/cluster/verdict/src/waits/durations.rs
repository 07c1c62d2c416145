//! How long tasks run: laws, and the entries of single users and tasks.

use std::collections::BTreeMap;

use evenhand_mechanisms::filling::Draw;

/// How long tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Until the time limit that the snapshot states; for ever if it states none.
    Limits,
    /// This many nanoseconds.
    Fixed(u64),
    /// Random nanoseconds from the exponential distribution with this mean. The time that is left does not depend on how long
    /// a task has run.
    Exponential(u64),
}

/// The laws of one user or task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// How long waiting tasks run once they have started.
    pub duration: Law,
    /// How much longer running tasks run.
    pub left: Law,
}

impl Entry {
    /// Returns the entry with one law for waiting and running tasks.
    #[must_use]
    pub fn of(law: Law) -> Self {
        Self { duration: law, left: law }
    }
}

/// How long all tasks run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Durations {
    /// The laws of tasks that have no entry of their own. `None` if every user needs an entry.
    pub others: Option<Entry>,
    /// The laws by the name of a task or a user. The name of a task comes before that of its user.
    pub by_name: BTreeMap<String, Entry>,
}

impl Durations {
    /// Returns the laws of a task; `None` if none are stated.
    pub(super) fn of(&self, task: Option<&str>, user: &str) -> Option<Entry> {
        let own = task.and_then(|task| self.by_name.get(task));
        own.or_else(|| self.by_name.get(user)).copied().or(self.others)
    }
}

/// A running time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// This many.
    Fixed(u64),
    /// A random number with this mean.
    Exponential(u64),
    /// Without end.
    Endless,
}

/// The running time of a job: the longest of its tasks, each at most its time limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lengths {
    /// The running times of its tasks with their limits. Equal ones are drawn together, since the tasks of a job end together.
    list: Vec<(Length, Option<u64>)>,
}

impl Lengths {
    /// Adds the running time of a task, and its time limit.
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

    /// Returns the time limit of the job; `None` if a task has none.
    pub fn limit(&self) -> Option<u64> {
        self.longest(|_, limit| limit)
    }

    pub fn is_random(&self) -> bool {
        self.list.iter().any(|(length, _)| matches!(length, Length::Exponential(_)))
    }

    pub fn is_endless(&self) -> bool {
        self.list.contains(&(Length::Endless, None))
    }

    /// Returns the running time if it is not random; `None` if it has no end.
    pub fn fixed(&self) -> Option<u64> {
        self.draw(&mut Draw::new(0, 0))
    }

    /// Draws the running time; `None` if it has no end.
    pub fn draw(&self, draw: &mut Draw) -> Option<u64> {
        self.longest(|length, limit| {
            let time = match length {
                Length::Fixed(time) => Some(time),
                // Doubles beyond 64 bits become the largest number, which is more than 500 years.
                Length::Exponential(mean) => Some(draw.exponential(mean as f64) as u64),
                Length::Endless => None,
            };
            time.map_or(limit, |time| Some(limit.map_or(time, |limit| time.min(limit))))
        })
    }

    /// Returns the longest time; `None` if one of them is.
    fn longest(&self, mut time: impl FnMut(Length, Option<u64>) -> Option<u64>) -> Option<u64> {
        let mut longest = Some(0);
        for (length, limit) in &self.list {
            longest = longest.zip(time(*length, *limit)).map(|(a, b): (u64, u64)| a.max(b));
        }
        longest
    }
}
