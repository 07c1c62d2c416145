//! Statistics of a run: integrals over time, and a series of rows.

use evenhand_budget::charge;
use serde::Serialize;

use crate::checkpoint::{Reader, Words, list, words};
use crate::cost::{Growing, point};
use crate::error::SimulateError;

/// The largest number of tasks of a run. All counts stay far below the limit of 64-bit integers.
pub const MAX_TASKS: u64 = 1 << 60;
/// The largest number of rows of a series.
pub const MAX_ROWS: usize = 10_000_000;

/// Task counts of a user, at one time or over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tasks {
    /// The number of tasks that arrived.
    pub submitted: u64,
    /// The number of starts of tasks. A task that starts again counts again.
    pub started: u64,
    /// The number of tasks that ended.
    pub completed: u64,
    /// The number of tasks that were withdrawn while they waited.
    pub withdrawn: u64,
    /// The number of preemptions: a task was stopped for another task and waits again. Each preemption
    /// counts.
    pub preempted: u64,
    /// The number of evictions: the machine of a task left or became too small, and the task waits again.
    /// Each eviction counts.
    pub evicted: u64,
}

impl Tasks {
    /// Returns the number of running tasks.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.started - self.completed - self.preempted - self.evicted
    }

    /// Returns the number of waiting tasks.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.submitted + self.preempted + self.evicted - self.started - self.withdrawn
    }

    /// Returns the number of running and waiting tasks, or `None` if the counts contradict each other.
    fn counts(&self) -> Option<u64> {
        let came = self.submitted.checked_add(self.preempted)?.checked_add(self.evicted)?;
        came.checked_sub(self.started)?.checked_sub(self.withdrawn)?;
        let ended = self.completed.checked_add(self.preempted)?.checked_add(self.evicted)?;
        self.started.checked_sub(ended)?;
        Some(self.running() + self.waiting())
    }

    /// Adds the counts of `other`.
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
    /// The time of the row.
    pub time: f64,
    /// The number of running tasks of each user.
    pub running: Vec<u64>,
    /// The number of waiting tasks of all users.
    pub waiting: u64,
    /// The present servers, or `None` if servers do not come and go.
    pub there: Option<There>,
    /// The decayed past usage of each user. Empty unless the policy orders users by past usage.
    pub usage: Vec<f64>,
}

/// Returns the decayed past usage of each user at a time, or `None` if the policy does not order users by usage.
pub type UsageAt<'a> = &'a dyn Fn(f64) -> Option<Vec<f64>>;

/// The servers that are present at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct There {
    /// The number of present servers.
    pub servers: u64,
    /// The present capacity of each resource as a fraction of the whole capacity. The whole capacity counts
    /// every machine with its first capacity.
    pub capacity: Vec<f64>,
}

/// The servers that were present over a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThereOverTime {
    /// The mean number of servers.
    #[serde(rename = "mean")]
    pub servers: f64,
    /// The smallest number of servers.
    pub least: u64,
    /// The largest number of servers.
    pub most: u64,
    /// The mean present capacity of each resource, as a fraction of the whole capacity.
    #[serde(skip)]
    pub capacity: Vec<f64>,
}

/// The present servers, and the integrals of their number and capacity over time up to `since`.
#[derive(Default, Clone)]
struct Changing {
    now: Option<There>,
    since: f64,
    /// The integral of the number of servers, followed by the integrals of the capacity of every resource.
    integrals: Vec<f64>,
    least: u64,
    most: u64,
}

words!(Tasks { submitted, started, completed, withdrawn, preempted, evicted });
words!(Row { time, running, waiting, there, usage });
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

