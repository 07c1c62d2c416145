//! Sources of arrivals that read the tasks of traces and of task tables.

use std::collections::HashMap;

use evenhand_import::{ImportError, Input, TaskTable, TraceTask};
use evenhand_problem::Problem;

use crate::duration::Duration;
use crate::error::SimulateError;
use crate::workload::{Arrival, JobOfTrace, Source};

/// The tasks of a trace, which are in memory or are read one by one.
pub(crate) struct Replay<T> {
    tasks: T,
    /// One entry for each user: `true` if one task of the user fits on some server.
    fits: Vec<bool>,
    /// The number of tasks that were left out because they fit on no server.
    too_large: u64,
}

impl<T> Replay<T> {
    pub fn new(tasks: T, fits: Vec<bool>) -> Self {
        Self { tasks, fits, too_large: 0 }
    }
}

impl<T: Iterator<Item = Result<TraceTask, ImportError>>> Source for Replay<T> {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        for task in self.tasks.by_ref() {
            let TraceTask { at, user, job, job_tasks, seconds, .. } = task?;
            if self.fits.get(user as usize).is_some_and(|fits| *fits) {
                let of = Some(JobOfTrace { number: job, tasks: job_tasks });
                let duration = Duration::Constant(seconds);
                return Ok(Some(Arrival { at, user, tasks: 1, duration, of }));
            }
            self.too_large += 1;
        }
        Ok(None)
    }

    fn notes(&self) -> Vec<String> {
        if self.too_large == 0 {
            return Vec::new();
        }
        vec![format!("{} tasks of the trace fit on no server, not even alone: left out", self.too_large)]
    }
}

/// A CSV table of jobs that is read row by row.
pub(crate) struct Table {
    rows: TaskTable,
    /// The index and the gang size of each user, by the user's name.
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
