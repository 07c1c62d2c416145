//! The machine events of the trace over time.

use std::collections::HashMap;

use evenhand_problem::problem::ServerSpec;

use super::super::{
    ImportError, Input, Note,
    input::{Record, Records},
};
use super::machines::{Platforms, Shape, TABLE_COLUMNS, server, stated};
use super::{Numbers, note_if};

/// Columns of machine events.
const COLUMNS: usize = 6;
/// Microseconds in a second.
const MICRO: f64 = 1e6;

/// What happens to a machine; classes by their place among [`MachineEvents::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineChange {
    /// It comes, as one of this class.
    Comes(usize),
    /// It goes.
    Goes,
    /// It is one of this class from now on.
    Becomes(usize),
}

/// Something that happens to a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineEvent {
    /// Time in seconds from the start of the trace.
    pub at: f64,
    /// Machine, by the order in which they are first named.
    pub machine: usize,
    /// What happens.
    pub change: MachineChange,
}

/// Where a machine stands.
#[derive(Debug, Clone, Copy)]
enum Standing {
    Away,
    /// It is there, with a capacity that is not stated.
    Unknown,
    There(usize),
}

/// Machine events of the Google trace of 2011, row by row.
pub struct MachineEvents {
    rows: Records,
    is_begun: bool,
    reader: Reader,
}

#[derive(Default)]
struct Reader {
    numbers: Numbers,
    platforms: Platforms,
    classes: Vec<ServerSpec>,
    class_of: HashMap<Shape, usize>,
    machines: HashMap<u64, (usize, Standing)>,
    last_time: u64,
    without_capacity: u64,
    without_change: u64,
}

impl MachineEvents {
    /// Reads nothing yet.
    #[must_use]
    pub fn new(events: Input) -> Self {
        Self { rows: events.rows(), is_begun: false, reader: Reader::default() }
    }

    /// The next event that changes something.
    ///
    /// # Errors
    /// [`ImportError`] when a row is malformed, its time is before that of the row above, or it is of a machine that
    /// is not there (removed, updated) or is there already (added).
    pub fn next_event(&mut self) -> Result<Option<MachineEvent>, ImportError> {
        loop {
            let row = if std::mem::replace(&mut self.is_begun, true) {
                self.rows.next()?
            } else {
                Some(self.rows.first("machine events (6 columns)")?)
            };
            let Some(row) = row else { return Ok(None) };
            if let Some(event) = self.reader.take(&row)? {
                return Ok(Some(event));
            }
        }
    }

    /// The classes so far: machines of one platform, CPU and memory. Counts are not stated.
    #[must_use]
    pub fn classes(&self) -> &[ServerSpec] {
        &self.reader.classes
    }

    /// What is left out of the rows so far, and why.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        note_if(&mut notes, self.reader.without_capacity, Note::EventsWithoutCapacity);
        note_if(&mut notes, self.reader.without_change, Note::UpdatesWithoutChange);
        notes
    }
}

impl Reader {
    fn take(&mut self, row: &Record<'_>) -> Result<Option<MachineEvent>, ImportError> {
        if row.is(&TABLE_COLUMNS) {
            let message =
                "this is a table of machines: expected machine events (6 columns), which tell times";
            return Err(row.error(message));
        }
        row.expect_columns(COLUMNS)?;
        let now = row.whole(0, "time")?;
        if now < self.last_time {
            return Err(row.error(format!("time goes back from {} to {now}", self.last_time)));
        }
        self.last_time = now;
        let id = row.whole(1, "machine ID")?;
        let class = self.class(row)?;
        let fresh = self.machines.len();
        let (machine, standing) = self.machines.entry(id).or_insert((fresh, Standing::Away));
        let (next, change) = match (row.field(2), *standing, class) {
            ("0", Standing::There(_) | Standing::Unknown, _) => {
                return Err(row.column_error(1, "machine ID", "one that is not there, to be added"));
            }
            ("1" | "2", Standing::Away, _) => {
                let expected = "one that is there, to be removed or updated";
                return Err(row.column_error(1, "machine ID", expected));
            }
            ("0", Standing::Away, None) => (Standing::Unknown, None),
            ("0" | "2", Standing::Away | Standing::Unknown, Some(class)) => {
                (Standing::There(class), Some(MachineChange::Comes(class)))
            }
            ("1", Standing::Unknown, _) => (Standing::Away, None),
            ("1", Standing::There(_), _) => (Standing::Away, Some(MachineChange::Goes)),
            ("2", Standing::There(old), Some(class)) if old != class => {
                (Standing::There(class), Some(MachineChange::Becomes(class)))
            }
            ("2", old, _) => (old, None),
            _ => return Err(row.column_error(2, "event type", "0 (add), 1 (remove) or 2 (update)")),
        };
        match (row.field(2), class) {
            ("0" | "2", None) => self.without_capacity += 1,
            ("2", Some(_)) if change.is_none() => self.without_change += 1,
            _ => {}
        }
        *standing = next;
        Ok(change.map(|change| MachineEvent { at: now as f64 / MICRO, machine: *machine, change }))
    }

    /// The class of a row that states platform, CPU and memory.
    fn class(&mut self, row: &Record<'_>) -> Result<Option<usize>, ImportError> {
        let (hash, Some(cpu), Some(memory)) = stated(row, [3, 4, 5], &mut self.numbers)? else {
            return Ok(None);
        };
        let shape = (self.platforms.name(&hash), cpu, memory);
        let fresh = self.classes.len();
        let class = *self.class_of.entry(shape.clone()).or_insert(fresh);
        if class == fresh {
            self.classes.push(server(&shape, None, &self.numbers));
        }
        Ok(Some(class))
    }
}
