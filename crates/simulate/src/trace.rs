//! Tasks of traces as arrivals.

use std::collections::HashMap;

use evenhand_import::{Input, StreamedTasks, TaskTable, Trace, TraceStream};
use evenhand_problem::Problem;

use crate::duration::Duration;
use crate::error::SimulateError;
use crate::workload::{Arrival, JobOfTrace, Source};

/// What is left out of a trace.
struct LeftOut {
    /// By user: whether its tasks fit somewhere.
    fits: Vec<bool>,
    too_large: u64,
}

impl LeftOut {
    fn keeps(&mut self, user: u32) -> bool {
        let fits = self.fits.get(user as usize).is_some_and(|fits| *fits);
        self.too_large += u64::from(!fits);
        fits
    }

    fn notes(&self) -> Vec<String> {
        if self.too_large == 0 {
            return Vec::new();
        }
        vec![format!("{} tasks of the trace fit on no server, not even alone: left out", self.too_large)]
    }
}

/// The tasks of a trace in memory.
pub(crate) struct Replay<'a> {
    trace: &'a Trace,
    next: usize,
    left_out: LeftOut,
}

impl<'a> Replay<'a> {
    /// `fits`: by user, whether its tasks fit somewhere.
    pub fn new(trace: &'a Trace, fits: Vec<bool>) -> Self {
        Self { trace, next: 0, left_out: LeftOut { fits, too_large: 0 } }
    }
}

impl Source for Replay<'_> {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        while let Some(task) = self.trace.tasks.get(self.next) {
            self.next += 1;
            if self.left_out.keeps(task.user) {
                let tasks = self.trace.jobs.get(task.job as usize).copied().unwrap_or(1).into();
                let of = Some(JobOfTrace { number: task.job.into(), tasks });
                let duration = Duration::Constant(task.seconds);
                return Ok(Some(Arrival { at: task.at, user: task.user, tasks: 1, duration, of }));
            }
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.notes()
    }
}

/// The tasks of a trace, read one by one.
pub(crate) struct Streamed<'a> {
    tasks: StreamedTasks<'a>,
    left_out: LeftOut,
}

impl<'a> Streamed<'a> {
    /// `fits`: by user, whether its tasks fit somewhere.
    pub fn new(trace: &'a TraceStream, fits: Vec<bool>) -> Result<Self, SimulateError> {
        Ok(Self { tasks: trace.tasks()?, left_out: LeftOut { fits, too_large: 0 } })
    }
}

impl Source for Streamed<'_> {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        while let Some(task) = self.tasks.next_task()? {
            if self.left_out.keeps(task.user) {
                let of = Some(JobOfTrace { number: task.job, tasks: task.job_tasks });
                let duration = Duration::Constant(task.seconds);
                return Ok(Some(Arrival { at: task.at, user: task.user, tasks: 1, duration, of }));
            }
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        self.left_out.notes()
    }
}

/// A table of jobs, streamed.
pub(crate) struct Table {
    rows: TaskTable,
    /// By name: the user and its gang.
    users: HashMap<String, (u32, u64)>,
}

impl Table {
    pub fn new(input: Input, problem: &Problem) -> Result<Self, SimulateError> {
        let of = |n: usize| {
            let gang = problem.groups().member(n).gang.unwrap_or(1);
            (problem.users()[n].name().to_owned(), (n as u32, gang))
        };
        let users = (0..problem.n_users()).map(of);
        Ok(Self { rows: TaskTable::new(input)?, users: users.collect() })
    }
}

impl Source for Table {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        let Some(row) = self.rows.next_row()? else { return Ok(None) };
        let Some(&(user, gang)) = self.users.get(&row.user) else {
            return Err(self.rows.unknown_user(&row).into());
        };
        if !row.tasks.is_multiple_of(gang) {
            return Err(self.rows.no_whole_gangs(&row, gang).into());
        }
        let duration = Duration::Constant(row.duration);
        Ok(Some(Arrival { at: row.at, user, tasks: row.tasks, duration, of: None }))
    }
}
