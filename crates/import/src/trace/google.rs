//! Tasks of the Google trace with the times at which they came and ran.

use std::collections::HashMap;

use evenhand_problem::problem::UserSpec;
use rug::{Integer, Rational};

use super::super::google::{GoogleUsers, Numbers};
use super::super::{ImportError, Input, Note, input::Record};
use super::jobs::Jobs;
use super::{Trace, TraceTask};

const COLUMNS: usize = 13;
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

#[derive(Default)]
struct Reader {
    place: HashMap<(u64, u64), usize>,
    tasks: Vec<Task>,
    users: HashMap<String, usize>,
    last_time: u64,
}

/// The tasks of task events, in order of time. A task comes when it is first submitted, or at the first
/// event about it; it runs as long as its last run in the trace took. Tasks of one user have the mean
/// request of its tasks, rounded up to a millionth of the largest machine ([`GoogleUsers::ByUser`]), or
/// each request shape is a user. Weights are 1.
///
/// # Errors
/// [`ImportError`] when a file cannot be read, a row is malformed, or times go back.
pub fn google_trace(events: Vec<Input>, users: GoogleUsers) -> Result<Trace, ImportError> {
    let (mut reader, mut numbers) = (Reader::default(), Numbers::default());
    for input in events {
        let mut rows = input.rows();
        let first = rows.first("task events (13 columns)")?;
        reader.take(&first, &mut numbers)?;
        while let Some(row) = rows.next()? {
            reader.take(&row, &mut numbers)?;
        }
    }
    Ok(reader.trace(users, &numbers))
}

impl Reader {
    fn take(&mut self, row: &Record<'_>, numbers: &mut Numbers) -> Result<(), ImportError> {
        row.expect_columns(COLUMNS)?;
        let now = row.whole(0, "time")?;
        if now < self.last_time {
            return Err(row.error(format!("time goes back from {} to {now}", self.last_time)));
        }
        self.last_time = now;
        let key = (row.whole(2, "job ID")?, row.whole(3, "task index")?);
        let requests = [numbers.read(row, 9, "CPU request")?, numbers.read(row, 10, "memory request")?];
        let known_users = self.users.len();
        let user = *self.users.entry(row.field(6).to_owned()).or_insert(known_users);
        let tasks = &mut self.tasks;
        let place = *self.place.entry(key).or_insert_with(|| {
            let task = Task {
                job: key.0,
                user,
                requests: [None; 2],
                priority: row.field(8).parse().ok(),
                submitted: now,
                started: None,
                ended: None,
                runs: 0,
            };
            tasks.push(task);
            tasks.len() - 1
        });
        let task = &mut tasks[place];
        for (known, stated) in task.requests.iter_mut().zip(requests) {
            *known = known.or(stated);
        }
        match row.field(5) {
            "1" => {
                (task.started, task.ended) = (Some(now), None);
                task.runs += 1;
            }
            "2" | "3" | "4" | "5" | "6" => task.ended = task.ended.or(Some(now)),
            // An update of a task that runs, though nothing said that it was placed.
            "8" => task.started = task.started.or(Some(now)),
            "0" | "7" => {}
            _ => return Err(row.column_error(5, "event type", "0 to 8")),
        }
        Ok(())
    }

    fn trace(mut self, by: GoogleUsers, numbers: &Numbers) -> Trace {
        let mut trace =
            Trace { resources: ["cpu", "memory"].map(str::to_owned).to_vec(), ..Trace::default() };
        let all = self.tasks.len();
        self.tasks.retain(|task| task.started.is_some());
        note(&mut trace, all - self.tasks.len(), Note::NeverRan);
        let running = self.tasks.len();
        self.tasks.retain(|task| task.requests.iter().any(|id| id.is_some_and(|id| !numbers.is_zero(id))));
        note(&mut trace, running - self.tasks.len(), Note::NothingRequested);
        let count = |which: &dyn Fn(&Task) -> bool| self.tasks.iter().filter(|task| which(task)).count();
        let (again, on) = (count(&|task| task.runs > 1), count(&|task| task.ended.is_none()));
        note(&mut trace, again, Note::RanAgain);
        note(&mut trace, on, Note::RunsOn);
        let user_of = users(&mut trace, &self.tasks, by, numbers);
        self.tasks.iter().zip(user_of).for_each(|(task, user)| {
            let ran = |(start, end): (u64, u64)| end.saturating_sub(start) as f64 / MICRO;
            let priority = task.priority;
            let seconds = task.started.zip(task.ended).map_or(f64::INFINITY, ran);
            // The job's place is filled in below, in the order of arrival.
            trace.tasks.push(TraceTask {
                at: task.submitted as f64 / MICRO,
                user,
                job: 0,
                seconds,
                priority,
            });
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
            if let Some(id) = id {
                *sum += numbers.value(id);
            }
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
