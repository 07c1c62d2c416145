//! Traces: tasks with the times at which they came and how long they ran, for simulations.

mod azure;
mod google;
mod openb;
mod spill;
mod stream;
mod tasks;

use evenhand_problem::problem::{ServerSpec, UserSpec};

pub use azure::azure_stream;
pub use google::google_stream;
pub use openb::openb_stream;
pub use stream::{StreamedTasks, TraceStream};
pub use tasks::{TaskRow, TaskTable};

use super::{ImportError, Input, Note};

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

/// The machines of the Google trace of 2011 at time 0, from a table or machine events as for
/// [`google`](super::google()).
///
/// # Errors
/// As [`google`](super::google()).
pub fn google_machines(machines: Input) -> Result<(Vec<ServerSpec>, Vec<Note>), ImportError> {
    super::google::machines_at_0(machines)
}

/// The nodes of an openb node list, as for [`openb`](super::openb()).
///
/// # Errors
/// As [`openb`](super::openb()).
pub fn openb_nodes(list: Input) -> Result<Vec<ServerSpec>, ImportError> {
    super::openb::servers(list)
}
