//! The machines of the Google trace: from a table of configurations, or from the machine events up to a time.

use std::collections::HashMap;

use evenhand_problem::problem::{MAX_COUNT, ServerSpec};
use rug::Rational;

use super::super::{ImportError, Input, Note, amounts, input::Record, note::notes, ordered::Ordered};
use super::{Numbers, RESOURCES};

/// The number of columns of machine events.
const EVENT_COLUMNS: usize = 6;
pub(super) const TABLE_COLUMNS: [&str; 4] = ["platform", "cpu", "memory", "count"];

pub(super) struct Machines {
    pub(super) servers: Vec<ServerSpec>,
    pub(super) notes: Vec<Note>,
    pub(super) originals: Vec<(String, String)>,
}

/// The platform, CPU and memory of a machine. CPU and memory are ids in [`Numbers`].
pub(super) type Shape = (String, usize, usize);

/// The platform, CPU and memory in a row. CPU or memory is `None` if the row does not state it.
pub(super) type Stated = (String, Option<usize>, Option<usize>);

/// A row of machine events.
pub(super) struct Event {
    /// The time in microseconds from the start of the trace.
    pub time: u64,
    pub machine: u64,
    pub kind: ChangeKind,
    pub stated: Stated,
}

/// The type of a machine event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Added,
    Removed,
    Updated,
}

impl Event {
    pub fn read(row: &Record<'_>, last_time: &mut u64, numbers: &mut Numbers) -> Result<Self, ImportError> {
        row.expect_columns(EVENT_COLUMNS)?;
        let time = row.time(0, "time", last_time)?;
        let machine = row.whole(1, "machine ID")?;
        let stated = stated(row, [3, 4, 5], numbers)?;
        let kind = match row.field(2) {
            "0" => ChangeKind::Added,
            "1" => ChangeKind::Removed,
            "2" => ChangeKind::Updated,
            _ => return Err(row.column_error(2, "event type", "0 (add), 1 (remove) or 2 (update)")),
        };
        Ok(Self { time, machine, kind, stated })
    }
}

#[derive(Default)]
struct Classes {
    counts: Ordered<Shape, u64>,
    without_capacity: u64,
}

/// Reads the machines from a table, or from the machine events up to a time.
pub(super) fn read(input: Input, time: u64, numbers: &mut Numbers) -> Result<Machines, ImportError> {
    let mut rows = input.rows("a table `platform,cpu,memory,count` or machine events");
    let first = rows.first()?;
    if first.is(&TABLE_COLUMNS) {
        let mut classes = Classes::default();
        while let Some(row) = rows.next()? {
            row.expect_columns(TABLE_COLUMNS.len())?;
            let machine = stated(&row, [0, 1, 2], numbers)?;
            let count = row.whole(3, "count")?;
            if count > MAX_COUNT || classes.add(machine, count) > MAX_COUNT {
                return Err(row.column_error(
                    3,
                    "count",
                    "at most 10^12 machines of one platform, CPU and memory",
                ));
            }
        }
        return Ok(classes.cluster(numbers, Vec::new()));
    }
    if first.len() != EVENT_COLUMNS {
        let message = "expected a table with the header `platform,cpu,memory,count`, or machine events";
        return Err(first.error(format!("found {} columns: {message} (6 columns)", first.len())));
    }
    let mut events = Events::default();
    events.take(&first, time, numbers)?;
    while let Some(row) = rows.next()? {
        events.take(&row, time, numbers)?;
    }
    Ok(events.cluster(numbers))
}

/// Short names of platforms, which the trace names by hashes.
#[derive(Default)]
pub(super) struct Platforms {
    hashes: Ordered<String, ()>,
}

impl Platforms {
    pub fn name(&mut self, hash: &str) -> String {
        letters(self.hashes.place(hash, || ()))
    }

    /// Returns the short names, each with its hash.
    fn originals(self) -> Vec<(String, String)> {
        let hashes = self.hashes.into_entries().into_iter().enumerate();
        hashes.map(|(at, (hash, ()))| (format!("platform {}", letters(at)), hash)).collect()
    }
}

#[derive(Default)]
struct Events {
    /// For each machine, the position of its first event, which decides the order of the classes, and the
    /// machine's data. The data is `None` if the machine was removed.
    machines: HashMap<u64, (usize, Option<Stated>)>,
    platforms: Platforms,
    last_time: u64,
    later: u64,
}

impl Events {
    fn take(&mut self, row: &Record<'_>, time: u64, numbers: &mut Numbers) -> Result<(), ImportError> {
        let Event { time: now, machine, kind, stated } = Event::read(row, &mut self.last_time, numbers)?;
        if now > time {
            self.later += 1;
            return Ok(());
        }
        let (hash, cpu, memory) = stated;
        let platform = self.platforms.name(&hash);
        let position = self.machines.len();
        let entry = self.machines.entry(machine).or_insert((position, None));
        entry.1 = (kind != ChangeKind::Removed).then_some((platform, cpu, memory));
        Ok(())
    }

    fn cluster(self, numbers: &Numbers) -> Machines {
        let mut machines: Vec<_> = self.machines.into_values().collect();
        machines.sort_by_key(|(position, _)| *position);
        let mut classes = Classes::default();
        for machine in machines.into_iter().filter_map(|(_, machine)| machine) {
            classes.add(machine, 1);
        }
        let mut cluster = classes.cluster(numbers, self.platforms.originals());
        cluster.notes.extend(notes([(self.later, Note::LaterMachineEvents)]));
        cluster
    }
}

impl Classes {
    /// Adds machines with the same data, and returns the number of such machines so far.
    fn add(&mut self, (platform, cpu, memory): Stated, count: u64) -> u64 {
        let (Some(cpu), Some(memory)) = (cpu, memory) else {
            self.without_capacity = self.without_capacity.saturating_add(count);
            return 0;
        };
        if count == 0 {
            return 0;
        }
        let total = self.counts.value(&(platform, cpu, memory), || 0);
        *total = total.saturating_add(count);
        *total
    }

    fn cluster(self, numbers: &Numbers, originals: Vec<(String, String)>) -> Machines {
        let of = |(shape, count): (Shape, u64)| server(&shape, Some(Rational::from(count)), numbers);
        let notes = notes([(self.without_capacity, Note::MachinesWithoutCapacity)]);
        Machines { servers: self.counts.into_entries().into_iter().map(of).collect(), notes, originals }
    }
}

/// Returns the server class of machines of one shape.
pub(super) fn server(
    (platform, cpu, memory): &Shape,
    count: Option<Rational>,
    numbers: &Numbers,
) -> ServerSpec {
    ServerSpec {
        name: format!("{platform}-cpu{}-mem{}", numbers.text(*cpu), numbers.text(*memory)),
        count,
        capacity: amounts(RESOURCES, [*cpu, *memory].map(|id| numbers.value(id).clone())),
    }
}

fn stated(row: &Record<'_>, columns: [usize; 3], numbers: &mut Numbers) -> Result<Stated, ImportError> {
    let [platform, cpu, memory] = columns;
    let platform = row.field(platform).to_owned();
    Ok((platform, numbers.read(row, cpu, "CPU capacity")?, numbers.read(row, memory, "memory capacity")?))
}

/// Returns the name of a position in the list A, B, ..., Z, AA, AB, ...
fn letters(mut position: usize) -> String {
    let mut name = String::new();
    loop {
        let letter = u8::try_from(position % 26).unwrap_or_default();
        name.insert(0, char::from(b'A' + letter));
        if position < 26 {
            return name;
        }
        position = position / 26 - 1;
    }
}
