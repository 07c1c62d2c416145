//! Tasks of the Google trace with the times at which they came and ran.

use std::collections::HashMap;

use evenhand_problem::problem::UserSpec;
use rug::{Integer, Rational};

use super::super::google::{GoogleUsers, Numbers};
use super::super::{ImportError, Input, Note};
use super::jobs::Jobs;
use super::{Trace, TraceTask};

mod event;
mod stream;

use event::{Event, Events, What};
pub use stream::google_stream;

/// Microseconds in a second.
const MICRO: f64 = 1e6;
/// The mean request of a user is rounded up to one over this: common denominators of exact means have
/// hundreds of digits.
const PARTS: u32 = 1_000_000;

/// One task; requests are ids in [`Numbers`].
struct Task {
    job: u64,
    user: usize,
    requests: [Option<usize>; 2],
    priority: Option<u8>,
    submitted: u64,
    /// When it was last placed, and when that run ended.
    started: Option<u64>,
    ended: Option<u64>,
    runs: u32,
}

impl Task {
    /// A task before its first event.
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
        match event.what {
            What::Placed => {
                (self.started, self.ended) = (Some(now), None);
                self.runs += 1;
            }
            What::Ended => self.ended = self.ended.or(Some(now)),
            What::Runs => self.started = self.started.or(Some(now)),
            What::Other => {}
        }
    }

    fn requests_something(&self, numbers: &Numbers) -> bool {
        self.requests.iter().any(|id| id.is_some_and(|id| !numbers.is_zero(id)))
    }

    /// Seconds from the start of the trace.
    fn at(&self) -> f64 {
        self.submitted as f64 / MICRO
    }

    fn seconds(&self) -> f64 {
        let ran = |(start, end): (u64, u64)| end.saturating_sub(start) as f64 / MICRO;
        self.started.zip(self.ended).map_or(f64::INFINITY, ran)
    }
}

/// The tasks of task events, in order of time. A task comes when it is first submitted, or at the first
/// event about it; it runs as long as its last run in the trace took. Tasks of one user have the mean
/// request of its tasks, rounded up to a millionth of the largest machine ([`GoogleUsers::ByUser`]), or
/// each request shape is a user. Weights are 1.
///
/// # Errors
/// [`ImportError`] when a file cannot be read, a row is malformed, or times go back.
pub fn google_trace(events: Vec<Input>, users: GoogleUsers) -> Result<Trace, ImportError> {
    let mut events = Events::new(events);
    let (mut place, mut tasks) = (HashMap::new(), Vec::new());
    while let Some(event) = events.next()? {
        let at = *place.entry(event.key).or_insert_with(|| {
            tasks.push(Task::new(&event));
            tasks.len() - 1
        });
        tasks[at].take(&event);
    }
    Ok(Whole { tasks }.trace(users, &events.numbers))
}

/// All tasks, in the order of their first events.
struct Whole {
    tasks: Vec<Task>,
}

impl Whole {
    fn trace(mut self, by: GoogleUsers, numbers: &Numbers) -> Trace {
        let mut trace =
            Trace { resources: ["cpu", "memory"].map(str::to_owned).to_vec(), ..Trace::default() };
        let all = self.tasks.len();
        self.tasks.retain(|task| task.started.is_some());
        note(&mut trace, all - self.tasks.len(), Note::NeverRan);
        let running = self.tasks.len();
        self.tasks.retain(|task| task.requests_something(numbers));
        note(&mut trace, running - self.tasks.len(), Note::NothingRequested);
        let count = |which: &dyn Fn(&Task) -> bool| self.tasks.iter().filter(|task| which(task)).count();
        let (again, on) = (count(&|task| task.runs > 1), count(&|task| task.ended.is_none()));
        note(&mut trace, again, Note::RanAgain);
        note(&mut trace, on, Note::RunsOn);
        let user_of = users(&mut trace, &self.tasks, by, numbers);
        self.tasks.iter().zip(user_of).for_each(|(task, user)| {
            // The job's place is filled in below, in the order of arrival.
            let (at, seconds, priority) = (task.at(), task.seconds(), task.priority);
            trace.tasks.push(TraceTask { at, user, job: 0, seconds, priority });
        });
        let mut jobs = Jobs::new();
        for (traced, task) in trace.tasks.iter_mut().zip(&self.tasks) {
            traced.job = jobs.add((task.job, traced.user));
        }
        trace.jobs = jobs.sizes;
        trace.tasks.sort_by(|a, b| a.at.total_cmp(&b.at));
        trace
    }
}

fn note(trace: &mut Trace, count: usize, note: fn(u64) -> Note) {
    if count > 0 {
        trace.notes.push(note(count as u64));
    }
}

/// Makes the users of the tasks; by task its user.
fn users(trace: &mut Trace, tasks: &[Task], by: GoogleUsers, numbers: &Numbers) -> Vec<u32> {
    type Requests = [Option<usize>; 2];
    let mut places: HashMap<(usize, Requests), u32> = HashMap::new();
    let mut sums: Vec<([Rational; 2], u64)> = Vec::new();
    let mut user_of = Vec::with_capacity(tasks.len());
    for task in tasks {
        let key = match by {
            GoogleUsers::ByUser => (task.user, [None; 2]),
            GoogleUsers::ByShape => (0, task.requests.map(|id| id.filter(|&id| !numbers.is_zero(id)))),
        };
        let fresh = sums.len() as u32;
        let user = *places.entry(key).or_insert(fresh);
        if user == fresh {
            sums.push(([Rational::new(), Rational::new()], 0));
        }
        let (sum, count) = &mut sums[user as usize];
        for (sum, id) in sum.iter_mut().zip(task.requests) {
            id.iter().for_each(|id| *sum += numbers.value(*id));
        }
        *count += 1;
        user_of.push(user);
    }
    let width = sums.len().to_string().len().max(4);
    for (n, (sum, count)) in sums.into_iter().enumerate() {
        let demand = sum.map(|sum| match by {
            GoogleUsers::ByUser => rounded_up(sum / count),
            GoogleUsers::ByShape => sum / count,
        });
        let name = match by {
            GoogleUsers::ByUser => format!("user-{:0width$}", n + 1),
            GoogleUsers::ByShape => format!("shape-{:0width$}", n + 1),
        };
        let demand = trace.resources.iter().cloned().zip(demand).collect();
        trace.users.push(UserSpec { name, demand, ..UserSpec::default() });
    }
    user_of
}

fn rounded_up(value: Rational) -> Rational {
    let parts: Integer = (value * PARTS).ceil().into_numer_denom().0;
    Rational::from((parts, PARTS))
}
