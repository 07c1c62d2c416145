//! The machine events of the trace over time.

use std::collections::HashMap;

use evenhand_problem::problem::ServerSpec;

use super::super::{
    ImportError, Input, Note,
    input::{Record, Records},
    note::notes,
};
use super::machines::{Event, Platforms, Shape, Stated, TABLE_COLUMNS, What, server};
use super::{MICRO, Numbers};

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
        Self { rows: events.rows("machine events (6 columns)"), reader: Reader::default() }
    }

    /// The next event that changes something.
    ///
    /// # Errors
    /// [`ImportError`] when a row is malformed, its time is before that of the row above, or it is of a machine that
    /// is not there (removed, updated) or is there already (added).
    pub fn next_event(&mut self) -> Result<Option<MachineEvent>, ImportError> {
        while let Some(row) = self.rows.next()? {
            if let Some(event) = self.reader.take(&row)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The classes so far: machines of one platform, CPU and memory. Counts are not stated.
    #[must_use]
    pub fn classes(&self) -> &[ServerSpec] {
        &self.reader.classes
    }

    /// What is left out of the rows so far, and why.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        notes([
            (self.reader.without_capacity, Note::EventsWithoutCapacity),
            (self.reader.without_change, Note::UpdatesWithoutChange),
        ])
    }
}

impl Reader {
    fn take(&mut self, row: &Record<'_>) -> Result<Option<MachineEvent>, ImportError> {
        if row.is(&TABLE_COLUMNS) {
            let message =
                "this is a table of machines: expected machine events (6 columns), which tell times";
            return Err(row.error(message));
        }
        let Event { time, machine: id, what, stated } =
            Event::read(row, &mut self.last_time, &mut self.numbers)?;
        let class = self.class(stated);
        let fresh = self.machines.len();
        let (machine, standing) = self.machines.entry(id).or_insert((fresh, Standing::Away));
        let (next, change) = match (what, *standing, class) {
            (What::Added, Standing::There(_) | Standing::Unknown, _) => {
                return Err(row.column_error(1, "machine ID", "one that is not there, to be added"));
            }
            (What::Removed | What::Updated, Standing::Away, _) => {
                let expected = "one that is there, to be removed or updated";
                return Err(row.column_error(1, "machine ID", expected));
            }
            (What::Added, Standing::Away, None) => (Standing::Unknown, None),
            (What::Added, Standing::Away, Some(class)) | (What::Updated, Standing::Unknown, Some(class)) => {
                (Standing::There(class), Some(MachineChange::Comes(class)))
            }
            (What::Removed, Standing::Unknown, _) => (Standing::Away, None),
            (What::Removed, Standing::There(_), _) => (Standing::Away, Some(MachineChange::Goes)),
            (What::Updated, Standing::There(old), Some(class)) if old != class => {
                (Standing::There(class), Some(MachineChange::Becomes(class)))
            }
            (What::Updated, old, _) => (old, None),
        };
        match (what, class) {
            (What::Added | What::Updated, None) => self.without_capacity += 1,
            (What::Updated, Some(_)) if change.is_none() => self.without_change += 1,
            _ => {}
        }
        *standing = next;
        Ok(change.map(|change| MachineEvent { at: time as f64 / MICRO, machine: *machine, change }))
    }

    /// The class of a machine of which platform, CPU and memory are stated.
    fn class(&mut self, stated: Stated) -> Option<usize> {
        let (hash, Some(cpu), Some(memory)) = stated else { return None };
        let shape = (self.platforms.name(&hash), cpu, memory);
        let fresh = self.classes.len();
        let class = *self.class_of.entry(shape.clone()).or_insert(fresh);
        if class == fresh {
            self.classes.push(server(&shape, None, &self.numbers));
        }
        Some(class)
    }
}
