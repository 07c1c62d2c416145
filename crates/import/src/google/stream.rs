//! The tasks of the Google trace within bounded memory: events are sorted by their tasks, and tasks by their times.

use std::collections::HashMap;

use evenhand_problem::problem::UserSpec;
use rug::Rational;

use super::super::super::google::{GoogleUsers, Numbers};
use super::super::super::{ImportError, Input, Note, ordered::Ordered};
use super::super::spill::Sorter;
use super::super::stream::{self, Builder, Told, TraceStream};
use super::{Event, Events, Task, What, rounded_up};

/// The tasks of task events, in order of time. A task comes when it is first submitted, or at the first
/// event about it; it runs as long as its last run in the trace took. Tasks of one user have the mean
/// request of its tasks, rounded up to a millionth of the largest machine ([`GoogleUsers::ByUser`]), or
/// each request shape is a user. Weights are 1.
///
/// How long a task runs is known from its last events alone: all rows are read and checked first, and what is needed of
/// them is sorted in temporary files. Memory grows with the users and with the different requests.
///
/// # Errors
/// [`ImportError`] when a file cannot be read, a row is malformed, or times go back; [`ImportError::Temporary`].
pub fn google_stream(events: Vec<Input>, by: GoogleUsers) -> Result<TraceStream, ImportError> {
    let mut events = Events::new(events);
    let mut by_task = Sorter::<6>::new();
    let mut order = 0;
    while let Some(event) = events.next()? {
        by_task.push(packed(&event, order))?;
        order += 1;
    }
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
        if counts.keeps(&task, &events.numbers) {
            let user = users.user(&task, order, &events.numbers);
            let (at, seconds, priority) = (task.at(), task.seconds(), task.priority);
            builder.push(&Told { job: [task.job, user.into()], order, at, user, seconds, priority })?;
        }
    }
    drop(rows);
    drop(by_task);
    let (specs, numbers) = users.specs(&events.numbers);
    builder.finish(specs, counts.notes(), |user| numbers[user as usize])
}

/// Tasks that are left out, or not as the trace has them.
#[derive(Default)]
struct Counts {
    never_ran: u64,
    nothing: u64,
    again: u64,
    runs_on: u64,
}

impl Counts {
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
        let all = [
            (self.never_ran, Note::NeverRan as fn(u64) -> Note),
            (self.nothing, Note::NothingRequested),
            (self.again, Note::RanAgain),
            (self.runs_on, Note::RunsOn),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).map(|(count, note)| note(count)).collect()
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
    /// By when its first task is first named.
    first: u64,
    tasks: u64,
    /// By resource and request: tasks that have it.
    requests: [HashMap<usize, u64>; 2],
}

impl Users {
    fn user(&mut self, task: &Task, order: u64, numbers: &Numbers) -> u32 {
        let key = match self.by {
            GoogleUsers::ByUser => (task.user, [None; 2]),
            GoogleUsers::ByShape => (0, task.requests.map(|id| id.filter(|&id| !numbers.is_zero(id)))),
        };
        let place = self.users.place(&key, || User { first: order, ..User::default() });
        let user = self.users.value(&key, User::default);
        user.first = user.first.min(order);
        user.tasks += 1;
        for (counts, id) in user.requests.iter_mut().zip(task.requests) {
            id.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
        }
        place as u32
    }

    /// The users in the order in which the files first name them, and the number that each has there.
    fn specs(self, numbers: &Numbers) -> (Vec<UserSpec>, Vec<u32>) {
        let users = self.users.into_entries();
        let mut order: Vec<usize> = (0..users.len()).collect();
        order.sort_by_key(|place| users[*place].1.first);
        let mut number_of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(n, place)| number_of[*place] = n as u32);
        let width = order.len().to_string().len().max(4);
        let spec = |(n, place): (usize, &usize)| {
            let user = &users[*place].1;
            // Exact sums do not depend on the order of a hash table.
            let mean = |counts: &HashMap<usize, u64>| {
                let sums = counts.iter().map(|(id, count)| Rational::from(numbers.value(*id) * *count));
                sums.sum::<Rational>() / user.tasks
            };
            let [cpu, memory] = [&user.requests[0], &user.requests[1]].map(mean);
            let (name, demand) = match self.by {
                GoogleUsers::ByUser => ("user", [rounded_up(cpu), rounded_up(memory)]),
                GoogleUsers::ByShape => ("shape", [cpu, memory]),
            };
            let demand = ["cpu", "memory"].map(str::to_owned).into_iter().zip(demand).collect();
            UserSpec { name: format!("{name}-{:0width$}", n + 1), demand, ..UserSpec::default() }
        };
        (order.iter().enumerate().map(spec).collect(), number_of)
    }
}

/// An event as numbers: its task, its place in the files with what it says, its time, its user with its priority, its
/// requests.
fn packed(event: &Event, order: u64) -> [u64; 6] {
    let what = match event.what {
        What::Other => 0,
        What::Placed => 1,
        What::Ended => 2,
        What::Runs => 3,
    };
    // 0 for none.
    let [cpu, memory] = event.requests.map(|id| id.map_or(0, |id| 1 + id as u64));
    let requests = cpu << u32::BITS | memory;
    let whose = stream::packed(event.user as u32, event.priority);
    [event.key.0, event.key.1, order << 2 | what, event.time, whose, requests]
}

/// The event, and its place in the files.
fn unpacked(row: &[u64; 6]) -> (Event, u64) {
    let [job, index, order_and_what, time, whose, requests] = *row;
    let what = match order_and_what & 3 {
        0 => What::Other,
        1 => What::Placed,
        2 => What::Ended,
        _ => What::Runs,
    };
    let id = |number: u64| number.checked_sub(1).map(|id| id as usize);
    let requests = [id(requests >> u32::BITS), id(requests & u64::from(u32::MAX))];
    let (key, (user, priority)) = ((job, index), stream::unpacked(whose));
    (Event { time, key, what, user: user as usize, priority, requests }, order_and_what >> 2)
}