impl History {
    /// Ends the open row of a user and begins another row, if the user's tasks have changed.
    fn replace(&mut self, now: HistoryRow, time: f64) {
        let open = &mut self.open[now.user as usize];
        if (open.running, open.waiting) == (now.running, now.waiting) {
            return;
        }
        let ended = HistoryRow { to: time, ..std::mem::replace(open, now) };
        if ended.to > ended.from && (ended.running, ended.waiting) != (0, 0) {
            self.rows.push(ended);
        }
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

/// The tasks of a user between two times at which they change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryRow {
    /// The index of the user in the problem.
    pub user: u32,
    /// The time at which the row begins.
    pub from: f64,
    /// The time at which the row ends.
    pub to: f64,
    /// The number of running tasks of the user.
    pub running: u64,
    /// The number of waiting tasks of the user.
    pub waiting: u64,
}

/// The history of a run up to a time.
struct History {
    rows: Vec<HistoryRow>,
    /// The row of each user that has not ended.
    open: Vec<HistoryRow>,
    /// The users whose tasks changed at the present time.
    touched: Vec<u32>,
    memory: Growing,
}

pub(crate) struct Recorder {
    pub tasks: Vec<Tasks>,
    /// The integral over time of the number of running tasks of each user, up to `since`.
    integral: Vec<f64>,
    since: Vec<f64>,
    every: Option<f64>,
    there: Changing,
    /// The state of `there` before the first change of a machine after `last`, if there was such a change.
    before: Option<Changing>,
    pub rows: Vec<Row>,
    /// The size of a row in bytes.
    row_bytes: u64,
    /// The memory of the rows.
    memory: Growing,
    /// The number of tasks that have arrived.
    submitted: u64,
    /// The number of tasks that run or wait.
    pub n_present: u64,
    /// The time at which a task last arrived, started, stopped, ended or was withdrawn.
    pub last: f64,
    /// The history of the run, or `None` if it is not kept.
    history: Option<History>,
}

impl Recorder {
    /// Creates a recorder. If `has_usage`, rows have the past usage of users.
    pub fn new(n_users: usize, resources: usize, every: Option<f64>, has_usage: bool) -> Self {
        // A row has a number for every user, a second one for past usage, and, if servers change, a number for
        // every resource.
        let of_users = if has_usage { 2 * n_users } else { n_users };
        let row = size_of::<Row>() + size_of::<u64>() * of_users + size_of::<f64>() * resources;
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
            n_present: 0,
            last: 0.0,
            history: None,
        }
    }

    /// Keeps the history of the run from now on.
    pub fn keep_history(&mut self) {
        let row = |user: usize| HistoryRow { user: user as u32, from: 0.0, to: 0.0, running: 0, waiting: 0 };
        self.history = Some(History {
            rows: Vec::new(),
            open: (0..self.tasks.len()).map(row).collect(),
            touched: Vec::new(),
            memory: Growing::new("the history of the run"),
        });
    }

    /// Records in the history that the tasks of a user change at the present time.
    fn change(&mut self, user: usize) {
        if let Some(history) = &mut self.history {
            history.touched.push(user as u32);
        }
    }

    /// Ends the rows of the history whose tasks changed at this time. Call this after all events of the time.
    pub fn note_history(&mut self, time: f64) {
        let Some(history) = &mut self.history else { return };
        for user in std::mem::take(&mut history.touched) {
            let tasks = &self.tasks[user as usize];
            let now =
                HistoryRow { user, from: time, to: time, running: tasks.running(), waiting: tasks.waiting() };
            history.replace(now, time);
        }
        history.memory.need((history.rows.len() * size_of::<HistoryRow>()) as u64);
    }

