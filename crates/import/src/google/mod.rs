//! The Google cluster trace of May 2011 (clusterdata-2011-2).

mod events;
mod machines;
mod tasks;

use std::collections::HashMap;

use evenhand_problem::number;
use evenhand_problem::problem::{Problem, ProblemSpec};
use rug::Rational;

pub use events::{MachineChange, MachineEvent, MachineEvents};

use super::{Import, ImportError, Input, Note, ordered::Ordered, writable};

/// Who is a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GoogleUsers {
    /// Every user of the trace; its demand is the mean request of its running tasks.
    #[default]
    ByUser,
    /// Every request shape (CPU, memory), whoever asked.
    ByShape,
}

/// What to take from the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoogleOptions {
    /// Trace time in microseconds; 0 is the state that was found when tracing began.
    pub time: u64,
    /// Who is a user.
    pub users: GoogleUsers,
}

/// A problem from machines and task events: the cluster and the tasks running at one time.
///
/// `machines` is a table `platform,cpu,memory,count` with this header, or the trace's machine
/// events. `tasks` are parts of the trace's task events in order of time. Resources: `cpu` and
/// `memory`, in units of the largest machine. Machines of one platform, CPU and memory are a server
/// class; users have weight 1 and as many tasks as run.
///
/// # Errors
/// [`ImportError`] when a file cannot be read, a row is malformed, times go back, or no machine is
/// there.
pub fn google(machines: Input, tasks: Vec<Input>, options: GoogleOptions) -> Result<Import, ImportError> {
    let mut numbers = Numbers::default();
    let cluster = machines::read(machines, options.time, &mut numbers)?;
    let running = tasks::read(tasks, options.time, &mut numbers)?;
    let mut notes = cluster.notes;
    let mut originals = cluster.originals;
    let users = match options.users {
        GoogleUsers::ByUser => tasks::by_user(&running, &numbers, &mut notes, &mut originals),
        GoogleUsers::ByShape => tasks::by_shape(&running, &numbers, &mut notes),
    };
    let problem = Problem::new(ProblemSpec {
        name: format!("Google cluster 2011 at {} us", options.time),
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        servers: cluster.servers,
        users,
    })?;
    Ok(Import { problem: writable(problem)?, notes, originals })
}

/// The machines at time 0.
pub(super) fn machines_at_0(
    machines: Input,
) -> Result<(Vec<evenhand_problem::problem::ServerSpec>, Vec<Note>), ImportError> {
    let cluster = machines::read(machines, 0, &mut Numbers::default())?;
    Ok((cluster.servers, cluster.notes))
}

/// The few different numbers of a trace, each parsed once.
#[derive(Default)]
pub(super) struct Numbers {
    by_text: HashMap<String, usize>,
    /// With the first way each was written.
    all: Ordered<Rational, String>,
}

impl Numbers {
    /// The number that stands in a column; `None` when it is empty.
    pub(super) fn read(
        &mut self,
        row: &super::input::Record<'_>,
        column: usize,
        name: &str,
    ) -> Result<Option<usize>, ImportError> {
        let text = row.field(column);
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(&id) = self.by_text.get(text) {
            return Ok(Some(id));
        }
        let decimal = if text.contains('/') { None } else { number::parse(text).ok() };
        let value = decimal
            .filter(|value| *value >= 0)
            .ok_or_else(|| row.column_error(column, name, "a decimal of at least 0, or nothing"))?;
        let id = self.all.place(&value, || text.to_owned());
        self.by_text.insert(text.to_owned(), id);
        Ok(Some(id))
    }

    pub(super) fn value(&self, id: usize) -> &Rational {
        &self.all.entries()[id].0
    }

    fn text(&self, id: usize) -> &str {
        &self.all.entries()[id].1
    }

    pub(super) fn is_zero(&self, id: usize) -> bool {
        self.value(id).is_zero()
    }
}

fn note_if(notes: &mut Vec<Note>, count: u64, note: impl Fn(u64) -> Note) {
    if count > 0 {
        notes.push(note(count));
    }
}
