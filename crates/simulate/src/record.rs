//! What is remembered of a run: integrals over time, and a series of rows.

use evenhand_budget::charge;
use serde::Serialize;

use crate::checkpoint::{Reader, Words, list, words};
use crate::cost::{Growing, point};
use crate::error::SimulateError;

/// Tasks of a run, at most: their numbers stay far below what 64 bits hold.
pub const MAX_TASKS: u64 = 1 << 60;
/// Most rows of a series.
pub const MAX_ROWS: usize = 10_000_000;

/// Tasks of a user at one time, or over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
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
    /// Those whose machine went, or became too small, and that waited again, each as often as it did.
    pub evicted: u64,
}

impl Tasks {
    /// Tasks that run.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.started - self.completed - self.preempted - self.evicted
    }

    /// Tasks that wait.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.submitted + self.preempted + self.evicted - self.started - self.withdrawn
    }

    /// Tasks that run or wait; `None` where the numbers contradict each other.
    fn counts(&self) -> Option<u64> {
        let came = self.submitted.checked_add(self.preempted)?.checked_add(self.evicted)?;
        came.checked_sub(self.started)?.checked_sub(self.withdrawn)?;
        let ended = self.completed.checked_add(self.preempted)?.checked_add(self.evicted)?;
        self.started.checked_sub(ended)?;
        Some(self.running() + self.waiting())
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.submitted += other.submitted;
        self.started += other.started;
        self.completed += other.completed;
        self.withdrawn += other.withdrawn;
        self.preempted += other.preempted;
        self.evicted += other.evicted;
    }
}

/// The state at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Time.
    pub time: f64,
    /// By user: tasks that run.
    pub running: Vec<u64>,
    /// Tasks of all users that wait.
    pub waiting: u64,
    /// What is there, where that changes.
    pub there: Option<There>,
}

/// What is there at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct There {
    /// Servers.
    pub servers: u64,
    /// By resource: as a part of the whole, which has every machine with the capacity that it has first.
    pub capacity: Vec<f64>,
}

/// What was there over a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThereOverTime {
    /// Mean number of servers.
    #[serde(rename = "mean")]
    pub servers: f64,
    /// The fewest.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// By resource: the mean part of the whole.
    #[serde(skip)]
    pub capacity: Vec<f64>,
}

/// What is there, and integrals of it up to a time.
#[derive(Default, Clone)]
struct Changing {
    now: Option<There>,
    since: f64,
    /// Of the servers, then of every resource.
    integrals: Vec<f64>,
    least: u64,
    most: u64,
}

words!(Tasks { submitted, started, completed, withdrawn, preempted, evicted });
words!(Row { time, running, waiting, there });
words!(Changing { now, since, integrals, least, most });

impl Words for Option<There> {
    fn save(&self, to: &mut Vec<u64>) {
        self.as_ref().map(|there| there.servers).save(to);
        self.as_ref().map_or_else(Vec::new, |there| there.capacity.clone()).save(to);
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        let (servers, capacity): (Option<u64>, _) = (from.read()?, from.read()?);
        Ok(servers.map(|servers| There { servers, capacity }))
    }
}

impl Changing {
    fn settle(&mut self, time: f64) {
        let Some(There { servers, capacity }) = &self.now else { return };
        let lasted = time - self.since;
        let values = std::iter::once(*servers as f64).chain(capacity.iter().copied());
        self.integrals.iter_mut().zip(values).for_each(|(integral, value)| *integral += value * lasted);
        self.since = time;
        if lasted > 0.0 {
            self.least = self.least.min(*servers);
            self.most = self.most.max(*servers);
        }
    }
}

pub(crate) struct Recorder {
    pub tasks: Vec<Tasks>,
    /// By user: the integral of its running tasks up to `since`.
    integral: Vec<f64>,
    since: Vec<f64>,
    every: Option<f64>,
    there: Changing,
    /// What was there before the first change of machines after `last`, if there was one.
    before: Option<Changing>,
    pub rows: Vec<Row>,
    /// Bytes of a row.
    row_bytes: u64,
    /// What rows take.
    memory: Growing,
    /// Tasks that have come.
    submitted: u64,
    /// Tasks that run or wait.
    pub here: u64,
    /// When a task last came, started, stopped, ended or was withdrawn.
    pub last: f64,
}

impl Recorder {
    pub fn new(n_users: usize, resources: usize, every: Option<f64>) -> Self {
        // A row has a number for every user, and where servers change one for every resource.
        let row = size_of::<Row>() + size_of::<u64>() * n_users + size_of::<f64>() * resources;
        Self {
            row_bytes: row as u64,
            memory: Growing::new("the series"),
            tasks: vec![Tasks::default(); n_users],
            integral: vec![0.0; n_users],
            since: vec![0.0; n_users],
            every,
            there: Changing { least: u64::MAX, ..Changing::default() },
            before: None,
            rows: Vec::new(),
            submitted: 0,
            here: 0,
            last: 0.0,
        }
    }

    /// Writes everything down.
    pub fn save(&self, to: &mut Vec<u64>) {
        self.tasks.save(to);
        self.integral.save(to);
        self.since.save(to);
        self.rows.save(to);
        self.there.save(to);
        list(to, self.before.iter(), |to, before| before.save(to));
        self.last.save(to);
    }