    /// Ends the history. Returns its rows in the order of their beginnings. Rows without tasks are left out.
    pub fn history(&mut self, time: f64) -> Vec<HistoryRow> {
        let Some(mut history) = self.history.take() else { return Vec::new() };
        for user in 0..self.tasks.len() as u32 {
            history.replace(HistoryRow { user, from: time, to: time, running: 0, waiting: 0 }, time);
        }
        history.rows.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.user.cmp(&b.user)));
        history.rows
    }

    /// Appends the state to the words of a checkpoint.
    pub fn save(&self, to: &mut Vec<u64>) {
        self.tasks.save(to);
        self.integral.save(to);
        self.since.save(to);
        self.rows.save(to);
        self.there.save(to);
        list(to, self.before.iter(), |to, before| before.save(to));
        self.last.save(to);
    }

    /// Restores the state that [`Recorder::save`] wrote.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), SimulateError> {
        let users = self.tasks.len();
        (self.tasks, self.integral, self.since) = (from.read()?, from.read()?, from.read()?);
        (self.rows, self.there) = (from.read()?, from.read()?);
        self.before = from.read::<Vec<Changing>>()?.pop();
        self.last = from.read()?;
        Reader::check([self.tasks.len(), self.integral.len(), self.since.len()] == [users; 3])?;
        let is_complete = |row: &Row| row.running.len() == users && [0, users].contains(&row.usage.len());
        Reader::check(self.rows.iter().all(is_complete))?;
        for tasks in &self.tasks {
            let counts = tasks.counts().ok_or_else(Reader::damaged)?;
            self.submitted = self.submitted.saturating_add(tasks.submitted);
            self.n_present = self.n_present.checked_add(counts).ok_or_else(Reader::damaged)?;
        }
        Ok(())
    }

    /// Charges memory for all rows up to a time.
    pub fn need_rows(&mut self, time: f64) {
        let Some(every) = self.every else { return };
        // The conversion to an integer saturates if the number is too large.
        let rows = (time / every) as u64;
        self.memory.need(rows.min(MAX_ROWS as u64).saturating_mul(self.row_bytes));
    }

    /// Returns the bytes of all rows.
    pub fn bytes(&self) -> u64 {
        self.rows.len() as u64 * self.row_bytes
    }

    /// Adds the rows of all times before `time`. The state does not change up to that time. Returns whether
    /// the limit on rows allows all these rows.
    pub fn advance(&mut self, time: f64, usage_at: UsageAt<'_>) -> bool {
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
            self.row(next, usage_at);
        }
    }

    fn row(&mut self, time: f64, usage_at: UsageAt<'_>) {
        charge(self.tasks.len() as u64, "the series");
        let usage = usage_at(time).unwrap_or_default();
        let running = self.tasks.iter().map(Tasks::running).collect();
        let waiting = self.tasks.iter().map(Tasks::waiting).sum();
        self.rows.push(Row { time, running, waiting, there: self.there.now.clone(), usage });
    }

    fn settle(&mut self, user: usize, time: f64) {
        self.change(user);
        self.integral[user] += self.tasks[user].running() as f64 * (time - self.since[user]);
        self.since[user] = time;
        self.touch(time);
    }

    /// Stores the time of the last event of a task.
    fn touch(&mut self, time: f64) {
        self.last = time;
        self.before = None;
    }

    /// Records that tasks of a user arrive.
    pub fn submit(&mut self, user: usize, tasks: u64, time: f64) -> Result<(), SimulateError> {
        self.touch(time);
        self.change(user);
        self.submitted = self.submitted.saturating_add(tasks);
        if self.submitted > MAX_TASKS {
            return Err(SimulateError::TooManyTasks { limit: MAX_TASKS });
        }
        self.tasks[user].submitted += tasks;
        self.n_present += tasks;
        Ok(())
    }

    /// Records that the waiting tasks of a user are withdrawn.
    pub fn withdraw(&mut self, user: usize, time: f64) {
        let waiting = self.tasks[user].waiting();
        if waiting > 0 {
            self.touch(time);
            self.change(user);
            self.tasks[user].withdrawn += waiting;
            self.n_present -= waiting;
        }
    }

    pub fn start(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].started += tasks;
    }

    pub fn complete(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].completed += tasks;
        self.n_present -= tasks;
    }

    /// Records that tasks of a user are preempted and wait again.
    pub fn preempt(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].preempted += tasks;
    }

    /// Records that tasks of a user lose their machine and wait again.
    pub fn evict(&mut self, user: usize, tasks: u64, time: f64) {
        self.settle(user, time);
        self.tasks[user].evicted += tasks;
    }

    /// Records the number of servers that are present from now on, and their capacity as fractions of the
    /// whole capacity.
    pub fn set_there(&mut self, servers: u64, capacity: Vec<f64>, time: f64) {
        if self.before.is_none() {
            self.before = Some(self.there.clone());
        }
        self.there.settle(time);
        self.there.since = time;
        self.there.integrals.resize(1 + capacity.len(), 0.0);
        self.there.now = Some(There { servers, capacity });
    }

    /// Returns the servers that were present up to the end of the run, or `None` if servers do not come and go.
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

    /// Discards the changes of machines after the last event of a task.
    pub fn rewind(&mut self) {
        if let Some(before) = self.before.take() {
            self.there = before;
        }
        let last = self.last;
        self.rows.truncate(self.rows.partition_point(|row| row.time <= last));
    }

    /// Ends the recording. Returns for each user the integral over time of its running tasks in the run.
    pub fn finish(&mut self, time: f64, usage_at: UsageAt<'_>) -> Vec<f64> {
        for (n, tasks) in self.tasks.iter().enumerate() {
            self.integral[n] += tasks.running() as f64 * (time - self.since[n]);
        }
        if let Some(every) = self.every
            && point(self.rows.len(), every) <= time
            && self.rows.len() < MAX_ROWS
        {
            self.row(point(self.rows.len(), every), usage_at);
        }
        std::mem::take(&mut self.integral)
    }
}
