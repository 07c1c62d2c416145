//! The tasks that run at a time, from the task events up to it.

use std::collections::HashMap;

use evenhand_problem::problem::UserSpec;
use rug::Rational;

use super::{
    super::{ImportError, Input, Note, input::Record, ordered::Ordered},
    Numbers, note_if,
};

const COLUMNS: usize = 13;

/// The running tasks in the order of their first events, and counts of what else was seen.
pub(super) struct Running {
    tasks: Vec<Task>,
    users: Ordered<String, ()>,
    waiting: u64,
    reconstructed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended,
}

/// One task; requests are ids in [`Numbers`].
#[derive(Clone, Copy)]
struct Task {
    state: State,
    user: usize,
    cpu: Option<usize>,
    memory: Option<usize>,
    disk: Option<usize>,
    different_machines: bool,
}

#[derive(Default)]
struct Reader {
    /// By job and index.
    tasks: Ordered<(u64, u64), Task>,
    users: Ordered<String, ()>,
    last_time: u64,
    reconstructed: u64,
}

pub(super) fn read(inputs: Vec<Input>, time: u64, numbers: &mut Numbers) -> Result<Running, ImportError> {
    let mut reader = Reader::default();
    for input in inputs {
        let mut rows = input.rows();
        let first = rows.first("task events (13 columns)")?;
        reader.take(&first, time, numbers)?;
        while let Some(row) = rows.next()? {
            reader.take(&row, time, numbers)?;
        }
    }
    let Reader { tasks, users, reconstructed, .. } = reader;
    let is = |state| move |(_, task): &&((u64, u64), Task)| task.state == state;
    let waiting = tasks.entries().iter().filter(is(State::Waiting)).count() as u64;
    let tasks = tasks.entries().iter().filter(is(State::Running)).map(|(_, task)| *task).collect();
    Ok(Running { tasks, users, waiting, reconstructed })
}

impl Reader {
    fn take(&mut self, row: &Record<'_>, time: u64, numbers: &mut Numbers) -> Result<(), ImportError> {
        row.expect_columns(COLUMNS)?;
        let now = row.whole(0, "time")?;
        if now < self.last_time {
            return Err(row.error(format!("time goes back from {} to {now}", self.last_time)));
        }
        self.last_time = now;
        let key = (row.whole(2, "job ID")?, row.whole(3, "task index")?);
        // `None`: the state stays as it is.
        let state = match row.field(5) {
            "0" => Some(State::Waiting),
            "1" => Some(State::Running),
            "2" | "3" | "4" | "5" | "6" => Some(State::Ended),
            "7" | "8" => None,
            _ => return Err(row.column_error(5, "event type", "0 to 8")),
        };
        let cpu = numbers.read(row, 9, "CPU request")?;
        let memory = numbers.read(row, 10, "memory request")?;
        let disk = numbers.read(row, 11, "disk request")?;
        let different_machines = match row.field(12) {
            "" => None,
            "0" => Some(false),
            "1" => Some(true),
            _ => return Err(row.column_error(12, "different-machines restriction", "0, 1 or nothing")),
        };
        if now > time {
            return Ok(());
        }
        self.reconstructed += u64::from(!row.field(1).is_empty());
        let user = self.users.place(row.field(6), || ());
        let fresh = Task {
            state: if row.field(5) == "8" { State::Running } else { State::Waiting },
            user,
            cpu: None,
            memory: None,
            disk: None,
            different_machines: false,
        };
        let task = self.tasks.value(&key, || fresh);
        task.state = state.unwrap_or(task.state);
        task.user = user;
        // An event that was reconstructed may lack the requests that an earlier one stated.
        task.cpu = cpu.or(task.cpu);
        task.memory = memory.or(task.memory);
        task.disk = disk.or(task.disk);
        task.different_machines = different_machines.unwrap_or(task.different_machines);
        Ok(())
    }
}

/// Tasks of one user, by request.
#[derive(Default)]
struct Requests {
    /// Tasks that state a request, be it 0.
    tasks: u64,
    without_request: u64,
    cpu: HashMap<usize, u64>,
    memory: HashMap<usize, u64>,
}

