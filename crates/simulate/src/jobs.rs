//! Jobs that are in the system, and the tasks of each user that wait.

use std::collections::{HashMap, VecDeque};

use evenhand_mechanisms::filling::Draw;

use crate::checkpoint::{Reader, Words, list, words};
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

words!(FinishedJob { user, tasks, at, time });
words!(Job { user, tasks, unfinished, at, of });
words!(Waiting { job, tasks, duration });

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
    pub fn save(&self, to: &mut Vec<u64>) {
        self.jobs.save(to);
        self.free.save(to);
        // In order, so that the same state has the same words.
        let mut of_trace: Vec<(u64, u32)> = self.of_trace.iter().map(|(of, job)| (*of, *job)).collect();
        of_trace.sort_unstable();
        of_trace.save(to);
        self.queues.save(to);
        list(to, self.draws.iter(), |to, draw| draw.taken().save(to));
        self.submitted.save(to);
    }

    /// Goes on from what [`Jobs::save`] wrote; the streams are at their beginnings.
    pub fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), SimulateError> {
        let users = self.queues.len();
        (self.jobs, self.free) = (from.read()?, from.read()?);
        let of_trace: Vec<(u64, u32)> = from.read()?;
        self.queues = from.read()?;
        let taken: Vec<u64> = from.read()?;
        self.submitted = from.read()?;
        let jobs = self.jobs.len();
        let mut named = of_trace.iter().map(|(_, job)| job).chain(&self.free);
        Reader::check(self.jobs.iter().all(|job| (job.user as usize) < users))?;
        Reader::check(named.all(|job| (*job as usize) < jobs))?;
        Reader::check(self.queues.iter().flatten().all(|waiting| (waiting.job as usize) < jobs))?;
        Reader::check([self.queues.len(), taken.len()] == [users; 2])?;
        self.of_trace = of_trace.into_iter().collect();
        self.waiting = self.queues.iter().map(VecDeque::len).sum();
        self.draws.iter_mut().zip(taken).for_each(|(draw, taken)| draw.skip(taken));
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
