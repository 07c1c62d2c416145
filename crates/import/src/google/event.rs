//! Task events of the Google trace, row by row.

use super::super::super::google::Numbers;
use super::super::super::{
    ImportError, Input,
    input::{Record, Records},
    ordered::Ordered,
};

const COLUMNS: usize = 13;

/// What an event says of the run of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Placed,
    Ended,
    /// An update of a task that runs, though nothing may have said that it was placed.
    Runs,
    Other,
}

/// A row; requests are ids in [`Events::numbers`].
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// Checks the rows of all files one by one.
pub(super) struct Events {
    inputs: std::vec::IntoIter<Input>,
    rows: Option<Records>,
    users: Ordered<String, ()>,
    last_time: u64,
    pub numbers: Numbers,
}

impl Events {
    pub fn new(inputs: Vec<Input>) -> Self {
        Self {
            inputs: inputs.into_iter(),
            rows: None,
            users: Ordered::default(),
            last_time: 0,
            numbers: Numbers::default(),
        }
    }

    pub fn next(&mut self) -> Result<Option<Event>, ImportError> {
        let Self { inputs, rows, users, last_time, numbers } = self;
        loop {
            let row = match rows {
                Some(rows) => rows.next()?,
                None => {
                    let Some(input) = inputs.next() else { return Ok(None) };
                    Some(rows.insert(input.rows()).first("task events (13 columns)")?)
                }
            };
            if let Some(row) = row {
                return event(&row, users, last_time, numbers).map(Some);
            }
            *rows = None;
        }
    }
}

fn event(
    row: &Record<'_>,
    users: &mut Ordered<String, ()>,
    last_time: &mut u64,
    numbers: &mut Numbers,
) -> Result<Event, ImportError> {
    row.expect_columns(COLUMNS)?;
    let time = row.whole(0, "time")?;
    if time < *last_time {
        return Err(row.error(format!("time goes back from {last_time} to {time}")));
    }
    *last_time = time;
    let key = (row.whole(2, "job ID")?, row.whole(3, "task index")?);
    let requests = [numbers.read(row, 9, "CPU request")?, numbers.read(row, 10, "memory request")?];
    let user = users.place(row.field(6), || ());
    let what = match row.field(5) {
        "1" => What::Placed,
        "2" | "3" | "4" | "5" | "6" => What::Ended,
        "8" => What::Runs,
        "0" | "7" => What::Other,
        _ => return Err(row.column_error(5, "event type", "0 to 8")),
    };
    Ok(Event { time, key, what, user, priority: row.field(8).parse().ok(), requests })
}