pub(super) fn by_user(
    running: &Running,
    numbers: &Numbers,
    notes: &mut Vec<Note>,
    originals: &mut Vec<(String, String)>,
) -> Vec<UserSpec> {
    let mut requests: Ordered<usize, Requests> = Ordered::default();
    for task in &running.tasks {
        let of_user = requests.value(&task.user, Requests::default);
        if !task.states_a_request() {
            of_user.without_request += 1;
            continue;
        }
        of_user.tasks += 1;
        for (request, counts) in [(task.cpu, &mut of_user.cpu), (task.memory, &mut of_user.memory)] {
            if let Some(id) = request {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    add_notes(running, numbers, notes);
    let requests = requests.entries();
    let width = requests.len().to_string().len().max(4);
    let mut users = Vec::with_capacity(requests.len());
    for (position, (user, of_user)) in requests.iter().enumerate() {
        let name = format!("user-{:0width$}", position + 1);
        let Requests { tasks, without_request, cpu, memory } = of_user;
        originals.push((name.clone(), running.users.entries()[*user].0.clone()));
        if *tasks == 0 {
            notes.push(Note::UserDemandsNothing { user: name, tasks: *without_request });
            continue;
        }
        let demand = [mean(cpu, *tasks, numbers), mean(memory, *tasks, numbers)];
        push_user(&mut users, notes, name, demand, *tasks);
    }
    users
}

pub(super) fn by_shape(running: &Running, numbers: &Numbers, notes: &mut Vec<Note>) -> Vec<UserSpec> {
    let mut counts: Ordered<(Option<usize>, Option<usize>), u64> = Ordered::default();
    let zero = |request: Option<usize>| request.filter(|&id| !numbers.is_zero(id));
    for task in running.tasks.iter().filter(|task| task.states_a_request()) {
        *counts.value(&(zero(task.cpu), zero(task.memory)), || 0) += 1;
    }
    add_notes(running, numbers, notes);
    let mut users = Vec::new();
    for (shape, count) in counts.into_entries() {
        let text = |id: Option<usize>| id.map_or("0", |id| numbers.text(id));
        let value = |id: Option<usize>| id.map_or_else(Rational::new, |id| numbers.value(id).clone());
        let name = format!("cpu{}-mem{}", text(shape.0), text(shape.1));
        push_user(&mut users, notes, name, [value(shape.0), value(shape.1)], count);
    }
    users
}

impl Task {
    fn states_a_request(&self) -> bool {
        self.cpu.is_some() || self.memory.is_some()
    }
}

fn mean(counts: &HashMap<usize, u64>, tasks: u64, numbers: &Numbers) -> Rational {
    // Exact sums do not depend on the order of a hash table.
    let sum: Rational = counts.iter().map(|(id, count)| Rational::from(numbers.value(*id) * *count)).sum();
    sum / tasks
}

fn push_user(
    users: &mut Vec<UserSpec>,
    notes: &mut Vec<Note>,
    name: String,
    demand: [Rational; 2],
    tasks: u64,
) {
    if demand.iter().all(Rational::is_zero) {
        notes.push(Note::UserDemandsNothing { user: name, tasks });
        return;
    }
    let names = ["cpu", "memory"].map(str::to_owned);
    users.push(UserSpec {
        name,
        tasks: Some(Rational::from(tasks)),
        demand: names.into_iter().zip(demand).collect(),
        ..UserSpec::default()
    });
}

fn add_notes(running: &Running, numbers: &Numbers, notes: &mut Vec<Note>) {
    let count =
        |which: &dyn Fn(&Task) -> bool| running.tasks.iter().filter(|task| which(task)).count() as u64;
    let is_zero = |request: Option<usize>| request.is_some_and(|id| numbers.is_zero(id));
    let is_positive = |request: Option<usize>| request.is_some_and(|id| !numbers.is_zero(id));
    note_if(notes, count(&|task| !task.states_a_request()), Note::NothingRequested);
    note_if(notes, count(&|task| task.cpu.is_some() != task.memory.is_some()), Note::RequestPartlyMissing);
    note_if(notes, count(&|task| is_zero(task.cpu)), Note::NoCpuRequest);
    note_if(notes, count(&|task| task.different_machines), Note::DifferentMachines);
    note_if(notes, count(&|task| is_positive(task.disk)), Note::DiskRequest);
    note_if(notes, running.waiting, Note::Waiting);
    note_if(notes, running.reconstructed, Note::Reconstructed);
    note_if(notes, running.tasks.len() as u64, |rows| Note::ColumnsNotModelled {
        columns: "scheduling class, priority".to_owned(),
        rows,
    });
}
