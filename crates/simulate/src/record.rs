//! What is remembered of a run: integrals over time, and a series of rows.

use crate::checkpoint::{Reader, Writer};
use crate::error::SimulateError;

/// Most rows of a series.
pub const MAX_ROWS: usize = 10_000_000;

/// Tasks of a user at one time, or over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tasks {
    /// Tasks that came.
    pub submitted: u64,
    /// Those that were placed, each as often as it was.
    pub started: u64,
    /// Those that ended.
    pub completed: u64,
    /// Those that left while they waited.
    pub withdrawn: u64,
    /// Those that were stopped for others and waited again, each as often as it was.
    pub preempted: u64,
}

impl Tasks {
    /// Tasks that run.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.started - self.completed - self.preempted
    }

    /// Tasks that wait.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.submitted + self.preempted - self.started - self.withdrawn
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.submitted += other.submitted;
        self.started += other.started;
        self.completed += other.completed;
        self.withdrawn += other.withdrawn;
        self.preempted += other.preempted;
    }
}

/// The state at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Time.
    pub time: f64,
    /// By user: tasks that run.
    pub running: Vec<u32>,
    /// Tasks of all users that wait.
    pub waiting: u64,
}

pub(crate) struct Recorder {
    pub tasks: Vec<Tasks>,
    /// By user: the integral of its running tasks up to `since`.
    integral: Vec<f64>,
    since: Vec<f64>,
    every: Option<f64>,
    pub rows: Vec<Row>,
}

impl Recorder {
    pub fn new(n_users: usize, every: Option<f64>) -> Self {
        Self {
            tasks: vec![Tasks::default(); n_users],
            integral: vec![0.0; n_users],
            since: vec![0.0; n_users],
            every,
            rows: Vec::new(),
        }
    }

    /// Writes everything down.
    pub fn save(&self, to: &mut Writer) {
        to.list(self.tasks.iter(), |to, tasks| {
            let Tasks { submitted, started, completed, withdrawn, preempted } = *tasks;
            let numbers = [submitted, started, completed, withdrawn, preempted];
            numbers.into_iter().for_each(|number| to.number(number));
        });
        to.list(self.integral.iter(), |to, integral| to.time(*integral));
        to.list(self.since.iter(), |to, since| to.time(*since));
        to.list(self.rows.iter(), |to, row| {
            to.time(row.time);
            to.list(row.running.iter(), |to, tasks| to.number(u64::from(*tasks)));
            to.number(row.waiting);
        });
    }

    /// Goes on from what [`Recorder::save`] wrote.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), SimulateError> {
        let users = self.tasks.len();
        self.tasks = from.exactly(users, |from| {
            let [mut submitted, mut started, mut completed, mut withdrawn, mut preempted] = [0; 5];
            for number in [&mut submitted, &mut started, &mut completed, &mut withdrawn, &mut preempted] {
                *number = from.number()?;
            }
            Ok(Tasks { submitted, started, completed, withdrawn, preempted })
        })?;
        self.integral = from.exactly(users, Reader::time)?;
        self.since = from.exactly(users, Reader::time)?;
        self.rows = from.list(|from| {
            let time = from.time()?;
            let running = from.exactly(users, Reader::small)?;
            Ok(Row { time, running, waiting: from.number()? })
        })?;
        Ok(())
    }

    /// Rows for all times before `time`: nothing changes in between. Says whether there was room for them.
    pub fn advance(&mut self, time: f64) -> bool {
        let Some(every) = self.every else { return true };
        loop {
            let next = self.rows.len() as f64 * every;
            if next >= time {
                return true;
            }
            if self.rows.len() >= MAX_ROWS {
                return false;
            }
            self.row(next);
        }
    }

    fn row(&mut self, time: f64) {
        let running = self.tasks.iter().map(|tasks| u32::try_from(tasks.running()).unwrap_or(u32::MAX));
        let running = running.collect();
        let waiting = self.tasks.iter().map(Tasks::waiting).sum();
        self.rows.push(Row { time, running, waiting });
    }

    fn settle(&mut self, user: usize, time: f64) {
        self.integral[user] += self.tasks[user].running() as f64 * (time - self.since[user]);
        self.since[user] = time;
    }

    pub fn start(&mut self, user: usize, time: f64) {
        self.settle(user, time);
        self.tasks[user].started += 1;
    }

    pub fn complete(&mut self, user: usize, time: f64) {
        self.settle(user, time);
        self.tasks[user].completed += 1;
    }

    /// So many tasks of a user are stopped and wait again.
    pub fn preempt(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].preempted += tasks;
    }

    /// The end: by user the integral of its running tasks over the run.
    pub fn finish(&mut self, time: f64) -> Vec<f64> {
        for user in 0..self.tasks.len() {
            self.settle(user, time);
        }
        if let Some(every) = self.every
            && self.rows.len() as f64 * every <= time
            && self.rows.len() < MAX_ROWS
        {
            self.row(self.rows.len() as f64 * every);
        }
        std::mem::take(&mut self.integral)
    }
}
