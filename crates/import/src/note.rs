//! Notes about data that an import does not express.

use thiserror::Error;

/// A kind of data that the problem does not express, with the number of rows.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Note {
    /// Columns that an allocation problem cannot express.
    #[error("not modelled: {columns} ({rows} rows)")]
    ColumnsNotModelled {
        /// The names of the columns.
        columns: String,
        /// The number of rows with these columns.
        rows: u64,
    },
    /// The number of pods or tasks that request no CPU. They are kept, with a CPU demand of 0.
    #[error("{0} tasks request 0 CPU: kept with a demand of 0")]
    NoCpuRequest(u64),
    /// The number of pods or tasks without any request. They are left out.
    #[error("{0} tasks request no resource: left out")]
    NothingRequested(u64),
    /// The number of tasks that state only one of the two requests. The other request counts as 0.
    #[error("{0} tasks state only one of the two requests: the other one counts as 0")]
    RequestPartlyMissing(u64),
    /// A user whose tasks all have demands of 0. The user is left out.
    #[error("the {tasks} tasks of user `{user}` request no resource: left out")]
    UserDemandsNothing {
        /// The name that the user would have had.
        user: String,
        /// The number of the user's tasks.
        tasks: u64,
    },
    /// The number of tasks that request a fraction of one GPU. The problem may spread the fraction over
    /// several GPUs.
    #[error("{0} tasks use a fraction of one GPU: the problem may spread it over several GPUs")]
    SharedGpu(u64),
    /// A GPU model in placement constraints that no node has.
    #[error("{tasks} tasks name the GPU model `{model}`, which no node has")]
    UnknownGpuModel {
        /// The name of the model.
        model: String,
        /// The number of pods that name the model.
        tasks: u64,
    },
    /// Pods whose placement constraint no node meets. They are left out.
    #[error("{tasks} tasks may run only on `{models}`, which no node has: left out")]
    NoServerAllowed {
        /// The names of the allowed models.
        models: String,
        /// The number of pods with the constraint.
        tasks: u64,
    },
    /// The number of machines without a stated capacity. They are left out.
    #[error("{0} machines have no capacity in the data: left out")]
    MachinesWithoutCapacity(u64),
    /// The number of tasks that must run on other machines than the other tasks of their job.
    #[error("{0} tasks must not share a machine with others of their job: not modelled")]
    DifferentMachines(u64),
    /// The number of tasks with a disk request.
    #[error("{0} tasks request disk space: not modelled")]
    DiskRequest(u64),
    /// The number of tasks that wait at the chosen time.
    #[error("{0} tasks wait for a machine at this time: left out, only running tasks are taken")]
    Waiting(u64),
    /// The number of events that the trace itself marks as reconstructed.
    #[error("{0} task events up to this time are marked in the trace as reconstructed")]
    Reconstructed(u64),
    /// The number of tasks of a trace that never ran. Their running times are not known.
    #[error("{0} tasks never ran in the trace: left out, their running times are not known")]
    NeverRan(u64),
    /// The number of tasks of a trace that ran several times.
    #[error("{0} tasks ran more than once in the trace: each runs once, as long as its last run")]
    RanAgain(u64),
    /// The number of tasks that still ran at the end of the trace.
    #[error("{0} tasks still ran at the end of the trace: they run to the end of the simulation")]
    RunsOn(u64),
    /// The number of machine events of the trace that state no capacity.
    #[error(
        "{0} machine events state no capacity: a new machine is left out until an event states one, others keep theirs"
    )]
    EventsWithoutCapacity(u64),
    /// The number of updates of machines that change nothing.
    #[error("{0} machine updates change neither platform nor capacity: left out")]
    UpdatesWithoutChange(u64),
    /// The number of machine events after the chosen time.
    #[error("{0} machine events are after this time: left out")]
    LaterMachineEvents(u64),
}

/// A function that makes a note from a count.
type OfCount = fn(u64) -> Note;

/// Returns the notes whose counts are above 0.
pub(super) fn notes<const N: usize>(counts: [(u64, OfCount); N]) -> Vec<Note> {
    counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, note)| note(count)).collect()
}