    /// Goes on from what [`Recorder::save`] wrote.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), SimulateError> {
        let users = self.tasks.len();
        (self.tasks, self.integral, self.since) = (from.read()?, from.read()?, from.read()?);
        (self.rows, self.there) = (from.read()?, from.read()?);
        self.before = from.read::<Vec<Changing>>()?.pop();
        self.last = from.read()?;
        Reader::check([self.tasks.len(), self.integral.len(), self.since.len()] == [users; 3])?;
        Reader::check(self.rows.iter().all(|row| row.running.len() == users))?;
        for tasks in &self.tasks {
            let counts = tasks.counts().ok_or_else(Reader::damaged)?;
            self.submitted = self.submitted.saturating_add(tasks.submitted);
            self.here = self.here.checked_add(counts).ok_or_else(Reader::damaged)?;
        }
        Ok(())
    }

    /// Memory and steps for all rows up to a time.
    pub fn need_rows(&mut self, time: f64) {
        let Some(every) = self.every else { return };
        // A number that is too large for an integer is the largest one.
        let rows = (time / every) as u64;
        self.memory.need(rows.min(MAX_ROWS as u64).saturating_mul(self.row_bytes));
    }

    /// Bytes of the rows.
    pub fn bytes(&self) -> u64 {
        self.rows.len() as u64 * self.row_bytes
    }

    /// Rows for all times before `time`: nothing changes in between. Says whether there was room for them.
    pub fn advance(&mut self, time: f64) -> bool {
        let Some(every) = self.every else { return true };
        self.need_rows(time);
        loop {
            let next = point(self.rows.len(), every);
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
        charge(self.tasks.len() as u64, "the series");
        let running = self.tasks.iter().map(Tasks::running).collect();
        let waiting = self.tasks.iter().map(Tasks::waiting).sum();
        self.rows.push(Row { time, running, waiting, there: self.there.now.clone() });
    }

    fn settle(&mut self, user: usize, time: f64) {
        self.integral[user] += self.tasks[user].running() as f64 * (time - self.since[user]);
        self.since[user] = time;
        self.touch(time);
    }

    /// Something happens to a task.
    fn touch(&mut self, time: f64) {
        self.last = time;
        self.before = None;
    }

    /// So many tasks of a user come.
    pub fn submit(&mut self, user: usize, tasks: u64, time: f64) -> Result<(), SimulateError> {
        self.touch(time);
        self.submitted = self.submitted.saturating_add(tasks);
        if self.submitted > MAX_TASKS {
            return Err(SimulateError::TooManyTasks { limit: MAX_TASKS });
        }
        self.tasks[user].submitted += tasks;
        self.here += tasks;
        Ok(())
    }

    /// The tasks of a user that wait leave.
    pub fn withdraw(&mut self, user: usize, time: f64) {
        let waiting = self.tasks[user].waiting();
        if waiting > 0 {
            self.touch(time);
            self.tasks[user].withdrawn += waiting;
            self.here -= waiting;
        }
    }

    pub fn start(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].started += tasks;
    }

    pub fn complete(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].completed += tasks;
        self.here -= tasks;
    }

    /// So many tasks of a user are stopped and wait again.
    pub fn preempt(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].preempted += tasks;
    }

    /// So many tasks of a user lose their machine and wait again.
    pub fn evict(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].evicted += tasks;
    }

    /// From now on so many servers are there, and these parts of the whole.
    pub fn set_there(&mut self, servers: u64, capacity: Vec<f64>, time: f64) {
        if self.before.is_none() {
            self.before = Some(self.there.clone());
        }
        self.there.settle(time);
        self.there.since = time;
        self.there.integrals.resize(1 + capacity.len(), 0.0);
        self.there.now = Some(There { servers, capacity });
    }

    /// What was there up to the end, where that changes.
    pub fn there_over_time(&mut self, time: f64) -> Option<ThereOverTime> {
        self.there.settle(time);
        let now = self.there.now.as_ref()?;
        let has_lasted = time > 0.0;
        let mean = |(integral, now): (&f64, f64)| if has_lasted { integral / time } else { now };
        let values = std::iter::once(now.servers as f64).chain(now.capacity.iter().copied());
        let mut means = self.there.integrals.iter().zip(values).map(mean);
        Some(ThereOverTime {
            servers: means.next().unwrap_or_default(),
            least: if has_lasted { self.there.least } else { now.servers },
            most: if has_lasted { self.there.most } else { now.servers },
            capacity: means.collect(),
        })
    }

    /// Forgets what machines did after the last time at which something happened to a task.
    pub fn rewind(&mut self) {
        if let Some(before) = self.before.take() {
            self.there = before;
        }
        let last = self.last;
        self.rows.truncate(self.rows.partition_point(|row| row.time <= last));
    }

    /// The end: by user the integral of its running tasks over the run.
    pub fn finish(&mut self, time: f64) -> Vec<f64> {
        for (n, tasks) in self.tasks.iter().enumerate() {
            self.integral[n] += tasks.running() as f64 * (time - self.since[n]);
        }
        if let Some(every) = self.every
            && point(self.rows.len(), every) <= time
            && self.rows.len() < MAX_ROWS
        {
            self.row(point(self.rows.len(), every));
        }
        std::mem::take(&mut self.integral)
    }
}
