//! What an import leaves unsaid.

use thiserror::Error;

/// Something in the data that the problem does not express, with the number of rows it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Note {
    /// Columns that no allocation problem has a place for.
    #[error("not modelled: {columns} ({rows} rows)")]
    ColumnsNotModelled {
        /// Names of the columns.
        columns: String,
        /// Rows that have them.
        rows: u64,
    },
    /// Pods or tasks that ask for no CPU; they stay, with a CPU demand of 0.
    #[error("{0} tasks request 0 CPU: kept with a demand of 0")]
    NoCpuRequest(u64),
    /// Pods or tasks without any request; they are left out.
    #[error("{0} tasks request nothing at all: left out")]
    NothingRequested(u64),
    /// Tasks with one of the two requests missing, which counts as 0.
    #[error("{0} tasks state only one of the two requests: the other is taken as 0")]
    RequestPartlyMissing(u64),
    /// A user whose tasks all demand nothing; it is left out.
    #[error("user `{user}` demands nothing with its {tasks} tasks: left out")]
    UserDemandsNothing {
        /// Name that the user would have had.
        user: String,
        /// Its tasks.
        tasks: u64,
    },
    /// Tasks that ask for a part of one GPU, which the problem may spread over several.
    #[error("{0} tasks share one GPU with others: the problem may spread their part over several GPUs")]
    SharedGpu(u64),
    /// A GPU model in a placement constraint that no node has.
    #[error("no node has the GPU model `{model}` that {tasks} tasks name")]
    UnknownGpuModel {
        /// The model.
        model: String,
        /// Pods that name it.
        tasks: u64,
    },
    /// Pods whose placement constraint no node meets; they are left out.
    #[error("{tasks} tasks may run only on `{models}`, which no node has: left out")]
    NoServerAllowed {
        /// The allowed models.
        models: String,
        /// The pods.
        tasks: u64,
    },
    /// Machines without a stated capacity; they are left out.
    #[error("{0} machines have no capacity in the data: left out")]
    MachinesWithoutCapacity(u64),
    /// Tasks that must run on machines different from others of their job.
    #[error("{0} tasks must not share a machine with others of their job: not modelled")]
    DifferentMachines(u64),
    /// Tasks with a disk request.
    #[error("{0} tasks request disk space: not modelled")]
    DiskRequest(u64),
    /// Tasks that wait at the chosen time.
    #[error("{0} tasks wait for a machine at this time: left out, only running tasks are taken")]
    Waiting(u64),
    /// Events that the trace itself marks as reconstructed.
    #[error("{0} task events up to this time are marked in the trace as reconstructed")]
    Reconstructed(u64),
    /// Tasks of a trace that never ran: how long they would have run is not known.
    #[error("{0} tasks never ran in the trace: left out, their running times are not known")]
    NeverRan(u64),
    /// Tasks of a trace that ran several times.
    #[error("{0} tasks ran more than once in the trace: each runs once, as long as its last run")]
    RanAgain(u64),
    /// Tasks of a trace that had not ended when it did.
    #[error("{0} tasks still ran at the end of the trace: they run to the end of the simulation")]
    RunsOn(u64),
    /// Machine events of the trace that state no capacity.
    #[error(
        "{0} machine events state no capacity: such a machine is left out until one does, another stays as it was"
    )]
    EventsWithoutCapacity(u64),
    /// Updates of machines after which nothing is different.
    #[error("{0} machine updates change neither platform nor capacity: left out")]
    UpdatesWithoutChange(u64),
    /// Machines that come, go or change at later times.
    #[error("{0} machine events after this time: not taken")]
    LaterMachineEvents(u64),
}

/// Makes a note of a count.
type OfCount = fn(u64) -> Note;

/// The notes about what there is any of.
pub(super) fn notes<const N: usize>(counts: [(u64, OfCount); N]) -> Vec<Note> {
    counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, note)| note(count)).collect()
}
