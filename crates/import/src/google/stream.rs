//! The tasks of the Google trace, read within bounded memory. Events are sorted by their tasks, and tasks by their times.

use evenhand_problem::problem::UserSpec;
use rug::{Integer, Rational};

use super::super::spill::Sorter;
use super::super::stream::{self, Builder, NewTask, TraceStream};
use super::super::{ImportError, Input, Note, amounts, note::notes, ordered::Ordered};
use super::event::{Event, EventKind, each_event};
use super::{GoogleUsers, MICRO, Numbers, RESOURCES, Requests};

/// The inverse of the unit to which the mean request of a user is rounded up. The common denominators of exact means
/// would have hundreds of digits.
const PARTS: u32 = 1_000_000;

/// A task. Requests are ids in [`Numbers`].
struct Task {
    job: u64,
    user: usize,
    requests: [Option<usize>; 2],
    priority: Option<u8>,
    submitted: u64,
    /// The time of the task's last start.
    started: Option<u64>,
    /// The end of the task's run since its last start.
    ended: Option<u64>,
    runs: u32,
}

impl Task {
    /// Returns a task before its first event. The event itself is not applied yet.
    fn new(first: &Event) -> Self {
        Self {
            job: first.key.0,
            user: first.user,
            requests: [None; 2],
            priority: first.priority,
            submitted: first.time,
            started: None,
            ended: None,
            runs: 0,
        }
    }

    fn take(&mut self, event: &Event) {
        let now = event.time;
        for (known, stated) in self.requests.iter_mut().zip(event.requests) {
            *known = known.or(stated);
        }
        match event.kind {
            EventKind::Placed => {
                (self.started, self.ended) = (Some(now), None);
                self.runs += 1;
            }
            EventKind::Ended => self.ended = self.ended.or(Some(now)),
            EventKind::Runs => self.started = self.started.or(Some(now)),
            EventKind::Submitted | EventKind::Waits => {}
        }
    }

    fn requests_something(&self, numbers: &Numbers) -> bool {
        self.requests.iter().any(|id| id.is_some_and(|id| !numbers.is_zero(id)))
    }

    /// Returns the arrival of the task in seconds from the start of the trace.
    fn at(&self) -> f64 {
        self.submitted as f64 / MICRO
    }

    /// Returns the length of the task's last run in seconds. It is infinite if the run did not end.
    fn seconds(&self) -> f64 {
        let ran = |(start, end): (u64, u64)| end.saturating_sub(start) as f64 / MICRO;
        self.started.zip(self.ended).map_or(f64::INFINITY, ran)
    }
}

/// Reads the tasks of task events, which must be in order of time. A task arrives at its first event, and
/// runs as long as its last run in the trace. With [`GoogleUsers::ByUser`], the tasks of a user have the mean
/// request of its tasks, rounded up to a millionth of the largest machine. With [`GoogleUsers::ByShape`],
/// each request shape is a user. Weights are 1.
///
/// All rows are read and checked first, because the running time of a task is known only from its last
/// events. The events are sorted in temporary files. Memory grows with the users and with the different
/// requests.
///
/// # Errors
/// Returns an [`ImportError`] if a file cannot be read, a row is malformed, or times go back. Returns
/// [`ImportError::Temporary`] if a temporary file cannot be written or read.
pub fn google_stream(events: Vec<Input>, by: GoogleUsers) -> Result<TraceStream, ImportError> {
    let mut numbers = Numbers::default();
    let mut by_task = Sorter::<6>::new();
    let mut order = 0;
    each_event(events, &mut numbers, |event, _, _| {
        let row = packed(event, order);
        order += 1;
        by_task.push(row)
    })?;
    let by_task = by_task.finish()?;
    let (mut rows, mut users) = (by_task.rows()?, Users { by, ..Users::default() });
    let (mut builder, mut counts) = (Builder::new(), Counts::default());
    let mut next = rows.next()?;
    while let Some(first) = next {
        let (event, order) = unpacked(&first);
        let mut task = Task::new(&event);
        while let Some(row) = next
            && unpacked(&row).0.key == event.key
        {
            task.take(&unpacked(&row).0);
            next = rows.next()?;
        }
        if counts.keeps(&task, &numbers) {
            let user = users.user(&task, order, &numbers);
            let (at, seconds, priority) = (task.at(), task.seconds(), task.priority);
            builder.push(&NewTask { job: [task.job, user.into()], order, at, user, seconds, priority })?;
        }
    }
    drop(rows);
    drop(by_task);
    let (specs, number_of) = users.specs(&numbers);
    builder.finish(specs, counts.notes(), |user| number_of[user as usize])
}

