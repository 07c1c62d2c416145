//! The jobs in the system, and the queue of waiting tasks of each user.

use std::collections::{HashMap, VecDeque};

use evenhand_mechanisms::filling::Draw;

use crate::checkpoint::{Reader, Words, list, words};
use crate::duration::Duration;
use crate::error::SimulateError;
use crate::workload::Arrival;

/// A finished job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinishedJob {
    /// The index of the user in the problem.
    pub user: u32,
    /// The number of tasks.
    pub tasks: u64,
    /// The time of arrival.
    pub at: f64,
    /// The time from the arrival to the end of the last task.
    pub time: f64,
}

struct Job {
    user: u32,
    tasks: u64,
    /// The number of tasks that have not ended.
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

/// The jobs in the system and the queues of waiting tasks. The entry of a finished job is used again, so that memory
/// is linear in the number of jobs in the system.
pub(crate) struct Jobs {
    jobs: Vec<Job>,
    free: Vec<u32>,
    /// The index in `jobs` of each job whose tasks arrive one by one, by the number of the job in its trace.
    of_trace: HashMap<u64, u32>,
    queues: Vec<VecDeque<Waiting>>,
    /// The number of entries of all queues.
    waiting: usize,
    /// The random stream of the running times of each user.
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

    /// Appends the state to the words of a checkpoint.
    pub fn save(&self, to: &mut Vec<u64>) {
        self.jobs.save(to);
        self.free.save(to);
        // The list is sorted, because the order of a hash map varies and equal states must have equal words.
        let mut of_trace: Vec<(u64, u32)> = self.of_trace.iter().map(|(of, job)| (*of, *job)).collect();
        of_trace.sort_unstable();
        of_trace.save(to);
        self.queues.save(to);
        list(to, self.draws.iter(), |to, draw| draw.taken().save(to));
        self.submitted.save(to);
    }

    /// Restores the state that [`Jobs::save`] wrote. The random streams must be at their beginnings.
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

    /// Returns the approximate size of jobs and queues in bytes.
    pub fn bytes(&self) -> usize {
        let of_trace = self.of_trace.len() * 2 * size_of::<(u64, u32)>();
        // Every job also needs 4 bytes in the list of free entries.
        self.jobs.len() * (size_of::<Job>() + 4) + self.waiting * size_of::<Waiting>() + of_trace
    }

    /// Returns the number of entries for jobs, including free entries.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Adds arriving tasks to the queue of their user.
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

    /// Starts the next waiting task of a user, in the order of arrival. Returns its job and its running time.
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

    /// Starts the next tasks of a user as one gang. Returns their job and the longest of their running times.
    pub fn start_together(&mut self, user: u32, tasks: u64) -> Option<(u32, f64)> {
        let queue = &mut self.queues[user as usize];
        // Jobs consist of whole gangs, and a gang is put back as a whole. The first entry therefore has
        // enough tasks.
        let first = queue.front_mut()?;
        first.tasks = first.tasks.checked_sub(tasks)?;
        let Waiting { job, duration, .. } = *first;
        if first.tasks == 0 {
            queue.pop_front();
            self.waiting -= 1;
        }
        Some((job, duration.longest(tasks, &mut self.draws[user as usize])))
    }

    /// Puts tasks that ran together back at the front of their user's queue.
    pub fn put_back(&mut self, user: u32, job: u32, tasks: u64, duration: f64) {
        let waiting = Waiting { job, tasks, duration: Duration::Constant(duration) };
        self.queues[user as usize].push_front(waiting);
        self.waiting += 1;
    }

    /// Removes all waiting tasks of a user.
    pub fn withdraw(&mut self, user: u32) {
        let queue = &mut self.queues[user as usize];
        self.waiting -= queue.len();
        queue.clear();
    }

    /// Records that tasks of a job have ended. Returns the job if all its tasks have ended, or else `None`.
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
