//! Jobs that are in the system, and the tasks of each user that wait.

use std::collections::{HashMap, VecDeque};

use evenhand_mechanisms::filling::Draw;

use crate::checkpoint::{Reader, Writer};
use crate::duration::Duration;
use crate::error::SimulateError;
use crate::workload::Arrival;

/// A job that is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinishedJob {
    /// User, by its place in the problem.
    pub user: u32,
    /// Number of tasks.
    pub tasks: u64,
    /// Time of arrival.
    pub at: f64,
    /// Time from there until its last task ended.
    pub time: f64,
}

struct Job {
    user: u32,
    tasks: u64,
    /// Tasks that have not ended.
    unfinished: u64,
    at: f64,
    of: Option<u64>,
}

struct Waiting {
    job: u32,
    tasks: u64,
    duration: Duration,
}

/// Jobs and queues. A place in the list of jobs is used again once its job is done, so that memory is
/// linear in what is in the system.
pub(crate) struct Jobs {
    jobs: Vec<Job>,
    free: Vec<u32>,
    /// Jobs of a trace whose tasks come one by one.
    of_trace: HashMap<u64, u32>,
    queues: Vec<VecDeque<Waiting>>,
    /// Entries of all queues.
    waiting: usize,
    /// By user: its stream of running times.
    draws: Vec<Draw>,
    pub submitted: u64,
}

impl Jobs {
    pub fn new(draws: Vec<Draw>) -> Self {
        Self {
            jobs: Vec::new(),
            free: Vec::new(),
            of_trace: HashMap::new(),
            queues: draws.iter().map(|_| VecDeque::new()).collect(),
            waiting: 0,
            draws,
            submitted: 0,
        }
    }

    /// Writes everything down.
    pub fn save(&self, to: &mut Writer) {
        to.list(self.jobs.iter(), |to, job| {
            to.number(u64::from(job.user));
            to.number(job.tasks);
            to.number(job.unfinished);
            to.time(job.at);
            // 0 for none.
            to.number(job.of.map_or(0, |of| 1 + of));
        });
        to.list(self.free.iter(), |to, job| to.number(u64::from(*job)));
        // In order, so that the same state has the same words.
        let mut of_trace: Vec<(u64, u32)> = self.of_trace.iter().map(|(of, job)| (*of, *job)).collect();
        of_trace.sort_unstable();
        to.list(of_trace.into_iter(), |to, (of, job)| {
            to.number(of);
            to.number(u64::from(job));
        });
        to.list(self.queues.iter(), |to, queue| {
            to.list(queue.iter(), |to, waiting| {
                to.number(u64::from(waiting.job));
                to.number(waiting.tasks);
                to.duration(waiting.duration);
            });
        });
        to.list(self.draws.iter(), |to, draw| to.draw(draw));
        to.number(self.submitted);
    }

