//! The machine events of the Google trace, one after another.

use std::collections::HashMap;

use evenhand_problem::problem::ServerSpec;

use super::super::{
    ImportError, Input, Note,
    input::{Record, Records},
    note::notes,
};
use super::machines::{ChangeKind, Event, Platforms, Shape, Stated, TABLE_COLUMNS, server};
use super::{MICRO, Numbers};

/// A change of a machine. Classes are positions in [`MachineEvents::classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineChange {
    /// The machine joins the cluster, with the class at this position.
    Comes(usize),
    /// The machine leaves the cluster.
    Goes,
    /// The machine changes to the class at this position.
    Becomes(usize),
}

/// A machine event: the time, the machine and the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineEvent {
    /// The time in seconds from the start of the trace.
    pub at: f64,
    /// The index of the machine. Machines are numbered by first appearance.
    pub machine: usize,
    /// The change of the machine.
    pub change: MachineChange,
}

/// The state of a machine.
#[derive(Debug, Clone, Copy)]
enum MachineState {
    /// The machine is not in the cluster.
    Away,
    /// The machine is in the cluster, and no event has stated its capacity.
    Unknown,
    /// The machine is in the cluster, with the class at this position.
    Present(usize),
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
    machines: HashMap<u64, (usize, MachineState)>,
    last_time: u64,
    without_capacity: u64,
    without_change: u64,
}

impl MachineEvents {
    /// Prepares to read machine events. Reads no row yet.
    #[must_use]
    pub fn new(events: Input) -> Self {
        Self { rows: events.rows("machine events (6 columns)"), reader: Reader::default() }
    }

    /// Returns the next event that changes a machine, or `None` after the last event.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if a row is malformed, its time is before the time of the row above, it
    /// adds a machine that is already in the cluster, or it removes or updates a machine that is not in the
    /// cluster.
    pub fn next_event(&mut self) -> Result<Option<MachineEvent>, ImportError> {
        while let Some(row) = self.rows.next()? {
            if let Some(event) = self.reader.take(&row)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Returns the classes of the rows so far. A class has one platform, CPU and memory, and no count.
    #[must_use]
    pub fn classes(&self) -> &[ServerSpec] {
        &self.reader.classes
    }

    /// Returns notes about the rows so far that are left out.
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
            let message = "this is a table of machines without times: expected machine events (6 columns)";
            return Err(row.error(message));
        }
        let Event { time, machine: id, kind, stated } =
            Event::read(row, &mut self.last_time, &mut self.numbers)?;
        let class = self.class(stated);
        let fresh = self.machines.len();
        let (machine, state) = self.machines.entry(id).or_insert((fresh, MachineState::Away));
        let (next, change) = match (kind, *state, class) {
            (ChangeKind::Added, MachineState::Present(_) | MachineState::Unknown, _) => {
                let expected = "a machine that is not in the cluster, to add it";
                return Err(row.column_error(1, "machine ID", expected));
            }
            (ChangeKind::Removed | ChangeKind::Updated, MachineState::Away, _) => {
                let expected = "a machine of the cluster, to remove or update it";
                return Err(row.column_error(1, "machine ID", expected));
            }
            (ChangeKind::Added, MachineState::Away, None) => (MachineState::Unknown, None),
            (ChangeKind::Added, MachineState::Away, Some(class))
            | (ChangeKind::Updated, MachineState::Unknown, Some(class)) => {
                (MachineState::Present(class), Some(MachineChange::Comes(class)))
            }
            (ChangeKind::Removed, MachineState::Unknown, _) => (MachineState::Away, None),
            (ChangeKind::Removed, MachineState::Present(_), _) => {
                (MachineState::Away, Some(MachineChange::Goes))
            }
            (ChangeKind::Updated, MachineState::Present(old), Some(class)) if old != class => {
                (MachineState::Present(class), Some(MachineChange::Becomes(class)))
            }
            (ChangeKind::Updated, old, _) => (old, None),
        };
        match (kind, class) {
            (ChangeKind::Added | ChangeKind::Updated, None) => self.without_capacity += 1,
            (ChangeKind::Updated, Some(_)) if change.is_none() => self.without_change += 1,
            _ => {}
        }
        *state = next;
        Ok(change.map(|change| MachineEvent { at: time as f64 / MICRO, machine: *machine, change }))
    }

    /// Returns the class of a machine with the data `stated`. The class may be new. Returns `None` if CPU or
    /// memory is not stated.
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
