//! Traces that are not kept in memory: tasks of a file in the order of their arrivals.

use evenhand_problem::problem::UserSpec;

use super::super::{ImportError, Note};
use super::spill::{Rows, Sorted, Sorter};

/// A trace whose tasks are read one by one. Every row of its files has been checked. Beyond some megabytes the tasks
/// stand in a temporary file, so that memory grows with the users and not with the tasks.
pub struct TraceStream {
    /// Names of the resources.
    pub resources: Vec<String>,
    /// The users, with the demand of one task.
    pub users: Vec<UserSpec>,
    /// What is left out of the data, and why.
    pub notes: Vec<Note>,
    /// Tells the tasks of one trace from those of another.
    pub digest: u64,
    tasks: Sorted<6>,
}

/// A task of a [`TraceStream`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamedTask {
    /// Time of arrival in seconds from the start of the trace.
    pub at: f64,
    /// User, by its place among [`TraceStream::users`].
    pub user: u32,
    /// Number of its job.
    pub job: u64,
    /// Tasks of the job.
    pub job_tasks: u64,
    /// Seconds that it ran; infinite where it still ran at the end of the trace.
    pub seconds: f64,
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
}

/// Reads the tasks of a [`TraceStream`].
pub struct StreamedTasks<'a> {
    rows: Rows<'a, 6>,
}

impl StreamedTasks<'_> {
    /// The next task.
    ///
    /// # Errors
    /// [`ImportError::Temporary`] when the temporary file cannot be read.
    pub fn next_task(&mut self) -> Result<Option<StreamedTask>, ImportError> {
        let row = self.rows.next()?;
        Ok(row.map(|[at, _, user, job, job_tasks, seconds]| StreamedTask {
            at: f64::from_bits(at),
            user: user as u32,
            job,
            job_tasks,
            seconds: f64::from_bits(seconds),
        }))
    }
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
        let user = u64::from(task.user);
        // Adding 0 makes -0 a 0, so that bits are in the order of the numbers.
        self.tasks.push([job, also, task.order, (task.at + 0.0).to_bits(), user, task.seconds.to_bits()])
    }

    /// All tasks as a trace; users are numbered by `number`.
    pub fn finish(
        self,
        resources: &[&str],
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
                let Some([_, _, order, at, user, seconds]) = rows.next()? else { break };
                let user = number(user as u32);
                by_time.push([at, order, u64::from(user), job, tasks, seconds])?;
            }
            job += 1;
        }
        drop((ahead, rows));
        drop(by_job);
        let tasks = by_time.finish()?;
        let digest = digest(&tasks)?;
        let resources = resources.iter().map(|&name| name.to_owned()).collect();
        Ok(TraceStream { resources, users, notes, digest, tasks })
    }
}

/// FNV-1a over whole words.
fn digest(tasks: &Sorted<6>) -> Result<u64, ImportError> {
    let (mut rows, mut hash) = (tasks.rows()?, 0xcbf2_9ce4_8422_2325_u64);
    while let Some(row) = rows.next()? {
        for word in row {
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
            hash ^= hash >> u32::BITS;
        }
    }
    Ok(hash)
}
