//! Traces: tasks with the times at which they came and how long they ran, for simulations, in the order of their
//! arrivals and not kept in memory.

use evenhand_problem::problem::UserSpec;

use super::spill::{Rows, Sorted, Sorter};
use super::{ImportError, Note};

/// A task of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceTask {
    /// Time of arrival in seconds from the start of the trace.
    pub at: f64,
    /// User, by its place among the users of the trace.
    pub user: u32,
    /// Number of its job.
    pub job: u64,
    /// Tasks of the job.
    pub job_tasks: u64,
    /// Seconds that it ran; infinite where it still ran at the end of the trace.
    pub seconds: f64,
    /// Priority, where the trace tells: the more, the sooner it is served.
    pub priority: Option<u8>,
}

/// Tasks in the order of their arrivals, in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The users, with the demand of one task.
    pub users: Vec<UserSpec>,
    /// The tasks; of two that come at the same time the one that the files name first is first.
    pub tasks: Vec<TraceTask>,
    /// What is left out of the data, and why.
    pub notes: Vec<Note>,
}

/// A trace whose tasks are read one by one. Every row of its files has been checked. Beyond some megabytes the tasks
/// stand in a temporary file, so that memory grows with the users and not with the tasks.
pub struct TraceStream {
    /// The users, with the demand of one task.
    pub users: Vec<UserSpec>,
    /// What is left out of the data, and why.
    pub notes: Vec<Note>,
    /// Tells the tasks of one trace from those of another.
    pub digest: u64,
    tasks: Sorted<6>,
}

impl TraceStream {
    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tasks.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tasks in the order of their arrivals; of two that come at the same time the one that the files name first
    /// is first.
    ///
    /// # Errors
    /// [`ImportError::Temporary`] when the temporary file cannot be read.
    pub fn tasks(&self) -> Result<StreamedTasks<'_>, ImportError> {
        Ok(StreamedTasks { rows: self.tasks.rows()? })
    }

    /// The same in memory.
    ///
    /// # Errors
    /// As [`TraceStream::tasks`].
    pub fn into_memory(self) -> Result<Trace, ImportError> {
        evenhand_budget::table(self.len() as usize, 1, size_of::<TraceTask>(), "the tasks of the trace");
        let tasks = self.tasks()?.collect::<Result<_, _>>()?;
        Ok(Trace { users: self.users, tasks, notes: self.notes })
    }
}

/// Reads the tasks of a [`TraceStream`].
pub struct StreamedTasks<'a> {
    rows: Rows<'a, 6>,
}

impl Iterator for StreamedTasks<'_> {
    type Item = Result<TraceTask, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next().transpose()?;
        Some(row.map(|[at, _, whose, job, job_tasks, seconds]| {
            let (user, priority) = unpacked(whose);
            TraceTask {
                at: f64::from_bits(at),
                user,
                job,
                job_tasks,
                seconds: f64::from_bits(seconds),
                priority,
            }
        }))
    }
}

/// A user and a priority in one number. The lower half is the user.
pub(super) fn packed(user: u32, priority: Option<u8>) -> u64 {
    // 0 for none.
    priority.map_or(0, |priority| 1 + u64::from(priority)) << u32::BITS | u64::from(user)
}

pub(super) fn unpacked(whose: u64) -> (u32, Option<u8>) {
    let priority = (whose >> u32::BITS).checked_sub(1);
    (whose as u32, priority.map(|priority| priority as u8))
}

/// A task that is given to a [`Builder`].
pub(super) struct Told {
    /// Its job.
    pub job: [u64; 2],
    /// By when the files first name it: no two have the same.
    pub order: u64,
    /// Seconds, at least 0.
    pub at: f64,
    pub user: u32,
    pub seconds: f64,
    pub priority: Option<u8>,
}

/// Takes tasks in any order, and finds the sizes of their jobs.
pub(super) struct Builder {
    /// By job.
    tasks: Sorter<6>,
}

impl Builder {
    pub fn new() -> Self {
        Self { tasks: Sorter::new() }
    }

    pub fn push(&mut self, task: &Told) -> Result<(), ImportError> {
        let [job, also] = task.job;
        let whose = packed(task.user, task.priority);
        // Adding 0 makes -0 a 0, so that bits are in the order of the numbers.
        self.tasks.push([job, also, task.order, (task.at + 0.0).to_bits(), whose, task.seconds.to_bits()])
    }

    /// All tasks as a trace; users are numbered by `number`.
    pub fn finish(
        self,
        users: Vec<UserSpec>,
        notes: Vec<Note>,
        number: impl Fn(u32) -> u32,
    ) -> Result<TraceStream, ImportError> {
        let by_job = self.tasks.finish()?;
        // One reader counts the tasks of a job before the other one passes them on.
        let (mut ahead, mut rows) = (by_job.rows()?, by_job.rows()?);
        let mut by_time = Sorter::<6>::new();
        let (mut job, mut next) = (0, ahead.next()?);
        while let Some([first, also, ..]) = next {
            let mut tasks = 0_u64;
            while let Some([of, of_also, ..]) = next
                && [of, of_also] == [first, also]
            {
                tasks += 1;
                next = ahead.next()?;
            }
            for _ in 0..tasks {
                let Some([_, _, order, at, whose, seconds]) = rows.next()? else { break };
                let (user, priority) = unpacked(whose);
                by_time.push([at, order, packed(number(user), priority), job, tasks, seconds])?;
            }
            job += 1;
        }
        drop((ahead, rows));
        drop(by_job);
        let tasks = by_time.finish()?;
        let digest = digest(&tasks)?;
        Ok(TraceStream { users, notes, digest, tasks })
    }
}

/// FNV-1a over whole words. Priorities are not of a simulation, and left out.
fn digest(tasks: &Sorted<6>) -> Result<u64, ImportError> {
    let (mut rows, mut hash) = (tasks.rows()?, 0xcbf2_9ce4_8422_2325_u64);
    while let Some(mut row) = rows.next()? {
        row[2] &= u64::from(u32::MAX);
        for word in row {
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            hash ^= hash >> u32::BITS;
        }
    }
    Ok(hash)
}