/// The numbers of tasks that are left out or changed.
#[derive(Default)]
struct Counts {
    never_ran: u64,
    nothing: u64,
    again: u64,
    runs_on: u64,
}

impl Counts {
    /// Counts a task, and returns whether the import keeps it.
    fn keeps(&mut self, task: &Task, numbers: &Numbers) -> bool {
        let left_out = match task.started {
            None => &mut self.never_ran,
            Some(_) if !task.requests_something(numbers) => &mut self.nothing,
            Some(_) => {
                self.again += u64::from(task.runs > 1);
                self.runs_on += u64::from(task.ended.is_none());
                return true;
            }
        };
        *left_out += 1;
        false
    }

    fn notes(&self) -> Vec<Note> {
        notes([
            (self.never_ran, Note::NeverRan),
            (self.nothing, Note::NothingRequested),
            (self.again, Note::RanAgain),
            (self.runs_on, Note::RunsOn),
        ])
    }
}

/// The users of the tasks so far.
#[derive(Default)]
struct Users {
    by: GoogleUsers,
    users: Ordered<(usize, [Option<usize>; 2]), User>,
}

#[derive(Default)]
struct User {
    /// The position of the first event about a task of the user.
    first: u64,
    requests: Requests,
}

impl Users {
    /// Returns the user of a task, and adds the requests of the task. The user may be new.
    fn user(&mut self, task: &Task, order: u64, numbers: &Numbers) -> u32 {
        let key = match self.by {
            GoogleUsers::ByUser => (task.user, [None; 2]),
            GoogleUsers::ByShape => (0, numbers.shape(task.requests)),
        };
        let position = self.users.place(&key, || User { first: order, ..User::default() });
        let user = self.users.value(&key, User::default);
        user.first = user.first.min(order);
        user.requests.add(task.requests);
        position as u32
    }

    /// Returns the users in the order of their first appearance in the files. Also returns the new number of
    /// each user in this order.
    fn specs(self, numbers: &Numbers) -> (Vec<UserSpec>, Vec<u32>) {
        let users = self.users.into_entries();
        let mut order: Vec<usize> = (0..users.len()).collect();
        order.sort_by_key(|position| users[*position].1.first);
        let mut number_of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(n, position)| number_of[*position] = n as u32);
        let width = order.len().to_string().len().max(4);
        let spec = |(n, position): (usize, &usize)| {
            let mean = users[*position].1.requests.mean(numbers);
            let (name, demand) = match self.by {
                GoogleUsers::ByUser => ("user", mean.map(rounded_up)),
                GoogleUsers::ByShape => ("shape", mean),
            };
            let demand = amounts(RESOURCES, demand);
            UserSpec { name: format!("{name}-{:0width$}", n + 1), demand, ..UserSpec::default() }
        };
        (order.iter().enumerate().map(spec).collect(), number_of)
    }
}

/// Packs an event into numbers: the two numbers of its task, its position in the files with its type, its time, its user
/// with its priority, and its requests.
fn packed(event: &Event, order: u64) -> [u64; 6] {
    // A request of 0 means that there is no request.
    let [cpu, memory] = event.requests.map(|id| id.map_or(0, |id| 1 + id as u64));
    let requests = cpu << u32::BITS | memory;
    let user_and_priority = stream::packed(event.user as u32, event.priority);
    [event.key.0, event.key.1, order << 3 | event.kind as u64, event.time, user_and_priority, requests]
}

/// Returns the event of packed numbers, and its position in the files.
fn unpacked(row: &[u64; 6]) -> (Event, u64) {
    let [job, index, order_and_kind, time, user_and_priority, requests] = *row;
    let kind = match order_and_kind & 7 {
        0 => EventKind::Submitted,
        1 => EventKind::Placed,
        2 => EventKind::Ended,
        3 => EventKind::Waits,
        _ => EventKind::Runs,
    };
    let id = |number: u64| number.checked_sub(1).map(|id| id as usize);
    let requests = [id(requests >> u32::BITS), id(requests & u64::from(u32::MAX))];
    let (key, (user, priority)) = ((job, index), stream::unpacked(user_and_priority));
    (Event { time, key, kind, user: user as usize, priority, requests }, order_and_kind >> 3)
}

/// Rounds a number up to a multiple of 1 / [`PARTS`].
fn rounded_up(value: Rational) -> Rational {
    let parts: Integer = (value * PARTS).ceil().into_numer_denom().0;
    Rational::from((parts, PARTS))
}
