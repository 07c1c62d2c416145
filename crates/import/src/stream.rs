//! Traces for simulations: tasks with arrival times and running times, in the order of arrival. Tasks are
//! read one by one, and not all of them are in memory at the same time.

use evenhand_problem::problem::UserSpec;

use super::spill::{Rows, Sorted, Sorter};
use super::{ImportError, Note};

/// A task of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceTask {
    /// The time of arrival in seconds from the start of the trace.
    pub at: f64,
    /// The position of the task's user among the users of the trace.
    pub user: u32,
    /// The number of the task's job.
    pub job: u64,
    /// The number of tasks of the job.
    pub job_tasks: u64,
    /// The running time in seconds. It is infinite if the task still ran at the end of the trace.
    pub seconds: f64,
    /// The priority, if the trace states it. Higher priorities are served first.
    pub priority: Option<u8>,
}

/// A trace in memory, with its tasks in the order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The users. Their demand is the demand of one task.
    pub users: Vec<UserSpec>,
    /// The tasks. Tasks that arrive at the same time are in the order of the files.
    pub tasks: Vec<TraceTask>,
    /// Notes about data that is left out.
    pub notes: Vec<Note>,
}

/// A trace whose tasks are read one by one. All rows of its files have been checked. If the tasks need more
/// than a few megabytes they are in a temporary file, so memory grows with the users and not with the tasks.
pub struct TraceStream {
    /// The users. Their demand is the demand of one task.
    pub users: Vec<UserSpec>,
    /// Notes about data that is left out.
    pub notes: Vec<Note>,
    /// A hash of the tasks, which distinguishes traces.
    pub digest: u64,
    tasks: Sorted<6>,
}

impl TraceStream {
    /// Returns the number of tasks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tasks.len()
    }

    /// Returns whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the tasks in the order of arrival. Tasks that arrive at the same time are in the order of the files.
    ///
    /// # Errors
    /// Returns [`ImportError::Temporary`] if the temporary file cannot be read.
    pub fn tasks(&self) -> Result<StreamedTasks<'_>, ImportError> {
        Ok(StreamedTasks { rows: self.tasks.rows()? })
    }

    /// Reads all tasks into memory.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`TraceStream::tasks`].
    pub fn into_memory(self) -> Result<Trace, ImportError> {
        evenhand_budget::table(
            self.len() as usize,
            1,
            size_of::<TraceTask>(),
            "the list of tasks of the trace",
        );
        let tasks = self.tasks()?.collect::<Result<_, _>>()?;
        Ok(Trace { users: self.users, tasks, notes: self.notes })
    }
}

/// A reader of the tasks of a [`TraceStream`].
pub struct StreamedTasks<'a> {
    rows: Rows<'a, 6>,
}

impl Iterator for StreamedTasks<'_> {
    type Item = Result<TraceTask, ImportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next().transpose()?;
        Some(row.map(|[at, _, user_and_priority, job, job_tasks, seconds]| {
            let (user, priority) = unpacked(user_and_priority);
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

/// Packs a user and a priority into one number. The lower half is the user.
pub(super) fn packed(user: u32, priority: Option<u8>) -> u64 {
    // 0 in the upper half means that there is no priority.
    priority.map_or(0, |priority| 1 + u64::from(priority)) << u32::BITS | u64::from(user)
}

/// Returns the user and the priority of a packed number.
pub(super) fn unpacked(user_and_priority: u64) -> (u32, Option<u8>) {
    let priority = (user_and_priority >> u32::BITS).checked_sub(1);
    (user_and_priority as u32, priority.map(|priority| priority as u8))
}

/// A task that is pushed to a [`Builder`].
pub(super) struct NewTask {
    /// The two numbers that identify the task's job.
    pub job: [u64; 2],
    /// The position of the task's first appearance in the files. It is different for each task.
    pub order: u64,
    /// The time of arrival in seconds, at least 0.
    pub at: f64,
    pub user: u32,
    /// The running time in seconds.
    pub seconds: f64,
    pub priority: Option<u8>,
}

/// A builder of a trace, which takes tasks in any order and counts the tasks of each job.
pub(super) struct Builder {
    /// The tasks, sorted by job.
    tasks: Sorter<6>,
}

impl Builder {
    pub fn new() -> Self {
        Self { tasks: Sorter::new() }
    }

    pub fn push(&mut self, task: &NewTask) -> Result<(), ImportError> {
        let [job, job_2] = task.job;
        let (user, seconds) = (packed(task.user, task.priority), task.seconds.to_bits());
        // Adding 0 turns -0 into 0, so the bits have the order of the numbers.
        self.tasks.push([job, job_2, task.order, (task.at + 0.0).to_bits(), user, seconds])
    }

    /// Returns all tasks as a trace. `number` maps the user of a task to its number in `users`.
    pub fn finish(
        self,
        users: Vec<UserSpec>,
        notes: Vec<Note>,
        number: impl Fn(u32) -> u32,
    ) -> Result<TraceStream, ImportError> {
        let by_job = self.tasks.finish()?;
        // The first reader counts the tasks of a job. Then the second reader passes the tasks on with this
        // count.
        let (mut ahead, mut rows) = (by_job.rows()?, by_job.rows()?);
        let mut by_time = Sorter::<6>::new();
        let (mut job, mut next) = (0, ahead.next()?);
        while let Some([first, first_2, ..]) = next {
            let mut tasks = 0_u64;
            while let Some([other, other_2, ..]) = next
                && [other, other_2] == [first, first_2]
            {
                tasks += 1;
                next = ahead.next()?;
            }
            for _ in 0..tasks {
                let Some([_, _, order, at, user_and_priority, seconds]) = rows.next()? else { break };
                let (user, priority) = unpacked(user_and_priority);
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

/// Returns the FNV-1a hash of the tasks, word by word. Priorities are left out, because simulations do not use them.
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
