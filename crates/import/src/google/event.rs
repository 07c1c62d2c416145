//! Task events of the Google trace, row by row.

use super::super::{ImportError, Input, input::Record, ordered::Ordered};
use super::Numbers;

const COLUMNS: usize = 13;

/// What an event says of the run of a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Submitted,
    Placed,
    Ended,
    /// An update of a task that waits.
    Waits,
    /// An update of a task that runs, though nothing may have said that it was placed.
    Runs,
}

/// A row; requests are ids in [`Numbers`].
pub(super) struct Event {
    /// Microseconds.
    pub time: u64,
    /// Job and index of the task.
    pub key: (u64, u64),
    pub what: What,
    /// By the order in which users are first named.
    pub user: usize,
    pub priority: Option<u8>,
    pub requests: [Option<usize>; 2],
}

/// Checks the rows of all files one by one, and tells what each says with the row for what else it says; the users in
/// the order in which they are first named.
pub(super) fn each_event(
    inputs: Vec<Input>,
    numbers: &mut Numbers,
    mut tell: impl FnMut(&Event, &Record<'_>, &mut Numbers) -> Result<(), ImportError>,
) -> Result<Ordered<String, ()>, ImportError> {
    let (mut users, mut last_time) = (Ordered::default(), 0);
    for input in inputs {
        let mut rows = input.rows("task events (13 columns)");
        while let Some(row) = rows.next()? {
            let event = event(&row, &mut users, &mut last_time, numbers)?;
            tell(&event, &row, numbers)?;
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
    let what = match row.field(5) {
        "0" => What::Submitted,
        "1" => What::Placed,
        "2" | "3" | "4" | "5" | "6" => What::Ended,
        "7" => What::Waits,
        "8" => What::Runs,
        _ => return Err(row.column_error(5, "event type", "0 to 8")),
    };
    Ok(Event { time, key, what, user, priority: row.field(8).parse().ok(), requests })
}
