//! The Google cluster trace of May 2011 (clusterdata-2011-2).

mod event;
mod events;
mod machines;
mod stream;
mod tasks;

use std::collections::HashMap;

use evenhand_problem::number;
use evenhand_problem::problem::{Problem, ProblemSpec, ServerSpec};
use rug::Rational;

pub use events::{MachineChange, MachineEvent, MachineEvents};
pub use stream::google_stream;

use super::{Import, ImportError, Input, Note, input::Record, ordered::Ordered, writable};

/// Microseconds in a second.
const MICRO: f64 = 1e6;
const RESOURCES: [&str; 2] = ["cpu", "memory"];

/// The choice of the users of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GoogleUsers {
    /// Each user of the trace is a user. Its demand is the mean request of its running tasks.
    #[default]
    ByUser,
    /// Each pair of requests (CPU, memory) is a user, no matter which users of the trace made the request.
    ByShape,
}

/// Options for the import of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoogleOptions {
    /// The time in the trace in microseconds. The time 0 is the state at the start of the trace.
    pub time: u64,
    /// The choice of the users of the problem.
    pub users: GoogleUsers,
}

/// Reads a problem from machines and task events: the cluster and the tasks that run at one time.
///
/// `machines` is a table `platform,cpu,memory,count` with this header, or the trace's machine events. `tasks` are files
/// of the trace's task events in order of time. The resources are `cpu` and `memory`, in units of the largest machine.
/// Machines of one platform, CPU and memory are a server class. Users have weight 1, and their tasks are the running
/// tasks.
///
/// # Errors
/// Returns an [`ImportError`] if a file cannot be read, a row is malformed, times go back, or there is no
/// machine.
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
        resources: RESOURCES.map(str::to_owned).to_vec(),
        servers: cluster.servers,
        users,
    })?;
    Ok(Import { problem: writable(problem)?, notes, originals })
}

/// Reads the machines of the trace at time 0, from a table or machine events as for [`google()`].
///
/// # Errors
/// Returns an error in the same cases as [`google()`].
pub fn google_machines(machines: Input) -> Result<(Vec<ServerSpec>, Vec<Note>), ImportError> {
    let cluster = machines::read(machines, 0, &mut Numbers::default())?;
    Ok((cluster.servers, cluster.notes))
}

/// The requests of one user's tasks. Only tasks that state a request count, even if it is 0.
#[derive(Default)]
struct Requests {
    tasks: u64,
    /// The number of tasks with each request, for CPU and for memory.
    counts: [HashMap<usize, u64>; 2],
}

impl Requests {
    fn add(&mut self, requests: [Option<usize>; 2]) {
        self.tasks += 1;
        for (counts, id) in self.counts.iter_mut().zip(requests) {
            id.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
        }
    }

    /// Returns the mean request of CPU and of memory.
    fn mean(&self, numbers: &Numbers) -> [Rational; 2] {
        self.counts.each_ref().map(|counts| {
            // The order of a hash table is random, but exact sums do not depend on it.
            let sums = counts.iter().map(|(id, count)| Rational::from(numbers.value(*id) * *count));
            sums.sum::<Rational>() / self.tasks
        })
    }
}

/// The different numbers of a trace. A trace has few different numbers, so each is parsed once and gets an
/// id.
#[derive(Default)]
struct Numbers {
    by_text: HashMap<String, usize>,
    /// The numbers, each with its first text in the trace.
    all: Ordered<Rational, String>,
}

impl Numbers {
    /// Reads the number in a column and returns its id, or `None` if the column is empty.
    fn read(&mut self, row: &Record<'_>, column: usize, name: &str) -> Result<Option<usize>, ImportError> {
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

    fn value(&self, id: usize) -> &Rational {
        &self.all.entries()[id].0
    }

    fn text(&self, id: usize) -> &str {
        &self.all.entries()[id].1
    }

    fn is_zero(&self, id: usize) -> bool {
        self.value(id).is_zero()
    }

    /// Returns the requests with `None` in place of zeros.
    fn shape(&self, requests: [Option<usize>; 2]) -> [Option<usize>; 2] {
        requests.map(|id| id.filter(|id| !self.is_zero(*id)))
    }
}
