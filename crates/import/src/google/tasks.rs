//! The tasks that run at one time, computed from the task events up to this time.

use evenhand_problem::problem::UserSpec;
use rug::Rational;

use super::super::{ImportError, Input, Note, amounts, note::notes as notes_of, ordered::Ordered};
use super::event::{EventKind, each_event};
use super::{Numbers, RESOURCES, Requests};

/// The running tasks in the order of their first events, and counts of other tasks and events.
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

/// A task. Requests are ids in [`Numbers`].
#[derive(Clone, Copy)]
struct Task {
    state: State,
    user: usize,
    requests: [Option<usize>; 2],
    disk: Option<usize>,
    different_machines: bool,
}

/// Reads the task events up to a time.
pub(super) fn read(inputs: Vec<Input>, time: u64, numbers: &mut Numbers) -> Result<Running, ImportError> {
    // The key of a task consists of its job and its index in the job.
    let mut tasks: Ordered<(u64, u64), Task> = Ordered::default();
    let mut reconstructed = 0;
    let users = each_event(inputs, numbers, |event, row, numbers| {
        let disk = numbers.read(row, 11, "disk request")?;
        let different_machines = match row.field(12) {
            "" => None,
            "0" => Some(false),
            "1" => Some(true),
            _ => return Err(row.column_error(12, "different-machines restriction", "0, 1 or nothing")),
        };
        if event.time > time {
            return Ok(());
        }
        reconstructed += u64::from(!row.field(1).is_empty());
        let fresh = Task {
            state: if event.kind == EventKind::Runs { State::Running } else { State::Waiting },
            user: event.user,
            requests: [None; 2],
            disk: None,
            different_machines: false,
        };
        let task = tasks.value(&event.key, || fresh);
        task.state = match event.kind {
            EventKind::Submitted => State::Waiting,
            EventKind::Placed => State::Running,
            EventKind::Ended => State::Ended,
            EventKind::Waits | EventKind::Runs => task.state,
        };
        task.user = event.user;
        // A reconstructed event may lack requests that an earlier event stated.
        for (known, stated) in task.requests.iter_mut().zip(event.requests) {
            *known = stated.or(*known);
        }
        task.disk = disk.or(task.disk);
        task.different_machines = different_machines.unwrap_or(task.different_machines);
        Ok(())
    })?;
    let is = |state| move |(_, task): &&((u64, u64), Task)| task.state == state;
    let waiting = tasks.entries().iter().filter(is(State::Waiting)).count() as u64;
    let tasks = tasks.entries().iter().filter(is(State::Running)).map(|(_, task)| *task).collect();
    Ok(Running { tasks, users, waiting, reconstructed })
}

/// Returns one user for each user of the trace with running tasks.
pub(super) fn by_user(
    running: &Running,
    numbers: &Numbers,
    notes: &mut Vec<Note>,
    originals: &mut Vec<(String, String)>,
) -> Vec<UserSpec> {
    // The stated requests of each user, and the number of its tasks without any request.
    let mut requests: Ordered<usize, (Requests, u64)> = Ordered::default();
    for task in &running.tasks {
        let (stated, without) = requests.value(&task.user, Default::default);
        if task.states_a_request() {
            stated.add(task.requests);
        } else {
            *without += 1;
        }
    }
    add_notes(running, numbers, notes);
    let requests = requests.entries();
    let width = requests.len().to_string().len().max(4);
    let mut users = Vec::with_capacity(requests.len());
    for (position, (user, (stated, without))) in requests.iter().enumerate() {
        let name = format!("user-{:0width$}", position + 1);
        originals.push((name.clone(), running.users.entries()[*user].0.clone()));
        match stated.tasks {
            0 => notes.push(Note::UserDemandsNothing { user: name, tasks: *without }),
            tasks => push_user(&mut users, notes, name, stated.mean(numbers), tasks),
        }
    }
    users
}

/// Returns one user for each request shape of the running tasks.
pub(super) fn by_shape(running: &Running, numbers: &Numbers, notes: &mut Vec<Note>) -> Vec<UserSpec> {
    let mut counts: Ordered<[Option<usize>; 2], u64> = Ordered::default();
    for task in running.tasks.iter().filter(|task| task.states_a_request()) {
        *counts.value(&numbers.shape(task.requests), || 0) += 1;
    }
    add_notes(running, numbers, notes);
    let mut users = Vec::new();
    for (shape, count) in counts.into_entries() {
        let text = |id: Option<usize>| id.map_or("0", |id| numbers.text(id));
        let value = |id: Option<usize>| id.map_or_else(Rational::new, |id| numbers.value(id).clone());
        let [cpu, memory] = shape.map(text);
        push_user(&mut users, notes, format!("cpu{cpu}-mem{memory}"), shape.map(value), count);
    }
    users
}

impl Task {
    fn states_a_request(&self) -> bool {
        self.requests.iter().any(Option::is_some)
    }
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
    users.push(UserSpec {
        name,
        tasks: Some(Rational::from(tasks)),
        demand: amounts(RESOURCES, demand),
        ..UserSpec::default()
    });
}

fn add_notes(running: &Running, numbers: &Numbers, notes: &mut Vec<Note>) {
    let count =
        |which: &dyn Fn(&Task) -> bool| running.tasks.iter().filter(|task| which(task)).count() as u64;
    let is_zero = |request: Option<usize>| request.is_some_and(|id| numbers.is_zero(id));
    let is_positive = |request: Option<usize>| request.is_some_and(|id| !numbers.is_zero(id));
    notes.extend(notes_of([
        (count(&|task| !task.states_a_request()), Note::NothingRequested),
        (count(&|task| task.requests[0].is_some() != task.requests[1].is_some()), Note::RequestPartlyMissing),
        (count(&|task| is_zero(task.requests[0])), Note::NoCpuRequest),
        (count(&|task| task.different_machines), Note::DifferentMachines),
        (count(&|task| is_positive(task.disk)), Note::DiskRequest),
        (running.waiting, Note::Waiting),
        (running.reconstructed, Note::Reconstructed),
        (running.tasks.len() as u64, |rows| Note::ColumnsNotModelled {
            columns: "scheduling class, priority".to_owned(),
            rows,
        }),
    ]));
}
