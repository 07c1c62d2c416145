//! Task events of the Google trace, row by row.

use super::super::{ImportError, Input, input::Record, ordered::Ordered};
use super::Numbers;

const COLUMNS: usize = 13;

/// The type of a task event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    Submitted,
    Placed,
    Ended,
    /// An update of a waiting task.
    Waits,
    /// An update of a running task. The event that placed the task may be missing.
    Runs,
}

/// A task event, one row of a file. Requests are ids in [`Numbers`].
pub(super) struct Event {
    /// The time in microseconds from the start of the trace.
    pub time: u64,
    /// The job of the task, and the index of the task in the job.
    pub key: (u64, u64),
    pub kind: EventKind,
    /// The index of the user. Users are numbered by first appearance.
    pub user: usize,
    pub priority: Option<u8>,
    pub requests: [Option<usize>; 2],
}

/// Checks the rows of all files one by one, and passes each event and its row to `visit`. Returns the users in the
/// order of their first appearance.
pub(super) fn each_event(
    inputs: Vec<Input>,
    numbers: &mut Numbers,
    mut visit: impl FnMut(&Event, &Record<'_>, &mut Numbers) -> Result<(), ImportError>,
) -> Result<Ordered<String, ()>, ImportError> {
    let (mut users, mut last_time) = (Ordered::default(), 0);
    for input in inputs {
        let mut rows = input.rows("task events (13 columns)");
        while let Some(row) = rows.next()? {
            let event = event(&row, &mut users, &mut last_time, numbers)?;
            visit(&event, &row, numbers)?;
        }
    }
    Ok(users)
}

fn event(
    row: &Record<'_>,
    users: &mut Ordered<String, ()>,
    last_time: &mut u64,
    numbers: &mut Numbers,
) -> Result<Event, ImportError> {
    row.expect_columns(COLUMNS)?;
    let time = row.time(0, "time", last_time)?;
    let key = (row.whole(2, "job ID")?, row.whole(3, "task index")?);
    let requests = [numbers.read(row, 9, "CPU request")?, numbers.read(row, 10, "memory request")?];
    let user = users.place(row.field(6), || ());
    let kind = match row.field(5) {
        "0" => EventKind::Submitted,
        "1" => EventKind::Placed,
        "2" | "3" | "4" | "5" | "6" => EventKind::Ended,
        "7" => EventKind::Waits,
        "8" => EventKind::Runs,
        _ => return Err(row.column_error(5, "event type", "0 to 8")),
    };
    Ok(Event { time, key, kind, user, priority: row.field(8).parse().ok(), requests })
}