    /// Goes on from what [`Jobs::save`] wrote; the streams are at their beginnings.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), SimulateError> {
        let users = self.queues.len();
        self.jobs = from.list(|from| {
            let user = from.below(users)?;
            let (tasks, unfinished, at) = (from.number()?, from.number()?, from.time()?);
            let of = from.number()?.checked_sub(1);
            Ok(Job { user, tasks, unfinished, at, of })
        })?;
        let jobs = self.jobs.len();
        self.free = from.list(|from| from.below(jobs))?;
        self.of_trace = from.list(|from| Ok((from.number()?, from.below(jobs)?)))?.into_iter().collect();
        self.queues = from.exactly(users, |from| {
            let queue = from.list(|from| {
                let (job, tasks) = (from.below(jobs)?, from.number()?);
                Ok(Waiting { job, tasks, duration: from.duration()? })
            })?;
            Ok(queue.into())
        })?;
        self.waiting = self.queues.iter().map(VecDeque::len).sum();
        let mut fresh = std::mem::take(&mut self.draws).into_iter();
        self.draws = from.exactly(users, |from| {
            let draw = fresh.next().ok_or_else(|| SimulateError::Checkpoint("is damaged".to_owned()))?;
            from.draw(draw)
        })?;
        self.submitted = from.number()?;
        Ok(())
    }

    /// Bytes that jobs and queues take, about.
    pub fn bytes(&self) -> usize {
        let of_trace = self.of_trace.len() * 2 * size_of::<(u64, u32)>();
        // A place in the list of free ones beside each.
        self.jobs.len() * (size_of::<Job>() + 4) + self.waiting * size_of::<Waiting>() + of_trace
    }

    /// Jobs that have a place.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Tasks come.
    pub fn submit(&mut self, arrival: &Arrival) -> Result<(), SimulateError> {
        let number = arrival.of.map(|of| of.number);
        let known = number.and_then(|number| self.of_trace.get(&number).copied());
        let job = match known {
            Some(job) => job,
            None => {
                let tasks = arrival.of.map_or(arrival.tasks, |of| of.tasks);
                let job = Job { user: arrival.user, tasks, unfinished: tasks, at: arrival.at, of: number };
                self.submitted += 1;
                self.insert(job)?
            }
        };
        if let (None, Some(number)) = (known, number) {
            self.of_trace.insert(number, job);
        }
        let waiting = Waiting { job, tasks: arrival.tasks, duration: arrival.duration };
        self.queues[arrival.user as usize].push_back(waiting);
        self.waiting += 1;
        Ok(())
    }

    fn insert(&mut self, job: Job) -> Result<u32, SimulateError> {
        if let Some(at) = self.free.pop() {
            self.jobs[at as usize] = job;
            return Ok(at);
        }
        let at = u32::try_from(self.jobs.len()).map_err(|_| SimulateError::TooManyJobs(u32::MAX))?;
        self.jobs.push(job);
        Ok(at)
    }

    /// The next task of a user, in the order in which they came: its job and its running time.
    pub fn start(&mut self, user: u32) -> Option<(u32, f64)> {
        let queue = &mut self.queues[user as usize];
        let first = queue.front_mut()?;
        first.tasks -= 1;
        let (job, duration) = (first.job, first.duration);
        if first.tasks == 0 {
            queue.pop_front();
            self.waiting -= 1;
        }
        Some((job, duration.draw(&mut self.draws[user as usize])))
    }

    /// The next tasks of a user, which run together until the longest of them is done: their job and that time.
    pub fn start_together(&mut self, user: u32, tasks: u64) -> Option<(u32, f64)> {
        let queue = &mut self.queues[user as usize];
        // Jobs are of whole gangs, and what is put back is one: the first has them all.
        let first = queue.front_mut()?;
        first.tasks = first.tasks.checked_sub(tasks)?;
        let Waiting { job, duration, .. } = *first;
        if first.tasks == 0 {
            queue.pop_front();
            self.waiting -= 1;
        }
        Some((job, duration.longest(tasks, &mut self.draws[user as usize])))
    }

    /// Tasks of a user that ran together wait again, before all others of the user.
    pub fn put_back(&mut self, user: u32, job: u32, tasks: u64, duration: f64) {
        let waiting = Waiting { job, tasks, duration: Duration::Constant(duration) };
        self.queues[user as usize].push_front(waiting);
        self.waiting += 1;
    }

    /// All tasks of a user that wait leave.
    pub fn withdraw(&mut self, user: u32) {
        let queue = &mut self.queues[user as usize];
        self.waiting -= queue.len();
        queue.clear();
    }

    /// Tasks of a job have ended; the job, if it has no others.
    pub fn finish(&mut self, job: u32, tasks: u64, now: f64) -> Option<FinishedJob> {
        let done = &mut self.jobs[job as usize];
        done.unfinished = done.unfinished.saturating_sub(tasks);
        if done.unfinished > 0 {
            return None;
        }
        if let Some(of) = done.of {
            self.of_trace.remove(&of);
        }
        let finished = FinishedJob { user: done.user, tasks: done.tasks, at: done.at, time: now - done.at };
        self.free.push(job);
        Some(finished)
    }
}
